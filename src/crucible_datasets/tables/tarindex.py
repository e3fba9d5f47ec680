"""The index of a tar archive: built in one pass, cached under the identity of the file, and memory-mapped."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.features import Features
from crucible_datasets.fingerprint import Hasher
from crucible_datasets.formats.webdataset.columns import column, fixed_feature
from crucible_datasets.formats.webdataset.index import Index, Indexing
from crucible_datasets.formats.webdataset.members import entries
from crucible_datasets.formats.webdataset.samples import RawSample, grouped
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.writing import Segment, united_all

# Part of every key: incremented when the index of the same archive changes.
_VERSION = 1
_FILE = "index.arrow"
_BLOCK = 1000  # samples whose contents are examined together
MIXED_TYPES = "use_json"  # the default of the format


def index_of(stream: BinaryIO, name: str) -> tuple[Index, FileFormatError | None]:
    """The index of all complete samples, and the error after them, if any.

    Only headers are read, and files whose type depends on their content.
    """
    found, kinds = Indexing(name), list[Segment]()
    block: list[RawSample] = []
    count, broken = 0, None
    try:
        for sample in grouped(found.noted(entries(stream, name, 0, _tells_its_type)), name):
            block.append(sample)
            count += 1
            if len(block) >= _BLOCK:
                kinds.append(Segment("", _kinds(block, name), name))
                block = []
    except FileFormatError as error:
        broken = error
    kinds.append(Segment("", _kinds(block, name), name))
    return found.index(count, united_all(kinds, MIXED_TYPES)), broken


@lru_cache(maxsize=1000)  # of the whole archive
def _tells_its_type(extension: str) -> bool:
    return fixed_feature(extension) is None


def _kinds(block: Sequence[RawSample], name: str) -> Features:
    """The features of files whose type depends on their content."""
    kinds: dict[str, Any] = {}
    for extension in dict.fromkeys(each for sample in block for each in sample.files if _tells_its_type(each)):
        contents = [sample.files.get(extension) for sample in block]
        kinds[extension] = column(extension, contents, [f"{sample.key}.{extension}" for sample in block], name)[1]
    return Features(kinds)


def key_of(identity: Sequence[str | int]) -> str:
    """The cache key of the index of a file."""
    return f"tar-{Hasher.hash((_VERSION, tuple(identity)))}"


def store(folder: str, index: Index) -> None:
    """Write an index to a folder."""
    table = index.stored()
    with pa.OSFile(os.path.join(folder, _FILE), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())


def stored_in(folder: str) -> Index:
    """The index in a folder, memory-mapped."""
    return Index.of(open_table(os.path.join(folder, _FILE), trusted=True))
