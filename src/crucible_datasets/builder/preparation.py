"""Running a builder once: into the cache, a folder, or memory. The result appears complete or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pyarrow as pa

from crucible_datasets import config
from crucible_datasets.atomic import atomic_folder
from crucible_datasets.builder.configuration import Configured
from crucible_datasets.builder.inputs import state_of, unchanged
from crucible_datasets.cache import Cache, default_cache
from crucible_datasets.cache.manifest import read_manifest
from crucible_datasets.cache.units import byte_count
from crucible_datasets.download import DownloadConfig, DownloadManager
from crucible_datasets.exceptions import ArgumentError, ManualDownloadError
from crucible_datasets.features import Features
from crucible_datasets.fingerprint import Fingerprint, is_caching_enabled
from crucible_datasets.hashing import Arguments
from crucible_datasets.info import DatasetInfo
from crucible_datasets.keywords import refuse_unknown_keywords
from crucible_datasets.reading.files import identified
from crucible_datasets.reading.modes import DownloadMode, VerificationMode
from crucible_datasets.reading.splitfiles import Layout, Source, split_view, write_splits
from crucible_datasets.reading.verify import require_checksums, require_described, require_sizes
from crucible_datasets.splits import SplitDict
from crucible_datasets.tables.view import View

# Part of every key: incremented when the files of the same builder change.
_PREPARATION = 1

Make = Callable[[str], dict[str, Any]]


class Prepared(Configured):
    """The part of a builder that handles its result: where it is stored, and how it is made."""

    _ON_MIXED_TYPES: ClassVar[str | None] = None

    name: str
    hash: str | None
    base_path: str | None
    token: bool | str | None
    config_id: str
    info: DatasetInfo
    _cache_dir_root: str
    _output_dir: str | None
    _file_format: str
    _features: Features | None
    _described: SplitDict | None
    _tables: dict[str, View] | None
    _keys: dict[str, str]  # computed once, because a run may change globals that the class's code refers to

    # Defined by subclasses

    def _split_generators(self, dl_manager: Any) -> list[Any]:
        """One `SplitGenerator` for each split, with the arguments for the method that makes its rows."""
        raise NotImplementedError(f"{type(self).__name__} has no _split_generators(dl_manager).")

    def _batches(self, split: str, **gen_kwargs: Any) -> Iterator[tuple[pa.Table, Features]]:
        raise NotImplementedError(f"{type(self).__name__} makes no rows; use GeneratorBasedBuilder.")

    # Where the result is

    @property
    def cache_dir(self) -> str:
        """The default folder of `download_and_prepare`."""
        return os.path.join(self._cache.root, self._key())

    @property
    def _cache(self) -> Cache:
        return default_cache(self._cache_dir_root)

    def _key(self, file_format: str = "arrow") -> str:
        """The cache key: a hash of the class's code, its configuration and its input files."""
        if file_format in self._keys:
            return self._keys[file_format]
        files = [one.identity for several in (self.config.data_files or {}).values() for one in identified(several)]
        self._keys[file_format] = str(
            Fingerprint.fixed("builder").derive(
                self.name,
                preparation=_PREPARATION,
                code=self.hash or type(self),
                names=(self.dataset_name, self.config_id, self.base_path, file_format),
                config=Arguments(vars(self.config)),
                features=self._features,
                files=files,
            )
        )
        return self._keys[file_format]

    def _found(self) -> str | None:
        """The folder with the result, if it exists and its input files have not changed."""
        if self._output_dir is not None:
            return self._output_dir
        if not is_caching_enabled() or not os.path.isdir(self._cache.root):
            return None
        folder = self._cache.find(self._key(self._file_format))
        entry = read_manifest(folder) if folder else None
        return folder if entry is not None and unchanged(entry.facts.get("inputs", {})) else None

    # How it is made

    def download_and_prepare(
        self,
        output_dir: str | None = None,
        download_config: DownloadConfig | None = None,
        download_mode: DownloadMode | str | None = None,
        verification_mode: VerificationMode | str | None = None,
        dl_manager: DownloadManager | None = None,
        base_path: str | None = None,
        file_format: str = "arrow",
        max_shard_size: int | str | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
        **download_and_prepare_kwargs: Any,
    ) -> None:
        """Make the dataset, unless an earlier run has: in the cache, or in `output_dir`.

        The result appears when it is complete. It is made again if the class, its configuration or an input file has
        changed.
        """
        refuse_unknown_keywords("download_and_prepare", download_and_prepare_kwargs)
        mode = DownloadMode(download_mode or DownloadMode.REUSE_DATASET_IF_EXISTS)
        checks = VerificationMode(verification_mode or VerificationMode.BASIC_CHECKS)
        biggest = byte_count(max_shard_size or config.MAX_SHARD_SIZE, os.getcwd())
        layout = Layout(self.dataset_name, file_format, biggest, num_proc)
        manager = dl_manager or self._manager(download_config, base_path, mode, checks)
        self._file_format = file_format
        by_hand = getattr(self, "manual_download_instructions", None)
        if by_hand and manager.manual_dir is None:
            raise ManualDownloadError(self.dataset_name, by_hand)

        def make(folder: str) -> dict[str, Any]:
            return self._write(folder, manager, layout, checks)

        if output_dir is not None:
            self._prepare_in(os.path.abspath(os.path.expanduser(output_dir)), make, mode)
        elif is_caching_enabled():
            self._prepare_in_cache(make, mode)
        else:
            self._prepare_in_memory(make)

    def _manager(
        self, given: DownloadConfig | None, base_path: str | None, mode: DownloadMode, checks: VerificationMode
    ) -> DownloadManager:
        fresh = mode is DownloadMode.FORCE_REDOWNLOAD
        asked = given or DownloadConfig(
            cache_dir=self._cache_dir_root, force_download=fresh, force_extract=fresh, token=self.token
        )
        place = self.base_path if base_path is None else base_path
        record = checks is VerificationMode.ALL_CHECKS
        return DownloadManager(self.dataset_name, self.config.data_dir, asked, place, record)

    def _prepare_in(self, folder: str, make: Make, mode: DownloadMode) -> None:
        there = os.listdir(folder) if os.path.isdir(folder) else []
        is_there = config.DATASET_INFO_FILENAME in there and any(name.endswith(self._file_format) for name in there)
        if not is_there or mode is not DownloadMode.REUSE_DATASET_IF_EXISTS:
            with atomic_folder(folder) as temporary:
                make(temporary)
        self._output_dir, self.info = folder, DatasetInfo.from_directory(folder)

    def _prepare_in_cache(self, make: Make, mode: DownloadMode) -> None:
        self._output_dir = None
        if mode is not DownloadMode.REUSE_DATASET_IF_EXISTS or self._found() is None:
            self._cache.remove(self._key(self._file_format))
        facts = {"format": "builder", "builder": self.name, "dataset": self.dataset_name, "config": self.config_id}
        self._output_dir = self._cache.made(self._key(self._file_format), make, facts)
        self.info = DatasetInfo.from_directory(self._output_dir)

    def _prepare_in_memory(self, make: Make) -> None:
        with tempfile.TemporaryDirectory(prefix=config.TEMP_CACHE_DIR_PREFIX) as folder:
            make(folder)
            self.info = DatasetInfo.from_directory(folder)
            self._tables = {
                name: split_view(folder, self.info, name, self._file_format, True) for name in self.info.splits or {}
            }

    def _write(self, folder: str, manager: DownloadManager, layout: Layout, checks: VerificationMode) -> dict[str, Any]:
        """Run the builder and write its rows to a folder."""
        generators = {str(one.name): one for one in self._generators(manager)}
        if checks is not VerificationMode.NO_CHECKS:
            require_described(self._described, generators)
        if checks is VerificationMode.ALL_CHECKS:
            require_checksums(self.info.download_checksums, manager.get_recorded_sizes_checksums())
        sources = [
            Source(name, _Named(self, name), dict(one.gen_kwargs), self._ON_MIXED_TYPES)
            for name, one in generators.items()
        ]
        features, splits = write_splits(folder, sources, layout, self.info.features)
        if checks is not VerificationMode.NO_CHECKS:
            require_sizes(self._described, {name: split.num_examples for name, split in splits.items()})
        self._tell(folder, features, splits, manager)
        manager.manage_extracted_files()
        return {"inputs": {path: state_of(path) for path in manager.downloaded_paths.values()}}

    def _generators(self, manager: DownloadManager) -> list[Any]:
        found = list(self._split_generators(manager))
        names = [str(one.name) for one in found]
        if "all" in names:
            raise ArgumentError("name", "all", "'all' means all splits together; use another name.")
        if len(set(names)) < len(names):
            raise ArgumentError("_split_generators", names, "a split is given twice.")
        return found

    def _tell(self, folder: str, features: Features | None, splits: SplitDict, manager: DownloadManager) -> None:
        recorded = manager.get_recorded_sizes_checksums()
        size, download = sum(split.num_bytes for split in splits.values()), manager.downloaded_size
        info = replace(
            self.info,
            features=features,
            splits=splits,
            download_checksums=recorded,
            download_size=download,
            dataset_size=size,
            size_in_bytes=download + size,
        )
        info.write_to_directory(folder)


@dataclass(frozen=True)
class _Named:
    """The batches of a builder for one split; errors name the split and the row."""

    builder: Prepared
    split: str

    def __call__(self, **gen_kwargs: Any) -> Iterator[tuple[pa.Table, Features]]:
        return self.builder._batches(self.split, **gen_kwargs)
