"""`StreamedSamples`: samples that come one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Self

import msgspec

from crucible_datasets.benchmarks.samples import shuffling
from crucible_datasets.benchmarks.samples.base import Predicate, Viewed
from crucible_datasets.benchmarks.samples.decoding import FIELDS
from crucible_datasets.benchmarks.samples.pictures import has_pictures, with_bytes
from crucible_datasets.benchmarks.samples.provenance import Provenance
from crucible_datasets.benchmarks.types import Sample
from crucible_datasets.exceptions import InvalidRecordError
from crucible_datasets.features import jsontext
from crucible_datasets.features.bounds import Roots
from crucible_datasets.forking import cached_property
from crucible_datasets.internal_api import media_roots
from crucible_datasets.iterable_dataset import IterableDataset


class Count:
    """How many rows were left out; a row that is read again counts once."""

    def __init__(self) -> None:
        self._rows: set[int] = set()

    def add(self, row: int) -> None:
        self._rows.add(row)

    def __len__(self) -> int:
        return len(self._rows)


class StreamedSamples(Viewed, Iterable[Sample]):
    """Samples of a stream: they come one after the other, and nobody knows how many there are."""

    dataset: IterableDataset

    def __init__(
        self,
        dataset: IterableDataset,
        name: str = "samples",
        provenance: Provenance | None = None,
        skipped: Count | None = None,
    ) -> None:
        super().__init__(dataset, name, provenance)
        self._skipped = Count() if skipped is None else skipped

    @property
    def skipped(self) -> int:
        """How many rows did not fit and were left out, of those that were read so far."""
        return len(self._skipped)

    @property
    def provenance(self) -> Provenance:
        """Where the samples come from. How many they are and what they hold is not known of a stream."""
        return self._provenance.replace(skipped=self.skipped)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __iter__(self) -> Iterator[Sample]:
        return map(self._typed, self._rows)

    def state_dict(self) -> dict[str, Any]:
        """Where the iteration stands: a small JSON value. Loaded again, the very next sample comes first."""
        return self._rows.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Begin where a state says."""
        self._rows.load_state_dict(state_dict)

    @cached_property
    def _rows(self) -> IterableDataset:
        """The rows, with pictures as they are stored."""
        return self.dataset.decode(False) if has_pictures(self.dataset.features) else self.dataset

    @cached_property
    def _roots(self) -> Roots | None:
        return media_roots(self.dataset)

    def _typed(self, row: dict[str, Any]) -> Sample:
        return with_bytes(sample_of(row), self._roots)

    def filter(self, predicate: Predicate) -> Self:
        """The samples for which a function of the sample is true."""
        return self._with(self._rows.filter(partial(_chosen, predicate, self._roots)))

    def shuffle(self, seed: int | None = None, buffer_size: int = 1000) -> Self:
        """In an order drawn at random, by way of a buffer."""
        return self._with(self.dataset.shuffle(seed=seed, buffer_size=buffer_size))

    def shuffle_choices(self, seed: int | None = None) -> Self:
        """Every sample's choices in another order, its target following: the same as for samples of a table."""
        return self._with(shuffling.stream_with_shuffled_choices(self.dataset, seed))


def sample_of(row: dict[str, Any]) -> Sample:
    """The sample that a row of its five columns is."""
    fields = {name: row[name] for name in FIELDS}
    fields["target"] = "" if fields["target"] is None else fields["target"]
    if not isinstance(fields["metadata"], dict):  # null, or JSON that was left as it is stored
        fields["metadata"] = jsontext.loads(fields["metadata"]) if fields["metadata"] else {}
    try:
        return msgspec.convert(fields, Sample, str_keys=True)
    except msgspec.ValidationError as error:
        raise InvalidRecordError("Sample", str(error)) from error


def _chosen(predicate: Predicate, roots: Roots | None, row: dict[str, Any]) -> bool:
    return bool(predicate(with_bytes(sample_of(row), roots)))
