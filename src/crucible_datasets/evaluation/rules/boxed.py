r"""The answer in the last `\boxed{…}` of a solution, with balanced braces."""

from __future__ import annotations

from typing import Final

from crucible_datasets.evaluation.rules.base import TRUNCATED, UNPARSED, Reading, rule

LONGEST: Final = 10_000  # characters; a longer box is not an answer


@rule("math/boxed", version=1, aliases=("boxed",))
def last_boxed(text: str, escapes: bool = True) -> Reading:
    r"""The content of the last `\boxed{…}` or `\fbox{…}`, or the text between `\boxed ` and a dollar sign."""
    at = max(text.rfind("\\boxed"), text.rfind("\\fbox"))
    if at < 0:
        return UNPARSED
    opened = at + (6 if text.startswith("\\boxed", at) else 5)
    if text.startswith("{", opened):
        end = closing_brace(text, opened, escapes)
        if end < 0:
            return TRUNCATED if len(text) - opened < LONGEST else UNPARSED
        return Reading(text[opened + 1 : end].strip())
    bare = text[opened + 1 : opened + LONGEST].partition("$")[0] if text.startswith(" ", opened) else ""
    return Reading(bare.strip()) if bare.strip() else UNPARSED


def closing_brace(text: str, opened: int, escapes: bool = True) -> int:
    r"""The position of the brace that closes `opened`, or -1. With `escapes`, `\{` and `\}` are not braces."""
    plain = text[opened : opened + LONGEST]
    if escapes and "\\" in plain:
        for escaped in ("\\\\", "\\{", "\\}"):
            plain = plain.replace(escaped, "  ")
    depth, at = 0, opened
    for piece in plain.split("}")[:-1]:
        depth += piece.count("{") - 1
        at += len(piece)
        if depth == 0:
            return at
        at += 1
    return -1
