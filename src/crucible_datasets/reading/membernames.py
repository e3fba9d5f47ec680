"""The names that archives give their members: which count, in which order, and which lead elsewhere."""

from __future__ import annotations

import re

_SEPARATORS = re.compile(r"[/\\]")
_DRIVE = re.compile(r"[A-Za-z]:")


def safe_parts(name: str) -> list[str] | None:
    """The folders and the file that a name stands for, or None if it leads elsewhere.

    >>> safe_parts("./data/a.csv"), safe_parts("../a.csv"), safe_parts("C:/a.csv")
    (['data', 'a.csv'], None, None)
    """
    parts = [part for part in _SEPARATORS.split(name) if part not in ("", ".")]
    leads_elsewhere = name.startswith(("/", "\\")) or "\0" in name or ".." in parts or bool(_DRIVE.match(name))
    return None if leads_elsewhere or not parts else parts


def is_shown(name: str) -> bool:
    """Whether a member is more than what an operating system or a program left there."""
    *folders, file = _SEPARATORS.split(name)
    return not file.startswith((".", "__")) and "__MACOSX" not in folders


def is_data(name: str) -> bool:
    """Whether a member may hold rows: neither it nor a folder it is in is hidden, and it leads nowhere else."""
    parts = safe_parts(name)
    return parts is not None and not any(part.startswith((".", "__")) for part in parts)


def walking_order(name: str) -> tuple[list[tuple[int, str]], str]:
    """A key to sort by: the files of a folder first, then its folders, both by name."""
    *folders, file = safe_parts(name) or [name]
    return [*((1, folder) for folder in folders), (0, file)], name
