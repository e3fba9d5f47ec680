"""Files of JSON lines anywhere."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, time
from typing import Any, BinaryIO, cast

from crucible_datasets.exceptions import ArgumentError, BadRecordError, InvalidRecordError, without_secrets
from crucible_datasets.ops.destination import compression_named, written_or_handed
from crucible_datasets.reading.compression import plain
from crucible_datasets.storage.opening import PIECE, BlobFile, Path, Written

_ON_ERROR = ("raise", "skip", "collect")


@dataclass(frozen=True)
class BadRecord:
    """A line that is no JSON object: where it is, what it says, and what is wrong."""

    file: str
    line: int
    text: str
    reason: str


def read_jsonl(
    path: Path,
    on_error: str = "raise",
    errors: list[BadRecord] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines; empty lines are passed over.

    A line that is no JSON object raises `BadRecordError`, which names file and line; with `skip` it is left
    out, with `collect` it is also appended to `errors`.
    """
    if on_error not in _ON_ERROR:
        raise ArgumentError("on_error", on_error, f"expected one of {', '.join(_ON_ERROR)}.")
    if on_error == "collect" and errors is None:
        raise ArgumentError("errors", errors, "on_error='collect' needs a list to collect into.")
    return _records(os.fspath(path), on_error, errors, storage_options)


def _records(
    path: str, on_error: str, errors: list[BadRecord] | None, options: Mapping[str, Any] | None
) -> Iterator[dict[str, Any]]:
    name = without_secrets(path)
    with BlobFile(path, "rb", storage_options=options) as raw, plain(cast(BinaryIO, raw), name) as file:
        # Without a buffer, the lines of a compressed file would be read byte by byte.
        for number, line in enumerate(file if file is raw else io.BufferedReader(cast(Any, file), PIECE), 1):
            if not line.strip():
                continue
            reason, value = _parsed(line)
            if not reason:
                yield value
            elif on_error == "raise":
                raise BadRecordError(name, number, reason)
            elif errors is not None:
                errors.append(BadRecord(name, number, line.decode("utf-8", "replace").rstrip("\r\n"), reason))


def _parsed(line: bytes) -> tuple[str, Any]:
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        return f"{error.msg} at character {error.pos + 1}", None  # it would count lines from this one
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}", None
    return ("" if isinstance(value, dict) else f"it is {type(value).__name__}, not an object"), value


def write_jsonl(
    path: Path,
    records: Iterable[Mapping[str, Any]],
    append: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> int:
    """Write objects as JSON lines, or append them; compressed if the name ends so. Returns how many.

    Times are written as ISO 8601, arrays as lists.
    """
    number, place, compression = 0, os.fspath(path), compression_named(path)
    # Behind a last line that does not end, the first record would become a part of it.
    end = b"\n" if compression is None else b""
    raw = Written(place, "ab" if append else "wb", dict(storage_options or {}), end, is_direct=True)
    with raw, written_or_handed(cast(BinaryIO, raw), compression=compression) as file:
        for number, record in enumerate(records, 1):
            file.write(_line(record, f"Record {number} for {raw.name}"))
    return number


def _line(record: Any, name: str) -> bytes:
    if not isinstance(record, Mapping):
        raise InvalidRecordError(name, f"it is {type(record).__name__}, not an object")
    try:
        try:
            return f"{_encoded(record)}\n".encode()
        except UnicodeEncodeError:  # half a surrogate pair, which JSON can only escape
            return f"{json.dumps(record, default=_plain)}\n".encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRecordError(name, f"{type(error).__name__}: {error}") from error


def _plain(value: Any) -> Any:
    """What JSON has for a value that is none of its own."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if hasattr(value, "tolist"):  # of numpy, and whatever resembles it
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


_encoded = json.JSONEncoder(ensure_ascii=False, default=_plain).encode  # json.dumps would make one for each record
