"""JSON: one object per line, an array of objects or values, or objects in any layout.

read          files → tables: blocks of a file, cut into pieces; one field of a document
infer         pieces → tables whose types hold every value; the one rule of keys and types
rows          text → Python rows; lines that cannot be read
structure     lines, nesting and arrays, found without parsing
typed_lines   lines of known types → Python rows without Arrow, for streams
write         tables → JSON Lines, or one document
"""

from __future__ import annotations

from crucible_datasets.formats.base import Format
from crucible_datasets.formats.json.read import read
from crucible_datasets.formats.json.write import write

__all__ = ["FORMAT"]

FORMAT = Format("json", (".json", ".jsonl", ".ndjson"), read, write, infers_dates=True)
