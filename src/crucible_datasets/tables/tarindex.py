"""The index of a tar archive: built in one pass, cached under the identity of the file, and memory-mapped."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.features import Features
from crucible_datasets.fingerprint import Hasher
from crucible_datasets.formats.webdataset.columns import column, fixed_feature, is_stored_unchanged
from crucible_datasets.formats.webdataset.index import Index, Indexing
from crucible_datasets.formats.webdataset.members import Wanted, entries
from crucible_datasets.formats.webdataset.rows import up_to_fault
from crucible_datasets.formats.webdataset.samples import RawSample, grouped
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.writing import Segment, united_all

# Part of every key: incremented when the index of the same archive changes.
_VERSION = 1
_FILE = "index.arrow"
_BLOCK = 1000  # samples whose contents are examined together
MIXED_TYPES = "use_json"  # the default of the format


def index_of(
    stream: BinaryIO, name: str, wanted: Wanted | None = None, is_checked: bool = False
) -> tuple[Index, FileFormatError | None]:
    """The index of all good samples before the first fault, and the fault, if any.

    Only headers are read, and files whose type depends on their content; if `is_checked`, also all others that must be
    decoded. Of these, `wanted` selects some.
    """
    found, kinds = Indexing(name), list[Segment]()
    is_read = _is_decoded if is_checked else _tells_its_type
    chosen = is_read if wanted is None else lambda extension: wanted(extension) and is_read(extension)
    block: list[RawSample] = []
    count, broken = 0, None

    def examine() -> FileFormatError | None:
        nonlocal count, block
        examined, fault = up_to_fault(block, lambda part: (len(part), _features(part, name, chosen)))
        if examined is not None:
            count += examined[0]
            kinds.append(Segment("", examined[1], name))
        block = []
        return fault

    try:
        for sample in grouped(found.noted(entries(stream, name, 0, chosen)), name):
            block.append(sample)
            if len(block) >= _BLOCK and (broken := examine()) is not None:
                break
    except FileFormatError as error:
        broken = error
    broken = examine() or broken
    broken = broken and broken.in_row(count)
    return found.index(count, united_all(kinds, MIXED_TYPES), broken is None), broken


@lru_cache(maxsize=1000)  # of the whole archive
def _tells_its_type(extension: str) -> bool:
    return fixed_feature(extension) is None


@lru_cache(maxsize=1000)
def _is_decoded(extension: str) -> bool:
    return not is_stored_unchanged(extension)


def _features(block: Sequence[RawSample], name: str, is_read: Callable[[str], bool]) -> Features:
    """The features of files whose type depends on their content; those that are read must have a good content."""
    features: dict[str, Any] = {}
    for extension in dict.fromkeys(each for sample in block for each in sample.files if is_read(each)):
        contents = [sample.files.get(extension) for sample in block]
        _, feature = column(extension, contents, [f"{sample.key}.{extension}" for sample in block], name)
        if _tells_its_type(extension):
            features[extension] = feature
    return Features(features)


def key_of(identity: Sequence[str | int], is_checked: bool) -> str:
    """The cache key of the index of a file; an index for which all contents were looked at has its own."""
    return f"tar-{Hasher.hash((_VERSION, tuple(identity), *(['checked'] if is_checked else [])))}"


def store(folder: str, index: Index) -> None:
    """Write an index to a folder."""
    table = index.stored()
    with pa.OSFile(os.path.join(folder, _FILE), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())


def stored_in(folder: str) -> Index:
    """The index in a folder, memory-mapped."""
    return Index.of(open_table(os.path.join(folder, _FILE), trusted=True))
