"""`FieldMapping`: which columns of a dataset become which fields of a sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from crucible_datasets.benchmarks.owndata.paths import PathError, feature_at, getter, root_of
from crucible_datasets.benchmarks.owndata.preferences import better_of, is_judged, prompt_of, responses_of
from crucible_datasets.benchmarks.owndata.values import (
    as_choices,
    as_id,
    as_input,
    as_metadata,
    as_target,
    without_gaps,
)
from crucible_datasets.benchmarks.types import Sample
from crucible_datasets.exceptions import ArgumentError, DatasetsError, MissingFieldError, UnknownEntryError
from crucible_datasets.features import ClassLabel, LargeList, List

Row = dict[str, Any]
Source = str | Callable[[Row], Any]

GUESSES = {
    "input": ("input", "question", "prompt", "problem", "text", "messages", "conversations"),
    "target": ("target", "answer", "expected", "label"),
    "choices": ("choices", "options"),
    "id": ("id",),
    "metadata": ("metadata",),
}


@dataclass(frozen=True)
class FieldMapping:
    """Where the fields of a sample come from.

    A source is a column, a path into one (`"answers.text.0"`), or a function of the row. `choices` may be several
    columns; `metadata` is a list of columns, a dict of names and sources, or `"*"` for all remaining columns. Fields
    that are not given are found by common names. `transforms` are functions of the value, by the name of a field or
    of metadata.
    """

    input: Source | None = None
    target: Source | None = None
    choices: Source | Sequence[str] | None = None
    id: Source | None = None
    metadata: str | Sequence[str] | Mapping[str, Source] | None = None
    transforms: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    def texts(self) -> list[str]:
        """The columns to read as text, for files that do not distinguish texts from numbers."""
        open_ones = [field for field in ("input", "target", "id") if getattr(self, field) is None]
        guessed = [name for field in open_ones for name in GUESSES[field]]
        return [*_used(self), *guessed]


def mapping_of(given: Mapping[str, Any]) -> FieldMapping:
    """The mapping in a dict."""
    known = [one.name for one in fields(FieldMapping)]
    for name in given:
        if name not in known:
            raise UnknownEntryError("field of a sample", name, known)
    return FieldMapping(**given)


def _several(source: Any) -> list[str] | None:
    return list(source) if isinstance(source, Sequence) and not isinstance(source, str) else None


def found(
    mapping: FieldMapping, columns: Sequence[str], dataset: str, features: Mapping[str, Any] | None = None
) -> FieldMapping:
    """The mapping completed by columns of common names; None for fields without column."""
    if mapping == FieldMapping(metadata=mapping.metadata, id=mapping.id) and is_judged(columns):
        mapping = replace(mapping, input=prompt_of, target=better_of, choices=responses_of)
    guess: dict[str, Any] = {
        name: next((column for column in names if column in columns and _may_be(name, column, features)), None)
        for name, names in GUESSES.items()
        if getattr(mapping, name) is None
    }
    if guess.get("input", "") is None:
        raise MissingFieldError(dataset, "input", "input", columns)
    return replace(mapping, **guess)


def _may_be(name: str, column: str, features: Mapping[str, Any] | None) -> bool:
    """Whether a column of a common name fits by its type: `options` are choices only if they are a list."""
    return name != "choices" or column == "choices" or isinstance((features or {}).get(column), (List, LargeList))


def reader(
    mapping: FieldMapping,
    columns: Sequence[str],
    dataset: str,
    auto_id: bool = False,
    features: Mapping[str, Any] | None = None,
) -> Callable[[Row, int], Sample]:
    """The function from a row and its number to a sample. `mapping` is a result of `found`."""
    _refuse_unknown(mapping, columns)
    mapping = _with_class_names(mapping, features or {})
    at = partial(_source, columns=columns, dataset=dataset, transforms=mapping.transforms)
    read_input, read_target = at("input", mapping.input), at("target", mapping.target)
    read_choices, read_metadata = at("choices", mapping.choices), _metadata_reader(mapping, columns, dataset)
    read_id = None if auto_id or mapping.id is None else at("id", mapping.id)

    def sample_of(row: Row, record: int) -> Sample:
        target = _as("target", as_target, read_target, row, mapping.target)
        choices = _as("choices", as_choices, read_choices, row, mapping.choices)
        if choices is not None and not all(choices):
            choices = _as("choices", partial(without_gaps, target=target), lambda row: choices, row, mapping.choices)
        return Sample(
            record + 1 if read_id is None else _as("id", as_id, read_id, row, mapping.id),
            _as("input", as_input, read_input, row, mapping.input),
            target,
            choices,
            read_metadata(row),
        )

    return sample_of


def _refuse_unknown(mapping: FieldMapping, columns: Sequence[str]) -> None:
    known = [*GUESSES, *(metadata_sources(mapping, columns) or ())]
    for name in mapping.transforms:
        if name not in known:
            raise UnknownEntryError("field to transform", name, known)


def _with_class_names(mapping: FieldMapping, features: Mapping[str, Any]) -> FieldMapping:
    """The mapping with class names instead of class numbers as targets."""
    kind = feature_at(mapping.target, features) if isinstance(mapping.target, str) else None
    if not isinstance(kind, ClassLabel) or "target" in mapping.transforms:
        return mapping
    return replace(mapping, transforms={**mapping.transforms, "target": partial(_class_name, kind)})


def _class_name(kind: ClassLabel, value: Any) -> Any:
    return value if value is None else kind.int2str(value)


class FieldError(ValueError):
    """A value that is not valid for a field, with its column."""

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(reason)
        self.column = column


def _as(name: str, make: Callable[[Any], Any], read: Callable[[Row], Any], row: Row, source: Any) -> Any:
    try:
        return make(read(row))
    except Exception as error:  # noqa: BLE001  it is raised again with its column
        column = getattr(error, "column", None) or (source if isinstance(source, str) else name)
        own = isinstance(error, (DatasetsError, FieldError, PathError))
        reason = getattr(error, "reason", None) or (str(error) if own else f"{type(error).__name__}: {error}")
        raise FieldError(column, reason) from error.__cause__ if isinstance(error, FieldError) else error


def _source(
    name: str, source: Any, columns: Sequence[str], dataset: str, transforms: Mapping[str, Callable[[Any], Any]]
) -> Callable[[Row], Any]:
    read = _plain_source(name, source, columns, dataset)
    change = transforms.get(name)
    return read if change is None else lambda row: _as(name, change, read, row, source)


def _plain_source(name: str, source: Any, columns: Sequence[str], dataset: str) -> Callable[[Row], Any]:
    if source is None:
        return lambda row: None
    if callable(source):
        return source
    if isinstance(source, str):
        return getter(source, columns, dataset, name)
    read = [getter(column, columns, dataset, name) for column in source]
    return lambda row: [one(row) for one in read]


def _metadata_reader(mapping: FieldMapping, columns: Sequence[str], dataset: str) -> Callable[[Row], Row]:
    named = metadata_sources(mapping, columns)
    change = mapping.transforms.get("metadata", _same)
    if named is None:
        read = _plain_source("metadata", mapping.metadata, columns, dataset)
        name = str(mapping.metadata or "metadata")
        return lambda row: _as("metadata", lambda value: as_metadata(change(value), name), read, row, mapping.metadata)
    reads = {key: _source(key, source, columns, dataset, mapping.transforms) for key, source in named.items()}
    return lambda row: change({key: _as(key, _same, read, row, named[key]) for key, read in reads.items()})


def _same(value: Any) -> Any:
    return value


def metadata_sources(mapping: FieldMapping, columns: Sequence[str]) -> dict[str, Source] | None:
    """The names of metadata and their sources; None if one column has all metadata."""
    if mapping.metadata == "*":
        used = {root_of(path, columns) for path in _used(mapping)}
        return {column: column for column in columns if column not in used}
    if mapping.metadata is None or isinstance(mapping.metadata, str):
        return None
    if isinstance(mapping.metadata, Mapping):
        return dict(mapping.metadata)
    named = {path if path in columns else path.rsplit(".", 1)[-1]: path for path in mapping.metadata}
    if len(named) != len(mapping.metadata):
        raise ArgumentError("metadata", list(mapping.metadata), "two paths end in the same name; give names, as a dict")
    return dict(named)


def _used(mapping: FieldMapping) -> list[str]:
    sources: list[Any] = [mapping.input, mapping.target, mapping.id, mapping.choices]
    sources += _several(mapping.choices) or []
    return [source for source in sources if isinstance(source, str)]
