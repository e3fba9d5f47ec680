"""Builders: base classes for users' code that downloads files and generates rows.

Subclasses define `_info`, `_split_generators(dl_manager)` and `_generate_examples` (pairs of a key and a row) or
`_generate_tables` (pairs of a key and an Arrow table). `download_and_prepare` runs it once; `as_dataset` opens the
result.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, ClassVar
from urllib.parse import quote_plus

import pyarrow as pa

from crucible_datasets import config
from crucible_datasets import progress as progress_bars
from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.atomic import atomic_folder
from crucible_datasets.cache import Cache, default_cache
from crucible_datasets.cache.manifest import read_manifest
from crucible_datasets.cache.units import byte_count
from crucible_datasets.dataset_dict import DatasetDict
from crucible_datasets.download import DownloadConfig, DownloadManager
from crucible_datasets.download.streaming_download_manager import StreamingDownloadManager
from crucible_datasets.exceptions import (
    ArgumentError,
    ConfigNotFoundError,
    DatasetGenerationError,
    FeaturesMismatchError,
    FileNotFoundDatasetsError,
    ManualDownloadError,
    StreamedSplitError,
)
from crucible_datasets.features import Features
from crucible_datasets.fingerprint import Fingerprint, Hasher, is_caching_enabled, version_of
from crucible_datasets.hashing import Arguments
from crucible_datasets.info import DatasetInfo
from crucible_datasets.iterable_dataset import IterableDataset
from crucible_datasets.iterable_dataset_dict import IterableDatasetDict
from crucible_datasets.keywords import refuse_unknown_keywords
from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.ops.build import table_of
from crucible_datasets.ops.combine import concatenate
from crucible_datasets.reading.data_files import patterns_of
from crucible_datasets.reading.files import identified
from crucible_datasets.reading.modes import DownloadMode, VerificationMode
from crucible_datasets.reading.patterns import matched
from crucible_datasets.reading.splitfiles import Layout, Source, split_view, write_splits
from crucible_datasets.reading.verify import require_checksums, require_described, require_sizes
from crucible_datasets.splits import NamedSplit, SplitDict, names_in, pieces_of
from crucible_datasets.streams.from_memory import of_batches
from crucible_datasets.tables.table import ArrowTable
from crucible_datasets.tables.view import View
from crucible_datasets.tables.writing import as_features
from crucible_datasets.version import Version

__all__ = ["ArrowBasedBuilder", "BuilderConfig", "DatasetBuilder", "GeneratorBasedBuilder"]

names_of_datasets(__name__)


_UNFIT_FOR_FILE_NAMES = r"<>:/\|?*"


@dataclass
class BuilderConfig:
    """One configuration of a builder. Subclasses add fields, which become arguments of the builder.

    >>> BuilderConfig("german").create_config_id({"size": 3})
    'german-size=3'
    """

    name: str = "default"
    version: str | Version | None = Version("0.0.0")  # noqa: RUF009 - a version is never changed
    data_dir: str | None = None
    data_files: Mapping[str, list[str]] | None = None
    description: str | None = None

    def __post_init__(self) -> None:
        if set(self.name) & set(_UNFIT_FOR_FILE_NAMES):
            raise ArgumentError("name", self.name, f"use none of {_UNFIT_FOR_FILE_NAMES}")
        if self.data_files is not None and not isinstance(self.data_files, Mapping):
            raise ArgumentError("data_files", self.data_files, "a configuration takes a dict of split → paths.")

    def create_config_id(self, config_kwargs: Mapping[str, Any], custom_features: Features | None = None) -> str:
        """The name, followed by the options that differ from it: readable if short, else a hash."""
        options = {name: value for name, value in config_kwargs.items() if name not in ("name", "version")}
        options = {name: value for name, value in options.items() if value is not None}
        if not options and custom_features is None:
            return self.name
        readable = ",".join(f"{name}={quote_plus(str(value))}" for name, value in sorted(options.items()))
        is_plain = all(isinstance(value, (str, bool, int, float)) for value in options.values())
        longest = config.MAX_DATASET_CONFIG_ID_READABLE_LENGTH
        if custom_features is None and is_plain and len(readable) <= longest:
            return f"{self.name}-{readable}"
        return f"{self.name}-{Hasher.hash((options, custom_features))}"


class _ByName:
    """The configurations of a class by their names."""

    def __get__(self, instance: Any, owner: type[DatasetBuilder]) -> dict[str, Any]:
        configs = {configuration.name: configuration for configuration in owner.BUILDER_CONFIGS}
        if len(configs) != len(owner.BUILDER_CONFIGS):
            names = [configuration.name for configuration in owner.BUILDER_CONFIGS]
            raise ArgumentError("BUILDER_CONFIGS", names, "two configurations have one name.")
        return configs


def files_of(data_files: Any, base: str | None) -> dict[str, list[str]]:
    """The files of each split that patterns name."""
    folder = os.path.abspath(os.path.expanduser(base or ""))
    return {
        split: [path for pattern in patterns for path in matched(pattern, folder)]
        for split, patterns in patterns_of(data_files).items()
    }


def state_of(path: str) -> list[int]:
    """The identity of a file, which changes when it is modified; empty if there is none."""
    try:
        return [*version_of(os.stat(path))]
    except OSError:
        return []


def unchanged(inputs: Mapping[str, list[int]]) -> bool:
    """Whether no file has changed."""
    return all(state_of(path) == state for path, state in inputs.items())


_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


# Part of every key: incremented when the files of the same builder change.
_PREPARATION = 1

Make = Callable[[str], dict[str, Any]]


class DatasetBuilder:
    """The base of all builders: configuration, preparation, and opening the result."""

    DEFAULT_WRITER_BATCH_SIZE: ClassVar[int | None] = None
    SLEEP_ON_THREADS_SHUTDOWNS: ClassVar[bool] = False  # as in Hugging Face; nothing to wait for here
    VERSION: ClassVar[Any] = None
    BUILDER_CONFIG_CLASS: ClassVar[type[BuilderConfig]] = BuilderConfig
    BUILDER_CONFIGS: ClassVar[list[Any]] = []
    DEFAULT_CONFIG_NAME: ClassVar[str | None] = None

    _ON_MIXED_TYPES: ClassVar[str | None] = None

    builder_configs = _ByName()

    def __init__(
        self,
        cache_dir: str | None = None,
        dataset_name: str | None = None,
        config_name: str | None = None,
        hash: str | None = None,
        base_path: str | None = None,
        info: DatasetInfo | None = None,
        features: Features | None = None,
        token: bool | str | None = None,
        repo_id: str | None = None,
        data_files: Any = None,
        data_dir: str | None = None,
        storage_options: dict[str, Any] | None = None,
        writer_batch_size: int | None = None,
        config_id: str | None = None,
        **config_kwargs: Any,
    ) -> None:
        self.name = _WORD_BEGINS.sub("_", type(self).__module__.rpartition(".")[2]).lower()
        self.dataset_name = _WORD_BEGINS.sub("_", dataset_name).lower() if dataset_name else self.name
        self.hash, self.base_path, self.token, self.repo_id = hash, base_path, token, repo_id
        self.storage_options = storage_options or {}
        self._writer_batch_size = writer_batch_size or self.DEFAULT_WRITER_BATCH_SIZE
        self._cache_dir_root = os.path.expanduser(cache_dir or config.HF_DATASETS_CACHE)
        self._output_dir: str | None = None
        self._file_format = "arrow"
        self._tables: dict[str, View] | None = None
        self._keys: dict[str, str] = {}

        data = {"data_files": data_files and files_of(data_files, data_dir or base_path), "data_dir": data_dir}
        config_kwargs |= {name: value for name, value in data.items() if value is not None}
        self.config = self._configured(config_name, config_kwargs)
        self.config_id = config_id or self.config.create_config_id(config_kwargs, features)
        self.info = (info or self._info()).copy()
        self._described = self.info.splits
        self._features = None if features is None else Features(features)
        self.info.features = self._features or self.info.features
        self.info.builder_name, self.info.dataset_name = self.name, self.dataset_name
        self.info.config_name, self.info.version = self.config.name, _version(self.config.version)
        if folder := self._prepared_folder():
            self.info = DatasetInfo.from_directory(folder)

    # Defined by subclasses

    def _info(self) -> DatasetInfo:
        """The description of the dataset; its features, if they are fixed."""
        raise NotImplementedError(f"{type(self).__name__} has no _info().")

    def _split_generators(self, dl_manager: Any) -> list[Any]:
        """One `SplitGenerator` for each split, with the arguments for the method that makes its rows."""
        raise NotImplementedError(f"{type(self).__name__} has no _split_generators(dl_manager).")

    def _batches(self, split: str, **gen_kwargs: Any) -> Iterator[tuple[pa.Table, Features]]:
        raise NotImplementedError(f"{type(self).__name__} makes no rows; use GeneratorBasedBuilder.")

    # Configuration

    @classmethod
    def get_imported_module_dir(cls) -> str:
        """The folder of the module that the class comes from."""
        return os.path.dirname(str(getattr(sys.modules.get(cls.__module__), "__file__", "") or ""))

    def _configured(self, name: str | None, options: dict[str, Any]) -> Any:
        configs, default = self.builder_configs, name or self.DEFAULT_CONFIG_NAME
        if default is None and len(configs) == 1:
            default = next(iter(configs))
        if configs and (not options if default is None else default not in configs):
            raise ConfigNotFoundError(self.dataset_name, default, configs)
        if not configs or default is None:
            version = {"version": self.VERSION} if self.VERSION is not None else {}
            return self.BUILDER_CONFIG_CLASS(**{"name": default or "default", **version, **options})
        chosen = deepcopy(configs[str(default)])
        for option, value in options.items():
            if not hasattr(chosen, option):
                fields = [field for field in vars(chosen) if not field.startswith("_")]
                raise ArgumentError(option, value, f"configuration {default!r} has {', '.join(fields)}.")
            setattr(chosen, option, value)
        return chosen

    # The prepared dataset in the cache

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
        files = [file.identity for paths in (self.config.data_files or {}).values() for file in identified(paths)]
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

    def _prepared_folder(self) -> str | None:
        """The folder with the result, if it exists and its input files have not changed."""
        if self._output_dir is not None:
            return self._output_dir
        if not is_caching_enabled() or not os.path.isdir(self._cache.root):
            return None
        folder = self._cache.find(self._key(self._file_format))
        entry = read_manifest(folder) if folder else None
        return folder if entry is not None and unchanged(entry.facts.get("inputs", {})) else None

    # Preparation

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
        self,
        download_config: DownloadConfig | None,
        base_path: str | None,
        mode: DownloadMode,
        checks: VerificationMode,
    ) -> DownloadManager:
        fresh = mode is DownloadMode.FORCE_REDOWNLOAD
        download_config = download_config or DownloadConfig(
            cache_dir=self._cache_dir_root, force_download=fresh, force_extract=fresh, token=self.token
        )
        base = self.base_path if base_path is None else base_path
        record = checks is VerificationMode.ALL_CHECKS
        return DownloadManager(self.dataset_name, self.config.data_dir, download_config, base, record)

    def _prepare_in(self, folder: str, make: Make, mode: DownloadMode) -> None:
        names = os.listdir(folder) if os.path.isdir(folder) else []
        is_prepared = config.DATASET_INFO_FILENAME in names and any(name.endswith(self._file_format) for name in names)
        if not is_prepared or mode is not DownloadMode.REUSE_DATASET_IF_EXISTS:
            with atomic_folder(folder) as temporary:
                make(temporary)
        self._output_dir, self.info = folder, DatasetInfo.from_directory(folder)

    def _prepare_in_cache(self, make: Make, mode: DownloadMode) -> None:
        self._output_dir = None
        if mode is not DownloadMode.REUSE_DATASET_IF_EXISTS or self._prepared_folder() is None:
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
        generators = {str(generator.name): generator for generator in self._generators(manager)}
        if checks is not VerificationMode.NO_CHECKS:
            require_described(self._described, generators)
        if checks is VerificationMode.ALL_CHECKS:
            require_checksums(self.info.download_checksums, manager.get_recorded_sizes_checksums())
        sources = [
            Source(name, _Named(self, name), dict(generator.gen_kwargs), self._ON_MIXED_TYPES)
            for name, generator in generators.items()
        ]
        features, splits = write_splits(folder, sources, layout, self.info.features)
        if checks is not VerificationMode.NO_CHECKS:
            require_sizes(self._described, {name: split.num_examples for name, split in splits.items()})
        self._write_info(folder, features, splits, manager)
        manager.manage_extracted_files()
        return {"inputs": {path: state_of(path) for path in manager.downloaded_paths.values()}}

    def _generators(self, manager: DownloadManager) -> list[Any]:
        generators = list(self._split_generators(manager))
        names = [str(generator.name) for generator in generators]
        if "all" in names:
            raise ArgumentError("name", "all", "'all' means all splits together; use another name.")
        if len(set(names)) < len(names):
            raise ArgumentError("_split_generators", names, "a split is given twice.")
        return generators

    def _write_info(self, folder: str, features: Features | None, splits: SplitDict, manager: DownloadManager) -> None:
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

    # Opening

    def as_dataset(self, split: Any = None, in_memory: bool = False) -> Any:
        """The prepared dataset: a `Dataset` for a split, a `DatasetDict` of all splits without one.

        `split` may be a spec such as `train[:10%]+test`, or a list or dict of them.
        """
        folder = self._prepared_folder()
        if self._tables is None and folder is None:
            raise FileNotFoundDatasetsError(self.dataset_name, "it is not prepared: call download_and_prepare() first.")
        self._output_dir = folder
        sizes = {name: size.num_examples for name, size in (self.info.splits or {}).items()}
        if split is None:
            return DatasetDict({name: Dataset._of(self._split_view(name, in_memory)) for name in sizes})
        if isinstance(split, dict):
            return DatasetDict({name: self.as_dataset(spec, in_memory) for name, spec in split.items()})
        if isinstance(split, (list, tuple)):
            return [self.as_dataset(spec, in_memory) for spec in split]
        names = list(names_in(split, sizes))
        if any(sizes[name] for name in names):
            parts = [self._part(*piece, in_memory) for piece in pieces_of(split, sizes)]
        else:
            parts = [self._split_view(names[0], in_memory)]
        label = "+".join(names) if str(split) == "all" else str(split)
        whole = parts[0] if len(parts) == 1 else concatenate(parts)
        return Dataset._of(replace(whole, split=NamedSplit(label), info=self.info.copy()))

    def as_streaming_dataset(self, split: Any = None, base_path: str | None = None) -> Any:
        """The rows as a stream, without preparation: of one split, or of all as an `IterableDatasetDict`."""
        manager = StreamingDownloadManager(self.dataset_name, base_path=base_path or self.base_path)
        arguments = {str(generator.name): dict(generator.gen_kwargs) for generator in self._generators(manager)}
        if split is None:
            return IterableDatasetDict(
                {name: self._streamed(name, gen_kwargs) for name, gen_kwargs in arguments.items()}
            )
        if str(split) not in arguments:
            raise StreamedSplitError(split, arguments)
        return self._streamed(str(split), arguments[str(split)])

    def _streamed(self, split: str, gen_kwargs: dict[str, Any]) -> IterableDataset:
        return IterableDataset._of(of_batches(partial(self._batches, split), gen_kwargs, self.info, split))

    def _split_view(self, name: str, in_memory: bool) -> View:
        if self._tables is not None:
            return replace(self._tables[name], info=self.info.copy())
        view = split_view(str(self._output_dir), self.info, name, self._file_format, in_memory)
        return replace(view, info=self.info.copy(), split=NamedSplit(name))

    def _part(self, name: str, start: int, stop: int, in_memory: bool) -> View:
        view = self._split_view(name, in_memory)
        return view if stop - start == len(view) else view.moved(range(start, stop), "split")


def _version(version: Any) -> Version | None:
    return Version(version) if isinstance(version, str) else version


@dataclass(frozen=True)
class _Named:
    """The batches of a builder for one split; errors name the split and the row."""

    builder: DatasetBuilder
    split: str

    def __call__(self, **gen_kwargs: Any) -> Iterator[tuple[pa.Table, Features]]:
        return self.builder._batches(self.split, **gen_kwargs)


_ROWS_PER_BATCH = 2000


class _Progress:
    """The progress of a builder in a split, for the progress bar and errors."""

    def __init__(self, builder: DatasetBuilder, split: str) -> None:
        self.source = f"{type(builder).__name__}, split {split!r},"
        self.rows, self.key = 0, None

    def failed(self, error: Exception) -> DatasetGenerationError:
        after = "" if self.key is None else f" (the last key was {self.key!r})"
        return DatasetGenerationError(self.source, self.rows, f"{type(error).__name__}: {error}{after}")

    def pairs(self, stream: Iterator[Any]) -> Iterator[Any]:
        for pair in stream:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise DatasetGenerationError(self.source, self.rows, f"expected a key and a row, got {pair!r:.200}")
            self.key = pair[0]
            yield pair[1]


class GeneratorBasedBuilder(DatasetBuilder):
    """A builder that yields rows: subclasses define `_generate_examples`."""

    _ON_MIXED_TYPES = "use_json"

    def _generate_shards(self, **kwargs: Any) -> Iterator[str | dict[str, Any]]:
        """Yield the inputs of each part of a split; not called here."""
        raise NotImplementedError(f"{type(self).__name__} has no _generate_shards.")

    def _generate_examples(self, **kwargs: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield a key and a row, as a dict, for each row of a split."""
        raise NotImplementedError(f"{type(self).__name__} has no _generate_examples.")

    def _batches(self, split: str, **gen_kwargs: Any) -> Iterator[tuple[pa.Table, Features]]:
        progress, size = _Progress(self, split), self._writer_batch_size or _ROWS_PER_BATCH
        try:
            with progress_bars.bar(desc=f"Generating {split} split", unit=" examples") as bar:
                rows = self._rows(progress, gen_kwargs)
                while batch := list(islice(rows, size)):
                    yield table_of(batch, self.info.features)
                    bar.update(len(batch))
        except DatasetGenerationError:
            raise
        except Exception as error:
            raise progress.failed(error) from error

    def _rows(self, progress: _Progress, gen_kwargs: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        for row in progress.pairs(iter(self._generate_examples(**gen_kwargs))):
            if not isinstance(row, Mapping):
                kind = type(row).__name__
                raise DatasetGenerationError(progress.source, progress.rows, f"it yielded {kind} instead of a dict.")
            yield row
            progress.rows += 1


class ArrowBasedBuilder(DatasetBuilder):
    """A builder that yields Arrow tables: subclasses define `_generate_tables`."""

    def _generate_shards(self, **kwargs: Any) -> Iterator[str | dict[str, Any]]:
        """Yield the inputs of each part of a split; not called here."""
        raise NotImplementedError(f"{type(self).__name__} has no _generate_shards.")

    def _generate_tables(self, **kwargs: Any) -> Iterator[tuple[Any, pa.Table]]:
        """Yield a key and a table for each part of a split."""
        raise NotImplementedError(f"{type(self).__name__} has no _generate_tables.")

    def _batches(self, split: str, **gen_kwargs: Any) -> Iterator[tuple[pa.Table, Features]]:
        progress = _Progress(self, split)
        try:
            with progress_bars.bar(desc=f"Generating {split} split", unit=" examples") as bar:
                for table in progress.pairs(iter(self._generate_tables(**gen_kwargs))):
                    yield self._typed(table)
                    progress.rows += table.num_rows
                    bar.update(table.num_rows)
        except DatasetGenerationError:
            raise
        except Exception as error:
            raise progress.failed(error) from error

    def _typed(self, table: pa.Table) -> tuple[pa.Table, Features]:
        features, declared = Features.from_arrow_schema(table.schema), self.info.features
        data = ArrowTable.of(table).table
        if declared is None:
            return data, features
        if set(features) - set(declared):
            raise FeaturesMismatchError(declared, features)
        return as_features(data, features, declared), declared
