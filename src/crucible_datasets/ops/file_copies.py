"""Data files that are exactly what `save_to_disk` would write: they are copied instead of rewritten.

A copy needs neither memory-mapped pages nor a pass over the rows: opening and saving 100,000 chats, 172 MB, took 85
instead of 165 ms of CPU time.
"""

from __future__ import annotations

import os
import shutil

import pyarrow as pa

from crucible_datasets.atomic.files import flushed_early
from crucible_datasets.atomic.folders import linked
from crucible_datasets.features import Features
from crucible_datasets.features.embed import names_files
from crucible_datasets.ops.blocks import is_in_small_chunks
from crucible_datasets.ops.saved import own_names, saved_fingerprint
from crucible_datasets.ops.shards import Shards
from crucible_datasets.tables.rows import is_whole
from crucible_datasets.tables.table import ArrowTable, identities
from crucible_datasets.tables.view import View

_PIECE = 8 << 20


def reusable_files(view: View, shards: Shards) -> tuple[str, ...]:
    """The files whose copies would be this view, saved; empty if there are none."""
    table = view.table
    if not isinstance(table, ArrowTable) or not table.physical or not is_whole(view.rows, table.num_rows):
        return ()
    is_saved = saved_fingerprint(table.files) == str(view.fingerprint)
    if shards.count != len(table.files) and (shards.are_asked_for or not is_saved):
        return ()
    if not is_saved and not _are_as_written(table, view.features):
        return ()
    return table.files if all(_has_features(file, view.features) for file in table.files) else ()


def _are_as_written(table: ArrowTable, features: Features) -> bool:
    """Whether files are laid out as `save_to_disk` writes them: uncompressed, in large batches, with media embedded."""
    if identities(table.files) != table.mapped_from or is_in_small_chunks(table.table):
        return False
    in_files = sum(map(os.path.getsize, table.files))
    return in_files >= table.table.get_total_buffer_size() and not names_files(table.table, features)


def _has_features(file: str, features: Features) -> bool:
    try:
        with pa.memory_map(file) as source:
            schema = pa.ipc.open_stream(source).schema
    except (OSError, pa.ArrowInvalid):
        return False
    if set(schema.metadata or ()) - {b"huggingface"}:
        return False
    return schema.equals(features.arrow_schema) and Features.from_arrow_schema(schema) == features


def link_or_copy(source: str, place: str, replaced: str | None) -> None:
    """A hard link to a file of a saved dataset, which never changes; a copy of any other file."""
    folder, name = os.path.split(os.path.realpath(source))
    if replaced and os.path.commonpath([folder, replaced]) == replaced and name in own_names(folder):
        linked(source, place)
    else:
        with flushed_early(place):
            _copy(source, place)


def _copy(source: str, place: str) -> None:
    with open(source, "rb") as read, open(place, "wb") as write:
        left = os.fstat(read.fileno()).st_size
        try:
            # File systems that can share blocks between files do so here.
            while left and (done := os.copy_file_range(read.fileno(), write.fileno(), min(left, _PIECE))):
                left -= done
        except (AttributeError, OSError):
            read.seek(0)
            write.seek(0)
            shutil.copyfileobj(read, write, 1 << 20)
