"""Every output format shows the values of the rows, or refuses by name those that its library has no form for."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets.exceptions import DatasetsError
from laws import equality
from laws.law import law
from laws.test_chains import _LEAVES, _rows
from laws.test_written import _texts_parsed
from laws.ways import MOVES

_TENSORS = ["numpy", "jax", *(["torch"] if find_spec("torch") else [])]
_TABLES = ["arrow", "pandas", "polars"]


def _transposed(batch):
    return [dict(zip(batch, row, strict=True)) for row in zip(*batch.values(), strict=True)]


_READINGS = {
    "one by one": lambda data: [data[position] for position in range(len(data))],
    "iteration": list,
    "all": lambda data: _transposed(data[:]),
    "two": lambda data: _transposed(data[:2]),
    "columns": lambda data: _transposed({name: data[name][:] for name in data.column_names}),
    "batches": lambda data: [row for batch in data.iter(3) for row in _transposed(batch)],
    "stream": lambda data: list(data.to_iterable_dataset().with_format(data.format["type"])),
}


def _items(value):
    """What holds several values as a list of them; None for one value."""
    if isinstance(value, (list, tuple)):
        return list(value)
    return list(value) if getattr(value, "ndim", 0) else None


def _scalar(value):
    """One value as Python has it."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return value
    return value.item() if hasattr(value, "item") and not isinstance(value, (str, bytes)) else value


def _difference(before, after, where):
    """Where a tensor or what holds it shows another value, or None."""
    if isinstance(before, dict) and isinstance(after, dict):
        pairs = [(before[key], after.get(key), f"{where}[{key!r}]") for key in before]
        if before.keys() != after.keys():
            return f"{where}: keys {list(after)}, not {list(before)}"
        return next(filter(None, (_difference(*pair) for pair in pairs)), None)
    items = _items(after)
    if isinstance(before, list) and items is not None:
        if len(before) != len(items):
            return f"{where}: {len(items)} items, not {len(before)}"
        pairs = [
            (one, two, f"{where}[{position}]") for position, (one, two) in enumerate(zip(before, items, strict=True))
        ]
        return next(filter(None, (_difference(*pair) for pair in pairs)), None)
    if items is None and _is_shown(before, _scalar(after)):
        return None
    return f"{where}: {after!r}, not {before!r}"


def _is_shown(before, after):
    """Whether a value of a tensor is this one: floats have 32 bits, integers beside nulls are floats, null is NaN."""
    match before:
        case None:
            return after is None or after != after
        case bool() | str() | bytes() | dt.time() | Decimal() if isinstance(after, type(before)):
            return after == before
        case dt.datetime():
            naive = before.astimezone(dt.UTC).replace(tzinfo=None) if before.tzinfo else before
            return after in (before, np.datetime64(naive))
        case dt.date():
            return after in (before, np.datetime64(before))
        case dt.timedelta():
            micros = before // dt.timedelta(microseconds=1)
            return after in (before, micros, np.timedelta64(micros, "us"))
        case int() if type(after) is int:
            return before == after
        case bool() | int() | float() if type(after) is float:
            with np.errstate(over="ignore"):
                single = float(np.float32(before))
            return after in (single, float(before)) or (math.isnan(before) and math.isnan(after))
    return False


@law(
    examples=15,
    weight=3,
    rows=_rows(_LEAVES),
    move=st.sampled_from(["all", "shuffle", "take"]),
    format=st.sampled_from(_TENSORS),
    reading=st.sampled_from(sorted(_READINGS)),
)
def test_tensors_show_the_values_of_rows(rows, move, format, reading, folder):
    data = ours.Dataset.from_list(rows.list())
    data = data if move == "all" else MOVES[move][0](data, 3)
    expected = data.to_list()
    try:
        result = _READINGS[reading](data.with_format(format))
    except DatasetsError:
        return
    assert len(result) == (min(2, len(expected)) if reading == "two" else len(expected))
    for number, (before, after) in enumerate(zip(expected, result, strict=False)):
        difference = _difference(before, after, f"row {number}")
        assert difference is None, difference


def _pandas(frame):
    columns = {name: [None if _is_missing(cell) else _plain(cell) for cell in frame[name]] for name in frame.columns}
    return _transposed(columns) if columns else []


def _is_missing(cell):
    return cell is None or cell is pd.NaT or cell is pd.NA


def _plain(cell):
    if isinstance(cell, np.ndarray):
        return [_plain(item) for item in cell]
    if isinstance(cell, dict):
        return {key: _plain(item) for key, item in cell.items()}
    if isinstance(cell, (pd.Timestamp, pd.Timedelta)):
        return cell.to_pydatetime() if isinstance(cell, pd.Timestamp) else cell.to_pytimedelta()
    if isinstance(cell, (np.datetime64, np.timedelta64)):
        return cell.astype(cell.dtype.str[:3] + "[us]").item()
    return cell.item() if isinstance(cell, np.generic) else cell


def _rows_of(table, data):
    if isinstance(table, pa.Table):
        return [
            {name: _texts_parsed(row[name], feature) for name, feature in data.features.items()}
            for row in table.to_pylist()
        ]
    return table.to_dicts() if isinstance(table, pl.DataFrame) else _pandas(table)


def _with_nulls(before, after):
    """What pandas has beside nulls, NaN for null and floats for integers, as it was."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return {key: _with_nulls(value, after[key]) for key, value in before.items()}
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [_with_nulls(one, two) for one, two in zip(before, after, strict=True)]
    if type(before) is int and type(after) is float and after.is_integer():
        return int(after)
    return None if before is None and isinstance(after, float) and math.isnan(after) else after


_TABLE_READINGS = {
    "one by one": lambda data: [data[position] for position in range(len(data))],
    "iteration": list,
    "all": lambda data: [data[:]],
    "batches": lambda data: list(data.iter(3)),
    "stream of batches": lambda data: list(data.to_iterable_dataset().with_format(data.format["type"]).iter(3)),
}


@law(
    examples=40,
    weight=2,
    rows=_rows(_LEAVES),
    move=st.sampled_from(["all", "shuffle", "take"]),
    format=st.sampled_from(_TABLES),
    reading=st.sampled_from(sorted(_TABLE_READINGS)),
)
def test_tables_show_the_values_of_rows(rows, move, format, reading, folder):
    data = ours.Dataset.from_list(rows.list())
    data = data if move == "all" else MOVES[move][0](data, 3)
    try:
        tables = _TABLE_READINGS[reading](data.with_format(format))
    except DatasetsError:
        return
    expected, result = data.to_list(), [row for table in tables for row in _rows_of(table, data)]
    if format == "pandas" and any(
        "tzinfo=" in repr(cell)
        for row in expected
        for cell in row.values()
        if cell is not None and not isinstance(cell, dt.datetime)
    ):
        return  # numpy, which holds lists there, has no zones: its times are those of UTC
    equality.same(expected, _with_nulls(expected, result))


def test_integers_of_json_beside_floats_and_nulls_are_not_rounded_in_data_frames():
    for cells in ([1.5, 2**53 + 1], [2**53 + 1, None]):
        data = ours.Dataset.from_dict({"x": cells}, features=ours.Features({"x": ours.Json()}))
        for frame in (data.to_pandas(), data.with_format("pandas")[:], data.to_iterable_dataset().to_pandas()):
            assert frame["x"].tolist() == cells
