"""`save_to_disk`: a view as a folder of Arrow files, in the layout that `ops.saved` describes and reads.

A local folder is replaced atomically: a reader finds the complete old dataset or the complete new one, even after a
crash, and even if a dataset is saved over the files it was read from. On remote storage, and in a folder that holds
only other things, files are written in place and `state.json` last: without it there is no dataset. Media files in
the folders of the data are saved with it.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any

import pyarrow as pa

from crucible_datasets import progress
from crucible_datasets.atomic import atomic_file, atomic_folder
from crucible_datasets.atomic.files import flushed_early, make_folders
from crucible_datasets.atomic.folders import carry_over
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, NotAFolderError
from crucible_datasets.info import write_text
from crucible_datasets.ops.blocks import blocks_with_files
from crucible_datasets.ops.destination import Path, StorageOptions, inside, local_path, reached, written
from crucible_datasets.ops.file_copies import link_or_copy, reusable_files
from crucible_datasets.ops.saved import INFO, SPLITS, STATE, own_names
from crucible_datasets.ops.shards import Shards
from crucible_datasets.outputs.arrow import ArrowFormatter
from crucible_datasets.tables.rows import shared_out
from crucible_datasets.tables.view import View


def save(
    view: View,
    path: Path,
    max_shard_size: str | int | None = None,
    num_shards: int | None = None,
    num_proc: int | None = None,
    storage_options: StorageOptions = None,
) -> None:
    """Write a view to a folder."""
    wanted = Shards.wanted(view, max_shard_size, num_shards, num_proc)
    _replace(path, storage_options, partial(_write, view, wanted, storage_options))


def save_splits(
    views: Mapping[Any, View],
    path: Path,
    max_shard_size: str | int | None = None,
    num_shards: Mapping[str, int] | None = None,
    num_proc: int | None = None,
    storage_options: StorageOptions = None,
) -> None:
    """Write views to subfolders of a folder; all of them appear at once."""
    if num_shards is not None and not isinstance(num_shards, Mapping):
        raise ArgumentError(
            "num_shards", num_shards, "expected a number for each split, as in {'train': 8, 'test': 1}."
        )
    each = num_shards or {}
    writes = {
        str(name): partial(_write, view, Shards.wanted(view, max_shard_size, each.get(name), num_proc), storage_options)
        for name, view in views.items()
    }
    _replace(path, storage_options, partial(_write_splits, writes, storage_options))


def _replace(path: Path, storage_options: StorageOptions, write: Callable[[str, str | None], None]) -> None:
    """Fill the folder at `path` by `write(folder, replaced folder)`, atomically if possible."""
    folder = local_path(path)
    if folder is not None and os.path.isfile(folder):
        raise NotAFolderError(folder)
    if folder is None:
        write(os.fsdecode(path), None)
    elif os.path.isdir(folder) and os.listdir(folder) and not own_names(folder):
        # Replacing the folder would mean linking all its other files again, and there is no dataset to lose yet.
        write(folder, None)
    else:
        make_folders(os.path.dirname(os.path.abspath(folder)))
        old = own_names(folder)
        with atomic_folder(folder, old.__contains__) as temporary:
            write(temporary, os.path.realpath(folder))
            _keep_strangers(folder, temporary)


def _keep_strangers(old: str, new: str) -> None:
    """Keep other files in the folders of splits; `atomic_folder` keeps those in the folder itself."""
    for split in own_names(old):
        before, after = os.path.join(old, split), os.path.join(new, split)
        names = own_names(before)
        if os.path.isdir(before) and not names.issuperset(os.listdir(before)):
            os.makedirs(after, exist_ok=True)
            carry_over(before, after, names.__contains__)


def _write_splits(
    writes: Mapping[str, Callable[[str, str | None], None]],
    storage_options: StorageOptions,
    folder: str,
    replaced: str | None,
) -> None:
    for name, write in writes.items():
        write(inside(folder, name), replaced)
    _make_folder(folder, storage_options)
    write_text(inside(folder, SPLITS), json.dumps({"splits": list(writes)}), storage_options, replaced is None)


def _write(view: View, shards: Shards, storage_options: StorageOptions, folder: str, replaced: str | None) -> None:
    state = _state(view)
    _make_folder(folder, storage_options)
    ready = reusable_files(view, shards) if local_path(folder) is not None else ()
    count = len(ready) or shards.count
    before = [] if replaced else _remote_files(folder, storage_options)
    # New names, so that the old dataset stays complete until the new state.json names the new files.
    stem = f"data-{os.urandom(4).hex()}" if before else "data"
    names = [f"{stem}-{index:05d}-of-{count:05d}.arrow" for index in range(count)]
    places = [inside(folder, name) for name in names]
    for source, place in zip(ready, places, strict=False):
        link_or_copy(source, place, replaced)
    if not ready:
        _write_shards(view, places, shards.workers, storage_options, appear_whole=replaced is None)
    info = {**view.info.to_dict(), "features": view.features.to_dict()}
    # Files in a temporary folder are synced with it.
    note = partial(write_text, storage_options=storage_options, is_lasting=replaced is None)
    note(inside(folder, INFO), json.dumps(dict(sorted(info.items())), indent=2))
    state["_data_files"] = [{"filename": name} for name in names]
    note(inside(folder, STATE), json.dumps(dict(sorted(state.items())), indent=2))
    _remove_remote(folder, before, storage_options)


def _write_shards(
    view: View, places: list[str], workers: int, storage_options: StorageOptions, appear_whole: bool
) -> None:
    shards = [shared_out(len(view), len(places), index) for index in range(len(places))]
    with progress.bar(total=len(view), desc="Saving the dataset", unit=" examples") as bar, ExitStack() as stack:
        run: Callable[..., Any] = map if workers == 1 else stack.enter_context(ThreadPoolExecutor(workers)).map
        counted = partial(_counted, bar, threading.Lock())
        write = partial(_write_shard, view, storage_options, appear_whole, counted)
        list(run(write, places, shards))


def _counted(bar: Any, lock: threading.Lock, rows: int) -> None:
    with lock:
        bar.update(rows)


def _write_shard(
    view: View,
    storage_options: StorageOptions,
    appear_whole: bool,
    counted: Callable[[int], None],
    place: str,
    rows: range,
) -> None:
    schema, typed = view.features.arrow_schema, ArrowFormatter()
    with ExitStack() as stack:
        # Arrow writes to a path without holding the GIL, so a path is better than a stream.
        if local_path(place) is None:
            sink: Any = stack.enter_context(written(place, storage_options))
        else:
            path = stack.enter_context(atomic_file(place)) if appear_whole else place
            stack.enter_context(flushed_early(path))
            # A writer that fails to close would keep its file open, and a full disk full.
            sink = stack.enter_context(pa.OSFile(path, "wb"))
        writer = stack.enter_context(pa.ipc.new_stream(sink, schema))
        for table in blocks_with_files(view, rows):
            writer.write_table(typed.batch(table, view.features))
            counted(len(table))


def _state(view: View) -> dict[str, Any]:
    for name, value in view.format.kwargs.items():
        try:
            json.dumps(value)
        except TypeError as error:
            raise ArgumentTypeError(
                name, value, "an option of the format that JSON cannot hold; reset the format."
            ) from error
    return {
        "_fingerprint": str(view.fingerprint),
        "_format_columns": None if view.format.columns is None else list(view.format.columns),
        "_format_kwargs": dict(view.format.kwargs),
        "_format_type": view.format.type,
        "_output_all_columns": view.format.output_all_columns,
        "_split": None if view.split is None else str(view.split),
    }


def _make_folder(folder: str, storage_options: StorageOptions) -> None:
    if local_path(folder) is not None:
        os.makedirs(folder, exist_ok=True)
    else:
        with reached(folder, storage_options, writing=True) as (filesystem, location):
            filesystem.makedirs(location, exist_ok=True)


def _remote_files(folder: str, storage_options: StorageOptions) -> list[str]:
    """The data files of the dataset that is already at a remote place."""
    if local_path(folder) is not None:
        return []
    with reached(inside(folder, STATE), storage_options) as (filesystem, location):
        text = filesystem.cat_file(location) if filesystem.isfile(location) else b"{}"
    state = json.loads(text)
    return [os.path.basename(entry["filename"]) for entry in state.get("_data_files", [])]


def _remove_remote(folder: str, names: list[str], storage_options: StorageOptions) -> None:
    for name in names:
        with reached(inside(folder, name), storage_options, writing=True) as (filesystem, location):
            filesystem.rm_file(location)
