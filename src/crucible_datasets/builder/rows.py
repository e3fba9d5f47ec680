"""Builders that yield rows, and builders that yield Arrow tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import pyarrow as pa

from crucible_datasets import progress as progress_bars
from crucible_datasets.builder.base import DatasetBuilder
from crucible_datasets.exceptions import DatasetGenerationError, FeaturesMismatchError
from crucible_datasets.features import Features
from crucible_datasets.ops.build import table_of
from crucible_datasets.tables.table import ArrowTable
from crucible_datasets.tables.writing import as_features

_ROWS_PER_BATCH = 2000


class _Progress:
    """The progress of a builder in a split, for the progress bar and errors."""

    def __init__(self, builder: DatasetBuilder, split: str) -> None:
        self.source = f"{type(builder).__name__}, split {split!r},"
        self.rows, self.key = 0, None

    def failed(self, error: Exception) -> DatasetGenerationError:
        after = "" if self.key is None else f" (the last key was {self.key!r})"
        return DatasetGenerationError(self.source, self.rows, f"{type(error).__name__}: {error}{after}")

    def pairs(self, stream: Iterator[Any]) -> Iterator[Any]:
        for pair in stream:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise DatasetGenerationError(self.source, self.rows, f"expected a key and a row, got {pair!r:.200}")
            self.key = pair[0]
            yield pair[1]


class GeneratorBasedBuilder(DatasetBuilder):
    """A builder that yields rows: subclasses define `_generate_examples`."""

    _ON_MIXED_TYPES = "use_json"

    def _generate_shards(self, **kwargs: Any) -> Iterator[str | dict[str, Any]]:
        """Yield the inputs of each part of a split; not called here."""
        raise NotImplementedError(f"{type(self).__name__} has no _generate_shards.")

    def _generate_examples(self, **kwargs: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield a key and a row, as a dict, for each row of a split."""
        raise NotImplementedError(f"{type(self).__name__} has no _generate_examples.")

    def _batches(self, split: str, **gen_kwargs: Any) -> Iterator[tuple[pa.Table, Features]]:
        progress, size = _Progress(self, split), self._writer_batch_size or _ROWS_PER_BATCH
        try:
            with progress_bars.bar(desc=f"Generating {split} split", unit=" examples") as bar:
                rows = self._rows(progress, gen_kwargs)
                while batch := list(islice(rows, size)):
                    yield table_of(batch, self.info.features)
                    bar.update(len(batch))
        except DatasetGenerationError:
            raise
        except Exception as error:
            raise progress.failed(error) from error

    def _rows(self, progress: _Progress, gen_kwargs: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        for row in progress.pairs(iter(self._generate_examples(**gen_kwargs))):
            if not isinstance(row, Mapping):
                kind = type(row).__name__
                raise DatasetGenerationError(progress.source, progress.rows, f"it yielded {kind} instead of a dict.")
            yield row
            progress.rows += 1


class ArrowBasedBuilder(DatasetBuilder):
    """A builder that yields Arrow tables: subclasses define `_generate_tables`."""

    def _generate_shards(self, **kwargs: Any) -> Iterator[str | dict[str, Any]]:
        """Yield the inputs of each part of a split; not called here."""
        raise NotImplementedError(f"{type(self).__name__} has no _generate_shards.")

    def _generate_tables(self, **kwargs: Any) -> Iterator[tuple[Any, pa.Table]]:
        """Yield a key and a table for each part of a split."""
        raise NotImplementedError(f"{type(self).__name__} has no _generate_tables.")

    def _batches(self, split: str, **gen_kwargs: Any) -> Iterator[tuple[pa.Table, Features]]:
        progress = _Progress(self, split)
        try:
            with progress_bars.bar(desc=f"Generating {split} split", unit=" examples") as bar:
                for table in progress.pairs(iter(self._generate_tables(**gen_kwargs))):
                    yield self._typed(table)
                    progress.rows += table.num_rows
                    bar.update(table.num_rows)
        except DatasetGenerationError:
            raise
        except Exception as error:
            raise progress.failed(error) from error

    def _typed(self, table: pa.Table) -> tuple[pa.Table, Features]:
        found, wanted = Features.from_arrow_schema(table.schema), self.info.features
        held = ArrowTable.of(table).table
        if wanted is None:
            return held, found
        if set(found) - set(wanted):
            raise FeaturesMismatchError(wanted, found)
        return as_features(held, found, wanted), wanted
