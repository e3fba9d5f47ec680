r"""What a text states as its answer: the last statement that it does not deny, doubt or take back.

    1  the part of the text that answers (`parts`)
    2  what can only be an answer becomes one character: `\boxed{…}`, `<answer>…</answer>`, {"answer": …}, `#### …`
    3  sentence by sentence, claims: "the answer is …", "… is correct", or such a character; in many languages
    4  a claim that is denied, a question or a supposition states nothing; "or", "unknown" state that there is none
    5  without any statement, what a whole line says (`Kind.implied`)

What an answer of a type looks like is a `Kind`: of letters (`choice`), numbers, texts and formulas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from crucible_datasets.evaluation.rules import wording
from crucible_datasets.evaluation.rules.base import TRUNCATED, UNPARSED, Reading
from crucible_datasets.evaluation.rules.boxed import closing_brace
from crucible_datasets.evaluation.rules.parts import answer_part

NONE: Final = ""  # of a claim: it says that there is no answer, or several
Parse = Callable[[str], "str | None"]  # None: it says nothing about an answer of this type


class Kind(NamedTuple):
    """How answers of one type are read."""

    content: Parse  # of a text that is nothing but the answer, such as the content of a box
    head: Parse  # of the words behind "the answer is"
    tail: Parse  # of the words before "is the answer"
    implied: Callable[[list[str]], str | None]  # of the lines of a text that states none
    weak: re.Pattern[str] | None = None  # words such as "I choose", which count if nothing else is stated
    hashes: bool = False  # whether a line that begins with #### states an answer


class Part(NamedTuple):
    """An answering part, in which a character of the private area stands for each claim of `contents`."""

    text: str
    contents: list[str]
    is_cut: bool  # it ends within a box, a tag or a string

    def restored(self, text: str) -> str:
        """A text of the part with the contents of its claims."""
        return _EXACT.sub(lambda claim: self.contents[ord(claim[0]) - 0xE000], text)


_EXACT = re.compile(f"[{wording.CLAIM}]")
_MOST = 1000  # claims of a text
_BOXES = 100  # of a text, from its end
_LONGEST = 3000  # characters of a sentence that are looked at, from its end
_SENTENCES = 600  # that are looked at, from the end
_REST = 20  # sentences behind a claim that may belong to it, such as after "Dr."
_CLAIMS = 12  # of a sentence, from its end

# ── what can only be an answer

_BOX = re.compile(r"\\(?:boxed|fbox)\s?(?=\{)|\\boxed (?=[^\s{$][^$\n]{0,200}\$)")
_BOX_IN_BOX = re.compile(r"\s*\$?\s*\\(?:boxed|fbox)\s?\{(.*)\}\s*\$?\s*")
_NAME = (
    r"(?:(?:final|correct|predicted|selected|chosen)[_-]?)?(?:answer|choice|solution|result|(?<=[_-])(?:option|label|letter))"
    r"(?:[_-]?(?:letter|text|value|option|choice|key|label))?"
)
_TAG = re.compile(
    rf"<({_NAME}|option|ans|output|response|final)(?:\s[^<>\n]{{0,100}})?>(.*?)(?:</\1>|\Z)|\[(answer)\](?!\s?:)(.*?)(?:\[/answer\]|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_FIELD = re.compile(
    rf"""(?:["'](?:{_NAME}|option|prediction|label|letter|selected(?:_option)?|response|final)["']|(?<=[{{,])\s{{0,8}}{_NAME}(?=:\s?["']))
    \s{{0,8}}:\s{{0,8}}
    (?:\{{\s{{0,8}}["'](?:value|text|letter|label|choice|option|final|content|answer)["']\s{{0,8}}:\s{{0,8}})?
    (?:\[\s{{0,8}}(?=(?:"[^"\n]{{0,2000}}"|[-+\d.]{{1,40}})\s{{0,8}}\]))?
    ( "(?:[^"\\\n]|\\.){{0,2000}}" | '[^'\n]{{0,2000}}' | [-+]?[\d.][\d.,eE+-]{{0,40}}(?<!,) | true | false | null
    | (?P<open>["'][^"\n]{{0,2000}}\Z) )""",
    re.IGNORECASE | re.VERBOSE,
)
_CALL = re.compile(r"""\b(?:final_?)?answer\(\s?["']?([^()\n"']{1,200})["']?\s?\)""", re.IGNORECASE)
_VERDICT = re.compile(r"\[\[([^\[\]\n]{1,40})\]\]")
_HASHES = re.compile(r"^[ \t]*####(?!#)[ \t]*(\S[^\n#]{0,80})#{0,6}[ \t]*$", re.MULTILINE)
# Emphasis, and code in a line. An asterisk between spaces is a product.
_EMPHASIS = re.compile(
    r"((?<![A-Za-z0-9)*])\*{1,3}(?!\*)|(?<![A-Za-z0-9_])_{1,3}(?!_)|(?<!`)`{1,2}(?!`))(?=[^\s*`])([^*`\n]{1,400}?)(?<=[^\s*])"
    r"(?:\*{1,3}(?![A-Za-z0-9*])|_{1,3}(?![A-Za-z0-9_])|`{1,2}(?!`))"
)
# A program is not the answer, unless it is all there is.
_PROGRAM = re.compile(
    r"^[ \t]*```(?:python\w?|py|ipython|c|cpp|c\+\+|java|javascript|js|typescript|ts|sql|bash|sh|shell|r|julia"
    r"|rust|go|ruby|matlab)"
    r"[ \t]*\n.*?(?:^[ \t]*```[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*```[\w+-]*[ \t]*$", re.MULTILINE)
_FRAME = re.compile(
    r"^[ \t]{0,8}(?:\*{3,20}|={2,20}|-{3,20})[ \t]{1,4}|[ \t]{1,4}(?:\*{3,20}|={2,20}|-{3,20})[ \t]{0,8}$", re.MULTILINE
)
_TOKEN = re.compile(r"<\|(?:final_?)?answer\|>", re.IGNORECASE)
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
_BREAK = re.compile(r"<(?:br|/p|/div|/li|/tr|/h[1-6]|p|div|li|tr|h[1-6])(?:\s[^<>\n]{0,100})?\s?/?>", re.IGNORECASE)
_INLINE = re.compile(
    r"</?(?:b|strong|i|em|u|span|mark|code|pre|center|ul|ol|td|th|table|sup|sub)(?:\s[^<>\n]{0,100})?>", re.IGNORECASE
)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{(?:equation|align|gather|multline|displaymath|center|flalign)\*?\}")
_LATEX_LABEL = re.compile(
    r"\\(?:text(?:bf|it|rm|sf)?|math(?:bf|rm)|emph|underline|(?:sub){0,2}section\*?|paragraph)\s?\{([^{}\n]{0,40}(?:answer|result)\b[^{}\n]{0,20})\}",
    re.IGNORECASE,
)
# A table of one row, under a heading that names the answer.
_TABLE = re.compile(
    r"^[ \t]*\|([^\n]{1,400})\|[ \t]*\n[ \t]*\|[-: \t|]{3,200}\|[ \t]*\n[ \t]*\|([^\n]{1,1000})\|[ \t]*$", re.MULTILINE
)
_NAMED_CELL = re.compile(r"\W*(?:the\s|my\s)?(?:final\s|correct\s)?(?:answer|result)\W*", re.IGNORECASE)
_SIZE = re.compile(
    r"\A\\(?:displaystyle|textstyle|tiny|small|normalsize|large|Large|LARGE|huge|Huge|boldsymbol|bm)\b\s?"
)
_LATEX_SPACE = re.compile(r"\A(?:\\[,;:! ]|[\s~])+|(?:\\[,;:! ]|[\s~])+\Z|\\\Z")
_CALCULATION = re.compile(r"<<[^<>\n]{0,200}>>")
_SPEAKING = re.compile(r"answer|boxed|\n", re.IGNORECASE)


def _part(text: str, kind: Kind) -> Part:
    """The answering part with its exact claims."""
    contents: list[str] = []

    def claimed(content: str) -> str:
        """A character for the content; a text that speaks is read as text, a word in place of an answer is none."""
        content = _LATEX_SPACE.sub("", content)
        if size := _SIZE.match(content):
            content = content[size.end() :]
            content = (
                content[1:-1] if content.startswith("{") and closing_brace(content, 0) == len(content) - 1 else content
            )
        if wording.PLACEHOLDER.fullmatch(content):
            return ""
        if is_nothing(content):
            content = ""
        if len(contents) >= _MOST or _SPEAKING.search(content):
            return f"\n{content}\n"
        contents.append(content)
        return chr(0xE000 + len(contents) - 1)

    text = _without_layout(_CALCULATION.sub("", answer_part(text)))
    is_cut = False

    def field(match: re.Match[str]) -> str:
        nonlocal is_cut
        is_cut = is_cut or match["open"] is not None
        return "" if match["open"] else claimed(_decoded(match[1]))

    text = _FIELD.sub(field, text)
    text = _TABLE.sub(lambda match: _answer_cell(match, claimed), text)
    for _ in range(2):  # a tag may be within another
        text = _TAG.sub(lambda match: claimed(match[2] if match[2] is not None else match[4]), text)
    text = _CALL.sub(lambda match: claimed(match[1]), text)
    text, was_cut = _boxes_replaced(text, claimed)
    text = _VERDICT.sub(lambda match: claimed(match[1]) if kind.content(match[1]) else match[0], text)
    if kind.hashes:
        text = _HASHES.sub(lambda match: claimed(match[1]) if kind.content(match[1]) else match[0], text)
    return Part(text, contents, is_cut or was_cut)


def _without_layout(text: str) -> str:
    """A text without programs, fences, emphasis and tags of layout; words that are struck out are gone."""
    text = _FRAME.sub("", text)
    text = _FENCE.sub("", _PROGRAM.sub("\n", text) if "```" in text else text)
    if "<" in text:
        text = _TOKEN.sub("\nAnswer: ", text)
        text = _INLINE.sub("", _BREAK.sub("\n", text))
    if "\\" in text:
        text = _ENVIRONMENT.sub("\n", _LATEX_LABEL.sub(r"\1", text))
    return _EMPHASIS.sub(r"\2", _STRUCK.sub("", text) if "~~" in text else text)


def _answer_cell(table: re.Match[str], claimed: Callable[[str], str]) -> str:
    """The table, in which the cell under "Answer" is a claim."""
    names, cells = table[1].split("|"), table[2].split("|")
    if len(names) != len(cells) or table.string.startswith("|", table.end() + 1):
        return table[0]
    answers = [cell for name, cell in zip(names, cells, strict=True) if _NAMED_CELL.fullmatch(name)]
    return f"\n{claimed(answers[-1])}\n" if answers else table[0]


# LaTeX that a model put into JSON without doubling its backslashes: \f of \frac would be a form feed.
_LATEX = re.compile(
    r"(?<!\\)\\(?:[dt]?frac|text\w*|times|theta|tan|to|beta|binom|begin|bar|right|rho|neq?|boxed|frac)\b"
)


def _decoded(value: str) -> str:
    try:
        decoded = value[1:-1] if _LATEX.search(value) else json.loads(value)
    except ValueError:
        decoded = value.strip("\"'")
    return "null" if decoded is None else str(decoded)


def _boxes_replaced(text: str, claimed: Callable[[str], str]) -> tuple[str, bool]:
    pieces: list[str] = []
    end = 0
    for box in [*_BOX.finditer(text)][-_BOXES:]:
        if box.start() < end:
            continue
        opened = box.end()
        close = closing_brace(text, opened) if text[opened] == "{" else text.find("$", opened)
        if close < 0:
            return "".join([*pieces, text[end : box.start()]]), True
        content = text[opened + (text[opened] == "{") : close]
        if inner := _BOX_IN_BOX.fullmatch(content):
            content = inner[1]
        pieces += [text[end : box.start()], claimed(content)]
        end = close + (text[opened] == "{")
    return "".join([*pieces, text[end:]]), False


# ── claims in sentences

_SEVERAL = re.compile(rf"[{wording.CLAIM}]\W{{0,6}}\b(?:or|and)\b\W{{0,6}}[{wording.CLAIM}]")
_SENTENCE = re.compile(
    r"""(?<=[.!?。！？])(?<!\b[aA]ns\.)(?<!\s[eEvV][gs]\.)(?<!\b(?:Dr|Mr|Ms|St|Mt)\.)(?<!\b(?:Mrs|Gen|Sgt|Col)\.)(?<!\bProf\.)"""
    r"""(?<![A-Z]\.\s[A-Z]\.)(?!(?<=\b[A-Z]\.)\s[A-Z]\.)["'”’)*_`]{0,4}(?:\s+|(?<=[。！？]))|(?<=。)"""
    r"""|[,;—–…]\s?(?=(?:oh,?\s)?(?:no|wait|actually),?\s(?:no|wait|actually)\b|(?:sorry,?\s)?i\smean\b|or\srather\b)"""
    r"""|[—–…]\s?(?=(?:no|sorry|scratch\sthat)\b)"""
)
_MARKUP = re.compile(r"\s*(?:>\s*)*(?:#{1,6}\s+)?(?:[-*+•]\s+)?(?:\|\s*)?")

_SECTION = re.compile(r"\s*#{1,6}\s")
_DELIMITER = re.compile(r"\s*+(?:\$\$|\\\[|\\\]|-{3,}+|\*{3,}+|_{3,}+|={3,}+)?+\s*+")
_LABELLED = 8  # words behind "Result:"
_NEAR = 3  # sentences behind a claim, which may take it back


def is_nothing(claim: str) -> bool:
    """Whether a claim says that there is no answer, or that it is one of several."""
    return bool(wording.NOTHING.match(claim) or wording.PLACEHOLDER.fullmatch(claim))


def is_unfinished(sentence: str) -> bool:
    """Whether a sentence ends in the middle: with a word such as "the", an operator or an opening bracket."""
    return bool(wording.UNFINISHED.search(sentence.rstrip()))


def is_denied(sentence: str) -> bool:
    """Whether a sentence says that something is not so, is a common mistake, or is doubtful."""
    return bool(wording.DOUBTFUL.search(sentence))


class Stated(NamedTuple):
    """What a text states: None if nothing, NONE if that there is no answer."""

    answer: str | None
    why: str


def stated(text: str, kind: Kind) -> Reading:
    """The answer that a text states."""
    part = _part(text, kind)
    said = _said(part, kind)
    if said.answer is None and not part.is_cut:
        lines = [line[-_LONGEST:] for line in part.text.split("\n") if line.strip()]
        lines = [_MARKUP.sub("", line, count=1) for line in lines if line is lines[-1] or not _SECTION.match(line)]
        said = Stated(_implied(without_remarks(lines), kind), "nothing else in its line")
    if said.answer:
        return Reading(part.restored(said.answer))
    return TRUNCATED if part.is_cut and said.answer is None else UNPARSED


def reason(text: str, kind: Kind) -> str:
    """Why a text is read as it is: the sentence that states the answer."""
    part = _part(text, kind)
    said = _said(part, kind)
    if said.answer is None:
        if part.is_cut:
            return "it ends within an answer"
        found = "a line gives one by itself" if stated(text, kind).text else "no line gives one by itself"
        return f"no sentence states an answer; {found}"
    sentence = part.restored(said.why).strip()
    return f"the last statement: {sentence[:200]}" if said.answer else f"no answer, or several: {sentence[:200]}"


def _implied(lines: list[str], kind: Kind) -> str | None:
    """The answer of a line that claims nothing; a claim in the last line that was not understood leaves none."""
    silent = [line for line in lines if not wording.MARKER.search(line)]
    return None if lines and silent[-1:] != lines[-1:] else kind.implied(silent)


class Sentence(NamedTuple):
    """A sentence, the rest of its line, and the next line, which a sentence such as "The answer is:" announces."""

    text: str
    rest: str
    following: str


def _said(part: Part, kind: Kind) -> Stated:
    """The last claim, sentence by sentence."""
    said, weak, age, denied = Stated(None, ""), Stated(None, ""), 0, False
    for sentence in _sentences(part.text):
        answer = _claim(sentence, part, kind)
        age += 1
        if answer is None and (age <= _NEAR or denied) and (said.answer is not None or weak.answer or denied):
            answer = _corrected_claim(sentence.text, kind, denied)
        denied = answer is None and (
            bool(wording.DENIED_ANSWER.search(sentence.text)) or (_asks(sentence.text) and "answer" in sentence.text)
        )
        if answer is not None:
            said, age = Stated(answer, sentence.text), 0
            continue
        if wording.TAKEN_BACK.match(sentence.text) and (weak.answer if said.answer is None else age <= _NEAR):
            weak = Stated(NONE, sentence.text)
            said = weak if said.answer else said
        answer = _weak_claim(sentence.text, kind)
        if answer is None:
            continue
        if said.answer is None:
            weak = Stated(answer, sentence.text)
        elif age <= _NEAR and (said.answer == NONE or wording.CORRECTING.match(sentence.text)):
            said = Stated(answer, sentence.text)
    return weak if said.answer is None else said


def _sentences(text: str) -> Iterator[Sentence]:
    lines = [_MARKUP.sub("", line, count=1) for line in text.split("\n") if not _DELIMITER.fullmatch(line)][
        -_SENTENCES:
    ]
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        sentences = _SENTENCE.split(line)[-_SENTENCES:]
        for place, sentence in enumerate(sentences, 1):
            rest = " ".join(sentences[place : place + _REST])[:_LONGEST]
            yield Sentence(sentence[-_LONGEST:], rest, "" if rest.strip() else following)


def _claim(sentence: Sentence, part: Part, kind: Kind) -> str | None:
    """The answer that a sentence states."""
    if _asks(sentence.text):
        is_answered = wording.HEADING.match(sentence.text) and sentence.rest.strip()  # "And the answer? 5."
        return kind.head(sentence.rest) if is_answered else None
    for claim in (_exact_claim, _marked_claim, _bare_claim, _affirmed_claim):
        answer = claim(sentence, part, kind)
        if answer is not None:
            return answer
    return None


def _exact_claim(sentence: Sentence, part: Part, kind: Kind) -> str | None:
    """The content of the last box, tag or field that the sentence does not deny."""
    if sentence.text.isascii():
        return None
    answers: list[str] = []
    for claim in [*_EXACT.finditer(sentence.text)][-_CLAIMS:]:
        before, behind = sentence.text[: claim.start()].rstrip("$ \\([{*:\"'"), sentence.text[claim.end() :]
        markers = list(wording.MARKER.finditer(before))
        denied = (
            _denies(before)
            or (markers and _denies(before[: markers[-1].start()]))
            or wording.DENIED.match(behind.lstrip("$ \\)]}*."))
        )
        if not denied and not (markers and wording.NOT.match(before[markers[-1].end() :])):
            answers.append(kind.content(part.contents[ord(claim[0]) - 0xE000]) or NONE)
    several = len({*answers}) > 1 and _SEVERAL.search(sentence.text)
    return None if not answers else NONE if several else answers[-1]


def _marked_claim(sentence: Sentence, part: Part, kind: Kind) -> str | None:
    """What follows the last "the answer is" of the sentence that nothing denies, or the next line."""
    answer: str | None = None
    for marker in [*wording.MARKER.finditer(sentence.text)][-_CLAIMS:]:
        claim = sentence.text[marker.end() :]
        if _denies(sentence.text[: marker.start()]) or wording.NEGATED.search(marker["between"] or ""):
            continue
        if wording.CALLED_FALSE.search(claim) or wording.NO.search(sentence.text[: marker.start()]):
            continue
        if marker[0].endswith("=") and (marker["between"] or "").strip(" *_"):  # an equation behind the word "answer"
            continue
        if "would" in marker[0] and (wording.SUPPOSING.match(sentence.text) or wording.IF.search(claim)):
            continue
        if (bracket := sentence.text[: marker.start()].rstrip(" *_")[-1:]) in ("(", "["):
            claim = claim.rstrip(" *_.").removesuffix(")" if bracket == "(" else "]")
        if not claim.strip(" *_:|$\"'.…"):
            claim = sentence.rest or sentence.following
        elif wording.NOT.match(claim) or "n't" in marker[0] or wording.NOT_BEHIND.search(claim):
            but = wording.BUT.search(claim)
            if but is None:
                continue
            claim = but[1]
        if sentence.following and claim.rstrip(" *_").endswith(":") and is_nothing(claim):  # "The answer is below:"
            claim = sentence.following
        is_open = wording.PERHAPS.search(marker[0]) and wording.OR.search(claim)
        found = NONE if is_open or wording.HESITANT.search(claim) else kind.head(f"{claim} {sentence.rest}")
        if found is None and claim.strip() and is_nothing(claim):
            found = NONE
        answer = answer if found is None else found
    if answer is None and sentence.following and wording.HEADING.match(sentence.text):
        return kind.content(sentence.following)
    return answer


def _bare_claim(sentence: Sentence, part: Part, kind: Kind) -> str | None:
    """The answer of "Answer B" or "A: B", which must be nothing but the answer."""
    for pattern in wording.BARE:
        if (
            (bare := pattern.match(sentence.text))
            and not is_denied(sentence.text)
            and (answer := kind.content(bare[1]))
        ):
            return answer
    return None


def _affirmed_claim(sentence: Sentence, part: Part, kind: Kind) -> str | None:
    """The answer that "… is the answer" or "… is correct" says."""
    answer: str | None = None
    for affirmed in [*wording.AFFIRMED.finditer(sentence.text)][-_CLAIMS:]:
        before = sentence.text[: affirmed.start()]
        clause = before[_clause(before, len(before)) :]
        if not wording.UNAFFIRMED.search(clause) and not wording.SUPPOSED.search(before):
            answer = kind.tail(before) or answer
    return answer


def _asks(sentence: str) -> bool:
    """Whether a sentence is a question, except for one that only asks for agreement."""
    end = sentence.rstrip("\"'”’)*_` ")
    return end.endswith("?") and not end.endswith(("right?", "correct?"))


def _denies(before: str) -> bool:
    """Whether the words before a claim deny it, doubt it or only suppose it."""
    before = wording.SURE.sub("", before[-200:] + (" " if before[-1:].strip() else ""))
    if wording.DENYING.search(before):
        return True
    clause = before[_clause(before, len(before)) :]
    return bool(wording.EMBEDDED.search(clause) and wording.DOUBTED.search(clause))


def _weak_claim(sentence: str, kind: Kind) -> str | None:
    if kind.weak is None or wording.MARKER.search(sentence):
        return None
    if (label := wording.LABEL.match(sentence)) and len(label[1].split()) <= _LABELLED:
        return None if is_denied(label[1]) else kind.content(label[1])
    claims = [
        match
        for match in [*kind.weak.finditer(sentence)][-_CLAIMS:]
        if not is_denied(sentence[_clause(sentence, match.start()) :])
    ]
    answers = {kind.head(sentence[match.end() :]) for match in claims} - {None}
    return answers.pop() if len(answers) == 1 else NONE if answers else None


def _corrected_claim(sentence: str, kind: Kind, denied: bool) -> str | None:
    """The answer of "No, it's B", which takes the place of the one before; behind "It is not A", "It's B" does too."""
    correction = wording.INSTEAD.match(sentence)
    if (
        correction is None
        or not (denied or correction["hesitating"] or correction["meaning"])
        or _asks(sentence)
        or is_denied(correction["words"])
    ):
        return None
    return kind.tail(correction["words"].rstrip(" .!*_"))


def _clause(sentence: str, place: int) -> int:
    """Where the clause with this place begins."""
    return 1 + max(sentence.rfind(mark, 0, place) for mark in ",;—")


# ── lines


def without_remarks(lines: list[str]) -> list[str]:
    """The lines without rules across the page, and without what a model says to the user in the end."""
    lines = [line for line in lines if not _DELIMITER.fullmatch(line)]
    end = len(lines)
    while end and wording.REMARK.match(lines[end - 1]):
        end -= 1
    return lines[:end]


def last_sentence(lines: list[str]) -> str:
    """The last sentence that is not a remark to the user."""
    for sentence in reversed(_SENTENCE.split(lines[-1])) if lines else ():
        if sentence.strip() and not wording.REMARK.match(sentence):
            return sentence.strip()
    return ""
