"""Pairs of a key and a row, which programs write classes of: names that Hugging Face's `iterable_dataset` has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

from crucible_datasets.streams.from_generator import shared_arguments
from crucible_datasets.tables.rows import shared_out

__all__ = ["DistributedConfig", "ExamplesIterable", "FormattingConfig"]

Row = dict[str, Any]


class _BaseExamplesIterable:
    """Pairs of a key and a row, in shards; classes of this kind say how to iterate and how to take some shards."""

    def __init__(self) -> None:
        self._state_dict: list[Any] | dict[str, Any] | None = None

    def __iter__(self) -> Iterator[tuple[Any, Row]]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__.")

    @property
    def iter_arrow(self) -> Any:
        """What gives tables; None where rows are given only."""
        return None

    @property
    def is_typed(self) -> bool:
        """Whether rows are of known features."""
        return False

    @property
    def features(self) -> Any:
        """The features of the rows, if they are known."""
        return None

    @property
    def num_shards(self) -> int:
        """How many parts can be read on their own."""
        raise NotImplementedError(f"{type(self).__name__} has no num_shards.")

    def shuffle_data_sources(self, generator: Any) -> _BaseExamplesIterable:
        """The same with its shards in another order."""
        raise NotImplementedError(f"{type(self).__name__} has no shuffle_data_sources.")

    def shard_data_sources(self, num_shards: int, index: int, contiguous: bool = True) -> _BaseExamplesIterable:
        """The same with some of the shards."""
        raise NotImplementedError(f"{type(self).__name__} has no shard_data_sources.")

    def reshard_data_sources(self) -> _BaseExamplesIterable:
        """The same with as many shards as there can be."""
        raise NotImplementedError(f"{type(self).__name__} has no reshard_data_sources.")

    def split_shard_indices_by_worker(self, num_shards: int, index: int, contiguous: bool = True) -> list[int]:
        """Which shards fall to one of several."""
        return list(shared_out(self.num_shards, num_shards, index, contiguous))

    def _init_state_dict(self) -> dict[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} has no _init_state_dict.")


class ExamplesIterable(_BaseExamplesIterable):
    """The pairs that a function yields; lists among its arguments are shared out to shards."""

    def __init__(self, generate_examples_fn: Callable[..., Iterator[tuple[Any, Row]]], kwargs: dict[str, Any]) -> None:
        super().__init__()
        self.generate_examples_fn, self.kwargs = generate_examples_fn, kwargs

    def __iter__(self) -> Iterator[tuple[Any, Row]]:
        for part in shared_arguments(self.kwargs):
            yield from self.generate_examples_fn(**part)

    @property
    def num_shards(self) -> int:
        return len(shared_arguments(self.kwargs))

    def _of(self, shards: list[int]) -> Self:
        lists = {name: value for name, value in self.kwargs.items() if isinstance(value, list)}
        chosen = {name: [value[shard] for shard in shards] for name, value in lists.items()}
        return type(self)(self.generate_examples_fn, {**self.kwargs, **chosen})

    def shuffle_data_sources(self, generator: Any) -> Self:
        order = list(range(self.num_shards))
        generator.shuffle(order)
        return self._of(order)

    def shard_data_sources(self, num_shards: int, index: int, contiguous: bool = True) -> Self:
        return self._of(self.split_shard_indices_by_worker(num_shards, index, contiguous))

    def reshard_data_sources(self) -> Self:
        return self

    def _init_state_dict(self) -> dict[str, Any]:
        return {}


@dataclass
class FormattingConfig:
    """How the rows of a stream are shown."""

    format_type: str | None

    @property
    def is_table(self) -> bool:
        """Whether they are shown as tables."""
        return self.format_type in ("arrow", "pandas", "polars")

    @property
    def is_tensor(self) -> bool:
        """Whether they are shown as arrays."""
        return self.format_type in ("numpy", "torch", "tensorflow", "jax")


@dataclass
class DistributedConfig:
    """Which of several machines reads a stream."""

    rank: int
    world_size: int
    strategy: Literal["auto", "shards", "examples"] = "auto"


def _batch_to_examples(batch: dict[str, list[Any]]) -> Iterator[Row]:
    """The rows of columns."""
    return (dict(zip(batch, values, strict=True)) for values in zip(*batch.values(), strict=True))


def _examples_to_batch(examples: list[Row]) -> dict[str, list[Any]]:
    """The columns of rows; None where a row lacks one."""
    names = dict.fromkeys(name for row in examples for name in row)
    return {name: [row.get(name) for row in examples] for name in names}
