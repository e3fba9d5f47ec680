"""The letter of a multiple choice answer.

Quantifiers are bounded and candidates are tried from the end of the text, so that a million spaces or a
hundred thousand times the word "answer" cost little.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import Any

from crucible_datasets.evaluation.metrics.normal import words
from crucible_datasets.evaluation.rules import wording
from crucible_datasets.evaluation.rules.base import Reading, rule
from crucible_datasets.evaluation.rules.boxed import last_boxed
from crucible_datasets.evaluation.rules.parts import normalized
from crucible_datasets.evaluation.rules.statements import NONE, Kind, is_denied, is_unfinished, last_sentence, stated

_PUNCTUATION = str.maketrans("", "", string.punctuation + " ")
_TRIES = 10_000  # occurrences of the word "answer" that are tried
_LINE = 200  # characters of a line with one letter and punctuation
_PRO = re.compile(r"answer is \(?([ABCDEFGHIJ])\)?")
_INSPECT = re.compile(r"answer[ \t]{0,8}:[\s*_$(\[{]{0,16}([a-z0-9 ,]{1,64})", re.IGNORECASE)
# "A or B" states no letter; "B, A is wrong" and "B, I think" state B.
_ALONE_IN_ITS_PLACE = r"""(?! [)\]}.*"'$`]{0,4} \s{0,3} (?:[,/&]|or\b|and\b) \s{0,3} (?:or\s|and\s)? [(\[*"'`]{0,3}
        (?-i:[A-HJ-Z]) (?![\w'’]|\s{1,3}(?:is|was|would|does|has|can)\b) )"""
_NAMED = rf"""[\s:*_=]{{0,12}} (?:option\s|choice\s)?
        [(\[{{*"'$`]{{0,3}} (?:\\\()? (?:\\(?:text|mathrm|textbf|boxed)\{{)?
        (?: (?P<upper>(?-i:[A-Z])) (?![\w'’]) {_ALONE_IN_ITS_PLACE}
          | (?P<lower>[a-z]) (?=[)\]}}.*"'$`\\]{{0,4}}[ \t]{{0,4}}(?:\n|\Z)) )"""
# "Answer B" may only mention B; it states B if punctuation or the end of the line follows.
_STATED = re.compile(
    rf"""answer\b (?P<said> \s{{1,4}}is\b | [\s*_]{{0,8}}[:=] )? {_NAMED}
        (?(said) | (?= [)\]}}.:*"'$`] | [ \t]{{0,4}}(?:\n|\Z) ))""",
    re.IGNORECASE | re.VERBOSE,
)
_CHOSEN = tuple(
    (word, re.compile(rf"{word}\s{{1,4}}is\b {_NAMED}", re.IGNORECASE | re.VERBOSE)) for word in ("option", "choice")
)
_ALONE = re.compile(r"[\s(\[{*_\"'$`]{0,8}(?:[Oo]ption\s|[Cc]hoice\s)?[(*]{0,3}([A-Za-z])[)\]}.:*_\"'$`]{0,6}\s{0,8}\Z")
_LEADING = re.compile(r"\s{0,8}[(\[*]{0,3}(?:([A-Z])[).:\]*]|([a-z])[)\]])[)*:.\]]{0,3}(?:\s|\Z)")


@rule("mmlu/letter", version=1)
def mmlu_letter(text: str) -> str | None:
    """The first line when it is one letter from A to J, whatever its case and punctuation."""
    line = text.lstrip().partition("\n")[0][:_LINE].translate(_PUNCTUATION).upper()
    return line if len(line) == 1 and "A" <= line <= "J" else None


@rule("mmlu_pro", version="3.1")
def mmlu_pro(text: str) -> str | None:
    """The letter of the first 'answer is (X)', from A to J."""
    found = _PRO.search(text)
    return found[1] if found else None


@rule("choice/inspect", version=1)
def inspect(text: str) -> str | None:
    """The letter of the last 'ANSWER: X', preferably at the start of a line, if it is a single letter."""
    found = _last(_INSPECT, text, at_line_start=True) or _last(_INSPECT, text)
    answer = found[1].strip(" ,") if found else ""
    return answer.upper() if len(answer) == 1 and answer.isalpha() else None


@rule("choice/letter", version=1)
def letter(text: str) -> Reading | str | None:
    """The letter that a text states: boxed, as "the answer", alone, at its beginning, or alone in its last line."""
    boxed = last_boxed(text)
    if boxed.text is not None and (found := _ALONE.match(_unwrapped(boxed.text))):
        return found[1].upper()
    for word, pattern in (("answer", _STATED), *_CHOSEN):
        if stated := _last(pattern, text, word):
            return (stated["upper"] or stated["lower"]).upper()
    stripped = text.strip()
    head = "" if _repeats_the_options(stripped) else stripped
    for place, pattern in ((stripped, _ALONE), (head, _LEADING), (stripped.rpartition("\n")[2], _ALONE)):
        if found := pattern.match(place):
            return next(group for group in found.groups() if group).upper()
    return boxed if boxed.status == "truncated" else None


def _repeats_the_options(text: str) -> bool:
    """Whether a text begins by repeating the options A and B on separate lines: then A is not its answer."""
    first, _, rest = text.partition("\n")
    letters = [found[1] for line in (first, rest.lstrip()[:_LINE]) if (found := _LEADING.match(line))]
    return letters == ["A", "B"]


def _unwrapped(boxed: str) -> str:
    for command in ("\\text{", "\\mathrm{", "\\textbf{"):
        if boxed.startswith(command):
            return boxed[len(command) :]
    return boxed


def _last(
    pattern: re.Pattern[str], text: str, word: str = "answer", at_line_start: bool = False
) -> re.Match[str] | None:
    """The match at the last possible occurrence of `word`, or at the last line that begins with it."""
    # `lower` would shift positions in non-ASCII text: the lower case of İ has two characters.
    lowered = text.lower() if text.isascii() else text.replace(word.upper(), word).replace(word.capitalize(), word)
    wanted, before = (f"\n{word}", 1) if at_line_start else (word, 0)
    at = len(lowered)
    for _ in range(_TRIES):
        at = lowered.rfind(wanted, 0, at)
        if at < 0:
            break
        if found := pattern.match(text, at + before):
            return found
    return pattern.match(text) if at_line_start else None


# ── version 2: what a text states (`statements`)

_LATEX = re.compile(r"\\(?:text(?:bf|it|rm|sf)?|math(?:rm|bf|sf|it)|bf|rm|mbox|operatorname)\b\s?\{?|\\[()\[\],;!$ ]")
_FILLER = (
    r"(?:therefore|thus|hence|clearly|obviously|probably|most|likely|definitely|certainly|indeed|simply|just|actually|now|again|still"
    r"|then|in|fact|so|option|choice|letter|answer|number|statement|alternative|possibly|always|perhaps|maybe|that|the|la|el|le|der|die"
    r"|das|l'|a(?=\s(?:letra|alternativa))|alternativa|opción|opcion|opção|opzione|réponse|lettre|letra|lettera|buchstabe|вариант|буква|variante"
    r"|选项|選項|選択肢|選択|correct|final|it|is|be)"
)
_MARKS = r"""[\s:;「『»⇒∴<*_="'“‘`$(\[{|>→➡✅👉….\ufe0f]"""
_HEAD = re.compile(
    rf"""(?:{_MARKS}{{1,8}}+|(?i:{_FILLER})\b,?|选项|選項|選択肢){{0,12}}+
        (?: (?P<upper>[A-Z]) (?![A-Za-z0-9_+#]|['’][A-Za-z])
          | (?P<lower>[a-z]) (?=[)\]}}.*"'”’`$]{{0,4}}\s{{0,4}}(?:\n|\Z)|[)\]]) )""",
    re.VERBOSE,
)
_OTHERS = re.compile(
    r"""[)\]}.*"'”’`$]{0,4}\s{0,3}(?:[,/&]|or\b|and\b|und\b|oder\b|ou\b|et\b|y\b|o\b|或|和)\s{0,3}(?:or\s|and\s|maybe\s|perhaps\s|possibly\s)?[(\[*"'`]{0,3}
        [A-HJ-Z](?![A-Za-z0-9_]|['’][A-Za-z]|\s{1,3}(?:is|was|would|does|has|can|are|looks|seems)\b)""",
    re.VERBOSE,
)
# "A" and "I" are words, unless marks or a new clause follow.
_AS_A_LETTER = re.compile(
    r"""[)\]}.*"'”’`$:,;!|]|\s*(?:[✓✔✅☑🎯|]|\Z|[.,;:)])|\s+[-–—(]|\s+(?:because|since|as|which|and|is|was|for|due|given|by|with|not|rather|instead|although
        |while|here|where|when|but|then|if|porque|car|weil|perché|parce|nicht|です|ist|es|est)\b|\s?[^\x00-\x7f]""",
    re.VERBOSE,
)
_CONTENT = re.compile(
    r"""[\s:*_∴⇒"'“‘`$(\[{=>→➡✅✔☑👉\ufe0f]{0,8}(?:(?:[Oo]ption|[Cc]hoice|[Aa]nswer|[Ll]etter)\s*:?\s*)?[*_"'`$(\[{]{0,4}([A-Za-z])
        (?: [)\]}.,:;*_"'”’`$|!。、✓✅✔☑\ufe0f\s]{0,10}\Z
          | (?P<text> (?:[)\]}*_]{0,4}\s?[-–—.:)\]、][*_]{0,3}|[)\]][*_]{0,3}|,?\s(?=because|since))
            \s{0,4}\S.{0,300}) )\Z""",
    re.VERBOSE,
)
_TAIL = re.compile(
    r"""(?:^|.*[,;:]\s)\W*(?:(?:So|Therefore|Thus|Hence|Then|I\sthink|I\sbelieve|Clearly|that|so|thus|hence|therefore|only|Only)\b[\s,]*){0,3}
        (?:(?:(?:[Tt]he|[Ll]a|[Dd]ie|[Ee]l)\s)?(?:[Oo]ption|[Cc]hoice|[Aa]nswer|[Ll]etter|[Ss]tatement|[Aa]lternative|[Rr]esponse|Antwort|opción|réponse)\s)?[(\[*"'`$“]{0,4}([A-Z])[)\]*"'`$.:”]{0,4}\s{0,2}
        (?:(?<=[).:*\s])\s?[^.,;]{1,80})?\Z""",
    re.VERBOSE,
)
_WEAK = re.compile(
    r"""\b(?:choose|(?:i|we)(?:\shave)?\schose|choosing|pick|select|go(?:ing)?\swith|opt\sfor|say|guess|conclude(?:\sthat)?|must\sbe|should\sbe|has\sto\sbe|would\sbe
        |it\sis|it's|that\sis|that's|this\sis|therefore|thus|hence|so|correct|probably|likely|corresponds?\sto|(?:will|would|'ll|'d)\sanswer|think|only\s(?:option|choice|statement)|leaves(?:\sus\swith)?|left\swith(?:\soption)?|believe|opinion|okay|yes|sure|selected\soption
        |match(?:es)?|points?\sto|elimination|definitely|clearly|lean(?:ing)?\s(?:towards?|to)|(?:c'est\sla\s|\A\W*)(?:réponse|respuesta|resposta|risposta|alternativa|letra|lettre|opción|opção|opzione|вариант)
        |(?:the|my|final|our)\s(?:solution|result)(?:\sis|:))(?!\w)(?:[,:!]|\sit\sis)?\s*(?=\S)
        (?![(\[]?[A-Z][)\]]?\s(?:is|was|has|says)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_IN_LINE = 160  # characters of a line that begins with its letter


_ALONE_LETTER = re.compile(r"[(\[*_`\"']{0,4}[A-Z][)\]*_`\"'.]{0,4}\s*")
_CONTRAST = re.compile(r"\b(?:while|whereas|unlike|rather\sthan|instead\sof)\b")
_SHORT_LABEL = re.compile(r"\W*[^\W\d][\w']*(?:\s[\w']+){0,2}\W{0,3}:\s*(\S.*)")
_ANOTHER = re.compile(r"\([B-J]\)|(?<!\w)[B-J][).:]\s")  # option within the text of another
_INDEX = re.compile(r"\s*(\d{1,2})\s*")
_PREDICATE = re.compile(r"\W*(?:is|was|says|states|claims|would|seems|looks|has|we|let)\b", re.IGNORECASE)


def _is_no_option(text: str) -> bool:
    """Whether what follows a letter denies it, breaks off, says something about it, or names another option."""
    return bool(
        is_denied(_CONTRAST.split(text)[0]) or _PREDICATE.match(text) or is_unfinished(text) or _ANOTHER.search(text)
    )


# A letter; "A" is a word unless it is marked, ends the clause or is what a verb is said of.
_LETTER = re.compile(
    r"(?<![A-Za-z0-9'’&+.-])[(*\"'`“]{0,4}([B-HJ-Z]|A(?=[^A-Za-z0-9_\s]|\Z"
    r"|\s(?:is|it|for|over|rather|would|fits|holds|works|remains|gets|stands|stimmt|wählen|est|es|ist|é|è)\b))"
    r"(?![A-Za-z0-9'’&+#°-])[)*\"'`”]{0,4}"
)
_SET_ASIDE = re.compile(
    r"(?:\bnot|\brather\sthan|\binstead\sof|\bover)\s[(*]{0,3}[A-Z](?!\w)[)*]{0,3}(?:,?\s(?:but|so))?", re.IGNORECASE
)
_SHORT, _IN_CONTRAST = 8, 3  # words of a sentence that states a letter, and of one that sets another aside
_CHOOSING = (
    r"(?:choos|chose|pick|select|settl|vot|mark|circl|opt\b|bet\b|confident|go\s(?:with|for)|going\s(?:with|for)|take\b|left\swith|elimination|got\sto\sbe"
    r"|down\sfor|wähl|nehm|chois|prend|dirais|elij|elegir|escoj|quedo|scel|escolh|выбира|[选選]|선택)"
)
_SPEAKER = re.compile(
    rf"\b(?:i|we|me|let's|ich|je|yo|eu|io|я|ik|jag)\b.*{_CHOOSING}|{_CHOOSING}.*\b(?:i|we|me|ich|je|yo|eu|io|я)\b"
    r"|\b(?:my|our)\s(?:(?:final|best)\s)?(?:vote|pick|choice|guess|answer|bet|money|selection|response)\b"
    rf"|^\W*(?:{_CHOOSING}\w*|(?!on|ear)\w+ly|just|thus|hence|therefore|so),?\s(?:option\s)?§\W*$"
    r"|我[选選]|[应應][该該]?[选選]|§(?:を選|[를을]\s?선택)",
    re.IGNORECASE,
)
# Who says something about a thing, or turns to it, does not choose: "We denote the set by B", "I'll look at B".
_DETERMINED = re.compile(
    r"\b(?:the|an?|this|these|those|my\s\w+\s\w+\s(?:is|was)|look\w*|turn\w*|begin\w*|start\w*|see|about|mov\w+|return\w*|call\w*|denot\w+|defin\w+"
    r"|second|next|last|also)\b|^\W*§\s(?:is|was)\s(?!my\b|our\b)",
    re.IGNORECASE,
)
_SINGLED_OUT = re.compile(
    r"(?:^\W*|,\s|\b(?:option|choice|statement|only)\s)§,?\s(?:it\sis\b(?=\W*(?:then|so)?\W*$)|is\s(?:true|it|the\sone)\b|(?:fits|matches|satisfies|holds|works|remains(?!\sto\b)|stands\sout|stimmt)\b)"
    r"|\b(?:only|nur|solo|sólo|seule?|solamente|apenas|somente|alleen|только)\s(?:be\s|option\s)?§(?!\s\w+\sto\b|\s(?:is|was)\s(?!true|right|correct|valid|possible|consistent|left))|^\W*§,?\s(?:for\ssure|without)"
    # "This can only mean B", "The only true statement is B".
    r"|^\W*(?:(?:so|thus|hence|therefore),?\s)?(?:this|that|it)\s(?:(?:only|best|can|must|has|got|to|is|be|would|will|then|with|by|us)\s){0,3}"
    r"(?:means?|corresponds?|match(?:es)?|points?|described|captured|leaves?|leads?|be|is|with)\s(?:to\s|by\s|with\s|us\s)*(?:option\s|choice\s)?§\W*$"
    r"|^\W*the\s(?:\w+\s){0,2}?(?:statement|option|choice|one|match|fit|description|alternative|winner|candidate)"
    r"\b(?:\s\w+){0,4}?\s(?:is|would\sbe|must\sbe):?\s§\W*$",
    re.IGNORECASE,
)


class Letters:
    """Letters of options, whose texts may be known."""

    def __init__(self, options: Sequence[str] = ()) -> None:
        self.options = [words(normalized(option)) for option in options]

    def kind(self) -> Kind:
        """How letters are read."""
        return Kind(self.content, self.head, self.tail, self.implied, _WEAK, hashes=True)

    def content(self, text: str) -> str | None:
        """The letter of a text that is a letter, a letter with its option, or an option."""
        plain = _LATEX.sub(" ", text).strip()
        if (option := self._option(plain)) is not None:
            return option
        match = _CONTENT.match(plain)
        if match is None or (match["text"] and not match[1].isupper()):
            return None
        return self._known(match[1].upper())

    def head(self, claim: str) -> str | None:
        """The letter, or the option, that a claim begins with."""
        plain = _LATEX.sub(" ", claim[:400])
        if (option := self._option_at_head(plain)) is not None:
            return option
        match = _HEAD.match(plain)
        if match is None:
            return NONE if _HEAD_OF_SEVERAL.match(plain) else None
        end = match.end()
        if _OTHERS.match(plain, end):
            return NONE
        is_marked = (
            plain[match.start("upper") - 1 : match.start("upper")] in tuple("(*[`\"'$“") if match["upper"] else True
        )
        if match["upper"] in ("A", "I") and not is_marked and not _AS_A_LETTER.match(plain, end):
            return None
        if match["upper"] == "I" and len(self.options) < 9 and not is_marked:
            return None
        return self._known((match["upper"] or match["lower"]).upper())

    def tail(self, before: str) -> str | None:
        """The letter, or the option, that is said to be the answer."""
        plain = _LATEX.sub(" ", before[-400:])
        match = _TAIL.match(plain)
        if match is None or match[1] == "I":
            return self._option_at_tail(plain)
        return self._known(match[1])

    def implied(self, lines: list[str]) -> str | None:
        """The letter or the option that is all there is in a line, or the only option in the last sentence."""
        if not lines:
            return None
        if len(lines) == 1 and (index := _INDEX.fullmatch(lines[0])) and int(index[1]) < len(self.options):
            return self._option(lines[0]) or chr(ord("A") + int(index[1]))
        if (
            (bare := _CONTENT.match(_LATEX.sub(" ", lines[-1])))
            and not bare["text"]
            and (last := self._of_line(lines[-1], False))
        ):
            return last
        if (
            (labelled := _SHORT_LABEL.match(lines[-1]))
            and _ALONE_LETTER.fullmatch(labelled[1])
            and not is_denied(lines[-1])
        ):
            return self.content(labelled[1])
        answers = [
            answer for line in lines if len(line) <= _IN_LINE and (answer := self._of_line(line, len(lines) == 1))
        ]
        if answers:
            return answers[0] if len({*answers}) == 1 else NONE
        sentence = last_sentence(lines)
        return self._only_option(sentence) or self._only_letter(sentence)

    def _of_line(self, line: str, is_alone: bool) -> str | None:
        match = _CONTENT.match(_LATEX.sub(" ", line))
        if match and match["text"] and _is_no_option(match["text"]):
            return None
        if match and match[1] in "aI" and not re.search(r"[)*(\[`.]", line) and not is_alone:
            return None
        return None if match and match[1] == "I" and len(self.options) < 9 else self.content(line)

    def _known(self, letter: str) -> str | None:
        return letter if not self.options or ord(letter) - ord("A") < len(self.options) else None

    def _option(self, text: str) -> str | None:
        form = words(text.strip(" \n*_\"'`“”‘’$"))
        return chr(ord("A") + self.options.index(form)) if form and form in self.options[:26] else None

    def _option_at_head(self, claim: str) -> str | None:
        """The longest option that a claim begins with."""
        form = words(re.sub(rf"\A(?:{_MARKS}|(?i:{_FILLER})\b)*", "", claim)) if self.options else ""
        form_with_fillers = words(claim) if self.options else ""
        options = [
            option
            for option in self.options[:26]
            if len(option) > 1
            and any(begun == option or begun.startswith(f"{option} ") for begun in (form, form_with_fillers))
        ]
        return chr(ord("A") + self.options.index(max(options, key=len))) if options else None

    def _option_at_tail(self, before: str) -> str | None:
        form = words(before) if self.options else ""
        options = [
            option
            for option in self.options[:26]
            if len(option) > 1 and (form == option or form.endswith(f" {option}"))
        ]
        return chr(ord("A") + self.options.index(max(options, key=len))) if options else None

    def _only_option(self, sentence: str) -> str | None:
        """The only option that a sentence mentions, apart from one that it excludes."""
        sentence = re.split(r",\s(?:not|rather\sthan|instead\sof|and\snot)\s", sentence, maxsplit=1)[0]
        if not self.options or is_denied(sentence) or is_unfinished(sentence) or len(sentence) > _IN_LINE:
            return None
        form = f" {words(sentence)} "
        named = [option for option in self.options[:26] if len(option) > 1 and f" {option} " in form]
        longest = [option for option in named if not any(option != other and option in other for other in named)]
        return chr(ord("A") + self.options.index(longest[0])) if len(longest) == 1 else None

    def _only_letter(self, sentence: str) -> str | None:
        """The only letter of a short sentence that says that it is so, or whose speaker chooses."""
        sentence = _LATEX.sub(" ", sentence)
        rest = _SET_ASIDE.sub(" ", sentence)
        is_contrast = rest != sentence and len(rest.split()) <= _IN_CONTRAST
        letters = {letter[1]: letter for letter in _LETTER.finditer(rest)}
        if (
            len(letters) != 1
            or len(rest.split()) > _SHORT
            or is_denied(wording.SURE.sub(" ", f"{rest.rstrip(' .!')} "))
            or rest.rstrip().endswith(("?", ":"))
        ):
            return None
        said = _LETTER.sub("§", rest)
        is_choice = bool(_SPEAKER.search(said)) and not _DETERMINED.search(said)
        return self._known(letters.popitem()[0]) if is_contrast or is_choice or _SINGLED_OUT.search(said) else None


_HEAD_OF_SEVERAL = re.compile(rf"(?:{_MARKS}{{1,8}}+|(?i:{_FILLER})\b){{0,6}}+(?:all|none)\sof\b", re.IGNORECASE)


@rule("choice/letter", version=2)
def stated_letter(text: str, *, sample: Any = None) -> Reading:
    """The letter of the option that a text states, by letter or, for a sample with choices, by its text."""
    return stated(text, Letters(getattr(sample, "choices", None) or ()).kind())
