"""What a text says that the answer is."""

from __future__ import annotations

from crucible_datasets.evaluation.rules.base import rule

_WORDS = "answer is"
_MARKS = " \t:*_$\"'`"


@rule("answer/stated", version=1)
def stated(text: str) -> str | None:
    """What stands behind the last `answer is`, up to the end of its line or a full stop there."""
    # Only letters whose lower case is as long: İ becomes two characters, and places would shift.
    lowered = text.lower() if text.isascii() else text.replace("Answer is", _WORDS).replace("ANSWER IS", _WORDS)
    at = lowered.rfind(_WORDS)
    if at < 0:
        return None
    line = text[at + len(_WORDS) :].strip(_MARKS).partition("\n")[0]
    return line.strip(_MARKS).removesuffix(".").strip(_MARKS) or None
