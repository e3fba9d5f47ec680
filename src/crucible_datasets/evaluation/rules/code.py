"""Code in the output of a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from crucible_datasets.evaluation.rules.base import TRUNCATED, Reading, rule

STOPS = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
_FENCE = "```"
_BLOCKS = 64  # blocks that are searched, from the last
_DEFINING = ("def ", "class ", "async def ")


@rule("humaneval", version=1)
def humaneval(text: str) -> str:
    r"""The completion up to the first line that begins something new: class, def, #, if or print at its start."""
    found = (text.find(stop) for stop in STOPS)
    return text[: min((at for at in found if at >= 0), default=len(text))]


@rule("code/completion", version=1)
def completion(text: str) -> Reading:
    """A fenced block; else a whole program, if the text begins one; else the completion as `humaneval@1` reads it."""
    if _FENCE in text:
        return fenced(text)
    return Reading(text if _is_program(text) else humaneval(text))


def _is_program(text: str) -> bool:
    """Whether a text has a top-level definition before any line that only fits into a function body."""
    before = text[: len(text) - len(text.lstrip())]
    is_indented = bool(before.rpartition("\n")[2])
    return not is_indented and _defines(text)


def _defines(text: str) -> bool:
    return any(text.startswith(word) or f"\n{word}" in text for word in _DEFINING)


@rule("code/fenced", version=1)
def fenced(text: str) -> Reading:
    """The last fenced block that defines something, else the last block; without blocks, the whole text."""
    parts = text.split(_FENCE)
    if len(parts) == 1:
        return Reading(text)
    if len(parts) % 2 == 0:  # the last fence is not closed
        return TRUNCATED
    blocks = [_code(part) for part in parts[1::2][-_BLOCKS:]]
    # After a function there is often another block with an example or its output.
    return Reading(next(filter(_defines, reversed(blocks)), blocks[-1]))


def _code(block: str) -> str:
    """A block without the line with its language."""
    first_line, newline, code = block.partition("\n")
    return code if newline else first_line


# ── version 2: the block that defines what the tests of a sample call

_FENCE_LINE = re.compile(r"^[ \t]*(?:[-*>][ \t]+)?(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n`]*$", re.MULTILINE)
_CALLED = re.compile(r"(?<![\w.])([^\W\d]\w*)[ \t]{0,4}\(")
_TESTING = re.compile(
    r"^(?:(?:async )?def test|class Test|import unittest|assert |(?:async )?def (?:check|main)\b)", re.MULTILINE
)
_IN_PYTHON = ("", "python", "py", "python3", "python2", "code", "ipython", "pycon")
_NAMES = 200  # that tests call


class Block(NamedTuple):
    """The code of a fenced block, and its language."""

    code: str
    language: str

    def defines(self, names: Iterable[str]) -> bool:
        """Whether the block defines one of these names."""
        return any(
            re.search(rf"^[ \t]*(?:(?:async )?def|class) {name}\b|^{name}\s*=", self.code, re.MULTILINE)
            for name in names
        )


@rule("code/completion", version=2)
def completion_or_block(text: str, *, sample: Any = None) -> Reading:
    """A fenced block; else a whole program, if the text begins one; else the completion as `humaneval@1` reads it."""
    if _FENCE_LINE.search(text):
        return block_of(text, sample=sample)
    return completion(text)


@rule("code/fenced", version=2)
def block_of(text: str, *, sample: Any = None) -> Reading:
    """The last fenced block that defines what the tests call, else one that defines more than tests, else the last."""
    blocks, is_cut = _blocks(text)
    if not blocks and not is_cut:
        return fenced(text) if _FENCE in text else Reading(text)
    names = _tested(sample)
    candidates = [block for block in blocks if block.language in _IN_PYTHON] or blocks
    if solutions := [block for block in candidates if names and block.defines(names)]:
        return Reading(solutions[-1].code)
    if is_cut:
        return TRUNCATED
    defining = [block for block in candidates if _defines(block.code)]
    own = [block for block in defining if not _TESTING.search(block.code)]
    return Reading((own or defining or candidates)[-1].code)


def _blocks(text: str) -> tuple[list[Block], bool]:
    """The fenced blocks, and whether the last one does not end."""
    blocks: list[Block] = []
    opened: re.Match[str] | None = None
    for fence in _FENCE_LINE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2]:
            blocks.append(Block(text[opened.end() + 1 : fence.start()], opened[2].lower()))
            opened = None
    return blocks[-_BLOCKS:], opened is not None


def _tested(sample: Any) -> list[str]:
    """The names that a program must define: the entry point, the function of the cases, or what the tests call."""
    metadata = getattr(sample, "metadata", None) or {}
    if metadata.get("entry_point"):
        return [str(metadata["entry_point"])]
    tests = metadata.get("tests") or metadata.get("test") or metadata.get("test_list") or ""
    if isinstance(tests, (list, tuple)) and tests and isinstance(tests[0], Mapping):
        functions = [case.get("function") for case in tests]
    else:
        functions = _CALLED.findall("\n".join(tests) if isinstance(tests, (list, tuple)) else str(tests))
    return [name for name in dict.fromkeys(functions) if name and str(name).isidentifier()][:_NAMES]
