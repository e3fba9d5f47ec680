"""The part of a text that is the answer: up to the end of the turn, or a question that the model asks itself next."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Special tokens that end a turn, or introduce the answer.
_END = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end|return|end_of_solution|END_RESPONSE|user|end_of_turn)\|>"
    r"|<(?:end_of_turn|eos|/s)>|</s>|\[INST\]|<\|im_start\|>user"
)
_START = re.compile(
    r"\s{0,20}(?:<\|(?:im_start|start_header_id|begin_of_solution|START_RESPONSE|assistant|message)\|>"
    r"(?:assistant\b)?(?:<\|end_header_id\|>)?\s{0,20}){1,4}"
)
_ROLES = (
    r"question|q|problem|human|user|instructions?|input|passage|exercise|task|next question|new question"
    r"|pregunta|frage|pergunta|domanda|вопрос|vraag|fråga|pytanie|soru|câu hỏi|pertanyaan|问题|問題|题目|问|問|질문"
    r"|سؤال"
    r"|प्रश्न"
)
_NUMBERED = rf"(?:{_ROLES})[ \t]?\d{{0,3}}"
# A question, or another speaker, at the start of a line: "Question 2:", "**Q:**", "### Instruction:", "## Question".
_QUESTION = re.compile(
    rf"(?:^|\n)[ \t]{{0,8}}(?:[#>*_\[]{{0,5}}[ \t]{{0,4}}{_NUMBERED}[*_\]]{{0,3}}[ \t]?[:：]"
    rf"|(?:#{{1,6}}[ \t]{{1,4}}[*_]{{0,3}}|[*_]{{2,3}}){_NUMBERED}[*_]{{0,3}}[ \t]{{0,4}}(?=\n))",
    re.IGNORECASE,
)
# What comes before a question that is only repeated.
_INTRODUCING = re.compile(
    r"\s*(?:(?:sure|certainly|okay|ok|of course|absolutely|great)\b[!,.]*\s+)?(?:let's|let us|let me"
    r"|here)\b(?!\s(?:assume|suppose|try|say|know|go|pick|choose|select|answer))"
    r"[^\n]{0,200}[.:!]\Z",
    re.IGNORECASE,
)
_REPEATED = re.compile(r"question|problem|exercise|task|问|問", re.IGNORECASE)  # no other speaker
_ASKING = re.compile(r"\n[ \t]{0,8}\n(?=(?P<line>[^\n]{15,600}\?)[ \t]{0,8}\n)")
_CLAIMING = re.compile(r"answer|boxed|####", re.IGNORECASE)
_ANSWERED = re.compile(
    r"(?:[^\n]{0,200}\n){0,8}?[ \t]{0,8}[*_#]{0,4}(?:answer|ans|a|respuesta|antwort|答案)[*_]{0,3}[ \t]?:",
    re.IGNORECASE,
)
_ASKING_ITSELF = re.compile(
    r"\b(?:i|me|my|we|us|you|your|let's|wait|hmm|this|that|it|right|check)\b|^(?:but|so|is|are|and|or)\b", re.IGNORECASE
)
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_BLANKS = re.compile(r"([^\S\n])[^\S\n]{7}[^\S\n]++|(\n{8})\n++")  # no reading depends on how many there are
_HEAD, _TAIL = 4_000, 20_000  # characters of a long text in which an answer is looked for
_WIDE: Final = {code + 0xFEE0: code for code in range(0x21, 0x7F)} | {0x3000: 0x20, 0x202F: 0x20, 0xA0: 0x20}


def answer_part(text: str) -> str:
    """The part that answers, in half-width letters and ASCII digits, without what the model asks itself afterwards."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n\n{text[-_TAIL:]}"
    text = _BLANKS.sub(lambda blanks: blanks[2] or blanks[1] * 8, normalized(text.replace("\r\n", "\n")))
    if start := _START.match(text):
        text = text[start.end() :]
    begun = len(text) - len(text.lstrip())
    text = text[: next((end.start() for end in _END.finditer(text) if end.start() > begun), len(text))]
    return _before_the_next_question(text)


def normalized(text: str) -> str:
    """Full-width letters as ASCII, digits of all scripts as ASCII digits, one kind of space."""
    if text.isascii():
        return text
    text = _PRIVATE.sub(" ", text).translate(_WIDE)
    return "".join(map(_ascii_digit, text)) if any(map(_is_foreign_digit, text)) else text


def _is_foreign_digit(character: str) -> bool:
    return character > "\x7f" and character.isdecimal()


def _ascii_digit(character: str) -> str:
    return str(unicodedata.decimal(character)) if _is_foreign_digit(character) else character


def _before_the_next_question(text: str) -> str:
    """A text may begin by repeating its question; a question after anything else is the next one."""
    begun = len(text) - len(text.lstrip())
    matches = [question for question in _QUESTION.finditer(text) if question.start() > begun]
    questions = [question.start() for question in matches]
    before = text[: questions[0]].strip() if questions else ""
    if matches and _REPEATED.search(matches[0][0]) and _INTRODUCING.match(before) and not _CLAIMING.search(before):
        questions = questions[1:]
    ends = questions[:1]
    ends += [
        asking.start()
        for asking in _ASKING.finditer(text)
        if asking.start() > begun
        and not _ASKING_ITSELF.search(asking["line"])
        and (_CLAIMING.search(text, 0, asking.start()) or _ANSWERED.match(text, asking.end("line") + 1))
    ]
    return text[: min(ends, default=len(text))]
