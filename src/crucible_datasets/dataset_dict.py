"""`DatasetDict`: datasets by split name, and every `Dataset` method on all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from crucible_datasets.arrow_dataset import Dataset, Grouped, savable
from crucible_datasets.exceptions import ArgumentError, SplitNotFoundError
from crucible_datasets.features import Features
from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.ops import map as mapping
from crucible_datasets.ops import push, save, saved
from crucible_datasets.ops.webdataset import export as webdataset
from crucible_datasets.reading import from_files
from crucible_datasets.splits import NamedSplit
from crucible_datasets.tables.table import Table
from crucible_datasets.viewable import Viewable

if TYPE_CHECKING:
    import os

    from huggingface_hub import CommitInfo

    from crucible_datasets.executors.base import Executor
    from crucible_datasets.iterable_dataset_dict import IterableDatasetDict as IterableDatasetDict

    AnyPath = str | bytes | os.PathLike[Any]

_PER_SPLIT = ("cache_file_names", "with_split")


class DatasetDict(dict[str | NamedSplit, Dataset], Viewable):
    """A dict of split name → `Dataset`. A method of `Dataset` called on it is called on every split."""

    def _each(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[Any, Any]:
        """The results of the method, by split."""
        return {name: method(dataset, *args, **kwargs) for name, dataset in self._checked().items()}

    def _mapped(self, method: Callable[..., Dataset], *args: Any, **kwargs: Any) -> DatasetDict:
        """The datasets that the method returns for each split."""
        return DatasetDict(self._each(method, *args, **kwargs))

    def _checked(self) -> DatasetDict:
        wrong = [type(value).__name__ for value in self.values() if not isinstance(value, Dataset)]
        if wrong:
            raise TypeError(f"The values of a DatasetDict must be datasets, not {wrong[0]}.")
        return self

    def _per_split(self, given: Mapping[str, Any] | None, argument: str) -> dict[Any, Any]:
        """One value per split from a dict that must have all splits, or None for each."""
        found = dict.fromkeys(self) if given is None else dict(given)
        require_splits(self, found, argument)
        return found

    def __getitem__(self, k: Any) -> Dataset:
        if not isinstance(k, (str, NamedSplit)) or (k not in self and len(self)):
            raise SplitNotFoundError(k, self)
        return super().__getitem__(k)

    def __repr__(self) -> str:
        lines = "\n".join(f"{name}: {dataset}" for name, dataset in self.items())
        return "DatasetDict({\n" + "\n".join(f"    {line}" for line in (lines or "").split("\n")) + "\n})"

    def __enter__(self) -> DatasetDict:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    # Files

    def save_to_disk(
        self,
        dataset_dict_path: AnyPath,
        max_shard_size: str | int | None = None,
        num_shards: dict[str, int] | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        """Write a folder that `load_from_disk` opens. An existing dataset is replaced atomically."""
        views = self._each(savable)
        save.save_splits(views, dataset_dict_path, max_shard_size, num_shards, num_proc, storage_options)

    def push_to_hub(
        self,
        repo_id: str,
        config_name: str = "default",
        set_default: bool | None = None,
        data_dir: str | None = None,
        commit_message: str | None = None,
        commit_description: str | None = None,
        private: bool | None = None,
        token: str | None = None,
        revision: str | None = None,
        create_pr: bool | None = False,
        max_shard_size: int | str | None = None,
        num_shards: dict[str, int] | None = None,
        embed_external_files: bool = True,
        num_proc: int | None = None,
        append: bool = False,
    ) -> CommitInfo:
        """Push all splits to the Hub in one commit: replacing all existing ones, or appending to them."""
        commit = (commit_message, commit_description, private, token, revision, bool(create_pr), append, not append)
        where, views = push.Where(repo_id, config_name, set_default, data_dir, *commit), self._each(savable)
        return push.push_views(views, where, max_shard_size, num_shards, num_proc, embed_external_files)

    @staticmethod
    def load_from_disk(
        dataset_dict_path: AnyPath, keep_in_memory: bool | None = None, storage_options: dict[str, Any] | None = None
    ) -> DatasetDict:
        """Open a folder that `save_to_disk` wrote, memory-mapped unless `keep_in_memory`."""
        views = saved.load_splits(dataset_dict_path, keep_in_memory, storage_options)
        return DatasetDict({name: Dataset._of(view) for name, view in views.items()})

    @staticmethod
    def from_csv(
        path_or_paths: dict[str, AnyPath],
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> DatasetDict:
        """Read the CSV files of each split."""
        return read("csv", path_or_paths, features, cache_dir, keep_in_memory, **kwargs)

    @staticmethod
    def from_json(
        path_or_paths: dict[str, AnyPath],
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> DatasetDict:
        """Read the JSON or JSON Lines files of each split."""
        return read("json", path_or_paths, features, cache_dir, keep_in_memory, **kwargs)

    @staticmethod
    def from_parquet(
        path_or_paths: dict[str, AnyPath],
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        columns: list[str] | None = None,
        **kwargs: Any,
    ) -> DatasetDict:
        """Read the Parquet files of each split in place."""
        return read("parquet", path_or_paths, features, cache_dir, keep_in_memory, columns=columns, **kwargs)

    @staticmethod
    def from_text(
        path_or_paths: dict[str, AnyPath],
        features: Features | None = None,
        cache_dir: str | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> DatasetDict:
        """Read the text files of each split."""
        return read("text", path_or_paths, features, cache_dir, keep_in_memory, **kwargs)

    # Reading

    @property
    def data(self) -> dict[str, Table]:
        """The underlying Arrow tables."""
        return {str(name): dataset.data for name, dataset in self._checked().items()}

    @property
    def cache_files(self) -> dict[str, list[dict[str, str]]]:
        """The files that hold the data of each split."""
        return {str(name): dataset.cache_files for name, dataset in self._checked().items()}

    def cleanup_cache_files(self) -> dict[str, int]:
        """Remove cached results on the same files that are not part of a split; the number of files by split."""
        return {str(name): dataset.cleanup_cache_files() for name, dataset in self._checked().items()}

    @property
    def num_columns(self) -> dict[str, int]:
        return {str(name): dataset.num_columns for name, dataset in self._checked().items()}

    @property
    def num_rows(self) -> dict[str, int]:
        return {str(name): dataset.num_rows for name, dataset in self._checked().items()}

    @property
    def column_names(self) -> dict[str, list[str]]:
        return {str(name): dataset.column_names for name, dataset in self._checked().items()}

    @property
    def shape(self) -> dict[str, tuple[int, int]]:
        return {str(name): dataset.shape for name, dataset in self._checked().items()}

    def to_webdataset(
        self,
        path: AnyPath,
        columns: list[str] | None = None,
        extensions: Mapping[str, str] | None = None,
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> dict[str, list[str]]:
        """Write tar shards of every split to paths such as `{split}-%05d.tar`. Returns the paths by split."""
        given = (columns, extensions, max_shard_size, num_shards, batch_size, storage_options)
        return webdataset.splits_to_webdataset(self._each(lambda dataset: dataset._view), path, *given)

    def to_dict(self, batch_size: int | None = None, batched: bool = False) -> dict[str, Any]:
        """The columns of each split as Python lists."""
        return self._each(Dataset.to_dict, batch_size, batched)

    def to_list(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of each split as dicts."""
        return self._each(Dataset.to_list)

    def to_pandas(self, batch_size: int | None = None, batched: bool = False) -> dict[str, Any]:
        """The rows of each split as a pandas data frame."""
        return self._each(Dataset.to_pandas, batch_size, batched)

    def to_polars(
        self,
        batch_size: int | None = None,
        batched: bool = False,
        schema_overrides: dict[str, Any] | None = None,
        rechunk: bool = True,
    ) -> dict[str, Any]:
        """The rows of each split as a polars data frame."""
        return self._each(Dataset.to_polars, batch_size, batched, schema_overrides, rechunk)

    def unique(self, column: str) -> dict[str, list[Any]]:
        """The distinct values of a column, by split."""
        return self._each(Dataset.unique, column)

    # Rows

    def select(self, indices: Any) -> DatasetDict:
        """Keep the rows at `indices` in each split."""
        return self._mapped(Dataset.select, list(indices))

    def take(self, n: int) -> DatasetDict:
        """Keep the first `n` rows of each split."""
        return self._mapped(Dataset.take, n)

    def skip(self, n: int) -> DatasetDict:
        """Drop the first `n` rows of each split."""
        return self._mapped(Dataset.skip, n)

    def repeat(self, num_times: int) -> DatasetDict:
        """Repeat the rows of each split `num_times` times."""
        return self._mapped(Dataset.repeat, num_times)

    def shard(self, num_shards: int, index: int, contiguous: bool = True) -> DatasetDict:
        """Keep one of `num_shards` parts of each split."""
        return self._mapped(Dataset.shard, num_shards, index, contiguous)

    def sample(
        self,
        n: float,
        seed: int | None = None,
        generator: np.random.Generator | None = None,
        stratify_by_column: str | None = None,
        replace: bool = False,
    ) -> DatasetDict:
        """Draw `n` rows of each split at random."""
        return self._mapped(Dataset.sample, n, seed, generator, stratify_by_column, replace)

    def k_fold(
        self,
        k: int,
        shuffle: bool = True,
        seed: int | None = None,
        stratify_by_column: str | None = None,
        group_by_column: str | None = None,
    ) -> dict[str, list[DatasetDict]]:
        """`k` pairs of `"train"` and `"test"` for each split."""
        return self._each(Dataset.k_fold, k, shuffle, seed, stratify_by_column, group_by_column)

    def sort(
        self,
        column_names: str | Sequence[str],
        reverse: bool | Sequence[bool] = False,
        null_placement: str = "at_end",
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        indices_cache_file_names: dict[str, str | None] | None = None,
        writer_batch_size: int | None = 1000,
    ) -> DatasetDict:
        """Sort the rows of each split by one or several columns."""
        own = {"indices_cache_file_name": self._per_split(indices_cache_file_names, "indices_cache_file_names")}
        kept = {"keep_in_memory": keep_in_memory, "writer_batch_size": writer_batch_size}
        return self._mapped_with(own, Dataset.sort, column_names, reverse, null_placement, **kept)

    def shuffle(
        self,
        seeds: int | dict[str, int | None] | None = None,
        seed: int | None = None,
        generators: dict[str, np.random.Generator] | None = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        indices_cache_file_names: dict[str, str | None] | None = None,
        writer_batch_size: int | None = 1000,
    ) -> DatasetDict:
        """Shuffle the rows of each split, with one seed for all, or a dict of seeds."""
        own = {
            "seed": self._seeds(seeds, seed),
            "generator": self._per_split(generators, "generators"),
            "indices_cache_file_name": self._per_split(indices_cache_file_names, "indices_cache_file_names"),
        }
        kept = {"keep_in_memory": keep_in_memory, "writer_batch_size": writer_batch_size}
        return self._mapped_with(own, Dataset.shuffle, **kept)

    def _seeds(self, seeds: Any, seed: int | None) -> dict[Any, Any]:
        if seeds is not None and seed is not None:
            raise ArgumentError("seeds", seeds, "give either seed or seeds, not both.")
        one = seed if seeds is None else seeds
        return self._per_split(one, "seeds") if isinstance(one, Mapping) else dict.fromkeys(self, one)

    def _mapped_with(
        self, own: Mapping[str, Mapping[Any, Any]], method: Callable[..., Dataset], *args: Any, **kwargs: Any
    ) -> DatasetDict:
        """The method on each split, with arguments of its own."""
        return DatasetDict(
            {
                name: method(dataset, *args, **{key: values[name] for key, values in own.items()}, **kwargs)
                for name, dataset in self._checked().items()
            }
        )

    # Functions

    def map(
        self,
        function: Any = None,
        with_indices: bool = False,
        with_rank: bool = False,
        with_split: bool = False,
        input_columns: str | list[str] | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        drop_last_batch: bool = False,
        remove_columns: str | list[str] | None = None,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_names: dict[str, str | None] | None = None,
        writer_batch_size: int | None = 1000,
        features: Features | None = None,
        disable_nullable: bool = False,
        fn_kwargs: dict[str, Any] | None = None,
        num_proc: int | None = None,
        desc: str | None = None,
        try_original_type: bool | None = True,
        on_mixed_types: Literal["use_json"] | None = None,
        on_error: Literal["raise", "skip", "collect"] = "raise",
        cache_key: str | None = None,
        executor: str | Executor | None = None,
    ) -> DatasetDict:
        """Apply a function to every row or batch of each split; `with_split` also passes it the name of the split."""
        given = {name: value for name, value in locals().items() if name not in (*mapping.UNUSED, *_PER_SPLIT)}
        own = {"cache_file_name": self._per_split(cache_file_names, "cache_file_names")}
        return self._mapped_with(own | self._names_if(with_split), Dataset._map, **given)

    def _names_if(self, with_split: bool) -> dict[str, dict[Any, str]]:
        return {"with_split": {name: str(name) for name in self}} if with_split else {}

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
        cache_file_names: dict[str, str | None] | None = None,
        writer_batch_size: int | None = 1000,
        fn_kwargs: dict[str, Any] | None = None,
        num_proc: int | None = None,
        desc: str | None = None,
        on_error: Literal["raise", "skip", "collect"] = "raise",
        cache_key: str | None = None,
        executor: str | Executor | None = None,
    ) -> DatasetDict:
        """Keep the rows of each split for which a function is true."""
        given = {name: value for name, value in locals().items() if name not in (*mapping.UNUSED, *_PER_SPLIT)}
        own = {"cache_file_name": self._per_split(cache_file_names, "cache_file_names")}
        return self._mapped_with(own, Dataset.filter, **given)

    def flatten_indices(
        self,
        keep_in_memory: bool = False,
        cache_file_names: dict[str, str | None] | None = None,
        writer_batch_size: int | None = 1000,
        features: Features | None = None,
        disable_nullable: bool = False,
        num_proc: int | None = None,
        new_fingerprint: str | None = None,
    ) -> DatasetDict:
        """Copy the rows of each split in their current order."""
        own = {"cache_file_name": self._per_split(cache_file_names, "cache_file_names")}
        given = {"features": features, "new_fingerprint": new_fingerprint}
        return self._mapped_with(own, Dataset.flatten_indices, keep_in_memory, **given)

    # Columns

    def select_columns(self, column_names: str | list[str]) -> DatasetDict:
        """Keep only these columns, in this order."""
        return self._mapped(Dataset.select_columns, column_names)

    def remove_columns(self, column_names: str | list[str]) -> DatasetDict:
        """Drop these columns."""
        return self._mapped(Dataset.remove_columns, column_names)

    def rename_column(self, original_column_name: str, new_column_name: str) -> DatasetDict:
        """Rename one column."""
        return self._mapped(Dataset.rename_column, original_column_name, new_column_name)

    def rename_columns(self, column_mapping: dict[str, str]) -> DatasetDict:
        """Rename columns, given as old name → new name."""
        return self._mapped(Dataset.rename_columns, column_mapping)

    def flatten(self, max_depth: int = 16) -> DatasetDict:
        """Turn struct fields into columns named `struct.field`."""
        return self._mapped(Dataset.flatten, max_depth=max_depth)

    def cast(self, features: Features) -> DatasetDict:
        """Cast every column to its type in `features`."""
        return self._mapped(Dataset.cast, features)

    def cast_column(self, column: str, feature: Any) -> DatasetDict:
        """Cast one column to another type."""
        return self._mapped(Dataset.cast_column, column, feature)

    def class_encode_column(self, column: str, include_nulls: bool = False) -> DatasetDict:
        """Convert a column to `ClassLabel`, whose names are each split's values in sorted order."""
        return self._mapped(Dataset.class_encode_column, column, include_nulls)

    def align_labels_with_mapping(self, label2id: dict[str, int], label_column: str) -> DatasetDict:
        """Renumber labels as `label2id` says, ignoring the case of their names."""
        return self._mapped(Dataset.align_labels_with_mapping, label2id, label_column)

    def group_by(self, *keys: str) -> dict[str, Grouped]:
        """Group the rows of each split by equal keys."""
        return self._each(Dataset.group_by, *keys)

    # Formats

    def set_format(
        self,
        type: str | None = None,
        columns: list[str] | str | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> None:
        """Show rows as objects of another library from now on: numpy, torch, pandas, …"""
        self._each(Dataset.set_format, type, columns, output_all_columns, **format_kwargs)

    def with_format(
        self,
        type: str | None = None,
        columns: list[str] | str | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> DatasetDict:
        """Datasets of the same rows, shown as `set_format` says."""
        return self._mapped(Dataset.with_format, type, columns, output_all_columns, **format_kwargs)

    def reset_format(self) -> None:
        """Show rows as Python objects from now on."""
        self._each(Dataset.reset_format)

    @contextmanager
    def formatted_as(
        self,
        type: str | None = None,
        columns: list[str] | str | None = None,
        output_all_columns: bool = False,
        **format_kwargs: Any,
    ) -> Iterator[None]:
        """Show rows in another format within a `with` block."""
        with ExitStack() as stack:
            entered = self._each(Dataset.formatted_as, type, columns, output_all_columns, **format_kwargs)
            list(map(stack.enter_context, entered.values()))
            yield

    def set_transform(
        self, transform: Callable[..., Any] | None, columns: list[str] | None = None, output_all_columns: bool = False
    ) -> None:
        """Apply a function whenever rows are read."""
        self._each(Dataset.set_transform, transform, columns, output_all_columns)

    def with_transform(
        self, transform: Callable[..., Any] | None, columns: list[str] | None = None, output_all_columns: bool = False
    ) -> DatasetDict:
        """Datasets of the same rows, with a function applied whenever they are read."""
        return self._mapped(Dataset.with_transform, transform, columns, output_all_columns)

    def _repr_html_(self) -> str:
        return "".join(dataset._repr_html_() for dataset in self._checked().values())


def read(format: str, *args: Any, **kwargs: Any) -> DatasetDict:
    return DatasetDict({name: Dataset._of(view) for name, view in from_files.splits(format, *args, **kwargs).items()})


def require_splits(splits: Mapping[Any, Dataset], given: Mapping[Any, Any], argument: str) -> None:
    """Raise unless a dict of arguments has one for every split."""
    for name in splits:
        if name not in given:
            raise SplitNotFoundError(f"{argument} for {name!s}", given)


names_of_datasets(__name__)  # among them IterableDatasetDict
