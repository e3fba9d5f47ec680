"""`DatasetBuilder`: the base of all builders, and how their results are opened."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from crucible_datasets import config
from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.builder.inputs import files_of
from crucible_datasets.builder.preparation import Prepared
from crucible_datasets.dataset_dict import DatasetDict
from crucible_datasets.download.streaming_download_manager import StreamingDownloadManager
from crucible_datasets.exceptions import FileNotFoundDatasetsError, StreamedSplitError
from crucible_datasets.features import Features
from crucible_datasets.info import DatasetInfo
from crucible_datasets.iterable_dataset import IterableDataset
from crucible_datasets.iterable_dataset_dict import IterableDatasetDict
from crucible_datasets.ops.combine import concatenate
from crucible_datasets.reading.splitfiles import split_view
from crucible_datasets.splits import NamedSplit, names_in, pieces_of
from crucible_datasets.streams.from_memory import of_batches
from crucible_datasets.tables.view import View
from crucible_datasets.version import Version

_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class DatasetBuilder(Prepared):
    """The base of all builders: configuration, preparation, and opening the result."""

    DEFAULT_WRITER_BATCH_SIZE: ClassVar[int | None] = None
    SLEEP_ON_THREADS_SHUTDOWNS: ClassVar[bool] = False  # as in Hugging Face; nothing to wait for here

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

        asked = {"data_files": data_files and files_of(data_files, data_dir or base_path), "data_dir": data_dir}
        config_kwargs |= {name: value for name, value in asked.items() if value is not None}
        self.config = self._configured(config_name, config_kwargs)
        self.config_id = config_id or self.config.create_config_id(config_kwargs, features)
        self.info = (info or self._info()).copy()
        self._described = self.info.splits
        self._features = None if features is None else Features(features)
        self.info.features = self._features or self.info.features
        self.info.builder_name, self.info.dataset_name = self.name, self.dataset_name
        self.info.config_name, self.info.version = self.config.name, _version(self.config.version)
        if folder := self._found():
            self.info = DatasetInfo.from_directory(folder)

    # Defined by subclasses

    def _info(self) -> DatasetInfo:
        """The description of the dataset; its features, if they are fixed."""
        raise NotImplementedError(f"{type(self).__name__} has no _info().")

    @classmethod
    def get_imported_module_dir(cls) -> str:
        """The folder of the module that the class comes from."""
        return os.path.dirname(str(getattr(sys.modules.get(cls.__module__), "__file__", "") or ""))

    def as_dataset(self, split: Any = None, in_memory: bool = False) -> Any:
        """The prepared dataset: a `Dataset` for a split, a `DatasetDict` of all splits without one.

        `split` may be a spec such as `train[:10%]+test`, or a list or dict of them.
        """
        folder = self._found()
        if self._tables is None and folder is None:
            raise FileNotFoundDatasetsError(self.dataset_name, "it is not prepared: call download_and_prepare() first.")
        self._output_dir = folder
        sizes = {name: size.num_examples for name, size in (self.info.splits or {}).items()}
        if split is None:
            return DatasetDict({name: Dataset._of(self._whole(name, in_memory)) for name in sizes})
        if isinstance(split, dict):
            return DatasetDict({name: self.as_dataset(one, in_memory) for name, one in split.items()})
        if isinstance(split, (list, tuple)):
            return [self.as_dataset(one, in_memory) for one in split]
        names = list(names_in(split, sizes))
        if any(sizes[name] for name in names):
            parts = [self._part(*piece, in_memory) for piece in pieces_of(split, sizes)]
        else:
            parts = [self._whole(names[0], in_memory)]
        label = "+".join(names) if str(split) == "all" else str(split)
        whole = parts[0] if len(parts) == 1 else concatenate(parts)
        return Dataset._of(replace(whole, split=NamedSplit(label), info=self.info.copy()))

    def as_streaming_dataset(self, split: Any = None, base_path: str | None = None) -> Any:
        """The rows as a stream, without preparation: of one split, or of all as an `IterableDatasetDict`."""
        manager = StreamingDownloadManager(self.dataset_name, base_path=base_path or self.base_path)
        made = {str(one.name): dict(one.gen_kwargs) for one in self._generators(manager)}
        if split is None:
            return IterableDatasetDict({name: self._streamed(name, given) for name, given in made.items()})
        if str(split) not in made:
            raise StreamedSplitError(split, made)
        return self._streamed(str(split), made[str(split)])

    def _streamed(self, split: str, gen_kwargs: dict[str, Any]) -> IterableDataset:
        return IterableDataset._of(of_batches(partial(self._batches, split), gen_kwargs, self.info, split))

    def _whole(self, name: str, in_memory: bool) -> View:
        if self._tables is not None:
            return replace(self._tables[name], info=self.info.copy())
        view = split_view(str(self._output_dir), self.info, name, self._file_format, in_memory)
        return replace(view, info=self.info.copy(), split=NamedSplit(name))

    def _part(self, name: str, start: int, stop: int, in_memory: bool) -> View:
        view = self._whole(name, in_memory)
        return view if stop - start == len(view) else view.moved(range(start, stop), "split")


def _version(version: Any) -> Version | None:
    return Version(version) if isinstance(version, str) else version
