"""`StreamedSamples`: samples of a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Self

import msgspec

from crucible_datasets.benchmarks.samples import shuffling
from crucible_datasets.benchmarks.samples.decoding import FIELDS, has_pictures, with_bytes
from crucible_datasets.benchmarks.samples.provenance import Provenance
from crucible_datasets.benchmarks.samples.table import Predicate, Viewed
from crucible_datasets.benchmarks.types import Sample
from crucible_datasets.exceptions import InvalidRecordError
from crucible_datasets.features import jsontext
from crucible_datasets.features.bounds import Roots
from crucible_datasets.forking import cached_property
from crucible_datasets.internal_api import media_roots
from crucible_datasets.iterable_dataset import IterableDataset


class Count:
    """Counts skipped rows; a row that is read again counts once."""

    def __init__(self) -> None:
        self._rows: set[int] = set()

    def add(self, row: int) -> None:
        self._rows.add(row)

    def __len__(self) -> int:
        return len(self._rows)


class StreamedSamples(Viewed, Iterable[Sample]):
    """Samples of a stream, whose number is unknown."""

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
        """The number of invalid rows skipped so far."""
        return len(self._skipped)

    @property
    def provenance(self) -> Provenance:
        """The provenance of the samples, without their number and hash."""
        return self._provenance.replace(skipped=self.skipped)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __iter__(self) -> Iterator[Sample]:
        return map(self._typed, self._rows)

    def state_dict(self) -> dict[str, Any]:
        """The state of the iteration as a small JSON value, from which it continues with the next sample."""
        return self._rows.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any] | None) -> None:
        """Continue iteration at a state; None is the beginning."""
        self._rows.load_state_dict(state_dict)

    @cached_property
    def _rows(self) -> IterableDataset:
        """The rows with undecoded images."""
        return self.dataset.decode(False) if has_pictures(self.dataset.features) else self.dataset

    @cached_property
    def _roots(self) -> Roots | None:
        return media_roots(self.dataset)

    def _typed(self, row: dict[str, Any]) -> Sample:
        return with_bytes(sample_of(row), self._roots)

    def filter(self, predicate: Predicate) -> Self:
        """The samples for which a function is true."""
        return self._with(self._rows.filter(partial(_chosen, predicate, self._roots)))

    def shuffle(self, seed: int | None = None, buffer_size: int = 1000) -> Self:
        """The samples shuffled by means of a buffer."""
        return self._with(self.dataset.shuffle(seed=seed, buffer_size=buffer_size))

    def shuffle_choices(self, seed: int | None = None) -> Self:
        """The samples with shuffled choices and adjusted targets, in the same order as for samples of a table."""
        return self._with(shuffling.stream_with_shuffled_choices(self.dataset, seed))


def sample_of(row: dict[str, Any]) -> Sample:
    """The sample of a row with its five columns."""
    fields = {name: row[name] for name in FIELDS}
    fields["target"] = "" if fields["target"] is None else fields["target"]
    if not isinstance(fields["metadata"], dict):  # null, or undecoded JSON
        fields["metadata"] = jsontext.loads(fields["metadata"]) if fields["metadata"] else {}
    try:
        return msgspec.convert(fields, Sample, str_keys=True)
    except msgspec.ValidationError as error:
        raise InvalidRecordError("Sample", str(error)) from error


def _chosen(predicate: Predicate, roots: Roots | None, row: dict[str, Any]) -> bool:
    return bool(predicate(with_bytes(sample_of(row), roots)))
