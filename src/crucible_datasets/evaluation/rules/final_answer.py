"""The answer that a text states."""

from __future__ import annotations

from crucible_datasets.evaluation.rules.base import rule

_WORDS = "answer is"
_MARKS = " \t:*_$\"'`"


@rule("answer/stated", version=1)
def stated(text: str) -> str | None:
    """The text after the last `answer is`, up to the end of its line or a full stop."""
    # `lower` would shift positions in non-ASCII text: the lower case of İ has two characters.
    lowered = text.lower() if text.isascii() else text.replace("Answer is", _WORDS).replace("ANSWER IS", _WORDS)
    at = lowered.rfind(_WORDS)
    if at < 0:
        return None
    line = text[at + len(_WORDS) :].strip(_MARKS).partition("\n")[0]
    return line.strip(_MARKS).removesuffix(".").strip(_MARKS) or None
