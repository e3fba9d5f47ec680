"""Folders that `save_to_disk` wrote, here or in Hugging Face `datasets`: their layout, and reading them.

state.json         which data files, in which order; fingerprint, split and format
dataset_info.json  features and description
data-00000-of-00002.arrow, …   Arrow streams, memory-mapped when they are read
dataset_dict.json  in the folder of a DatasetDict: the splits, which are folders next to it
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import replace
from typing import Any

import pyarrow as pa

from crucible_datasets import config
from crucible_datasets.atomic import seen_whole
from crucible_datasets.exceptions import FileFormatError, FileNotFoundDatasetsError, content_errors
from crucible_datasets.features.storage import no_rows
from crucible_datasets.fingerprint import Fingerprint
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops.build import from_table
from crucible_datasets.ops.destination import Path, StorageOptions, inside, local_path, reached
from crucible_datasets.outputs.base import OUTPUTS, Format
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.view import View

STATE = config.DATASET_STATE_JSON_FILENAME
INFO = config.DATASET_INFO_FILENAME
SPLITS = config.DATASETDICT_JSON_FILENAME


def load(path: Path, keep_in_memory: bool | None = None, storage_options: StorageOptions = None) -> View:
    """The dataset in a folder."""
    folder = local_path(path)
    if folder is None:
        return _load_remote(os.fsdecode(path), keep_in_memory, storage_options)
    return seen_whole(folder, lambda: _load_local(folder, keep_in_memory))


def load_splits(
    path: Path, keep_in_memory: bool | None = None, storage_options: StorageOptions = None
) -> dict[str, View]:
    """The datasets in the folder of a DatasetDict."""
    folder = local_path(path)
    if folder is not None:
        return seen_whole(folder, lambda: _load_splits(folder, keep_in_memory, storage_options))
    return _load_splits(os.fsdecode(path), keep_in_memory, storage_options)


def holds_splits(path: Path, storage_options: StorageOptions = None) -> bool:
    """Whether a folder holds a DatasetDict, not a Dataset."""
    folder = os.fsdecode(path) if (place := local_path(path)) is None else place
    if place is not None and not os.path.isdir(place):
        is_file = os.path.exists(place)
        reason = "it is a file; read it with load_dataset." if is_file else "there is no such folder."
        raise FileNotFoundDatasetsError(folder, reason)
    if _exists(inside(folder, STATE), storage_options) and _exists(inside(folder, INFO), storage_options):
        return False
    if _exists(inside(folder, SPLITS), storage_options):
        return True
    raise FileNotFoundDatasetsError(
        folder, f"it holds neither {STATE} and {INFO} nor {SPLITS}: nothing was saved there."
    )


def own_names(folder: str) -> set[str]:
    """The names in a local folder that belong to the dataset, or the splits, saved there."""
    found = _json(os.path.join(folder, STATE)), _json(os.path.join(folder, SPLITS))
    return {STATE, INFO, SPLITS, *_stated(found[0]), *map(str, found[1].get("splits") or [])} if any(found) else set()


def saved_fingerprint(files: tuple[str, ...]) -> str | None:
    """The fingerprint of the saved dataset that consists of exactly these files, if there is one."""
    folder = os.path.dirname(files[0])
    state = _json(os.path.join(folder, STATE))
    listed = [os.path.join(folder, name) for name in _stated(state)]
    return state.get("_fingerprint") if listed == list(files) else None


def _stated(state: dict[str, Any]) -> list[str]:
    """The names of the data files in a state, which may be malformed."""
    return [str(entry.get("filename")) for entry in state.get("_data_files") or [] if isinstance(entry, dict)]


def _load_splits(folder: str, keep_in_memory: bool | None, storage_options: StorageOptions) -> dict[str, View]:
    if not _exists(inside(folder, SPLITS), storage_options):
        only = " It holds one Dataset." if _exists(inside(folder, STATE), storage_options) else ""
        raise FileNotFoundDatasetsError(folder, f"it is not the folder of a DatasetDict: {SPLITS} is missing.{only}")
    with content_errors(FileFormatError, inside(folder, SPLITS)):
        listed = json.loads(_text(inside(folder, SPLITS), storage_options))["splits"]
        names = [_plain(name, folder) for name in listed]
    return {name: load(inside(folder, name), keep_in_memory, storage_options) for name in names}


def _load_local(folder: str, keep_in_memory: bool | None) -> View:
    state, info = _described(folder, None)
    files = tuple(os.path.join(folder, name) for name in _data_files(state, folder))
    # reading a pipe would block
    if missing := [file for file in files if not os.path.isfile(file)]:
        raise FileNotFoundDatasetsError(missing[0], f"{STATE} names it, but there is no such file.")
    in_memory = _fits_in_memory(sum(map(os.path.getsize, files))) if keep_in_memory is None else keep_in_memory
    return replace(_view(state, info, folder, files, in_memory), media_roots=(folder,))


def _load_remote(folder: str, keep_in_memory: bool | None, storage_options: StorageOptions) -> View:
    state, info = _described(folder, storage_options)
    names = _data_files(state, folder)
    # Memory maps outlive unlinked files, so the copies take disk space only as long as they are used.
    with tempfile.TemporaryDirectory(prefix="crucible-", ignore_cleanup_errors=True) as copies:
        files = tuple(os.path.join(copies, name) for name in names)
        for name, file in zip(names, files, strict=True):
            with reached(inside(folder, name), storage_options) as (filesystem, location):
                filesystem.get_file(location, file)
        return replace(_view(state, info, folder, files, bool(keep_in_memory), are_kept=False), media_roots=())


def _described(folder: str, storage_options: StorageOptions) -> tuple[dict[str, Any], DatasetInfo]:
    missing = [name for name in (INFO, STATE) if not _exists(inside(folder, name), storage_options)]
    if missing:
        raise FileNotFoundDatasetsError(folder, f"it is not the folder of a Dataset: {' and '.join(missing)} missing.")
    with content_errors(FileFormatError, inside(folder, STATE)):
        state = dict(json.loads(_text(inside(folder, STATE), storage_options)))
    with content_errors(FileFormatError, inside(folder, INFO)):
        return state, DatasetInfo.from_directory(folder, storage_options)


def _data_files(state: dict[str, Any], folder: str) -> list[str]:
    with content_errors(FileFormatError, inside(folder, STATE)):
        return [_plain(entry["filename"], folder) for entry in state["_data_files"]]


def _plain(name: Any, folder: str) -> str:
    if not isinstance(name, str) or name != os.path.basename(name) or name in ("", ".", "..") or "\0" in name:
        raise FileFormatError(folder, f"{name!r} leads out of the folder.")
    os.fsencode(name)  # fails if the name is no valid file name
    return name


def _view(
    state: dict[str, Any],
    info: DatasetInfo,
    folder: str,
    files: tuple[str, ...],
    in_memory: bool,
    are_kept: bool = True,
) -> View:
    tables = [open_table(file, in_memory) for file in files] or [_no_rows(info)]
    kept = files if are_kept and not in_memory else ()
    with content_errors(FileFormatError, inside(folder, STATE)):
        fingerprint = Fingerprint.fixed(state["_fingerprint"]) if state.get("_fingerprint") else None
        view = from_table(pa.concat_tables(tables), info, state.get("_split"), kept, fingerprint)
        return replace(view, format=_format(state, view.column_names))


def _no_rows(info: DatasetInfo) -> pa.Table:
    """Hugging Face saves a dataset without rows as no file at all."""
    return no_rows(info.features.arrow_schema) if info.features else pa.table({})


def _format(state: dict[str, Any], columns: list[str]) -> Format:
    """The format as saved; whether its package is installed is checked when rows are read."""
    kind, shown, kwargs = state.get("_format_type"), state.get("_format_columns"), state.get("_format_kwargs")
    name = None if kind in (None, "python") else OUTPUTS[kind].name
    shown = tuple(shown) if isinstance(shown, list) else None
    return Format(name, dict(kwargs or {}), shown, bool(state.get("_output_all_columns"))).checked(columns)


def _fits_in_memory(size: int) -> bool:
    return bool(config.IN_MEMORY_MAX_SIZE) and size < config.IN_MEMORY_MAX_SIZE


def _exists(path: str, storage_options: StorageOptions) -> bool:
    if local_path(path) is not None:
        return os.path.isfile(path)
    with reached(path, storage_options) as (filesystem, location):
        return bool(filesystem.isfile(location))


def _text(path: str, storage_options: StorageOptions) -> str:
    if local_path(path) is not None:
        with open(path, encoding="utf-8") as file:
            return file.read()
    with reached(path, storage_options) as (filesystem, location):
        content = bytes(filesystem.cat_file(location))
    return content.decode()


def _json(path: str) -> dict[str, Any]:
    """The content of a local JSON file, empty if it is missing or invalid."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
