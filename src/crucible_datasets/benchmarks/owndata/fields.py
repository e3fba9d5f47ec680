"""`FieldMapping`: which columns of a dataset become which fields of a sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from crucible_datasets.benchmarks.owndata.values import (
    as_choices,
    as_id,
    as_input,
    as_metadata,
    as_target,
    better_of,
    is_judged,
    prompt_of,
    responses_of,
    without_gaps,
)
from crucible_datasets.benchmarks.types import Sample
from crucible_datasets.benchmarks.types.schemas import message_features, sample_features
from crucible_datasets.exceptions import ArgumentError, DatasetsError, MissingFieldError, UnknownEntryError
from crucible_datasets.features import ClassLabel, Features, Image, Json, LargeList, List, Value

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
        named = f" Name the column that holds it, as fields={{'input': {columns[0]!r}}}." if columns else ""
        raise MissingFieldError(dataset, "input", "input", columns, named)
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


RowLike = Mapping[str, Any]


class PathError(LookupError):
    """A row has no value at a path."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(reason)
        self.column = path


def root_of(path: str, columns: Sequence[str]) -> str | None:
    """The column of a path: the longest column name that it begins with; None if there is none."""
    steps = path.split(".")
    names = (".".join(steps[:size]) for size in range(len(steps), 0, -1))
    return next((name for name in names if name in columns), None)


def getter(path: str, columns: Sequence[str], dataset: str, field: str) -> Callable[[RowLike], Any]:
    """The function from a row to the value at a path; None if a value on the way is None."""
    root = root_of(path, columns)
    if root is None:
        raise MissingFieldError(dataset, field, path, columns)
    steps = path[len(root) + 1 :].split(".") if path != root else []
    return lambda row: _walked(row[root], steps, path)


def _walked(value: Any, steps: list[str], path: str) -> Any:
    for step in steps:
        if value is None:
            return None
        value = _inside(value, step, path)
    return value


def _inside(value: Any, step: str, path: str) -> Any:
    if isinstance(value, Mapping):
        if step not in value:
            raise PathError(path, f"there is no {step!r} among {', '.join(map(str, value)) or 'nothing'}")
        return value[step]
    if isinstance(value, list) and step.lstrip("-").isdigit():
        if not -len(value) <= int(step) < len(value):
            raise PathError(path, f"there is no item {step} in a list of {len(value)}")
        return value[int(step)]
    raise PathError(path, f"{step!r} cannot be looked up in {type(value).__name__}")


def feature_at(path: str, features: Mapping[str, Any]) -> Any:
    """The type of the value at a path; None if unknown."""
    root = root_of(path, list(features))
    kind = None if root is None else features[root]
    for step in path[len(root) + 1 :].split(".") if root is not None and path != root else []:
        if isinstance(kind, dict) and step in kind:
            kind = kind[step]
        elif isinstance(kind, (List, LargeList)) and step.lstrip("-").isdigit():
            kind = kind.feature
        else:
            return None
    return kind


_TEXTS = ("string", "large_string", "string_view")


def features_known(mapping: FieldMapping, features: Mapping[str, Any] | None, auto_id: bool) -> Features | None:
    """The types of all five columns; None if a function, or a column without fixed type, leaves one open."""
    if features is None or mapping.transforms:
        return None
    kinds = {
        "id": _id_type(mapping.id, features, auto_id),
        "input": _input_type(mapping.input, features),
        "target": _target_type(mapping.target, features),
        "metadata": _metadata_type(mapping, features),
    }
    if any(kind is None for kind in kinds.values()):
        return None
    return Features({**sample_features(), **kinds})


def _at(source: Any, features: Mapping[str, Any]) -> Any:
    return feature_at(source, features) if isinstance(source, str) else None


def _is_text(kind: Any) -> bool:
    return isinstance(kind, Value) and kind.dtype in _TEXTS


def _id_type(source: Any, features: Mapping[str, Any], auto_id: bool) -> Any:
    if auto_id or source is None:
        return Value("int64")
    kind = _at(source, features)
    whole = isinstance(kind, Value) and kind.dtype.startswith(("int", "uint"))
    return Value("int64") if whole else Value("string") if _is_text(kind) else None


def _input_type(source: Any, features: Mapping[str, Any]) -> Any:
    kind = _at(source, features)
    if isinstance(kind, (Value, ClassLabel)):
        return Value("string")
    if isinstance(kind, Image):
        return List(message_features(parts=True))
    said = kind.feature if isinstance(kind, (List, LargeList)) else None
    if not isinstance(said, dict) or set(said) not in ({"role", "content"}, {"from", "value"}):
        return None
    in_parts = isinstance(said.get("content"), (List, LargeList))
    known = in_parts or all(map(_is_text, said.values()))
    return List(message_features(parts=in_parts)) if known else None


def _target_type(source: Any, features: Mapping[str, Any]) -> Any:
    if source is None:
        return Value("string")
    kind = _at(source, features)
    if isinstance(kind, (List, LargeList)):
        return List(Value("string"))
    return Value("string") if isinstance(kind, (Value, ClassLabel)) else None


def _metadata_type(mapping: FieldMapping, features: Mapping[str, Any]) -> Any:
    named = metadata_sources(mapping, list(features))
    if named is None:
        kind = None if mapping.metadata is None else _at(mapping.metadata, features)
        return kind if isinstance(kind, dict) and kind else Json()
    kinds = {name: _at(source, features) for name, source in named.items()}
    return None if any(kind is None for kind in kinds.values()) else kinds or Json()


def undecoded(rows: Any) -> Any:
    """The rows with undecoded media: decoding and encoding would change them."""
    for name, kind in (rows.features or {}).items():
        if isinstance(kind, Image) and kind.decode:
            rows = rows.cast_column(name, replace(kind, decode=False))
    return rows
