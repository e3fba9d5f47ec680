"""The answer that a text states."""

from __future__ import annotations

import re
from typing import Final

from crucible_datasets.evaluation.rules.base import Reading, rule
from crucible_datasets.evaluation.rules.statements import NONE, Kind, is_denied, is_nothing, is_unfinished, stated
from crucible_datasets.evaluation.rules.wording import OF_THE_EXCHANGE

_WORDS = "answer is"
_MARKS = " \t:*_$\"'`"


@rule("answer/stated", version=1)
def after_answer_is(text: str) -> str | None:
    """The text after the last `answer is`, up to the end of its line or a full stop."""
    # `lower` would shift positions in non-ASCII text: the lower case of İ has two characters.
    lowered = text.lower() if text.isascii() else text.replace("Answer is", _WORDS).replace("ANSWER IS", _WORDS)
    at = lowered.rfind(_WORDS)
    if at < 0:
        return None
    line = text[at + len(_WORDS) :].strip(_MARKS).partition("\n")[0]
    return line.strip(_MARKS).removesuffix(".").strip(_MARKS) or None


# ── version 2: what a text states (`statements`)

_LONGEST = 200  # characters of an answer
_OPENING = re.compile(
    r"""(?:[=-]{1,2}>|[\s:;*_=`|→➡✅👉.…»\ufe0f]|(?:therefore|thus|hence|clearly|obviously|indeed|simply|just|most\slikely|probably|likely
        |definitely|certainly|in\sfact|actually|really|that|the\sfollowing)\b[,:]?)*""",
    re.IGNORECASE | re.VERBOSE,
)
_TITLE = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Mt|Prof|Gen|Col|Lt|Sgt|Capt)\Z")
_ABBREVIATED = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Jr|Sr|Mt|Prof|Gen|Col|Lt|Sgt|Capt|vs|Inc|Co|Ltd|Corp|approx|e\.g|i\.e|U\.S|U\.K|D\.C|a\.m|p\.m))\Z"
)
_NEXT_SENTENCE = re.compile(r"""[.!?]["'”’)*_]*\s+|[。！？]""")
_OPENERS = re.compile(
    r"(?:the|it|this|in|an?|that|he|she|they|we|i|so|since|because|as|let|however|but|there|these|note|option|you|if|wait"
    r"|actually|no|yes|also|hence|thus)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"""[\s,;:]+(?:who\b|whose\b|because|since|as\s(?:it|the|shown|we|he|she|they|stated|mentioned|explained|this)|which|so\sthat|due\sto|given\s(?:that|the)|whereas|even\sthough|though|despite
        |although|rather\sthan|instead\sof|but\b|not\b|nicht\b|weil\b|porque\b|car\b|perché\b|and\snot\b)|\s*;\s+(?:see\b|\S+\s\S+\s\S)|\s*[,;]\s+(?:as|and\sthis|and\sit|so|while)\b
        |,?\s(?:according\sto|based\son|as\sper|as\sstated|as\smentioned)\b|\s[–—-]\s.*
        |\s*\((?:because|since|as|see|confiden\w{2}|certain|from|source|based|not|according|which|line|paragraph|page|ref|cf|first|second|third|last|many|some|most|people|though|although|while|unlike|\d{1,3}\s?%)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_WORKING = re.compile(
    r"""\W*(?:(?:let(?:'s|\sus|\sme)?|first|firstly|we|to\s(?:find|solve|answer|determine)|step|consider|explanation|reasoning|solution|question|analysis\Z|conclusion\Z|summary\Z|overview\Z|approach\Z|background\Z|results?\Z|here\s(?:is|are)
        |based\son|according\sto|looking\sat|i(?:'m|'ll|'d|'ve|\s(?-i:[a-z])+)|it\s(?:is\s)?(?:depends|was\sa)|sorry|as\san?\sai
        |(?:this|that|it|he|she|they)\s(?:is|was|are|were|does|has|follows|fits)|(?:second(?:ly)?|third|next)(?=,)|then|finally|everything|(?:the\s)?answer
        |there\s(?:is|are)\s(?:not|no)|unable|cannot|null|n/?a|unknown|no\sanswer|none\sof\s\w+|what(?=\s))\b|\A[?.\-–—…\s$#_*•]+\Z|\A(?:\{\s*\}|\[\s*\]|[\[{<("]+)\Z|\A\\(?:boxed|fbox)\b|\A(?:so|thus|hence|then)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_WRAPPED = re.compile(r"\\(?:text(?:bf|it|rm|sf)?|math(?:rm|bf|sf|it)|mbox)\s?\{([^{}]*)\}")
_OPTION = re.compile(
    r"(?:(?:option|choice)\s)?(\([A-Z]\))(?:\s+\S|(?<=\s...)\Z)|(yes|no|true|false)\b[,;]\s", re.IGNORECASE
)
_ALTERNATIVES = re.compile(r"[^,]{1,60}\s(?:or|oder|ou|o|/|vs\.?)\s[^,]{1,60}\Z")
_OR_MAYBE = re.compile(r"\sor\s(?:maybe|perhaps|possibly)\s", re.IGNORECASE)
_SAYING = re.compile(
    r"\b(?:i(?:'d|\swould|\swill|'ll|(?:'m|\sam)\sgoing\sto)?\s(?:say|guess|choose|pick|answer|go\swith)|(?:so|therefore|thus|hence),?\sit(?:'s|\sis)(?!\s(?:clear|obvious|not|an?|the\s(?:case|same|best|only|fact)|important|easy|hard|possible|likely|safe|true\sthat|in|that)\b)|(?:my|best|my\sbest)\sguess\sis|i\s(?:think|believe)\sit(?:'s|\sis)|it\smust\sbe"
    r"|the\s(?:\w{1,12}\s)?(?:response|result|solution)\sis(?!\s(?:to|that)\b))\b:?\s*",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"[^\W\d]\w*(?:\s\w+)?:\s")
_CITATION = re.compile(r"(?<=\S)\s?\[\d{1,2}\]\Z")
_ANNOUNCED = re.compile(r"\s*\w+(?:\s[\w'’]+){2,12}:\s+(\S.*)")  # "The sequence ends with: B"
_IT_IS = re.compile(r"\W*(?:it's|it\sis|that's|that\sis|that\swould\sbe)\s(?!not\b)(?=\S)", re.IGNORECASE)
_NUMBERED = re.compile(r"\A\s*\d{1,2}[.)]\s+(?=\S)")
_CASUAL = re.compile(
    r"\W*(?:(?:sure|okay|ok|well|alright|certainly|understood|hello|hi|thanks|got\sit|of\scourse|absolutely|hmm+)"
    r"|(?:that(?:'s|\sis)\s)?an?\s?(?:good|great|interesting|excellent|nice|tough)\s(?:question|one|point)"
    r"|(?:good|great|interesting|excellent|nice|tough)\s(?:question|one|point))\W*\Z",
    re.IGNORECASE,
)
# "still unknown", "beyond what we can know": words of a speaker, or a beginning that answers do not have.
_ABOUT_THE_ANSWER = re.compile(
    r"(?-i:\bI\b)|\b(?:we|you|me|my|your|our|us|i'm|i'd)\b|\A(?:still|yet|going\sto|something|somewhere|where|how|why|beyond|among|outside|available|almost|never"
    r"|hard|easy|likely|possible|worth|best|ready|always|often|also|only|usually|required|based|bound|supposed|meant|said|written)\s",
    re.IGNORECASE,
)
_SAYS = re.compile(r"[\w()\[\]{}<>+*/=^&|∅∞√π°%$€£-]")  # anything but an emoji or a dash
_HAN_OR_KANA = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_LONGEST_IN_HAN = 10  # characters of a line in Chinese or Japanese that is nothing but an answer
_WORDS_ALONE, _WORDS_LAST = 8, 6  # words of a text, or of its last line, that is nothing but an answer


def answer_text(text: str) -> str | None:
    """The answer that a text begins with: its first sentence without marks, reasons and layout."""
    text = _WRAPPED.sub(r"\1", text[:1000])
    text = text[_OPENING.match(text).end() :] if _OPENING.match(text) else text  # type: ignore[union-attr]
    text = _first_sentence(text.partition("\n")[0])
    if clause := _CLAUSE.search(text, 1):
        text = text[: clause.start()]
    text = _bare(text)
    if not text or len(text) > _LONGEST or _WORKING.match(text) or not _SAYS.search(text):
        return None
    if (
        is_nothing(text)
        or _ABOUT_THE_ANSWER.search(text)
        or _ALTERNATIVES.match(text.partition(", ")[0])
        or _OR_MAYBE.search(text)
    ):
        return NONE
    option = _OPTION.match(text)
    return (option[1] or option[2]) if option else text


def _first_sentence(text: str) -> str:
    for end in _NEXT_SENTENCE.finditer(text):
        initial = _ABBREVIATED.search(text, 0, end.start()) if end[0][0] == "." else None
        is_title = initial and _TITLE.search(text, 0, end.start())
        if not initial or (_OPENERS.match(text, end.end()) and not is_title):
            return text[: end.start()]
    return text


def _bare(text: str) -> str:
    """A text without the marks around it: quotes, emphasis, dollars, a full stop."""
    before = None
    while before != text:
        before, text = text, text.strip(" \t\r*_`|✓✔✅☑🎯\ufe0f").strip()
        text = (
            text[:-1]
            if text.endswith(("。", "।", "!", ",", ";", "\\"))
            or (text.endswith(".") and (len(text) == 2 or not _ABBREVIATED.search(text[:-1])))
            else text
        )
        for opening, closing in (
            *(mark * 2 for mark in "\"'$"),
            "“”",
            "‘’",
            "«»",
            "「」",
            ("\\(", "\\)"),
            ("\\[", "\\]"),
        ):
            if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening + closing):
                text = text[len(opening) : -len(closing)]
        for suffix in ("となります", "になります", "です", "である", "입니다", "이다", "है", "است"):
            text = text.removesuffix(suffix).rstrip()
    return _CITATION.sub("", text.strip('"') if text.count('"') == 1 else text)


def _content(text: str) -> str | None:
    """The answer of a box, a tag or a field."""
    text = _bare(_WRAPPED.sub(r"\1", text).strip())
    return None if not text or len(text) > _LONGEST or is_nothing(text) or _WORKING.match(text) else text


def before_answer(words: str) -> str | None:
    """What is said to be the answer."""
    text = re.sub(
        r"\A\W*(?:(?:yes|no|so|therefore|thus|hence|then|and|i\s(?:think|believe)(?:\sthat)?|clearly)\b[\s,]*)+",
        "",
        words,
        flags=re.IGNORECASE,
    )
    text = _bare(text) or _bare(words)
    pronoun = re.match(r"(?:that|this|it|he|she|which|what|here|there|who|everything|nothing)\b", text, re.IGNORECASE)
    return None if pronoun or not text or len(text.split()) > _WORDS_ALONE or _WORKING.match(text) else text


def implied_text(lines: list[str]) -> str | None:
    """A text, or a last or first line, that is too short to be anything but the answer."""
    for line in dict.fromkeys((lines[-1], lines[0])) if lines else ():
        if len(lines) > 1 and _NUMBERED.match(line):
            continue
        line = _NUMBERED.sub("", line)
        if announced := _ANNOUNCED.match(line):
            line = announced[1]
        if is_its := _IT_IS.match(line):
            line = line[is_its.end() :]
        words = line.split()
        most = _WORDS_ALONE if len(lines) == 1 else _WORDS_LAST
        is_sentence = line.rstrip("*_ ").endswith((".", "!")) and len(words) > 3
        if (
            len(words) > most
            or is_sentence
            or line.rstrip("*_ ").endswith((":", "?", ",", "=", "…", "..."))
            or _LABELLED.match(line)
            or is_unfinished(line)
            or OF_THE_EXCHANGE.search(line)
        ):
            continue
        if len(words) > 1 and is_denied(line):
            continue
        if _CASUAL.match(line) or len(_HAN_OR_KANA.findall(line)) > _LONGEST_IN_HAN:
            continue
        casual, _, behind = line.partition(" ")
        if behind and _CASUAL.match(casual) and casual.endswith(("!", ".", ",")):
            line = behind
        if (answer := answer_text(line)) is not None:
            return answer
    return None


TEXT: Final = Kind(_content, answer_text, before_answer, implied_text, _SAYING)


@rule("answer/stated", version=2)
def stated_text(text: str) -> Reading:
    """The answer that a text states: behind "the answer is", in a box, tags or JSON, or in a line of its own."""
    return stated(text, TEXT)
