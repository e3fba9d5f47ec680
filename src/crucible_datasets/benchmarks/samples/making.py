"""Datasets and lists → `Samples`. Every row becomes a sample, or an error that says which row and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Literal

import msgspec

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.benchmarks.samples.decoding import FIELDS
from crucible_datasets.benchmarks.samples.provenance import Provenance
from crucible_datasets.benchmarks.samples.stream import Count, StreamedSamples
from crucible_datasets.benchmarks.samples.table import Samples
from crucible_datasets.benchmarks.types import Message, Part, Sample
from crucible_datasets.benchmarks.types.schemas import message_features, row_of, sample_features
from crucible_datasets.exceptions import ArgumentError, BadRowError, DatasetsError
from crucible_datasets.features import Features, Json, List, Value
from crucible_datasets.iterable_dataset import IterableDataset

Row = dict[str, Any]
Convert = Callable[..., Any]
Kinds = Mapping[str, Any]  # the types of the columns
BadRows = Literal["error", "skip"]
_BATCH = 256
RECORD = "__record__"  # the row number before shuffling


def samples_of(
    dataset: Any,
    convert: Convert,
    features: Features | None = None,
    *,
    name: str = "samples",
    provenance: Provenance | None = None,
    on_bad_rows: BadRows = "error",
    with_indices: bool = False,
) -> Any:
    """Samples from a function of rows, which returns a sample, or its fields as a dict.

    A `Dataset` becomes `Samples`, an `IterableDataset` `StreamedSamples`. An invalid row raises a `BadRowError`; with
    `on_bad_rows="skip"` it is skipped and counted. With `with_indices` the function also gets the row number.
    """
    if on_bad_rows not in ("error", "skip"):
        raise ArgumentError("on_bad_rows", on_bad_rows, "choose 'error' or 'skip'")
    convert = convert if with_indices else partial(_without_index, convert)
    make = _stream if isinstance(dataset, IterableDataset) else _table
    return make(dataset, convert, features, name, provenance or Provenance(), on_bad_rows)


def samples_from(samples: Iterable[Sample | Mapping[str, Any]], name: str = "samples") -> Samples:
    """Samples from a list in memory."""
    typed = [sample if isinstance(sample, Sample) else Sample.from_dict(sample) for sample in samples]
    if any(message.images for sample in typed for message in sample.messages):
        return Samples(_pictured(typed), name)
    rows = list(map(row_of, typed))
    return Samples(_tidy(Dataset.from_list(rows, on_mixed_types="use_json")) if rows else _empty(None), name)


def _pictured(samples: list[Sample]) -> Dataset:
    """Samples with images: inputs are stored as messages with parts, since JSON has no bytes."""
    rows = [row_of(sample.replace(input=list(map(_in_parts, sample.messages)))) for sample in samples]
    made = _tidy(Dataset.from_list(rows, on_mixed_types="use_json"))
    known = {name for row in rows for said in row["input"] for name in said} == {"role", "content"}
    return made.cast_column("input", List(message_features(parts=True))) if known else made


def _in_parts(message: Message) -> Message:
    return message.replace(content=[Part("text", message.content)]) if isinstance(message.content, str) else message


def _table(
    dataset: Dataset, convert: Convert, features: Features | None, name: str, provenance: Provenance, bad: BadRows
) -> Samples:
    if not len(dataset):
        return Samples(_empty(features), name, provenance)
    # `map` keeps the type of an existing column of the same name: in a JSON column, "4" would be read as 4.
    kept = {field: kind for field, kind in dataset.features.items() if isinstance(kind, Json)}
    made = _mapped(dataset, partial(_row, convert, name, features or kept or None), features, bad)
    skipped = len(made.errors) if made.errors is not None else 0
    tidy = _tidy(made) if len(made) else _empty(features)
    return Samples(tidy, name, provenance.replace(skipped=skipped), made.errors)


def _mapped(dataset: Dataset, make: Convert, features: Features | None, bad: BadRows) -> Dataset:
    on_error: Literal["raise", "collect"] = "raise" if bad == "error" else "collect"
    names = dataset.column_names
    try:
        return dataset.map(make, with_indices=True, remove_columns=names, features=features, on_error=on_error)
    except BadRowError as error:
        error.__notes__ = []  # `map` adds the row number, which is wrong if rows were shuffled
        raise


def _stream(
    stream: IterableDataset,
    convert: Convert,
    features: Features | None,
    name: str,
    provenance: Provenance,
    bad: BadRows,
    several: bool = False,
) -> StreamedSamples:
    skipped = Count()
    names = stream.column_names or list(next(iter(stream.take(1)), {}))
    how: dict[str, Any] = {"with_indices": True, "remove_columns": names, "features": features}
    # Rows of a stream are the return values of the function, without conversion to JSON text.
    kinds = None if features is None else {field: kind for field, kind in features.items() if kind != Json()}
    if bad == "error" and not several:
        made = stream.map(partial(_row, convert, name, kinds), **how)
    else:
        # One row at a time if errors are raised, so that the samples before an error are yielded.
        read, size = (skipped, _BATCH) if bad == "skip" else (None, 1)
        made = stream.map(partial(_rows, convert, name, kinds, read), batched=True, batch_size=size, **how)
    return StreamedSamples(made, name, provenance, skipped)


def unfolded(
    stream: IterableDataset, convert: Callable[[Row], list[Sample]], name: str, provenance: Provenance, bad: BadRows
) -> StreamedSamples:
    """The samples of a stream whose rows become any number of samples."""
    return _stream(stream, partial(_without_index, convert), None, name, provenance, bad, several=True)


def _without_index(convert: Callable[[Row], Any], row: Row, index: int) -> Any:
    return convert(row)


def _row(convert: Convert, name: str, kinds: Kinds | None, row: Row, index: int) -> Row:
    """The fields of the sample of a row."""
    (made,) = _several(convert, name, kinds, row, index)
    return made


def _several(convert: Convert, name: str, kinds: Kinds | None, row: Row, index: int) -> list[Row]:
    """The fields of the samples of a row."""
    record = row.get(RECORD, index)
    try:
        made = convert(row, record)
        return [_fields(one, kinds) for one in (made if isinstance(made, list) else [made])]
    except BadRowError:
        raise
    except Exception as error:  # noqa: BLE001  it is raised again, and says which row it came from
        raise BadRowError(name, record, _column(error), _reason(error)) from _cause(error)


def _fields(made: Any, kinds: Kinds | None) -> Row:
    sample = made if isinstance(made, Sample) else msgspec.convert(dict(made), Sample, str_keys=True)
    return row_of(sample) if kinds is None else _fitting(row_of(sample), kinds)


def _rows(
    convert: Convert,
    name: str,
    kinds: Kinds | None,
    skipped: Count | None,
    batch: dict[str, list[Any]],
    indices: list[int],
) -> Any:
    made: list[Row] = []
    for index, *values in zip(indices, *batch.values(), strict=True):
        try:
            made += _several(convert, name, kinds, dict(zip(batch, values, strict=True)), index)
        except BadRowError:
            if skipped is None:
                raise
            skipped.add(index)
    return {field: [row[field] for row in made] for field in FIELDS}


def _fitting(row: Row, kinds: Kinds) -> Row:
    """The row in the form of columns of these types."""
    if isinstance(kinds.get("target"), List) and isinstance(row["target"], str):
        row["target"] = [row["target"]] if row["target"] else None  # null is read as the empty text
    return row


def _column(error: Exception) -> str | None:
    """The column that an error is about, if it says so."""
    column = getattr(error, "column", None)
    place = re.search(r"at `\$\.(\w+)", str(error)) if isinstance(error, msgspec.ValidationError) else None
    return column if column is not None else place[1] if place else None


def _cause(error: Exception) -> BaseException | None:
    """The error of a user's function as the cause; errors of this library are in the reason already."""
    first = error.__cause__ or error
    return None if isinstance(first, (DatasetsError, msgspec.ValidationError)) or hasattr(first, "column") else first


def _reason(error: Exception) -> str:
    known = isinstance(error, (DatasetsError, msgspec.ValidationError)) or hasattr(error, "column")
    return str(error) if known else f"{type(error).__name__}: {error}"


def _tidy(dataset: Dataset) -> Dataset:
    """Columns in a fixed order; choices have the type of texts even if no sample has any."""
    if dataset.features["choices"] == Value("null"):
        dataset = dataset.cast_column("choices", List(Value("string")))
    return dataset.select_columns(list(FIELDS))


def _empty(features: Features | None) -> Dataset:
    return Dataset.from_dict({name: [] for name in FIELDS}, features=features or sample_features())


_LIKE_ID = re.compile(
    r"(?:.*[^a-z])?(?:q|u|uu|gu|doc|sample|item|question|problem|prompt|instance|record|row|example|task)?"
    r"(?:id|idx|index)"
)


def is_like_id(column: object) -> bool:
    """Whether a name is that of an id column: qid, doc_id, exampleId, idx."""
    return isinstance(column, str) and _LIKE_ID.fullmatch(column.lower()) is not None
