"""`Samples`: a dataset whose rows are typed samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self, overload

from crucible_datasets.arrow_dataset import Column, Dataset
from crucible_datasets.benchmarks.samples import shuffling
from crucible_datasets.benchmarks.samples.base import Predicate, Viewed, key_of
from crucible_datasets.benchmarks.samples.decoding import samples_in
from crucible_datasets.benchmarks.samples.pictures import has_pictures, with_bytes
from crucible_datasets.benchmarks.samples.provenance import Provenance, content_hash
from crucible_datasets.benchmarks.types import Sample
from crucible_datasets.forking import cached_property
from crucible_datasets.internal_api import media_roots, stored_rows

if TYPE_CHECKING:
    import pyarrow as pa

_DECODED = 256  # rows; decoding is fastest while they fit the CPU cache
_GATHERED = 2048  # scattered rows are gathered faster in larger blocks
_PICTURED = 16  # images are large


class Samples(Viewed, Sequence[Sample]):
    """Samples of a table, with random access.

    >>> from crucible_datasets.benchmarks import Sample, samples_from
    >>> samples_from([Sample(id=1, input="1 + 1", target="2")])[0].target
    '2'
    """

    dataset: Dataset

    def __init__(
        self,
        dataset: Dataset,
        name: str = "samples",
        provenance: Provenance | None = None,
        bad_rows: Dataset | None = None,
    ) -> None:
        super().__init__(dataset, name, provenance)
        self.bad_rows = bad_rows  # skipped rows: index, exception, traceback

    def __len__(self) -> int:
        return len(self.dataset)

    @overload
    def __getitem__(self, key: int) -> Sample: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    @overload
    def __getitem__(self, key: str) -> Column: ...
    def __getitem__(self, key: int | slice | str) -> Sample | Self | Column:
        if isinstance(key, str):
            return self.dataset[key]
        if isinstance(key, slice):
            return self.select(range(*key.indices(len(self))))
        return self._typed(self._arrow[key])[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self)} samples)"

    def __iter__(self) -> Iterator[Sample]:
        for block in self._blocks():
            yield from block

    @cached_property
    def _arrow(self) -> Dataset:
        return self.dataset.with_format("arrow")

    def _blocks(self) -> Iterator[list[Sample]]:
        in_a_row = isinstance(stored_rows(self.dataset), range)
        for table in self._arrow.iter(_PICTURED if self._has_pictures else _DECODED if in_a_row else _GATHERED):
            for start in range(0, table.num_rows, _DECODED):
                yield self._typed(table.slice(start, _DECODED))

    @cached_property
    def _has_pictures(self) -> bool:
        return has_pictures(self.dataset.features["input"])

    def _typed(self, table: pa.Table) -> list[Sample]:
        samples = samples_in(table)
        if not self._has_pictures:
            return samples
        roots = media_roots(self.dataset)
        return [with_bytes(sample, roots) for sample in samples]

    @cached_property
    def content_hash(self) -> str:
        """The SHA-256 of all samples in order, independent of storage."""
        return content_hash(self._blocks())

    @property
    def provenance(self) -> Provenance:
        """The provenance of the samples, with their number and hash."""
        return self._provenance.replace(num_rows=len(self), content_hash=self.content_hash)

    @property
    def skipped(self) -> int:
        """The number of invalid rows that were skipped."""
        return self._provenance.skipped

    def select(self, indices: Iterable[int]) -> Self:
        """The samples with these indices."""
        return self._with(self.dataset.select(indices))

    def filter(self, predicate: Predicate) -> Self:
        """The samples for which a function is true."""
        return self.select([place for place, sample in enumerate(self) if predicate(sample)])

    def sort(self, key: str | Predicate | None = None, reverse: bool = False) -> Self:
        """The samples sorted by a field (`"metadata.level"`) or a function; default: by the length of the input."""
        keys = list(map(key_of(key), self))
        return self.select(sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse))

    def shuffle(self, seed: int | None = None) -> Self:
        """The samples shuffled, in the order of `Dataset.shuffle` with the same seed."""
        return self._with(self.dataset.shuffle(seed=seed))

    def shuffle_choices(self, seed: int | None = None) -> Self:
        """The samples with shuffled choices and adjusted targets. The order depends only on seed and id."""
        return self._with(shuffling.dataset_with_shuffled_choices(self.dataset, seed))
