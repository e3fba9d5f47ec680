"""Logs of inspect_ai: a zip of JSON files, one per sample. Objects stay JSON text, since every task has other keys."""

from __future__ import annotations

import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets.exceptions import FileFormatError, LimitExceededError
from crucible_datasets.features.infer import infer_column
from crucible_datasets.features.storage import to_extension
from crucible_datasets.formats.base import Filters, Format
from crucible_datasets.formats.eval_members import content
from crucible_datasets.formats.json.rows import loads
from crucible_datasets.formats.streams import Budget, batched, name_of, rewound

_SAMPLE = re.compile(r"samples/(.+)_epoch_(\d+)\.json")
_ROWS, _BYTES = 1000, 32 << 20


def read(
    stream: BinaryIO, *, columns: list[str] | None = None, filters: Filters = None, features: Any = None
) -> Iterator[pa.Table]:
    """Yield a row per sample, epoch by epoch, in the order of their ids."""
    # A sample counts as if it were at least so large that a batch has no more than _ROWS of them.
    for batch in batched(_rows(stream), _BYTES, lambda sized: max(sized[0], _BYTES // _ROWS)):
        yield _table([row for _, row in batch])


def _rows(stream: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows, each with its size in bytes."""
    name = name_of(stream)
    try:
        with rewound(stream) as source, zipfile.ZipFile(source) as log:
            budget = Budget(name, source.seek(0, os.SEEK_END))
            for member in sorted(_samples(log), key=_place):
                text = content(log, member, name, budget)
                yield len(text), _row(text, member.filename, name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        if isinstance(error, (FileFormatError, LimitExceededError)):
            raise
        raise FileFormatError(name, f"not a readable log: {error}") from error


def _samples(log: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [member for member in log.infolist() if _SAMPLE.fullmatch(member.filename)]


def _place(member: zipfile.ZipInfo) -> tuple[Any, ...]:
    identity, epoch = _SAMPLE.fullmatch(member.filename).groups()  # type: ignore[union-attr]
    number = int(identity) if identity.isdecimal() else -1
    return int(epoch), number < 0, number, identity


def _row(text: bytes, member: str, name: str) -> dict[str, Any]:
    try:
        sample = loads(text)
    except ValueError as error:
        raise FileFormatError(name, f"{member} is not JSON: {error}") from error
    if not isinstance(sample, dict):
        raise FileFormatError(name, f"{member} is not an object.")
    return {field: _flat(value) for field, value in sample.items()}


def _flat(value: Any) -> Any:
    if isinstance(value, dict):
        return json.dumps(value)
    return [json.dumps(item) for item in value] if isinstance(value, list) else value


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    columns = {}
    for field in dict.fromkeys(field for row in rows for field in row):
        column, feature = infer_column([row.get(field) for row in rows], field, "use_json")
        columns[field] = to_extension(column, feature)
    return pa.table(columns)


FORMAT = Format("eval", (".eval",), read)
