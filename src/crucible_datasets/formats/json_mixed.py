"""JSON rows that Arrow's reader cannot read.

The rows are parsed into Python objects. Where values of a column differ in type, or objects in their keys, each value
is replaced by its JSON text. Then every column has one type, and the rows are written as JSON Lines again and read by
Arrow.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa

from crucible_datasets.features import jsontext
from crucible_datasets.features.infer import mixed_feature
from crucible_datasets.features.storage import feature_of, storage_type, to_extension
from crucible_datasets.features.types import Json, LargeList, List, any_leaf
from crucible_datasets.features.unite import unite
from crucible_datasets.formats.json_numbers import DECODER, TooBigError

Row = dict[str, Any]


@dataclass
class Problem:
    """Why rows could not be parsed, and at which byte of the text, if known.

    `line` is counted from the first line of the row that begins there, and `column` from 1.
    """

    reason: str
    offset: int | None
    at_end: bool
    line: int | None = None
    column: int | None = None


@cache
def _orjson() -> Any:
    try:
        return importlib.import_module("orjson")
    except ImportError:
        return None


def loads(text: bytes) -> Any:
    """One JSON value; a `ValueError` for anything else."""
    fast = _orjson()
    if fast is not None:
        try:
            return fast.loads(text)
        except ValueError:
            pass  # only the standard library accepts NaN and Infinity
    try:
        return jsontext.loads(text.decode())
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def dumps(value: Any) -> bytes:
    """A value as JSON text in UTF-8, without spaces."""
    fast = _orjson()
    if fast is not None:
        try:
            return fast.dumps(value)
        except TypeError:
            pass  # integers beyond 64 bits
    return jsontext.dumps(value).encode()


def parsed_rows(text: bytes) -> tuple[list[Any], Problem | None]:
    """The values of the text, parsed line by line if possible, and the problem that ended the parsing."""
    rows: list[Any] = []
    offset = 0
    for line in text.split(b"\n"):
        try:
            if line.strip():
                rows.append(loads(line))
        except ValueError:
            problem = _parse_documents(text[offset:], rows)
            if problem is not None:
                problem.offset = offset + (problem.offset or 0)
            return rows, problem
        offset += len(line) + 1
    return rows, None


def _parse_documents(text: bytes, rows: list[Any]) -> Problem | None:
    """Parse concatenated values in any layout, and append each to `rows`."""
    try:
        characters = text.decode()
    except UnicodeDecodeError as error:
        return Problem(f"not utf-8 text: {error}", error.start, at_end=False)
    decode = DECODER.raw_decode
    at = _next(characters, 0)
    while at < len(characters):
        try:
            value, end = decode(characters, at)
        except RecursionError:
            return Problem("nested too deeply.", len(characters[:at].encode()), at_end=False)
        except TooBigError as error:
            return Problem(str(error), len(characters[:at].encode()), at_end=False)
        except ValueError as error:
            return _broken(characters, at, error)
        rows.append(value)
        at = _next(characters, end)
    return None


def _broken(text: str, at: int, error: ValueError) -> Problem:
    """The problem with the value that begins at character `at`, with line and column."""
    stop = getattr(error, "pos", at)
    at_end = _next(text, stop) >= len(text) or "Unterminated string" in str(error)
    line, rest = text.count("\n", at, stop), text[at:].split("\n", 2)
    if line and len(rest) > 1 and is_row(rest[1].encode()):
        # The next line is a complete row, so this line is the broken one, although the parser only failed later.
        try:
            json.loads(rest[0])
        except ValueError as own:
            error, line, stop = own, 0, at + getattr(own, "pos", 0)
    column = stop - text.rfind("\n", 0, stop)
    reason = getattr(error, "msg", str(error)).removesuffix(" at").removesuffix(" starting")
    if reason.startswith("Invalid control") and text[stop : stop + 1] == "\n":
        reason = "the line ends inside of a string"
    return Problem(f"not JSON: {reason}", len(text[:at].encode()), at_end, line, column)


def is_row(line: bytes) -> bool:
    """Whether a line is a complete object or null."""
    try:
        return isinstance(loads(line), dict | None)
    except ValueError:
        return False


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def unmixed(
    rows: list[Row], names: list[str], known: dict[str, Any], read: Callable[[bytes], pa.Table]
) -> tuple[pa.Table, dict[str, Any]]:
    """The rows as a table in which the mixed ones of the columns `names` have the feature `Json` where needed.

    `known` are the features that columns got in earlier blocks. Returns also those of this block.
    """
    kinds = {name: _kind(rows, name, known.get(name)) for name in names}
    kinds = {name: kind for name, kind in kinds.items() if any_leaf(kind, (Json,))}
    for row in rows:
        for name, kind in kinds.items():
            if row.get(name) is not None:
                row[name] = _with_texts(kind, row[name])
    table = read(b"\n".join(map(dumps, rows)))
    for name, kind in kinds.items():
        if name in table.column_names:
            index = table.column_names.index(name)
            table = table.set_column(index, name, as_json(table[name], kind))
    return table, kinds


def _kind(rows: list[Row], name: str, known: Any) -> Any:
    if isinstance(known, Json):
        return known
    kind = mixed_feature(row.get(name) for row in rows)
    return kind if known is None else unite(known, kind, "use_json")


def as_json(column: pa.ChunkedArray, kind: Any) -> pa.ChunkedArray:
    """The column with JSON texts as the extension type, wherever `kind` says `Json`."""
    feature = _merged(kind, feature_of(column.type))
    return to_extension(column.cast(storage_type(feature)), feature)


def _merged(kind: Any, found: Any) -> Any:
    if isinstance(kind, dict) and isinstance(found, dict):
        return {name: _merged(kind.get(name, feature), feature) for name, feature in found.items()}
    if isinstance(kind, (List, LargeList)) and isinstance(found, (List, LargeList)):
        return List(_merged(kind.feature, found.feature))
    return kind if any_leaf(kind, (Json,)) else found


def _with_texts(kind: Any, value: Any) -> Any:
    """The value with JSON text wherever `kind` says `Json`."""
    if isinstance(kind, Json):
        return None if value is None else dumps(value).decode()
    if isinstance(kind, dict) and isinstance(value, dict):
        return {name: _with_texts(kind[name], item) for name, item in value.items()}
    if isinstance(kind, (List, LargeList)) and isinstance(value, list):
        return [_with_texts(kind.feature, item) for item in value]
    return value
