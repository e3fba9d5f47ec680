"""Data from standard input, in a temporary file that exists while the command runs."""

from __future__ import annotations

import os
import shutil
import sys
from codecs import BOM_UTF8
from tempfile import TemporaryDirectory
from typing import Any

from crucible_datasets.exceptions import ArgumentError

STANDARD_INPUT = "-"
_ARROW = (b"ARROW1", b"\xff\xff\xff\xff")  # a file; a stream
_BEGINNINGS = (
    (b"PAR1", ".parquet"),
    *((first, ".arrow") for first in _ARROW),
    (b"{", ".jsonl"),
    (b"[", ".json"),
)
_SEPARATORS = ((b"\t", ".tsv"), (b",", ".csv"))
_FOLDERS: list[TemporaryDirectory[str]] = []  # removed when the program ends


def spooled() -> tuple[str, dict[str, Any]]:
    """A temporary file with the content of standard input, named by its format, and load options with its cache."""
    if sys.stdin.isatty():
        raise ArgumentError("dataset", STANDARD_INPUT, "nothing is piped into the command.")
    _FOLDERS.append(TemporaryDirectory(prefix="crucible-stdin-"))
    folder = _FOLDERS[-1].name
    path = os.path.join(folder, "stdin")
    with open(path, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    named = path + _ending(path)
    os.rename(path, named)
    return named, {"cache_dir": folder}


def _ending(path: str) -> str:
    """The extension for this content, by its first bytes or the separator in its first line."""
    with open(path, "rb") as file:
        line = file.readline(1 << 20).removeprefix(BOM_UTF8).lstrip()
    known = [ending for first, ending in _BEGINNINGS if line.startswith(first)]
    known += [ending for separator, ending in _SEPARATORS if separator in line]
    if not known:
        other = "it begins like no Parquet, Arrow, JSON, CSV or TSV: write it to a file whose name says its format."
        raise ArgumentError("dataset", STANDARD_INPUT, other if line else "what was piped into the command is empty.")
    return known[0]
