"""Rows of a stream cast to its types: exactly, or an error after all rows that fit.

The types of a stream are those of its first rows, since rows that were yielded cannot be changed. Later rows are
matched by column name. They may be of any type whose values stay what they are: integers of another width, a date in a
column of timestamps, anything with an exact JSON form in a column of `Json`. Nulls of the first rows adopt the type of
later ones. The first row that does not fit is an error that names the file, the row and the column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import (
    CastError,
    FeaturesMismatchError,
    StreamTypeError,
    UnknownTypeError,
    ValueTypeError,
)
from crucible_datasets.features import Features, Json, LargeList, List, Value, jsontext
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.dtypes import is_text
from crucible_datasets.features.encode import column_of, recast
from crucible_datasets.features.storage import storage_type
from crucible_datasets.features.types import any_leaf, is_identical, with_item, with_leaves
from crucible_datasets.features.unite import adopt, has_json_form, is_lossless, may_fit, unite
from crucible_datasets.records import dataclass
from crucible_datasets.streams.batch import Batch
from crucible_datasets.tables.writing import as_features

_NULL = Value("null")
_REFUSALS = (CastError, ValueTypeError, UnknownTypeError, FeaturesMismatchError, pa.ArrowException)


@dataclass(frozen=True)
class Misfit:
    """The first row of a batch that does not fit, and why. `source` is None for a value that a cast refuses."""

    row: int
    column: str | None
    source: Any
    target: Any
    reason: str = ""
    keys: FeaturesMismatchError | None = None  # if the row has others than the features

    def error(
        self, path: object, row: int | None, is_text: bool = False, evolves: bool = False
    ) -> StreamTypeError | FeaturesMismatchError:
        """The error, given the file, the row in it, whether values are text, and whether schemas evolve."""
        if self.keys is not None:
            where = "A row" if path is None else f"{path}: a row"
            return FeaturesMismatchError(
                self.keys.wanted, self.keys.found, f"{where} has keys that the features lack", row
            )
        name = None if path is None else str(path)
        source, target = (None if kind is None else _shown(kind) for kind in (self.source, self.target))
        return StreamTypeError(name, row, self.column, source, target, self.reason, self._advice(is_text, evolves))

    def _advice(self, is_text: bool, evolves: bool) -> str:
        keys = "null" if evolves else "json"
        try:
            common = unite(self.target or _NULL, self.source or _NULL, "use_json", self.column, keys)
        except CastError:
            common = Value("string")  # dates beside other text, for example
        if common == self.target and has_json_form(common):
            common = Json()  # it widens to the type of the stream, but not all its values do
        common = Value("string") if is_text and common == Json() else common
        return f"Read all rows as one type: features={{…, {self.column!r}: {_shown(common)}}}."


def _shown(feature: Any) -> str:
    return str(feature).replace("Json(decode=True)", "Json()")


Fitting = tuple[Batch, Misfit | None]


def fit(batch: Batch, features: Features, evolves: bool = False) -> Fitting:
    """The rows before the first that does not fit, as `features`, and that row if there is one.

    If schemas may evolve, a struct whose schema lacks a field has nulls there.
    """
    source, table = batch.features, None if batch.made is not None else batch.table
    if source is None or table is None or is_identical(source, features):
        return batch, None
    if evolves:
        own, source = source, Features({name: _with_fields(kind, features.get(name)) for name, kind in source.items()})
        table = as_features(table, own, source)
    target = Features({name: adopt(kind, source.get(name, _NULL)) for name, kind in features.items()})
    misfits = [_new_column(table, name, source[name]) for name in source if name not in features]
    columns: dict[str, pa.ChunkedArray] = {}
    for name, kind in target.items():
        exact = _exact(table, name, source.get(name, _NULL), kind)
        if exact is None:
            values = table.column(name).to_pylist()
            row = next((row for row, value in enumerate(values) if not _fits(value, source[name], kind)), len(values))
            if row < len(values):
                misfits.append(_misfit(row, name, values[row], source[name], kind))
            exact = column_of([_decoded(value, source[name]) for value in values[:row]], kind, name)
        columns[name] = exact
    first = min(misfits, key=lambda misfit: misfit.row, default=None)
    if first is not None:
        columns = {name: column.slice(0, first.row) for name, column in columns.items()}
    return Batch.of_table(pa.table(columns), target), first


def fit_stated(batch: Batch, features: Features) -> Fitting:
    """The rows before the first that cannot be cast to the features that were requested, and that row."""
    if batch.made is None and batch.features is not None and not batch.features.keys() <= features.keys():
        return _up_to_other_columns(batch, features)
    try:
        return batch.typed(features), None
    except _REFUSALS as error:
        return _up_to_refusal(batch, features, error)


def _up_to_other_columns(batch: Batch, features: Features) -> Fitting:
    """The rows before the first that has a value in a column that the features lack."""
    own, table = batch.features or Features(), batch.table
    row = min(_new_column(table, name, own[name]).row for name in own if name not in features)
    kept = batch.slice(0, row).select([name for name in own if name in features])
    fitting, misfit = fit_stated(kept, features) if row else (kept, None)
    return fitting, misfit or Misfit(row, None, None, None, keys=FeaturesMismatchError(features, own))


def _up_to_refusal(batch: Batch, features: Features, error: BaseException) -> tuple[Batch, Misfit]:
    """The rows before the first that `Batch.typed` refuses."""
    low, high = 0, len(batch)  # `low` rows can be cast, `high` rows cannot
    try:
        good = batch.slice(0, 0).typed(features) if low < high else batch
    except _REFUSALS:
        return _up_to_value(batch, features, error)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            good, low = batch.slice(0, middle).typed(features), middle
        except _REFUSALS as refusal:
            error, high = refusal, middle
    if isinstance(error, FeaturesMismatchError):
        return good, Misfit(low, None, None, None, keys=error)
    name = getattr(error, "column", None)
    target = features.get(name) if name is not None else None
    source = (batch.features or Features()).get(name) if name is not None else None
    return good, Misfit(low, name, source, target, _reason(error))


def _up_to_value(batch: Batch, features: Features, error: BaseException) -> tuple[Batch, Misfit]:
    """The rows before the first value of a column whose type cannot be cast, whatever its values."""
    name = getattr(error, "column", None)
    if name is None or batch.table is None or batch.features is None or name not in batch.features:
        raise error
    row = max(batch.table.column(name).is_valid().index(pa.scalar(True)).as_py(), 0)
    good = Batch.of_rows([{**earlier, name: None} for earlier in batch.slice(0, row).rows()]).typed(features)
    return good, Misfit(row, name, batch.features[name], features.get(name), _reason(error))


def _reason(error: BaseException) -> str:
    value, reason = getattr(error, "value", None), getattr(error, "reason", None)
    return str(error) if not reason else f"{value}: {reason}" if value is not None else str(reason)


def up_to_misfit(
    items: Iterator[tuple[Any, Batch]], features: Features, how: Callable[[Batch, Features], Fitting] = fit_stated
) -> Iterator[tuple[Any, Batch]]:
    """The batches as these features; the error for a row that does not fit comes after those before it."""
    for position, batch in items:
        typed, misfit = how(batch, features)
        if len(typed):
            yield position, typed
        if misfit is not None:
            raise misfit.error(None, None)


def adopting(features: Features, batch: Batch) -> Features:
    """The features, whose nulls adopt the types that later rows of the stream have."""
    types = batch.features if batch.made is None else None
    if not types or not has_nulls(features):
        return features
    return Features({name: adopt(kind, types.get(name, _NULL)) for name, kind in features.items()})


def has_nulls(features: Features) -> bool:
    """Whether a type is unknown, at any depth, since all values were null."""
    return "'null'" in str(list(features.values()))


def _new_column(table: pa.Table, name: str, source: Any) -> Misfit:
    """The first row that has a column which the rows before do not have."""
    valid = table.column(name).is_valid()
    row = valid.index(pa.scalar(True)).as_py()
    return Misfit(max(row, 0), name, source, None)


def _misfit(row: int, name: str, value: Any, source: Any, target: Any) -> Misfit:
    if isinstance(source, Json) or may_fit(source, target):
        return Misfit(row, name, source, target, f"{value!r:.80} would change")
    return Misfit(row, name, source, target)


def _with_fields(source: Any, target: Any) -> Any:
    """`source` with the fields that structs of `target` have besides, as nulls."""
    if isinstance(source, dict) and isinstance(target, dict):
        missing = {name: _NULL for name in target if name not in source}
        return {**{name: _with_fields(kind, target.get(name)) for name, kind in source.items()}, **missing}
    if isinstance(source, (List, LargeList)) and isinstance(target, (List, LargeList)):
        return with_item(source, _with_fields(source.feature, target.feature))
    return source


def _exact(table: pa.Table, name: str, source: Any, target: Any) -> pa.ChunkedArray | None:
    """The column as `target` if a cast shows that no value changes; None if each value must be looked at."""
    if source == _NULL:
        return pa.chunked_array([pa.nulls(len(table), storage_type(target))])
    column = table.column(name)
    if is_identical(source, target):
        return column
    if not may_fit(source, target):
        return None
    try:
        cast = as_features(table.select([name]), Features({name: source}), Features({name: target}), "use_json")
        column_of_target = cast.column(name)
        if is_lossless(source, target) or isinstance(target, Json):
            return column_of_target
        is_same = not any_leaf(target, (Json,)) and recast(column_of_target, target, source, name).equals(column)
    except _REFUSALS:
        return None
    return column_of_target if is_same else None


def _fits(value: Any, source: Any, target: Any) -> bool:
    """Whether a stored value of `source` is the same as one of `target`."""
    if value is None or source == target:
        return True
    if isinstance(source, Json):
        return _is_of(jsontext.loads(value), target)
    if isinstance(target, Json):
        return may_fit(source, target) and _has_json_text(_decoded(value, source))
    if isinstance(source, dict) and isinstance(target, dict):
        return source.keys() == target.keys() and all(_fits(value[name], source[name], target[name]) for name in source)
    if isinstance(source, (List, LargeList)) and isinstance(target, (List, LargeList)):
        return getattr(target, "length", -1) in (-1, len(value)) and all(
            _fits(item, source.feature, target.feature) for item in value
        )
    if not isinstance(source, Value) or not isinstance(target, Value) or not may_fit(source, target):
        return False
    scalar = pa.scalar(value, source.pa_type)
    try:
        cast = scalar.cast(target.pa_type)
        return is_lossless(source, target) or value != value or cast.cast(source.pa_type).equals(scalar)
    except pa.ArrowException:
        return False


def _is_of(value: Any, feature: Any) -> bool:
    """Whether a JSON value is one of a feature, without any conversion but that of integers to equal floats."""
    if value is None or isinstance(feature, Json):
        return True
    if isinstance(feature, dict):
        return (
            isinstance(value, dict)
            and value.keys() == feature.keys()
            and all(_is_of(item, feature[name]) for name, item in value.items())
        )
    if isinstance(feature, (List, LargeList)):
        return (
            isinstance(value, list)
            and getattr(feature, "length", -1) in (-1, len(value))
            and all(_is_of(item, feature.feature) for item in value)
        )
    if not isinstance(feature, Value):
        return False
    is_float = feature.dtype == "float64" and type(value) in (int, float)
    if not is_float and not _JSON_TYPES.get(type(value), _nothing)(feature.pa_type):
        return False
    try:
        return bool(pa.array([value], feature.pa_type)[0].as_py() == value) or value != value
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):  # a lone surrogate has no form in a column of text
        return False


def _nothing(arrow: pa.DataType) -> bool:
    return False


_JSON_TYPES: Mapping[type, Callable[[pa.DataType], bool]] = {
    bool: pa.types.is_boolean,
    int: pa.types.is_integer,
    str: is_text,
}


def _has_json_text(value: Any) -> bool:
    try:
        jsontext.dumps(value)
    except (ValueError, TypeError):
        return False
    return True


def _decoded(value: Any, source: Any) -> Any:
    """A stored value with the texts of Json parsed, and everything else as it is stored."""
    if not any_leaf(source, (Json,)):
        return value
    decode = decoder(with_leaves(source, lambda leaf: leaf if isinstance(leaf, Json) else _NULL))
    return value if decode is None else decode(value)
