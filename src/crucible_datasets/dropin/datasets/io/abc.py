"""What readers and writers of files have in common."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from crucible_datasets.features import Features
from crucible_datasets.load import load_dataset
from crucible_datasets.splits import NamedSplit

__all__ = ["AbstractDatasetInputStream", "AbstractDatasetReader"]


class _Input(ABC):
    """Where rows come from, and how they are to be read."""

    def __init__(
        self,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        streaming: bool = False,
        num_proc: int | None = None,
        **kwargs: Any,
    ) -> None:
        self.features, self.cache_dir, self.keep_in_memory = features, cache_dir, keep_in_memory
        self.streaming, self.num_proc, self.kwargs = streaming, num_proc, kwargs

    @abstractmethod
    def read(self) -> Any:
        """The dataset."""


class AbstractDatasetInputStream(_Input):
    """Reads what is no file."""


class AbstractDatasetReader(_Input):
    """Reads files, each split of its own where a dict names them."""

    def __init__(
        self,
        path_or_paths: Any = None,
        split: NamedSplit | None = None,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        streaming: bool = False,
        num_proc: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(features, cache_dir, keep_in_memory, streaming, num_proc, **kwargs)
        self.path_or_paths, self.split = path_or_paths, split


class ReaderOfFormat(AbstractDatasetReader):
    """Reads files of one format."""

    format: ClassVar[str]

    def read(self) -> Any:
        """The dataset, or one for each split where a dict names them."""
        options: Mapping[str, Any] = {name: value for name, value in self.kwargs.items() if value is not None}
        files, only = _as_text(self.path_or_paths), self.split
        if not isinstance(files, dict):
            only = self.split or NamedSplit("train")
            files = {str(only): files}
        return load_dataset(
            self.format,
            data_files=files,
            split=only,
            features=self.features,
            cache_dir=self.cache_dir,
            keep_in_memory=self.keep_in_memory,
            streaming=self.streaming,
            num_proc=None if self.streaming else self.num_proc,
            **options,
        )


class WriterOfFormat:
    """Writes a dataset through one of its methods."""

    method: ClassVar[str]

    def __init__(self, dataset: Any, path_or_buf: Any, *args: Any, **kwargs: Any) -> None:
        self.dataset, self.path_or_buf, self.args, self.kwargs = dataset, path_or_buf, args, kwargs

    def write(self) -> int:
        """Write it; the number of bytes."""
        writes: Callable[..., int] = getattr(self.dataset, self.method)
        return writes(self.path_or_buf, *self.args, **self.kwargs)


def _as_text(paths: Any) -> Any:
    if isinstance(paths, Mapping):
        return {split: _as_text(several) for split, several in paths.items()}
    if isinstance(paths, (list, tuple)):
        return [os.fsdecode(path) for path in paths]
    return os.fsdecode(paths)
