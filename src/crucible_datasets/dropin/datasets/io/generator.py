"""Forwards to `from_generator`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.features import Features
from crucible_datasets.iterable_dataset import IterableDataset
from crucible_datasets.splits import NamedSplit, Split

from .abc import AbstractDatasetInputStream

__all__ = ["GeneratorDatasetInputStream"]


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
