"""`IterableDataset` and `IterableColumn`: streaming datasets. A facade over `Stream`; the work is done in `streams`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from crucible_datasets.features import Features
from crucible_datasets.info import DatasetInfo, DatasetInfoMixin
from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.ops import build, push
from crucible_datasets.private_names import PrivateStreamNames
from crucible_datasets.reading import streaming
from crucible_datasets.splits import NamedSplit, Split
from crucible_datasets.streams import export, from_memory, mixing, operations, output, pushing, running
from crucible_datasets.streams.base import Stage
from crucible_datasets.streams.epochs import Epoch
from crucible_datasets.streams.running import Run
from crucible_datasets.streams.states import State
from crucible_datasets.streams.stream import Stream
from crucible_datasets.viewable import Viewable

if TYPE_CHECKING:
    import os

    import numpy as np
    import pandas as pd
    import polars as pl
    from huggingface_hub import CommitInfo

    from crucible_datasets.executors.base import Executor
    from crucible_datasets.streams.examples import Examples

    AnyPath = str | bytes | os.PathLike[Any]
    Paths = AnyPath | list[AnyPath]
    Row = dict[str, Any]
    Names = str | list[str]


class IterableDataset(DatasetInfoMixin, PrivateStreamNames, Viewable):
    """Rows that are read while they are iterated, from files of any size. Iteration can resume at any row.

    >>> list(IterableDataset.from_list([{"n": 1}, {"n": 2}]).filter(lambda row: row["n"] > 1))
    [{'n': 2}]
    """

    _stream: Stream
    _epochs: Epoch
    _run: Run | None
    _loaded: list[State]

    def __init__(
        self,
        ex_iterable: Stage | Stream | Examples,
        info: DatasetInfo | None = None,
        split: NamedSplit | None = None,
        formatting: Any = None,
        distributed: Any = None,
        token_per_repo_id: dict[str, Any] | None = None,
    ) -> None:
        self._begin(from_memory.stream_over(ex_iterable, info, split, formatting, distributed))

    def _begin(self, stream: Stream, epoch: int = 0) -> None:
        self._stream = stream
        self._epochs, self._run, self._loaded = Epoch(), None, []
        self._epochs.number = epoch

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        # Read by `isinstance`, which `DataLoader` calls: so a stream older than torch's import is accepted,
        # and the epoch is shared with torch's workers before they start.
        self._epochs.share()
        return running.known_to_torch(type(self))

    @classmethod
    def _of(cls, stream: Stream, epoch: int = 0) -> IterableDataset:
        # Subclasses of users may have an `__init__` of their own.
        dataset = cls.__new__(cls)
        dataset._begin(stream, epoch)
        return dataset

    def _with(self, operation: Callable[..., Stream], *args: Any, **kwargs: Any) -> IterableDataset:
        """The stream that results from an operation on this one."""
        return IterableDataset._of(operation(self._stream, *args, **kwargs), self.epoch)

    @property
    def _stage(self) -> Stage:
        return running.stage_for(self._stream, self.epoch)

    # Creating

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        features: Features | None = None,
        gen_kwargs: dict[str, Any] | None = None,
        split: NamedSplit = Split.TRAIN,
    ) -> IterableDataset:
        """Stream the rows that a function yields; lists among its arguments are split into shards."""
        return IterableDataset._of(from_memory.of_generator(generator, features, gen_kwargs, split))

    @staticmethod
    def from_spark(
        df: Any,
        split: NamedSplit | None = None,
        features: Features | None = None,
        **kwargs: Any,
    ) -> IterableDataset:
        """Stream the rows of a Spark data frame, one partition at a time."""
        return IterableDataset._of(from_memory.of_spark(df, features, split, **kwargs))

    @classmethod
    def from_list(
        cls,
        mapping: list[Row],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: NamedSplit | None = None,
        num_shards: int | None = 1,
    ) -> IterableDataset:
        """Stream rows."""
        return cls._of(from_memory.of_view(build.from_rows(mapping, features, info, split), num_shards))

    @classmethod
    def from_dict(
        cls,
        mapping: dict[str, Any],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: NamedSplit | None = None,
        num_shards: int | None = 1,
    ) -> IterableDataset:
        """Stream the rows of columns."""
        return cls._of(from_memory.of_view(build.from_columns(mapping, features, info, split), num_shards))

    @classmethod
    def from_pandas(
        cls,
        df: pd.DataFrame,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: NamedSplit | None = None,
        preserve_index: bool | None = None,
        num_shards: int | None = 1,
    ) -> IterableDataset:
        """Stream the rows of a pandas data frame."""
        view = build.from_pandas(df, features, info, split, preserve_index)
        return cls._of(from_memory.of_view(view, num_shards))

    @classmethod
    def from_polars(
        cls,
        df: pl.DataFrame | pl.LazyFrame,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: NamedSplit | None = None,
    ) -> IterableDataset:
        """Stream the rows of a polars frame; a lazy one is computed in batches while it is read."""
        return cls._of(from_memory.of_polars(df, features, info, split))

    @staticmethod
    def from_file(filename: str) -> IterableDataset:
        """Stream an Arrow file."""
        return IterableDataset._of(streaming.arrow_file(filename))

    @staticmethod
    def from_csv(
        path_or_paths: Paths,
        split: NamedSplit | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> IterableDataset:
        """Stream CSV files."""
        return IterableDataset._of(streaming.one_split("csv", path_or_paths, split, features, kwargs))

    @staticmethod
    def from_json(
        path_or_paths: Paths,
        split: NamedSplit | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        field: str | None = None,
        **kwargs: Any,
    ) -> IterableDataset:
        """Stream JSON or JSON Lines files."""
        return IterableDataset._of(
            streaming.one_split("json", path_or_paths, split, features, {"field": field, **kwargs})
        )

    @staticmethod
    def from_parquet(
        path_or_paths: Paths,
        split: NamedSplit | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        columns: list[str] | None = None,
        filters: Any = None,
        fragment_scan_options: Any = None,
        on_bad_files: Literal["error", "warn", "skip"] = "error",
        **kwargs: Any,
    ) -> IterableDataset:
        """Stream Parquet files, reading only the given columns and row groups that can match the filters."""
        options = {"columns": columns, "filters": filters, "on_bad_files": on_bad_files, **kwargs}
        options["fragment_scan_options"] = fragment_scan_options
        return IterableDataset._of(streaming.one_split("parquet", path_or_paths, split, features, options))

    @staticmethod
    def from_text(
        path_or_paths: Paths,
        split: NamedSplit | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        keep_linebreaks: bool = False,
        sample_by: Literal["line", "paragraph", "document"] = "line",
        **kwargs: Any,
    ) -> IterableDataset:
        """Stream the lines, or paragraphs, of text files."""
        options = {"keep_linebreaks": keep_linebreaks, "sample_by": sample_by, **kwargs}
        return IterableDataset._of(streaming.one_split("text", path_or_paths, split, features, options))

    # Facts

    @property
    def info(self) -> DatasetInfo:
        return self._stream.described()

    @property
    def features(self) -> Features | None:
        """The features of the columns; None if unknown."""
        return self._stream.features

    @property
    def split(self) -> NamedSplit | None:
        return self._stream.split

    @property
    def column_names(self) -> list[str] | None:
        """The names of the columns, if they are known."""
        return self._stream.column_names

    @property
    def num_columns(self) -> int | None:
        return None if self.features is None else len(self.features)

    @property
    def num_shards(self) -> int:
        """Into how many parts the rows can be divided, among workers or machines."""
        return running.num_shards(self._stream)

    @property
    def n_shards(self) -> int:
        return self.num_shards

    @property
    def epoch(self) -> int:
        """The epoch number; a shuffled stream has another order in each epoch."""
        return self._epochs.number

    def __repr__(self) -> str:
        shown = "Unknown" if self.features is None else list(self.features)
        return f"IterableDataset({{\n    features: {shown},\n    num_shards: {self.num_shards}\n}})"

    # Reading

    def __iter__(self) -> Iterator[Row]:
        self._run = run = running.begun(self._stream, self.epoch, self._loaded)
        return output.rows(run.stage, self._stream.format, self.features, run)

    def iter(self, batch_size: int, drop_last_batch: bool = False) -> Iterator[Any]:
        """The rows in batches, as columns."""
        self._run = run = running.begun(self._stream, self.epoch, self._loaded)
        shown, kinds = self._stream.format, self.features
        return output.batches(run.stage, shown, kinds, run, batch_size, drop_last_batch)

    def __getitem__(self, column_name: str) -> IterableColumn:
        return IterableColumn(self, column_name)

    def state_dict(self) -> dict[str, Any]:
        """The position of the iteration, as a small JSON value: `load_state_dict` resumes at the next row."""
        return running.state_of(self._run, self._stream, self.epoch, self._loaded)

    def load_state_dict(self, state_dict: dict[str, Any] | list[dict[str, Any]] | None) -> None:
        """Resume at a state, in every iteration of its epoch; a list has the states of all workers of a run.

        None is the beginning.
        """
        self._loaded = running.loaded(self._stream, state_dict)
        self._run = None

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch: a shuffled stream has another order in each."""
        self._epochs.number = epoch

    # Operations

    def with_format(self, type: str | None = None) -> IterableDataset:
        """Show rows as objects of another library: numpy, torch, jax, tensorflow, arrow, pandas, polars."""
        return self._with(operations.with_format, type)

    def map(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        input_columns: Names | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        drop_last_batch: bool = False,
        remove_columns: Names | None = None,
        features: Features | None = None,
        fn_kwargs: dict[str, Any] | None = None,
        executor: str | Executor | None = None,
    ) -> IterableDataset:
        """Apply a function to every row or batch. Calls of async functions run concurrently.

        With an `executor`, its workers read shards and call the function in advance.
        """
        given = (function, with_indices, input_columns, batched, batch_size, drop_last_batch, remove_columns)
        return self._with(operations.map_rows, *given, features, fn_kwargs, executor)

    def filter(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        input_columns: Names | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        fn_kwargs: dict[str, Any] | None = None,
        executor: str | Executor | None = None,
    ) -> IterableDataset:
        """Keep the rows for which a function is true; with an `executor`, its workers read shards and call it."""
        given = (function, with_indices, input_columns, batched, batch_size, fn_kwargs, executor)
        return self._with(operations.filter_rows, *given)

    def shuffle(
        self,
        seed: int | None = None,
        generator: np.random.Generator | None = None,
        buffer_size: int = 1000,
        max_buffer_input_shards: int = 10,
    ) -> IterableDataset:
        """Shuffle the shards, and the rows by means of a buffer; each epoch has another order."""
        return self._with(mixing.shuffle, seed, generator, buffer_size, max_buffer_input_shards)

    def with_workers(self, deterministic: bool = True, block_size: int = 1) -> IterableDataset:
        """Deal rows to workers and machines in blocks, from one order that does not depend on their number."""
        return self._with(mixing.with_workers, deterministic, block_size)

    def take(self, n: int) -> IterableDataset:
        """Keep the first `n` rows."""
        return self._with(operations.take, n)

    def skip(self, n: int) -> IterableDataset:
        """Drop the first `n` rows, without reading files whose number of rows is known."""
        return self._with(operations.skip, n)

    def repeat(self, num_times: int | None) -> IterableDataset:
        """Repeat all rows; None repeats them endlessly."""
        return self._with(operations.repeat, num_times)

    def batch(
        self, batch_size: int | None = None, by_column: Names | None = None, drop_last_batch: bool = False
    ) -> IterableDataset:
        """Combine rows into lists: `batch_size` rows each, or consecutive rows with equal values of a column."""
        return self._with(operations.batch, batch_size, by_column, drop_last_batch)

    def shard(self, num_shards: int, index: int, contiguous: bool = True) -> IterableDataset:
        """Keep one part of the shards: contiguous ones, or every `num_shards`-th."""
        return self._with(operations.shard, num_shards, index, contiguous)

    def reshard(self) -> IterableDataset:
        """Split files into as many shards as possible: one for each row group of Parquet."""
        return self._with(operations.reshard)

    def select_columns(self, column_names: Names) -> IterableDataset:
        """Keep only these columns, in this order."""
        return self._with(operations.select_columns, column_names)

    def remove_columns(self, column_names: Names) -> IterableDataset:
        """Drop these columns."""
        return self._with(operations.remove_columns, column_names)

    def rename_column(self, original_column_name: str, new_column_name: str) -> IterableDataset:
        """Rename one column."""
        return self._with(operations.rename_columns, {original_column_name: new_column_name})

    def rename_columns(self, column_mapping: dict[str, str]) -> IterableDataset:
        """Rename columns, given as old name → new name."""
        return self._with(operations.rename_columns, column_mapping)

    def add_column(self, name: str, column: list[Any] | np.ndarray) -> IterableDataset:
        """Append a column, with one value per row in order."""
        return self._with(operations.add_column, name, column)

    def cast(self, features: Features) -> IterableDataset:
        """Cast every column to its type in `features`."""
        return self._with(operations.cast, features)

    def cast_column(self, column: str, feature: Any) -> IterableDataset:
        """Cast one column to another type."""
        return self._with(operations.cast_column, column, feature)

    def decode(self, enable: bool = True, num_threads: int | None = None) -> IterableDataset:
        """Decode images, sound and other media, by several threads, or leave them as bytes and paths."""
        return self._with(operations.decode, enable, num_threads)

    # Converting and writing

    def to_dict(self, batch_size: int | None = None, batched: bool = False) -> Any:
        """All columns as Python lists; `batched` returns an iterator over batches of rows."""
        return export.to_dict(self._stage, self.features, batch_size, batched)

    def to_list(self) -> list[Row]:
        """All rows as dicts."""
        return export.to_list(self._stage)

    def to_pandas(self, batch_size: int | None = None, batched: bool = False) -> pd.DataFrame | Iterator[pd.DataFrame]:
        """All rows as a pandas data frame; `batched` returns an iterator over frames."""
        return export.to_pandas(self._stage, self.features, batch_size, batched)

    def to_polars(
        self,
        batch_size: int | None = None,
        batched: bool = False,
        schema_overrides: dict[str, Any] | None = None,
        rechunk: bool = True,
    ) -> pl.DataFrame | Iterator[pl.DataFrame]:
        """All rows as a polars data frame; `batched` returns an iterator over frames."""
        return export.to_polars(self._stage, self.features, batch_size, batched, schema_overrides, rechunk)

    def to_csv(
        self,
        path_or_buf: AnyPath | BinaryIO,
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
        **to_csv_kwargs: Any,
    ) -> int:
        """Write CSV while rows are read. Returns the number of bytes before compression."""
        given = (path_or_buf, batch_size, storage_options, to_csv_kwargs)
        return export.write(self._stage, self.features, "csv", *given)

    def to_json(
        self,
        path_or_buf: AnyPath | BinaryIO,
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
        **to_json_kwargs: Any,
    ) -> int:
        """Write JSON Lines while rows are read. Returns the number of bytes before compression."""
        given = (path_or_buf, batch_size, storage_options, to_json_kwargs)
        return export.write(self._stage, self.features, "json", *given)

    def to_sql(self, name: str, con: Any, batch_size: int | None = None, **sql_writer_kwargs: Any) -> int:
        """Write a table of a database. Returns the number of rows."""
        return export.write_sql(self._stage, self.features, name, con, batch_size, sql_writer_kwargs)

    def to_webdataset(
        self,
        path: AnyPath,
        columns: list[str] | None = None,
        extensions: Mapping[str, str] | None = None,
        max_shard_size: int | str | None = None,
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> list[str]:
        """Write tar shards while rows are read, like `Dataset.to_webdataset`. Returns the paths."""
        given = (path, columns, extensions, max_shard_size, batch_size, storage_options)
        return export.write_webdataset(self._stage, self.features, *given)

    def to_parquet(
        self,
        path_or_buf: AnyPath | BinaryIO,
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
        **parquet_writer_kwargs: Any,
    ) -> int:
        """Write a Parquet file while rows are read, with `batch_size` rows per row group, or about 100 MB."""
        given = (path_or_buf, batch_size, storage_options, parquet_writer_kwargs)
        return export.write(self._stage, self.features, "parquet", *given)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow PyCapsule protocol: polars, DuckDB and others read the rows as a stream."""
        return export.arrow_reader(self._stage, self.features).__arrow_c_stream__(requested_schema)

    def push_to_hub(
        self,
        repo_id: str,
        config_name: str = "default",
        set_default: bool | None = None,
        split: str | None = None,
        data_dir: str | None = None,
        commit_message: str | None = None,
        commit_description: str | None = None,
        private: bool | None = None,
        token: str | None = None,
        revision: str | None = None,
        create_pr: bool | None = False,
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        embed_external_files: bool = True,
        num_proc: int | None = None,
        append: bool = False,
    ) -> CommitInfo:
        """Push the rows to the Hub as a split, in one commit, uploading files while rows are read."""
        commit = (commit_message, commit_description, private, token, revision, bool(create_pr), append)
        where, name = (
            push.Where(repo_id, config_name, set_default, data_dir, *commit),
            str(split or self.split or "train"),
        )
        return self._pushed({name: self}, where, max_shard_size, num_shards, num_proc, embed_external_files)

    @staticmethod
    def _pushed(streams: dict[str, IterableDataset], where: push.Where, *files: Any) -> CommitInfo:
        return pushing.push_streams(
            {name: (each._stage, each.features) for name, each in streams.items()}, where, *files
        )


class IterableColumn:
    """One column of a stream, or one field of its values; each iteration reads it again."""

    def __init__(self, source: IterableDataset | IterableColumn, column_name: str) -> None:
        self.source, self.column_name = source, column_name

    def __iter__(self) -> Iterator[Any]:
        return (row[self.column_name] for row in _narrowed(self.source, self.column_name))

    def __getitem__(self, column_name: str) -> IterableColumn:
        return IterableColumn(self, column_name)


def _narrowed(source: IterableDataset | IterableColumn, name: str) -> Any:
    """The source reduced to the columns needed, at the same position."""
    if isinstance(source, IterableColumn) or source._stream.format.type is not None:
        return source
    only = source.select_columns([name])
    only._loaded = source._loaded
    return only


names_of_datasets(__name__)
