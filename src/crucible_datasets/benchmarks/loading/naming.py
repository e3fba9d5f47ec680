"""Data by a short text: `gsm8k`, `mmlu:astronomy:test`, `org/name:config:split`, `folder/data.jsonl`."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from crucible_datasets.benchmarks.catalog.registry import Catalog
from crucible_datasets.benchmarks.loading.load import load_benchmark
from crucible_datasets.benchmarks.owndata.sources import is_saved, opened


class Named(NamedTuple):
    """A benchmark or a dataset, a configuration of it, and a split."""

    name: str
    config: str | None = None
    split: str | None = None

    @property
    def is_benchmark(self) -> bool:
        """Whether it is the short name of a benchmark; a repository is loaded as a dataset."""
        return "/" not in self.name and not os.path.exists(self.name) and self.name in Catalog()


def named(text: str) -> Named:
    """The parts of `name`, `name:config` or `name:config:split`; empty parts are None.

    >>> named("openai/gsm8k:main:test")
    Named(name='openai/gsm8k', config='main', split='test')
    >>> named("gsm8k::train[:10]")
    Named(name='gsm8k', config=None, split='train[:10]')
    >>> named("s3://bucket/data.jsonl").name
    's3://bucket/data.jsonl'
    """
    if os.path.exists(text):
        return Named(text)
    folder, slash, last = text.rpartition("/")
    name, *rest = last.split(":", 2)
    config, split = [*(part or None for part in rest), None, None][:2]
    return Named(folder + slash + name, config, split)


def data_named(text: str) -> Any:
    """The samples of a benchmark, or the rows of a dataset, that a text names."""
    asked = named(text)
    if asked.is_benchmark:
        return load_benchmark(asked.name, asked.split, config=asked.config)
    options = {} if asked.config is None else {"name": asked.config}
    rows, _ = opened(asked.name, [], asked.split, False, options)
    return rows


def split_names(source: str, options: dict[str, Any]) -> list[str | None]:
    """The splits of a dataset; [None] for a dataset without splits."""
    from crucible_datasets.load import load_dataset_builder, load_from_disk

    if os.path.isdir(source) and is_saved(source):
        saved = load_from_disk(source)
        return [str(name) for name in saved] if isinstance(saved, dict) else [None]
    return list(load_dataset_builder(source, **options).config.data_files)
