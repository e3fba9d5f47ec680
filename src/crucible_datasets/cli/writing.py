"""Write rows to a file, in the format and compression of its name, or to a folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from crucible_datasets.exceptions import ArgumentError

if TYPE_CHECKING:
    from crucible_datasets import Dataset

# These compress their own columns, and a compressed file could not be read in place.
_COMPRESSES_ITSELF = ("parquet", "arrow")


def write(rows: Dataset, path: str, force: bool = False, column: str | None = None) -> int:
    """Write rows to a file in the format of its name; the size of the file."""
    kind = require_writable(path, force)
    if kind == "folder":
        rows.save_to_disk(path)
        return sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path))
    _write(rows, kind, path, column)
    return os.path.getsize(path) if os.path.isfile(path) else 0


def require_writable(path: str, force: bool = False, name: str = "output") -> str:
    """The format of a file name; raises if it has none, or if the file exists."""
    kind = format_of(path)
    require_absent(path, force, name)
    return kind


def require_absent(path: str | None, force: bool, name: str = "output") -> None:
    """Raise if a file exists and must not be replaced."""
    if path is not None and not force and os.path.exists(path):
        raise ArgumentError(name, path, "it is there already; --force replaces it.")


def format_of(path: str) -> str:
    """The format of a file name; a name without an extension is a folder."""
    from crucible_datasets.formats.base import FORMATS
    from crucible_datasets.reading.compression import named_compression

    bare, compression = named_compression(path)
    extension = os.path.splitext(bare)[1].lower()
    if not extension and compression is None:
        return "folder"
    kinds = {each: name for name in writable() for each in FORMATS[name].extensions}
    if extension not in kinds:
        raise ArgumentError("output", path, f"its name should end with one of {', '.join(kinds)}.")
    if compression is not None and kinds[extension] in _COMPRESSES_ITSELF:
        raise ArgumentError("output", path, f"{kinds[extension]} is compressed inside: leave out .{compression}.")
    return kinds[extension]


def writable() -> list[str]:
    """The names of the formats that can be written."""
    from crucible_datasets.formats.base import FORMATS

    return [name for name in FORMATS if FORMATS[name].write is not None]


def _write(rows: Dataset, kind: str, path: str, column: str | None) -> None:
    from crucible_datasets.reading.compression import named_compression

    bare = named_compression(path)[0].lower()
    if kind == "text":
        rows.to_text(path, column=column or _only_column(rows))
    elif kind == "json":
        # Other programs expect an array in .json files; lines are .jsonl.
        rows.to_json(path, lines=not bare.endswith(".json"))
    elif kind == "csv":
        options: dict[str, Any] = {"sep": "\t"} if bare.endswith(".tsv") else {}
        rows.to_csv(path, **options)
    else:
        getattr(rows, f"to_{kind}")(path)


def _only_column(rows: Dataset) -> str:
    if "text" in rows.column_names or len(rows.column_names) == 1:
        return "text" if "text" in rows.column_names else rows.column_names[0]
    raise ArgumentError("column", None, f"a text file holds one column; choose one of {', '.join(rows.column_names)}.")
