"""`Export`, the interface of an export format, and its registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from crucible_datasets.registry import Registry


@dataclass(frozen=True)
class Export:
    """An export format: its name, its file extensions, and the function that writes it."""

    name: str
    extensions: tuple[str, ...]
    write: Callable[..., None]  # takes results and a temporary path, and options by keyword
    aliases: tuple[str, ...] = ()
    companions: bool = False  # `write` creates further files, and gets the final path as `target`


EXPORTS: Final[Registry[Export]] = Registry("export", "crucible_datasets.evaluation.exports", "EXPORT")
