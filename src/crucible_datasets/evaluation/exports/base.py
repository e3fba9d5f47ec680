"""What an export is: one file that writes runs in one form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from crucible_datasets.registry import Registry


@dataclass(frozen=True)
class Export:
    """A form in which runs leave: its name, the ends of its file names, and the function that writes it."""

    name: str
    extensions: tuple[str, ...]
    write: Callable[..., None]  # of results and a path that becomes the file when it returns; options by keyword
    aliases: tuple[str, ...] = ()
    companions: bool = False  # `write` makes further files beside, and is told `target`, the name that the first gets


EXPORTS: Final[Registry[Export]] = Registry("export", "crucible_datasets.evaluation.exports", "EXPORT")
