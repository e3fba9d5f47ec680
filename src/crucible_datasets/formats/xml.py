"""XML files, each a single text that the user parses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets.formats.base import Filters, Format
from crucible_datasets.formats.streams import name_of, require_encoding, undecodable


def read(
    stream: BinaryIO,
    *,
    columns: list[str] | None = None,
    filters: Filters = None,
    features: Any = None,
    encoding: str | None = "utf-8",
    encoding_errors: str | None = None,
) -> Iterator[pa.Table]:
    """Yield one row, with the whole file in the column `xml`."""
    require_encoding(encoding, encoding_errors)
    try:
        text = stream.read().decode(encoding or "utf-8", encoding_errors or "strict")
        yield pa.table({"xml": pa.array([text.replace("\r\n", "\n").replace("\r", "\n")], pa.string())})
    except UnicodeError as error:
        raise undecodable(name_of(stream), error) from error


FORMAT = Format("xml", (".xml",), read)
