"""`IterableDatasetDict`: streams by split name, and every `IterableDataset` method on all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from crucible_datasets.exceptions import ArgumentTypeError
from crucible_datasets.features import Features
from crucible_datasets.iterable_dataset import IterableDataset
from crucible_datasets.ops import push
from crucible_datasets.viewable import Viewable

if TYPE_CHECKING:
    import numpy as np
    from huggingface_hub import CommitInfo

    from crucible_datasets.executors.base import Executor

    Names = str | list[str]


class IterableDatasetDict(dict[str, IterableDataset], Viewable):
    """A dict of split name → `IterableDataset`. A method called on it is called on every split."""

    def _mapped(self, method: Callable[..., IterableDataset], *args: Any, **kwargs: Any) -> IterableDatasetDict:
        """The streams that the method returns for each split."""
        return IterableDatasetDict({name: method(dataset, *args, **kwargs) for name, dataset in self.items()})

    def __repr__(self) -> str:
        lines = "\n".join(f"{name}: {dataset}" for name, dataset in self.items())
        return "IterableDatasetDict({\n" + "\n".join(f"    {line}" for line in lines.split("\n")) + "\n})"

    @property
    def num_columns(self) -> dict[str, int | None]:
        """The number of columns of each split."""
        return {name: dataset.num_columns for name, dataset in self.items()}

    @property
    def column_names(self) -> dict[str, list[str] | None]:
        """The columns of each split."""
        return {name: dataset.column_names for name, dataset in self.items()}

    def with_format(self, type: str | None = None) -> IterableDatasetDict:
        """Show rows as objects of another library."""
        return self._mapped(IterableDataset.with_format, type)

    def map(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        with_split: bool = False,
        input_columns: Names | None = None,
        batched: bool = False,
        batch_size: int = 1000,
        drop_last_batch: bool = False,
        remove_columns: Names | None = None,
        fn_kwargs: dict[str, Any] | None = None,
        executor: str | Executor | None = None,
    ) -> IterableDatasetDict:
        """Apply a function to every row or batch; `with_split` also passes it the name of the split."""
        given = (with_indices, input_columns, batched, batch_size, drop_last_batch, remove_columns, None, fn_kwargs)
        wrap = _WithSplitName if with_split else _without_split_name
        return IterableDatasetDict(
            {name: each.map(wrap(function, name), *given, executor) for name, each in self.items()}
        )

    def filter(
        self,
        function: Callable[..., Any] | None = None,
        with_indices: bool = False,
        input_columns: Names | None = None,
        batched: bool = False,
        batch_size: int | None = 1000,
        fn_kwargs: dict[str, Any] | None = None,
        executor: str | Executor | None = None,
    ) -> IterableDatasetDict:
        """Keep the rows for which a function is true."""
        given = (function, with_indices, input_columns, batched, batch_size, fn_kwargs, executor)
        return self._mapped(IterableDataset.filter, *given)

    def shuffle(
        self,
        seed: int | None = None,
        generator: np.random.Generator | None = None,
        buffer_size: int = 1000,
        max_buffer_input_shards: int = 10,
    ) -> IterableDatasetDict:
        """Shuffle the shards, and the rows by means of a buffer; each epoch has another order."""
        return self._mapped(IterableDataset.shuffle, seed, generator, buffer_size, max_buffer_input_shards)

    def rename_column(self, original_column_name: str, new_column_name: str) -> IterableDatasetDict:
        """Rename one column."""
        return self._mapped(IterableDataset.rename_column, original_column_name, new_column_name)

    def rename_columns(self, column_mapping: dict[str, str]) -> IterableDatasetDict:
        """Rename columns, given as old name → new name."""
        return self._mapped(IterableDataset.rename_columns, column_mapping)

    def remove_columns(self, column_names: Names) -> IterableDatasetDict:
        """Drop these columns."""
        return self._mapped(IterableDataset.remove_columns, column_names)

    def select_columns(self, column_names: Names) -> IterableDatasetDict:
        """Keep only these columns, in this order."""
        return self._mapped(IterableDataset.select_columns, column_names)

    def cast_column(self, column: str, feature: Any) -> IterableDatasetDict:
        """Cast one column to another type."""
        return self._mapped(IterableDataset.cast_column, column, feature)

    def cast(self, features: Features) -> IterableDatasetDict:
        """Cast every column to its type in `features`."""
        return self._mapped(IterableDataset.cast, features)

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
        where = push.Where(repo_id, config_name, set_default, data_dir, *commit)
        return IterableDataset._pushed(self, where, max_shard_size, num_shards, num_proc, embed_external_files)


class _WithSplitName:
    """A function called with the name of the split as an additional argument."""

    def __init__(self, function: Callable[..., Any] | None, split: str) -> None:
        if not callable(function):
            raise ArgumentTypeError("function", function, "with_split needs a function to tell the split to.")
        self.function, self.split = function, split
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *given: Any, **more: Any) -> Any:
        return self.function(*given, self.split, **more)


def _without_split_name(function: Callable[..., Any] | None, split: str) -> Callable[..., Any] | None:
    return function
