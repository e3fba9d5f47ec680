"""`load_samples`: users' own data as samples, from files, the Hub or memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.benchmarks.adapters.inspect_ai import from_inspect, is_inspect_sample
from crucible_datasets.benchmarks.locks.guard import LockGiven, options_under
from crucible_datasets.benchmarks.owndata.fields import (
    FieldMapping,
    features_known,
    found,
    mapping_of,
    reader,
    undecoded,
)
from crucible_datasets.benchmarks.owndata.sources import opened, title
from crucible_datasets.benchmarks.samples.making import RECORD, BadRows, samples_from, samples_of, unfolded
from crucible_datasets.benchmarks.samples.provenance import Provenance
from crucible_datasets.benchmarks.samples.stream import StreamedSamples
from crucible_datasets.benchmarks.samples.table import Samples
from crucible_datasets.benchmarks.types import Sample
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, BadRowError
from crucible_datasets.internal_api import media_roots, with_media_roots
from crucible_datasets.iterable_dataset import IterableDataset
from crucible_datasets.keywords import passing_on

Convert = Callable[[dict[str, Any]], Any]
Fields = FieldMapping | Mapping[str, Any] | Convert


def load_samples(
    source: Any,
    fields: Fields | None = None,
    *,
    split: str | None = None,
    config: str | None = None,
    name: str | None = None,
    auto_id: bool = False,
    shuffle: bool = False,
    seed: int | None = None,
    shuffle_choices: bool | int | None = None,
    limit: int | None = None,
    streaming: bool = False,
    on_bad_rows: BadRows = "error",
    lock: LockGiven = None,
    **load_options: Any,
) -> Any:
    """Samples of a file or folder on any storage, a dataset of the Hub, a `Dataset`, or rows or samples in memory.

    `fields` maps columns to fields, or is a function from a row to one sample or several. `auto_id` numbers samples
    from 1 in the order of the records. Rows are shuffled before `limit` is applied. `shuffle_choices` is True or a
    seed. `lock` is a file of `crucible lock`, True for the one in the current folder, or False for none; the default
    is CRUCIBLE_LOCK, for data with a name. Other options are those of `load_dataset`.
    """
    if limit is not None and limit < 0:
        raise ArgumentError("limit", limit, "it is a number of samples, 0 or more.")
    given = mapping_of(fields) if isinstance(fields, Mapping) else fields or FieldMapping()
    texts = given.texts() if isinstance(given, FieldMapping) else []
    options = load_options if config is None else {"name": config, **load_options}
    options = options_under(lock, source, split, streaming, options)
    with passing_on(load_samples):
        rows, provenance = opened(source, texts, split, streaming, options, skips=on_bad_rows == "skip")
    how = Reading(name or title(source), provenance, auto_id, on_bad_rows, Order(shuffle, seed, limit))
    made = _converted(rows, given, how) if callable(given) else _mapped(rows, given, how)
    if shuffle_choices is None or shuffle_choices is False:
        return made
    return made.shuffle_choices(seed if shuffle_choices is True else shuffle_choices)


@dataclass(frozen=True)
class Order:
    """Selection and order of rows."""

    shuffle: bool
    seed: int | None
    limit: int | None

    def of(self, rows: Any) -> Any:
        """The rows, or samples, in this order."""
        rows = rows.shuffle(seed=self.seed) if self.shuffle else rows
        return rows if self.limit is None else rows.take(self.limit)

    def of_records(self, rows: Dataset) -> Dataset:
        """The rows in this order, with a column of their original numbers."""
        return self.of(rows.add_column(RECORD, range(len(rows))) if self.shuffle else rows)


@dataclass(frozen=True)
class Reading:
    """How rows become samples."""

    name: str
    provenance: Provenance
    auto_id: bool
    on_bad_rows: BadRows
    order: Order


def _mapped(rows: Any, mapping: FieldMapping, how: Reading) -> Any:
    """Samples of rows by the mapping of their columns."""
    if isinstance(rows, list):
        samples = list(_samples_among(rows, how.auto_id))
        if len(samples) == len(rows):
            return how.order.of(_named(samples, how))
        if samples:
            raise ArgumentTypeError("source", {type(row).__name__ for row in rows}, "give samples, or dicts, not both.")
        rows = Dataset.from_list(rows, on_mixed_types="use_json")
    columns = rows.column_names or list(next(iter(rows.take(1)), {}))
    mapping = found(mapping, columns, how.name, rows.features)
    features = features_known(mapping, rows.features, how.auto_id)
    read = reader(mapping, columns, how.name, how.auto_id, rows.features)
    # Skipped rows do not count towards the limit, so the limit is applied after conversion.
    early = isinstance(rows, Dataset) and how.on_bad_rows == "error"
    rows = how.order.of_records(rows) if early else rows
    made = samples_of(
        undecoded(rows),
        read,
        features,
        name=how.name,
        provenance=how.provenance,
        on_bad_rows=how.on_bad_rows,
        with_indices=True,
    )
    return made if early else how.order.of(made)


def _samples_among(rows: list[Any], auto_id: bool) -> Iterator[Sample]:
    for number, row in enumerate(rows, 1):
        if is_inspect_sample(row):
            yield from_inspect(row, number).replace(**({"id": number} if auto_id else {}))
        elif isinstance(row, Sample):
            yield row.replace(id=number) if auto_id else row


def _named(samples: Iterable[Sample], how: Reading, skipped: int = 0) -> Any:
    made = samples_from(samples, how.name)
    made._provenance = how.provenance.replace(skipped=skipped)
    return made


def _converted(rows: Any, convert: Convert, how: Reading) -> Any:
    """Samples of rows by a function that may return several per row; those of a table are then in memory."""
    if isinstance(rows, IterableDataset):
        made = unfolded(rows, lambda row: _several(convert(row)), how.name, how.provenance, how.on_bad_rows)
        return how.order.of(_numbered(made) if how.auto_id else made)
    samples: list[Sample] = []
    skipped = 0
    for number, row in enumerate(rows):
        try:
            samples.extend(_several(convert(row)))
        except Exception as error:
            if how.on_bad_rows == "error":
                raise BadRowError(how.name, number, getattr(error, "column", None), str(error)) from error
            skipped += 1
    numbered = [one.replace(id=place) for place, one in enumerate(samples, 1)] if how.auto_id else samples
    return how.order.of(_bounded(_named(numbered, how, skipped), rows))


def _numbered(samples: StreamedSamples) -> StreamedSamples:
    return samples._with(samples.dataset.map(_number, with_indices=True))


def _number(row: Any, place: int) -> dict[str, int]:
    return {"id": place + 1}


def _bounded(samples: Samples, rows: Any) -> Samples:
    """The samples, with the same allowed folders for images as the rows."""
    return samples._with(with_media_roots(samples.dataset, media_roots(rows))) if isinstance(rows, Dataset) else samples


def _several(made: Any) -> list[Sample]:
    several = made if isinstance(made, list) else [made]
    return [
        one if isinstance(one, Sample) else from_inspect(one) if is_inspect_sample(one) else Sample.from_dict(one)
        for one in several
    ]
