"""`Dataset` and `Column`, the classes that users work with: a facade over `View`. The work is done in `ops`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, overload

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import UnsavedIndexError
from crucible_datasets.features import Features
from crucible_datasets.forking import cached_property
from crucible_datasets.info import DatasetInfo, DatasetInfoMixin
from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.ops import (
    batching,
    build,
    cleanup,
    clusters,
    columns,
    convert,
    export,
    folds,
    generate,
    groups,
    html,
    interchange,
    join,
    push,
    rows,
    save,
    saved,
    splitting,
    sql,
    tfdata,
)
from crucible_datasets.ops import filter as filtering
from crucible_datasets.ops import map as mapping
from crucible_datasets.ops.read import Reader, preview, rows_of
from crucible_datasets.ops.webdataset import export as webdataset
from crucible_datasets.outputs.base import Format
from crucible_datasets.private_names import PrivateDatasetNames
from crucible_datasets.reading import from_files, sql_queries
from crucible_datasets.search import BaseIndex, IndexableMixin, refuse_if_indexed
from crucible_datasets.splits import NamedSplit, Split
from crucible_datasets.streams import from_memory
from crucible_datasets.tables.table import Table
from crucible_datasets.tables.view import View
from crucible_datasets.viewable import Viewable

if TYPE_CHECKING:
    import os

    import pandas as pd
    import polars as pl
    from huggingface_hub import CommitInfo

    from crucible_datasets.dataset_dict import DatasetDict
    from crucible_datasets.executors.base import Executor
    from crucible_datasets.iterable_dataset import IterableDataset

    Path = str | os.PathLike[str]
    AnyPath = str | bytes | os.PathLike[Any]
    Paths = AnyPath | list[AnyPath]
    Row = dict[str, Any]
    Seed = int | None
    Generator = np.random.Generator | None


class Dataset(DatasetInfoMixin, IndexableMixin, PrivateDatasetNames, Viewable):
    """A table of rows with typed columns.

    >>> Dataset.from_dict({"text": ["a", "b"]})[1]
    {'text': 'b'}
    """

    _view: View
    _indexes: dict[str, BaseIndex]
    errors: Dataset | None = None  # the rows that a function failed on: index, exception, traceback

    def __init__(
        self,
        arrow_table: pa.Table | Table,
        info: DatasetInfo | None = None,
        split: NamedSplit | str | None = None,
        indices_table: pa.Table | Table | None = None,
        fingerprint: str | None = None,
    ) -> None:
        self._view = build.from_arrow(arrow_table, info, split, indices_table, fingerprint)
        self._indexes = {}

    @classmethod
    def _of(cls, view: View, indexes: Mapping[str, BaseIndex] | None = None) -> Dataset:
        dataset = cls.__new__(cls)
        dataset._view, dataset._indexes = view, dict(indexes or {})
        return dataset

    def _shown(self, view: View) -> Dataset:
        """A dataset of the same rows in the same order: search indexes and attributes set by users stay."""
        dataset = self._of(view, self._indexes)
        dataset.__dict__.update(self._set_by_users())
        return dataset

    def _moved(self, operation: Callable[..., View], *args: Any, **kwargs: Any) -> Dataset:
        """A dataset of other rows, or in another order: refused while there are search indexes."""
        refuse_if_indexed(self._indexes, operation.__name__)
        return Dataset._of(operation(self._view, *args, **kwargs))

    def _computed(self, operation: Callable[..., tuple[View, View | None]], *args: Any, **kwargs: Any) -> Dataset:
        """A dataset of the rows that an operation computed, with the errors it collected."""
        view, errors = operation(self._view, *args, **kwargs)
        return Dataset._of(view)._with_errors(errors)

    def _with_errors(self, errors: View | None) -> Dataset:
        self.errors = None if errors is None else Dataset._of(errors)
        return self

    def _set_view(self, view: View) -> None:
        self._view = view
        self.__dict__.pop("_reader", None)
        self.__dict__.pop("info", None)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self._view)

    # Creating

    @classmethod
    def from_dict(
        cls,
        mapping: Mapping[str, Any],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: NamedSplit | str | None = None,
        on_mixed_types: Literal["use_json"] | None = None,
    ) -> Dataset:
        """Create a dataset from columns: lists, numpy arrays, tensors, Arrow arrays."""
        return cls._of(build.from_columns(mapping, features, info, split, on_mixed_types))

    @classmethod
    def from_list(
        cls,
        mapping: list[Row],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: NamedSplit | str | None = None,
        on_mixed_types: Literal["use_json"] | None = None,
    ) -> Dataset:
        """Create a dataset from rows. The first row names the columns."""
        return cls._of(build.from_rows(mapping, features, info, split, on_mixed_types))

    @staticmethod
    def from_generator(
        generator: Callable[..., Iterable[Row]],
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        gen_kwargs: dict[str, Any] | None = None,
        num_proc: int | None = None,
        split: NamedSplit | str = Split.TRAIN,
        fingerprint: str | None = None,
        **kwargs: Any,
    ) -> Dataset:
        """Create a dataset from the rows that a function yields.

        Rows are written to the cache, which later runs reuse, unless they are kept in memory. Lists in `gen_kwargs` are
        split among `num_proc` processes.
        """
        where = {"cache_dir": cache_dir, "keep_in_memory": keep_in_memory, "num_proc": num_proc, **kwargs}
        return Dataset._of(generate.from_generator(generator, features, gen_kwargs, split, fingerprint, **where))

    @classmethod
    def from_pandas(
        cls,
        df: pd.DataFrame,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: NamedSplit | str | None = None,
        preserve_index: bool | None = None,
    ) -> Dataset:
        """Create a dataset from a pandas data frame. An index other than a `RangeIndex` becomes a column."""
        return cls._of(build.from_pandas(df, features, info, split, preserve_index))

    @classmethod
    def from_polars(
        cls,
        df: pl.DataFrame | pl.LazyFrame,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: NamedSplit | str | None = None,
    ) -> Dataset:
        """Create a dataset from a polars data frame, sharing its memory; a lazy frame is collected."""
        return cls._of(build.from_polars(df, features, info, split))

    @staticmethod
    def from_spark(
        df: Any,
        split: NamedSplit | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        cache_dir: str | None = None,
        working_dir: str | None = None,
        load_from_cache_file: bool = True,
        **kwargs: Any,
    ) -> Dataset:
        """Create a dataset from a Spark data frame, whose rows are transferred as Arrow."""
        return Dataset._of(build.from_frame(build.arrow_of_spark(df, **kwargs), features, None, split))

    @classmethod
    def from_ray_dataset(
        cls, dataset: Any, features: Features | None = None, split: NamedSplit | str | None = None
    ) -> Dataset:
        """Create a dataset from a `ray.data.Dataset`, whose blocks are transferred as Arrow."""
        return cls._of(clusters.from_ray(dataset, features, split))

    @classmethod
    def from_dask(cls, df: Any, features: Features | None = None, split: NamedSplit | str | None = None) -> Dataset:
        """Create a dataset from a Dask data frame, which is computed now."""
        return cls._of(clusters.from_dask(df, features, split))

    @classmethod
    def from_file(
        cls,
        filename: Path,
        info: DatasetInfo | None = None,
        split: NamedSplit | str | None = None,
        indices_filename: Path | None = None,
        in_memory: bool = False,
    ) -> Dataset:
        """Open an Arrow IPC stream or file, memory-mapped unless `in_memory`."""
        return cls._of(build.from_file(filename, info, split, indices_filename, in_memory))

    @classmethod
    def from_buffer(
        cls,
        buffer: pa.Buffer,
        info: DatasetInfo | None = None,
        split: NamedSplit | str | None = None,
        indices_buffer: pa.Buffer | None = None,
    ) -> Dataset:
        """Open an Arrow IPC stream or file that is in memory."""
        return cls._of(build.from_buffer(buffer, info, split, indices_buffer))

    @staticmethod
    def from_csv(
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        num_proc: int | None = None,
        **kwargs: Any,
    ) -> Dataset:
        """Read CSV files; further arguments are options of the format, such as `sep`."""
        return _of_files("csv", path_or_paths, split, features, cache_dir, keep_in_memory, num_proc, **kwargs)

    @staticmethod
    def from_json(
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        field: str | None = None,
        num_proc: int | None = None,
        **kwargs: Any,
    ) -> Dataset:
        """Read JSON or JSON Lines files; `field` is the key that holds the rows."""
        where = (split, features, cache_dir, keep_in_memory, num_proc)
        return _of_files("json", path_or_paths, *where, field=field, **kwargs)

    @staticmethod
    def from_parquet(
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        columns: list[str] | None = None,
        num_proc: int | None = None,
        filters: Any = None,
        fragment_scan_options: Any = None,
        on_bad_files: Literal["error", "warn", "skip"] = "error",
        **kwargs: Any,
    ) -> Dataset:
        """Read Parquet files in place: only these columns, only the rows that match."""
        where = (split, features, cache_dir, keep_in_memory, num_proc)
        kwargs |= {"filters": filters, "on_bad_files": on_bad_files, "fragment_scan_options": fragment_scan_options}
        return _of_files("parquet", path_or_paths, *where, columns=columns, **kwargs)

    @staticmethod
    def from_text(
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        num_proc: int | None = None,
        keep_linebreaks: bool = False,
        sample_by: Literal["line", "paragraph", "document"] = "line",
        **kwargs: Any,
    ) -> Dataset:
        """Read text files: a row is a line, a paragraph or a whole file."""
        where = (split, features, cache_dir, keep_in_memory, num_proc)
        wanted = {"keep_linebreaks": keep_linebreaks, "sample_by": sample_by, **kwargs}
        return _of_files("text", path_or_paths, *where, **wanted)

    @staticmethod
    def from_sql(
        sql: Any,
        con: Any,
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> Dataset:
        """Create a dataset from a query or a table; `con` is a connection of sqlite3 or SQLAlchemy, or a URL.

        Every run executes the query again, since a database does not say whether its rows have changed. The rows are
        in memory, or in a temporary file in `cache_dir`.
        """
        return Dataset._of(sql_queries.answered(sql, con, features, cache_dir, keep_in_memory, **kwargs))

    @staticmethod
    def load_from_disk(
        dataset_path: AnyPath, keep_in_memory: bool | None = None, storage_options: dict[str, Any] | None = None
    ) -> Dataset:
        """Open a folder that `save_to_disk` wrote, memory-mapped unless `keep_in_memory`."""
        return Dataset._of(saved.load(dataset_path, keep_in_memory, storage_options))

    # Reading

    def __len__(self) -> int:
        return len(self._view)

    def __iter__(self) -> Iterator[Row]:
        return self._reader.rows()

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: str) -> Column: ...
    @overload
    def __getitem__(self, key: slice | Iterable[int]) -> dict[str, list[Any]]: ...
    def __getitem__(self, key: Any) -> Any:
        """A row by its number, a column by its name, a batch by a slice or several numbers."""
        return self._column(key) if isinstance(key, str) else self._reader.item(key)

    def _column(self, name: str) -> Any:
        return Column(self, name) if self._reader.output.lazy_column else self._reader.column(name)

    def __getitems__(self, keys: list[int]) -> list[Any]:
        """Several rows as a list, for torch's `DataLoader`."""
        return self._reader.several(rows_of(keys, len(self)))

    def iter(self, batch_size: int, drop_last_batch: bool = False) -> Iterator[Any]:
        """Every row, in batches of columns."""
        return self._reader.batches(batch_size, drop_last_batch)

    def __repr__(self) -> str:
        return f"Dataset({{\n    features: {self.column_names},\n    num_rows: {self.num_rows}\n}})"

    def _repr_html_(self) -> str:
        return html.table(self._view)

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def __copy__(self) -> Dataset:
        return self._shown(self._view)

    def __deepcopy__(self, memo: dict[int, Any]) -> Dataset:
        return self._shown(replace(self._view, info=self._view.info.copy()))

    def __getstate__(self) -> dict[str, Any]:
        return {"_view": self._view, "_indexes": self._indexes, **self._set_by_users()}

    @cached_property
    def info(self) -> DatasetInfo:
        """The description of the dataset; may be edited."""
        self._view = replace(self._view, info=replace(self._view.info, features=self._view.features.copy()))
        return self._view.info

    @property
    def split(self) -> NamedSplit | None:
        """The name of the split these rows come from."""
        return self._view.split

    @property
    def features(self) -> Features:
        """The type of each column; a copy."""
        return self._view.features.copy()

    @property
    def column_names(self) -> list[str]:
        return self._view.column_names

    @property
    def num_rows(self) -> int:
        return len(self._view)

    @property
    def num_columns(self) -> int:
        return len(self._view.features)

    @property
    def shape(self) -> tuple[int, int]:
        return self.num_rows, self.num_columns

    @property
    def data(self) -> Table:
        """The underlying Arrow table, without the row indices."""
        return rows.data_under(self._view)

    @property
    def cache_files(self) -> list[dict[str, str]]:
        """The files that hold the data."""
        return [{"filename": file} for file in self._view.table.files]

    def cleanup_cache_files(self) -> int:
        """Remove cached results of `map` and `filter` on the same files that are not part of this dataset.

        Returns the number of files removed.
        """
        return cleanup.clean_up(self._view)

    @property
    def _indices(self) -> pa.Table | None:
        return rows.indices_table(self._view)

    # Rows

    def select(
        self,
        indices: Iterable[int],
        keep_in_memory: bool = False,
        indices_cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        new_fingerprint: str | None = None,
    ) -> Dataset:
        """Keep the rows at `indices`, in that order. Rows are not copied."""
        selected = self._moved(rows.select, indices, new_fingerprint)
        return selected._with_indices_written(indices_cache_file_name, writer_batch_size, keep_in_memory)

    def take(self, n: int) -> Dataset:
        """Keep the first `n` rows."""
        return self._moved(rows.take, n)

    def skip(self, n: int) -> Dataset:
        """Drop the first `n` rows."""
        return self._moved(rows.skip, n)

    def repeat(self, num_times: int) -> Dataset:
        """Repeat all rows `num_times` times."""
        return self._moved(rows.repeat, num_times)

    def shard(
        self,
        num_shards: int,
        index: int,
        contiguous: bool = True,
        keep_in_memory: bool = False,
        indices_cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
    ) -> Dataset:
        """Keep one of `num_shards` parts: contiguous rows, or every `num_shards`-th row."""
        part = self._moved(rows.shard, num_shards, index, contiguous)
        return part._with_indices_written(indices_cache_file_name, writer_batch_size, keep_in_memory)

    def shuffle(
        self,
        seed: Seed = None,
        generator: Generator = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        indices_cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        new_fingerprint: str | None = None,
    ) -> Dataset:
        """Shuffle the rows. The order depends on the seed alone, and is never read from a cache."""
        shuffled = self._moved(rows.shuffle, seed, generator, new_fingerprint)
        return shuffled._with_indices_written(indices_cache_file_name, writer_batch_size, keep_in_memory)

    def sort(
        self,
        column_names: str | Sequence[str],
        reverse: bool | Sequence[bool] = False,
        null_placement: str = "at_end",
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        indices_cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        new_fingerprint: str | None = None,
    ) -> Dataset:
        """Sort the rows by one or several columns. The order is never read from a cache."""
        ordered = self._moved(rows.sort, column_names, reverse, null_placement, new_fingerprint)
        return ordered._with_indices_written(indices_cache_file_name, writer_batch_size, keep_in_memory)

    def train_test_split(
        self,
        test_size: float | None = None,
        train_size: float | None = None,
        shuffle: bool = True,
        stratify_by_column: str | None = None,
        seed: Seed = None,
        generator: Generator = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        train_indices_cache_file_name: str | None = None,
        test_indices_cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        train_new_fingerprint: str | None = None,
        test_new_fingerprint: str | None = None,
    ) -> DatasetDict:
        """Split the rows into `"train"` and `"test"`. A float is a fraction of the rows, an int a number of them.

        `stratify_by_column` keeps the distribution of the values of any column.
        """
        chosen = (test_size, train_size, shuffle, stratify_by_column, seed, generator)
        parts = self._split_in_two(splitting.train_test_split, *chosen, train_new_fingerprint, test_new_fingerprint)
        return _pair(
            parts[0]._with_indices_written(train_indices_cache_file_name, writer_batch_size, keep_in_memory),
            parts[1]._with_indices_written(test_indices_cache_file_name, writer_batch_size, keep_in_memory),
        )

    def k_fold(
        self,
        k: int,
        shuffle: bool = True,
        seed: Seed = None,
        stratify_by_column: str | None = None,
        group_by_column: str | None = None,
    ) -> list[DatasetDict]:
        """Split the rows into `k` pairs of `"train"` and `"test"`, in which every row is tested exactly once.

        Stratified folds have the same distribution of values; rows of one group stay together.
        """
        refuse_if_indexed(self._indexes, "k_fold")
        pairs = folds.k_fold(self._view, k, shuffle, seed, stratify_by_column, group_by_column)
        return [_pair(Dataset._of(train), Dataset._of(test)) for train, test in pairs]

    def sample(
        self,
        n: float,
        seed: Seed = None,
        generator: Generator = None,
        stratify_by_column: str | None = None,
        replace: bool = False,
    ) -> Dataset:
        """Draw `n` rows at random; a float is a fraction of the rows.

        In a stratified sample each value of the column has its exact share of `n`.
        """
        return self._moved(splitting.sample, n, seed, generator, stratify_by_column, replace)

    def _split_in_two(self, operation: Callable[..., tuple[View, View]], *args: Any) -> tuple[Dataset, Dataset]:
        refuse_if_indexed(self._indexes, operation.__name__)
        first, second = operation(self._view, *args)
        return Dataset._of(first), Dataset._of(second)

    def _with_indices_written(self, path: str | None, batch_size: int | None, keep_in_memory: bool) -> Dataset:
        """This dataset, after writing its row indices to `path`, if one is given."""
        rows.write_indices(self._view, path, batch_size, keep_in_memory)
        return self

    def sql(
        self,
        query: str,
        *,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        new_fingerprint: str | None = None,
        **tables: Dataset,
    ) -> Dataset:
        """Run a DuckDB query: `dataset.sql("select subject, count(*) as n from self group by all")`.

        The dataset is the table `self`, other datasets have the names they are passed under. It sees nothing else.
        """
        others = {name: getattr(table, "_view", table) for name, table in tables.items()}
        return Dataset._of(
            sql.rows_of(self._view, query, others, keep_in_memory, load_from_cache_file, new_fingerprint)
        )

    # Functions

    def map(
        self,
        function: Any = None,
        with_indices: bool = False,
        with_rank: bool = False,
        input_columns: str | list[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        drop_last_batch: bool = False,
        remove_columns: str | list[str] | None = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        features: Features | None = None,
        disable_nullable: bool = False,
        fn_kwargs: dict[str, Any] | None = None,
        num_proc: int | None = None,
        suffix_template: str = "_{rank:05d}_of_{num_proc:05d}",
        new_fingerprint: str | None = None,
        desc: str | None = None,
        try_original_type: bool | None = True,
        on_mixed_types: Literal["use_json"] | None = "use_json",
        on_error: Literal["raise", "skip", "collect"] = "raise",
        cache_key: str | None = None,
        executor: str | Executor | None = None,
    ) -> Dataset:
        """Apply a function to every row, or to every batch. Columns that it does not change are shared, not copied.

        It returns the columns to set or add, as a dict, an Arrow table or a data frame, or None for no change.
        Rows that it fails on are dropped with `on_error="skip"`, and listed in `errors` of the result with `"collect"`.
        `executor` says where it runs: "serial", "processes", "ray", or an executor of your own.
        """
        given = {name: value for name, value in locals().items() if name not in mapping.UNUSED}
        return self._map(**given)

    def _map(self, function: Any, **given: Any) -> Dataset:
        """`map` with only the arguments that matter, and the name of a split, if the function takes it."""
        made = self._computed(mapping.mapped, function, **given)
        refuse_if_indexed(self._indexes if len(made) != len(self) else {}, "map")
        return made

    def filter(
        self,
        function: Any = None,
        with_indices: bool = False,
        with_rank: bool = False,
        input_columns: str | list[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        fn_kwargs: dict[str, Any] | None = None,
        num_proc: int | None = None,
        suffix_template: str = "_{rank:05d}_of_{num_proc:05d}",
        new_fingerprint: str | None = None,
        desc: str | None = None,
        on_error: Literal["raise", "skip", "collect"] = "raise",
        cache_key: str | None = None,
        executor: str | Executor | None = None,
    ) -> Dataset:
        """Keep the rows for which a function is true; if batched, it returns one bool per row. Rows are not copied."""
        given = {name: value for name, value in locals().items() if name not in mapping.UNUSED}
        refuse_if_indexed(self._indexes, "filter")
        return self._computed(filtering.filtered, **given)

    def batch(
        self,
        batch_size: int | None = None,
        by_column: str | list[str] | None = None,
        drop_last_batch: bool = False,
        num_proc: int | None = None,
        new_fingerprint: str | None = None,
    ) -> Dataset:
        """Combine rows into lists: `batch_size` rows each, or consecutive rows with equal values of `by_column`."""
        return self._moved(batching.batch, batch_size, by_column, drop_last_batch, num_proc, new_fingerprint)

    def flatten_indices(
        self,
        keep_in_memory: bool = False,
        cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        features: Features | None = None,
        disable_nullable: bool = False,
        num_proc: int | None = None,
        new_fingerprint: str | None = None,
    ) -> Dataset:
        """Copy the rows in their current order, which makes them faster to read after a shuffle."""
        return Dataset._of(batching.flatten(self._view, keep_in_memory, cache_file_name, features, new_fingerprint))

    # Columns

    def select_columns(self, column_names: str | list[str], new_fingerprint: str | None = None) -> Dataset:
        """Keep only these columns, in this order."""
        return self._shown(columns.select(self._view, column_names, new_fingerprint))

    def remove_columns(self, column_names: str | list[str], new_fingerprint: str | None = None) -> Dataset:
        """Drop these columns."""
        return self._shown(columns.remove(self._view, column_names, new_fingerprint))

    def rename_column(
        self, original_column_name: str, new_column_name: str, new_fingerprint: str | None = None
    ) -> Dataset:
        """Rename one column."""
        return self._shown(columns.rename_one(self._view, original_column_name, new_column_name, new_fingerprint))

    def rename_columns(self, column_mapping: dict[str, str], new_fingerprint: str | None = None) -> Dataset:
        """Rename columns, given as old name → new name."""
        return self._shown(columns.rename(self._view, column_mapping, new_fingerprint))

    def add_column(self, name: str, column: Any, new_fingerprint: str | None = None, feature: Any = None) -> Dataset:
        """Append a column. The others are shared, not copied."""
        return self._shown(columns.add(self._view, name, column, feature, new_fingerprint))

    def add_item(self, item: Row, new_fingerprint: str | None = None) -> Dataset:
        """Append a row. Columns that it lacks are null."""
        return self._moved(build.with_item, item, new_fingerprint)

    def cast(
        self,
        features: Features,
        batch_size: int | None = 1000,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        num_proc: int | None = None,
    ) -> Dataset:
        """Cast every column to its type in `features`, batch by batch. Columns whose type is the same are shared."""
        return self._shown(batching.cast(self._view, features, keep_in_memory, load_from_cache_file, cache_file_name))

    def cast_column(self, column: str, feature: Any, new_fingerprint: str | None = None) -> Dataset:
        """Cast one column to another type. The others are shared."""
        return self._shown(columns.cast_column(self._view, column, feature, new_fingerprint))

    def flatten(self, new_fingerprint: str | None = None, max_depth: int = 16) -> Dataset:
        """Turn struct fields into columns named `struct.field`."""
        return self._shown(columns.flatten(self._view, max_depth, new_fingerprint))

    def class_encode_column(self, column: str, include_nulls: bool = False) -> Dataset:
        """Convert a column to `ClassLabel`, whose names are its values in sorted order."""
        return self._shown(columns.class_encode(self._view, column, include_nulls))

    def align_labels_with_mapping(self, label2id: dict[str, int], label_column: str) -> Dataset:
        """Renumber labels as `label2id` says, ignoring the case of their names."""
        return self._shown(columns.align_labels(self._view, label2id, label_column))

    def unique(self, column: str) -> list[Any]:
        """The distinct values of a column, in order of first appearance."""
        return columns.unique(self._view, column)

    # Groups

    def group_by(self, *keys: str) -> Grouped:
        """Group rows with equal keys: iterate over the groups, or aggregate them with `agg`."""
        return Grouped(self, list(keys))

    def join(
        self,
        other: Dataset,
        on: str | Sequence[str],
        right_on: str | Sequence[str] | None = None,
        how: str = "inner",
        suffix: str = "_right",
    ) -> Dataset:
        """Join with another dataset on equal key columns; null equals nothing.

        `how` is inner, left, right, outer, semi or anti. The suffix is added to names of columns of `other` that exist
        in both.
        """
        return self._moved(join.join, other._view, on, right_on, how, suffix)

    # Formats

    def set_format(
        self,
        type: str | None = None,
        columns: list[str] | str | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> None:
        """Show rows as objects of another library from now on: numpy, torch, pandas, …

        Only `columns` are shown; `output_all_columns` includes the others as Python objects. Further arguments are
        passed to the constructor of tensors.
        """
        chosen = Format.of(type, columns, output_all_columns, format_kwargs, self.column_names)
        self._set_view(replace(self._view, format=chosen))

    def with_format(
        self,
        type: str | None = None,
        columns: list[str] | str | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Dataset:
        """A dataset of the same rows, shown as `set_format` says."""
        chosen = Format.of(type, columns, output_all_columns, format_kwargs, self.column_names)
        return self._shown(replace(self._view, format=chosen))

    def reset_format(self) -> None:
        """Show rows as Python objects from now on."""
        self.set_format()

    @contextmanager
    def formatted_as(
        self,
        type: str | None = None,
        columns: list[str] | str | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Iterator[None]:
        """Show rows in another format within a `with` block."""
        with self._format_kept():
            self.set_format(type, columns, output_all_columns, **format_kwargs)
            yield

    @contextmanager
    def _format_kept(self) -> Iterator[None]:
        before = self._view.format
        try:
            yield
        finally:
            self._set_view(replace(self._view, format=before))

    def set_transform(
        self,
        transform: Callable[..., Any] | None,
        columns: list[str] | None = None,
        output_all_columns: bool = False,
    ) -> None:
        """Apply a function whenever rows are read. It gets and returns batches of columns."""
        self.set_format("custom", columns, output_all_columns, transform=transform)

    def with_transform(
        self,
        transform: Callable[..., Any] | None,
        columns: list[str] | None = None,
        output_all_columns: bool = False,
    ) -> Dataset:
        """A dataset of the same rows, with a function applied whenever they are read."""
        return self.with_format("custom", columns, output_all_columns, transform=transform)

    @property
    def format(self) -> dict[str, Any]:
        """How rows are shown: type, format_kwargs, columns, output_all_columns."""
        return self._view.format.as_dict(self.column_names)

    # Converting

    def to_dict(self, batch_size: int | None = None, batched: bool = False) -> Any:
        """All columns as Python lists; `batched` returns an iterator over batches of rows."""
        return convert.to_dict(self._view, batch_size, batched)

    def to_list(self) -> list[Row]:
        """All rows as dicts."""
        return convert.to_list(self._view)

    def to_pandas(self, batch_size: int | None = None, batched: bool = False) -> pd.DataFrame | Iterator[pd.DataFrame]:
        """All rows as a pandas data frame; `batched` returns an iterator over frames."""
        return convert.to_pandas(self._view, batch_size, batched)

    def to_polars(
        self,
        batch_size: int | None = None,
        batched: bool = False,
        schema_overrides: dict[str, Any] | None = None,
        rechunk: bool = True,
    ) -> pl.DataFrame | Iterator[pl.DataFrame]:
        """All rows as a polars data frame; `batched` returns an iterator over frames."""
        return convert.to_polars(self._view, batch_size, batched, schema_overrides, rechunk)

    def to_tf_dataset(
        self,
        batch_size: int | None = None,
        columns: str | list[str] | None = None,
        shuffle: bool = False,
        collate_fn: Callable[..., Any] | None = None,
        drop_remainder: bool = False,
        collate_fn_args: dict[str, Any] | None = None,
        label_cols: str | list[str] | None = None,
        prefetch: bool = True,
        num_workers: int = 0,
        num_test_batches: int = 20,
    ) -> Any:
        """A `tf.data.Dataset` of batches, or of rows if there is no `batch_size`, read on demand.

        With `label_cols` it yields pairs of features and labels; a single column is a tensor, several are a dict.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        return tfdata.tf_dataset(self._view, **given)

    def to_iterable_dataset(self, num_shards: int | None = 1) -> IterableDataset:
        """The rows as a stream, in shards that can be divided among workers."""
        from crucible_datasets.iterable_dataset import IterableDataset

        return IterableDataset._of(from_memory.of_view(self._view, num_shards))

    # Writing

    def save_to_disk(
        self,
        dataset_path: AnyPath,
        max_shard_size: str | int | None = None,
        num_shards: int | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        """Write a folder that `load_from_disk` opens. An existing dataset is replaced atomically."""
        save.save(savable(self), dataset_path, max_shard_size, num_shards, num_proc, storage_options)

    def to_parquet(
        self,
        path_or_buf: AnyPath | BinaryIO,
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
        **parquet_writer_kwargs: Any,
    ) -> int:
        """Write a Parquet file with `batch_size` rows per row group, or about 100 MB."""
        return export.to_parquet(self._view, path_or_buf, batch_size, storage_options, **parquet_writer_kwargs)

    def to_json(
        self,
        path_or_buf: AnyPath | BinaryIO,
        batch_size: int | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
        **to_json_kwargs: Any,
    ) -> int:
        """Write JSON Lines, compressed by file name or `compression`. Returns the number of bytes, uncompressed."""
        return export.to_json(self._view, path_or_buf, batch_size, num_proc, storage_options, **to_json_kwargs)

    def to_webdataset(
        self,
        path: AnyPath,
        columns: list[str] | None = None,
        extensions: Mapping[str, str] | None = None,
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> list[str]:
        """Write the rows as samples in tar shards, at paths such as `out-%05d.tar`. Returns the paths.

        Samples are named by the column `__key__`, or numbered. Types determine the extensions, or `extensions` does.
        """
        given = (columns, extensions, max_shard_size, num_shards, batch_size, storage_options)
        return webdataset.to_webdataset(self._view, path, *given)

    def to_csv(
        self,
        path_or_buf: AnyPath | BinaryIO,
        batch_size: int | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
        **to_csv_kwargs: Any,
    ) -> int:
        """Write CSV, compressed by file name or `compression`. Returns the number of bytes, uncompressed."""
        return export.to_csv(self._view, path_or_buf, batch_size, num_proc, storage_options, **to_csv_kwargs)

    def to_text(
        self,
        path_or_buf: AnyPath | BinaryIO,
        column: str = "text",
        storage_options: dict[str, Any] | None = None,
        compression: str | None = "infer",
    ) -> int:
        """Write one column to a text file, one value per line. Returns the number of bytes before compression."""
        self._view.require([column])
        return export.to_text(self._view, path_or_buf, column, storage_options, compression)

    def to_arrow(self, path_or_buf: AnyPath | BinaryIO, storage_options: dict[str, Any] | None = None) -> int:
        """Write an Arrow IPC stream, which `from_file` opens. Returns the number of bytes."""
        return export.to_arrow(self._view, path_or_buf, storage_options)

    def to_sql(
        self,
        name: str,
        con: Any,
        batch_size: int | None = None,
        num_proc: int | None = None,
        **sql_writer_kwargs: Any,
    ) -> int:
        """Write a table of a database; `con` is a connection (sqlite3, SQLAlchemy) or a URL. Returns the row count."""
        return export.to_sql(self._view, name, con, batch_size, num_proc, **sql_writer_kwargs)

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
        """Push the rows to the Hub as a split, in one commit: replacing the existing rows, or appending to them."""
        commit = (commit_message, commit_description, private, token, revision, bool(create_pr), append)
        where, name = (
            push.Where(repo_id, config_name, set_default, data_dir, *commit),
            str(split or self.split or "train"),
        )
        return push.push_views({name: self._view}, where, max_shard_size, num_shards, num_proc, embed_external_files)

    def to_ray_dataset(self, address: str | None = None) -> Any:
        """Create a `ray.data.Dataset` on the cluster that `RayExecutor(address)` would use."""
        return clusters.to_ray(self._view, address)

    def to_dask(self) -> Any:
        """Create a Dask data frame, whose partitions are read on demand."""
        return clusters.to_dask(self._view)

    def to_spark(self, session: Any = None) -> Any:
        """Create a Spark data frame, in the given session or the current one."""
        return clusters.to_spark(self._view, session)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow PyCapsule protocol: pandas, polars, DuckDB and others read a dataset directly."""
        return interchange.stream_of(self._view).__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The Arrow PyCapsule protocol: the types of the columns."""
        return self.features.arrow_schema.__arrow_c_schema__()


class Column(Sequence[Any]):
    """One column, read on access. It behaves like a list, and converts directly to numpy and Arrow."""

    def __init__(self, source: Dataset | Column, column_name: str) -> None:
        self.source, self.column_name = source, column_name
        self._rows = _rows_with(source, column_name)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows._reader.values(self.column_name)

    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: str) -> Column: ...
    @overload
    def __getitem__(self, key: slice) -> list[Any]: ...
    def __getitem__(self, key: Any) -> Any:
        """A value by its number, values by a slice or several numbers, a field of a struct by its name."""
        return Column(self, key) if isinstance(key, str) else self._rows._reader.cells(self.column_name, key)

    def __repr__(self) -> str:
        return f"Column({preview(self[:6])})"

    def __eq__(self, value: object) -> Any:
        return list(self) == (list(value) if isinstance(value, Column) else value)

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, value: object) -> bool:
        return any(value == item for item in self)

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return [*self, *other]

    def __radd__(self, other: Iterable[Any]) -> list[Any]:
        return [*other, *self]

    def tolist(self) -> list[Any]:
        """All values, as a list."""
        return list(self)

    def to_arrow(self) -> pa.ChunkedArray:
        """All values, as Arrow."""
        return convert.to_arrow(self._rows._view, [self.column_name]).column(0)

    def to_numpy(self) -> np.ndarray:
        """All values as a numpy array; without a copy where possible."""
        return convert.to_numpy(self._rows._reader, self.column_name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.to_numpy(), dtype=dtype, copy=copy)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._rows._view.features.arrow_schema.field(self.column_name).__arrow_c_schema__()


class Grouped:
    """The rows of a dataset grouped by equal keys, in order of first appearance."""

    def __init__(self, dataset: Dataset, keys: list[str]) -> None:
        self.dataset, self.keys = dataset, keys
        dataset._view.require(keys)

    def __iter__(self) -> Iterator[tuple[Any, Dataset]]:
        """Each key (a tuple when there are several) with its rows, which are not copied."""
        return ((_unpacked(key), Dataset._of(view)) for key, view in groups.groups(self.dataset._view, self.keys))

    def agg(self, aggregations: Mapping[str, str | Sequence[str]] | None = None, **named: tuple[str, str]) -> Dataset:
        """One row per group: `agg({"score": "mean"})` or `agg(best=("score", "max"))`."""
        view = self.dataset._view
        return Dataset._of(groups.aggregate(view, self.keys, groups.parse_aggregations(aggregations, named, view)))

    def count(self) -> Dataset:
        """The number of rows in each group, as a column `count`."""
        return self.agg(count=(self.keys[0], "size"))

    def __repr__(self) -> str:
        return f"Grouped(by={self.keys}, num_rows={len(self.dataset)})"


def savable(dataset: Dataset) -> View:
    """The view to save; raises if there are search indexes, which would be lost."""
    if dataset._indexes:
        raise UnsavedIndexError(dataset._indexes)
    return dataset._view


def _unpacked(key: tuple[Any, ...]) -> Any:
    return key[0] if len(key) == 1 else key


def _of_files(format: str, paths: Any, split: Any, *where: Any, **options: Any) -> Any:
    from crucible_datasets.dataset_dict import read

    if isinstance(paths, Mapping) and split is None:
        return read(format, paths, *where, **options)
    return Dataset._of(from_files.one_split(format, paths, split, *where, **options))


def _pair(train: Dataset, test: Dataset) -> DatasetDict:
    from crucible_datasets.dataset_dict import DatasetDict

    return DatasetDict({"train": train, "test": test})


def _rows_with(source: Dataset | Column, name: str) -> Dataset:
    if isinstance(source, Column):
        return Dataset._of(columns.field(source._rows._view, source.column_name, name))
    source._view.require([name])
    return source


names_of_datasets(__name__)
