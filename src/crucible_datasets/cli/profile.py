"""Statistics of columns, computed by Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crucible_datasets.features.typetext import type_text

if TYPE_CHECKING:
    import pyarrow as pa

    from crucible_datasets import Dataset

QUANTILES = [0.0, 0.25, 0.5, 0.75, 1.0]
# Distinct values up to which the most frequent ones are listed.
_FEW = 50
_SHOWN = 3


def profile(rows: Dataset, column: str) -> dict[str, Any]:
    """Type, nulls, NaN, distinct values, quantiles of numbers, lengths of texts and lists, the most frequent values."""
    from crucible_datasets.features.storage import plain

    values = rows[column].to_arrow()
    values = values.cast(plain(values.type))  # Arrow cannot count values of extension types
    feature = rows.features[column]
    found = {"column": column, "type": type_text(feature), "nulls": values.null_count, **_distinct(values)}
    # Counting hashes the values, the slowest step: it is not repeated if many are distinct.
    top = _most_frequent(values, feature) if found.get("distinct", len(values)) <= _FEW else {}
    return found | _quantiles(values, feature) | _length(values) | top


def _is_countable(kind: pa.DataType) -> bool:
    """Whether Arrow can count distinct values of this type."""
    import pyarrow.types as types

    return not (types.is_nested(kind) or types.is_null(kind) or types.is_float16(kind))


def _distinct(values: pa.ChunkedArray) -> dict[str, Any]:
    from crucible_datasets import compute as pc

    return {"distinct": pc.count_distinct(values, mode="only_valid").as_py()} if _is_countable(values.type) else {}


def _quantiles(values: pa.ChunkedArray, feature: Any) -> dict[str, Any]:
    import pyarrow.types as types

    from crucible_datasets import ClassLabel

    kind = values.type
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    if not is_number or isinstance(feature, ClassLabel):
        return {}
    if types.is_float16(kind):
        values = values.cast("float32")  # Arrow cannot sort half floats
    numbers, nans = _without_nan(values) if types.is_floating(kind) else (values, {})
    return nans if (found := _at_quantiles(numbers)) is None else {**nans, "quantiles": found, "mean": _mean(numbers)}


def _without_nan(values: pa.ChunkedArray) -> tuple[pa.ChunkedArray, dict[str, Any]]:
    """Floats with null for NaN, and the number of NaN."""
    import pyarrow as pa

    from crucible_datasets import compute as pc

    is_nan = pc.is_nan(values)
    count = pc.sum(is_nan).as_py() or 0
    return (pc.if_else(is_nan, pa.scalar(None, values.type), values) if count else values), {"nans": count}


def _at_quantiles(values: pa.ChunkedArray) -> list[float] | None:
    import pyarrow.types as types

    from crucible_datasets import compute as pc

    if values.null_count == len(values):
        return None
    # Integers are not interpolated: the lower one is a value that occurs.
    found = pc.quantile(values, q=QUANTILES, interpolation="lower").to_pylist()
    return [int(each) if types.is_integer(values.type) else float(each) for each in found]


def _mean(values: pa.ChunkedArray) -> float:
    from crucible_datasets import compute as pc

    return float(pc.mean(values).as_py())


def _length(values: pa.ChunkedArray) -> dict[str, Any]:
    import pyarrow.types as types

    from crucible_datasets import compute as pc

    kind = values.type
    if types.is_string(kind) or types.is_large_string(kind):
        lengths, unit = pc.utf8_length(values), "characters"
    elif types.is_binary(kind) or types.is_large_binary(kind):
        lengths, unit = pc.binary_length(values), "bytes"
    elif types.is_list(kind) or types.is_large_list(kind):
        lengths, unit = pc.list_value_length(values), "items"
    else:
        return {}
    found = _at_quantiles(lengths)
    return {} if found is None else {"length": {"quantiles": found, "mean": _mean(lengths), "unit": unit}}


def _most_frequent(values: pa.ChunkedArray, feature: Any) -> dict[str, Any]:
    from crucible_datasets import ClassLabel
    from crucible_datasets import compute as pc

    if not _is_countable(values.type):
        return {}
    counted = pc.value_counts(values.drop_null())
    if len(counted) == len(values):
        return {}
    pairs = zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
    named = feature.int2str if isinstance(feature, ClassLabel) else (lambda value: value)
    most = sorted(pairs, key=lambda pair: -pair[1])[:_SHOWN]
    return {"top": [{"value": named(value), "count": count} for value, count in most]}
