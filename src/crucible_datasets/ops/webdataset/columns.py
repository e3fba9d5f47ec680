"""Columns of a dataset → the files of its samples: names and contents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError, ColumnNotFoundError
from crucible_datasets.features import ClassLabel, Features, Json, Value
from crucible_datasets.features.arrays import ArrayXD
from crucible_datasets.features.dtypes import is_bytes, is_text
from crucible_datasets.features.media import Media
from crucible_datasets.features.storage import storage_type
from crucible_datasets.features.types import any_leaf
from crucible_datasets.ops.webdataset.contents import Contents, contents_of
from crucible_datasets.ops.webdataset.extensions import (
    ARRAY,
    CBOR,
    INTEGER,
    JSON,
    MSGPACK,
    PICKLED,
    TEXT,
    all_media,
    last_part,
    medium_of,
)
from crucible_datasets.records import dataclass

KEY = "__key__"
OF_READERS = (KEY, "__url__", "__local_path__")  # added to samples by readers, and not files
_NAMES = re.compile(r"[^./\x00-\x1f\x7f][^/\x00-\x1f\x7f]*")


@dataclass(frozen=True)
class Written:
    """How a column is written: as files `{key}.{prefix}{extension}`."""

    column: str
    feature: Any
    extension: str | None  # None: by the bytes of each value
    prefix: str = ""
    is_named: bool = False  # whether the caller chose the extension

    @property
    def suffixes(self) -> frozenset[str]:
        """All possible suffixes of its files, in lower case."""
        medium = medium_of(self.feature)
        own = [self.extension] if self.extension else [*medium.known, medium.default] if medium else []
        return frozenset(f"{self.prefix}{name}".lower() for name in own)

    def contents(self) -> Callable[[pa.ChunkedArray, int], Contents]:
        """The function that makes the files of some rows, from the column and the number of its first row."""
        return contents_of(self.column, self.feature, self.extension, self.prefix, self.is_named)


def planned(
    features: Features, columns: Sequence[str] | None = None, extensions: Mapping[str, str] | None = None
) -> list[Written]:
    """How each column is written.

    A column whose name is a suitable extension for its type uses it. The others get the extension of their type, with
    their name as prefix if several would get the same.
    """
    names = [name for name in features if name not in OF_READERS] if columns is None else list(columns)
    given = dict(extensions or {})
    for name in (*names, *given):
        if name not in features:
            raise ColumnNotFoundError(name, list(features))
    found = [_first(name, features[name], given.get(name)) for name in names if name != KEY]
    plan = [_apart(each, [other for other in found if other is not each]) for each in found]
    _require_distinct(plan)
    for written in plan:
        written.contents()  # raises, before anything is written, for a type that the file cannot hold
    return plan


def _first(name: str, feature: Any, given: str | None) -> Written:
    if given is not None:
        chosen = given.removeprefix(".")
        if not _NAMES.fullmatch(chosen):
            raise ArgumentError("extensions", {name: given}, "an extension is a part of a file name, as 'jpg'.")
        return Written(name, feature, chosen, is_named=True)
    if any_leaf(feature, (Media,)) and not isinstance(feature, Media):
        reason = "media inside of lists and dicts have no file of their own; leave the column out by columns=."
        raise ArgumentError("columns", name, reason)
    return Written(name, feature, name if _is_extension(name, feature) else _extension(feature))


def _is_extension(name: str, feature: Any) -> bool:
    """Whether a column's name is an extension that readers decode to the type of the column."""
    kind, medium = last_part(name), medium_of(feature)
    if not _NAMES.fullmatch(name):
        return False
    if medium is not None:
        return kind in medium.known
    stored = storage_type(feature)
    if is_bytes(stored):
        return kind in all_media() | TEXT | JSON | INTEGER | ARRAY | MSGPACK | CBOR | PICKLED | {"bin", "npz"}
    if is_text(stored):
        return kind in TEXT | JSON
    if isinstance(feature, ClassLabel) or pa.types.is_integer(stored):
        return kind in INTEGER | JSON | MSGPACK | CBOR
    if isinstance(feature, ArrayXD):
        return kind in ARRAY | JSON
    return kind in JSON | MSGPACK | CBOR


def _extension(feature: Any) -> str | None:
    """The extension for the type of a column."""
    if isinstance(feature, Media):
        return None
    if isinstance(feature, ClassLabel):
        return "cls"
    if isinstance(feature, ArrayXD):
        return "npy"
    stored = storage_type(feature)
    if isinstance(feature, Value) and (is_bytes(stored) or pa.types.is_fixed_size_binary(stored)):
        return "bin"
    text = not isinstance(feature, Json) and is_text(stored)
    return "txt" if text else "json"


def _apart(each: Written, others: Iterable[Written]) -> Written:
    """The column with its name as prefix, if another one could be written to the same file."""
    is_free = each.is_named or each.extension == each.column
    if is_free or not any(each.suffixes & other.suffixes for other in others):
        return each
    if not _NAMES.fullmatch(each.column):
        reason = f"it cannot be part of a file name; choose one by extensions={{{each.column!r}: ...}}."
        raise ArgumentError("columns", each.column, reason)
    return replace(each, prefix=f"{each.column}.")


def _require_distinct(plan: Sequence[Written]) -> None:
    owners: dict[str, str] = {}
    for each in plan:
        for suffix in each.suffixes:
            if owners.setdefault(suffix, each.column) != each.column:
                reason = f"column {owners[suffix]!r} is written to .{suffix} as well; choose others by extensions=."
                raise ArgumentError("columns", each.column, reason)
