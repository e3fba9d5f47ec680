"""Files of predictions: JSON Lines, JSON, CSV, TSV, Parquet."""

from __future__ import annotations

import gzip
import os
from codecs import BOM_UTF8
from collections.abc import Callable
from typing import IO, Any, BinaryIO, cast

import msgspec

from crucible_datasets.exceptions import DataFilesNotFoundError, FileFormatError, PredictionsError
from crucible_datasets.features import jsontext
from crucible_datasets.reading.format_choice import names_beside


def read_predictions(path: str) -> Any:
    """The content of a file: columns by name, a list of rows, or answers by id."""
    path = os.path.expanduser(path)
    kind = os.path.splitext(path.lower().removesuffix(".gz"))[1]
    if kind not in _READERS:
        raise PredictionsError(f"{path!r} is no file of predictions: they are read from {', '.join(_READERS)}.")
    return _READERS[kind](path)


def read_lines(path: str) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file."""
    return _decoded(path, dict[str, Any], "object")


def _decoded(path: str, kind: Any, name: str) -> list[Any]:
    decoder = msgspec.json.Decoder(kind)
    rows = []
    with _opened(path) as file:
        for number, line in enumerate(file, 1):
            if not line.isspace():
                try:
                    rows.append(_value(line.removeprefix(b"\xef\xbb\xbf"), decoder))
                except msgspec.DecodeError as error:
                    cut = "Remove the line if a job that was killed has cut it off."
                    raise FileFormatError(path, f"line {number} is not a JSON {name}: {error}. {cut}") from error
    return rows


def _value(text: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """The value of a JSON text. NaN, which Python writes although JSON does not have it, becomes None."""
    try:
        return decoder.decode(text)
    except RecursionError as error:
        raise msgspec.DecodeError("it is nested too deeply") from error
    except msgspec.DecodeError:
        if b"NaN" not in text and b"Infinity" not in text:
            raise
        try:
            return msgspec.convert(jsontext.loads(text.decode()), decoder.type)
        except (ValueError, RecursionError) as error:
            raise msgspec.DecodeError(str(error)) from error


def _answers(path: str) -> list[Any]:
    """JSON Lines of objects, or of texts, which are answers."""
    with _opened(path) as file:
        first = next((line for line in file if not line.isspace()), b"{").removeprefix(b"\xef\xbb\xbf").lstrip()
    return _decoded(path, str, "text") if first.startswith(b'"') else list(read_lines(path))


def _opened(path: str) -> IO[bytes]:
    if not os.path.exists(path):
        raise DataFilesNotFoundError(path, "there is no such file.", names_beside(path))
    return gzip.open(path) if path.lower().endswith(".gz") else open(path, "rb")  # type: ignore[return-value]


def read_json(path: str) -> Any:
    """The value of a JSON file."""
    with _opened(path) as file:
        try:
            return _value(file.read(), msgspec.json.Decoder())
        except msgspec.DecodeError as error:
            raise FileFormatError(path, f"not JSON: {error}") from error


class Columns(dict[str, list[Any]]):
    """The columns of a table; a class of its own to distinguish them from answers by id."""


def _csv(path: str) -> Columns:
    """The columns of a CSV file; every cell is text, since `007` and `3.0` are answers, not numbers."""
    from crucible_datasets.formats.csv_records import Dialect, Records

    with _opened(path) as file:
        if file.read(len(BOM_UTF8)) != BOM_UTF8:
            file.seek(0)
        separator = "\t" if path.lower().removesuffix(".gz").endswith(".tsv") else ","
        names, *found = [*Records(cast(BinaryIO, file), Dialect(sep=separator))] or [[]]
    for number, row in enumerate(found, 2):
        if len(row) != len(names):
            raise FileFormatError(path, f"record {number} has {len(row)} fields instead of {len(names)}")
    return Columns({name: [row[place] for row in found] for place, name in enumerate(names)})


def _parquet(path: str) -> Any:
    from crucible_datasets.arrow_dataset import Dataset

    return Dataset.from_parquet(path)


_READERS: dict[str, Callable[[str], Any]] = {
    ".jsonl": _answers,
    ".ndjson": _answers,
    ".json": read_json,
    ".csv": _csv,
    ".tsv": _csv,
    ".parquet": _parquet,
}
