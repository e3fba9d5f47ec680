"""Forwards to `load_dataset`, `from_generator`, `from_sql` and the methods `to_csv`, `to_json` …, as classes."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.features import Features
from crucible_datasets.iterable_dataset import IterableDataset
from crucible_datasets.load import load_dataset
from crucible_datasets.splits import NamedSplit, Split

from ._sharing import forward

__path__: list[str] = []
forward(
    __name__,
    {
        "abc": {"io": "AbstractDatasetInputStream AbstractDatasetReader"},
        "csv": {"io": "CsvDatasetReader CsvDatasetWriter"},
        "generator": {"io": "GeneratorDatasetInputStream"},
        "json": {"io": "JsonDatasetReader JsonDatasetWriter"},
        "parquet": {"io": "ParquetDatasetReader ParquetDatasetWriter"},
        "sql": {"io": "SqlDatasetReader SqlDatasetWriter"},
        "text": {"io": "TextDatasetReader"},
    },
)


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


class _FormatReader(AbstractDatasetReader):
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


class _FormatWriter:
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


class CsvDatasetReader(_FormatReader):
    """`load_dataset("csv", …)`."""

    format = "csv"


class CsvDatasetWriter(_FormatWriter):
    """`Dataset.to_csv`."""

    method = "to_csv"


class JsonDatasetReader(_FormatReader):
    """`load_dataset("json", …)`."""

    format = "json"


class JsonDatasetWriter(_FormatWriter):
    """`Dataset.to_json`."""

    method = "to_json"


class ParquetDatasetReader(_FormatReader):
    """`load_dataset("parquet", …)`."""

    format = "parquet"


class ParquetDatasetWriter(_FormatWriter):
    """`Dataset.to_parquet`."""

    method = "to_parquet"


class TextDatasetReader(_FormatReader):
    """`load_dataset("text", …)`."""

    format = "text"


class GeneratorDatasetInputStream(AbstractDatasetInputStream):
    """Reads the rows that a function yields."""

    def __init__(
        self,
        generator: Callable[..., Any],
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        streaming: bool = False,
        gen_kwargs: dict[str, Any] | None = None,
        num_proc: int | None = None,
        split: NamedSplit = Split.TRAIN,
        **kwargs: Any,
    ) -> None:
        super().__init__(features, cache_dir, keep_in_memory, streaming, num_proc, **kwargs)
        self.generator, self.gen_kwargs, self.split = generator, gen_kwargs, split

    def read(self) -> Dataset | IterableDataset:
        """The dataset, or a stream."""
        if self.streaming:
            return IterableDataset.from_generator(self.generator, self.features, self.gen_kwargs, self.split)
        where = (self.cache_dir, self.keep_in_memory, self.gen_kwargs, self.num_proc, self.split)
        return Dataset.from_generator(self.generator, self.features, *where, **self.kwargs)


class SqlDatasetReader(AbstractDatasetInputStream):
    """Reads what a query gives."""

    def __init__(self, sql: Any, con: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sql, self.con = sql, con

    def read(self) -> Dataset:
        """The dataset."""
        return Dataset.from_sql(self.sql, self.con, self.features, self.cache_dir, self.keep_in_memory, **self.kwargs)


class SqlDatasetWriter:
    """Writes a table of a database."""

    def __init__(self, dataset: Dataset, name: str, con: Any, batch_size: int | None = None, **kwargs: Any) -> None:
        self.dataset, self.name, self.con, self.batch_size, self.kwargs = dataset, name, con, batch_size, kwargs

    def write(self) -> int:
        """Write it; the number of rows."""
        return self.dataset.to_sql(self.name, self.con, batch_size=self.batch_size, **self.kwargs)
