"""What to_json writes is read back, but for the conversions that docs/saving.md lists."""

from __future__ import annotations

import datetime as dt
import math
import os

from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets import Features, Value
from crucible_datasets.exceptions import ValueTypeError
from crucible_datasets.features.types import with_leaves
from laws import equality, values
from laws.law import law
from laws.ways import COMPRESSIONS

_LEAVES = [leaf for leaf in values.PYTHON_LEAVES if leaf != "instant"]
_EPOCH = dt.datetime(1970, 1, 1)
_MILLISECOND = dt.timedelta(milliseconds=1)


def _is_keepable(rows):
    return equality.refusable(equality.facts_of(rows.list())) is None


def _converted(value):
    """What the table in docs/saving.md says: no NaN and infinities, times to the millisecond."""
    match value:
        case dict():
            return {key: _converted(item) for key, item in value.items()}
        case list():
            return [_converted(item) for item in value]
        case float() if not math.isfinite(value):
            return None
        case dt.datetime():
            return _EPOCH + (value - _EPOCH) // _MILLISECOND * _MILLISECOND
        case dt.timedelta():
            return value // _MILLISECOND * _MILLISECOND
    return value


def _type_of_milliseconds(leaf):
    match str(leaf).partition("[")[0]:
        case "Value('timestamp":
            return Value("timestamp[ms]")
        case "Value('duration":
            return Value("duration[ms]")
    return Value("date64") if leaf == Value("date32") else leaf


_OPTIONS = [
    {},
    {"batch_size": 1},
    {"batch_size": 3},
    {"lines": False},
    {"force_ascii": True},
    {"indent": 2, "lines": False},
    {"num_proc": 2, "batch_size": 2},
]


def _has_bytes(value):
    if isinstance(value, dict):
        return any(map(_has_bytes, value.values()))
    return any(map(_has_bytes, value)) if isinstance(value, list) else isinstance(value, bytes)


@law(
    examples=25,
    weight=2,
    rows=values.rows(_LEAVES, longest=11).filter(_is_keepable),
    options=st.sampled_from(_OPTIONS),
    stream=st.booleans(),
    compression=st.sampled_from(["", "", *COMPRESSIONS]),
    streaming=st.booleans(),
)
def test_json_that_is_written_is_read_back_with_its_features(rows, options, stream, compression, streaming, folder):
    data = ours.Dataset.from_list(rows.list())
    path = os.path.join(folder, f"data.json{compression}")
    options = {key: value for key, value in options.items() if not (stream and key == "num_proc")}
    try:
        (data.to_iterable_dataset() if stream else data).to_json(path, **options)
    except ValueTypeError as error:
        assert any(_has_bytes(value) for row in data for value in row.values()), error
        assert not os.path.exists(path)
        return
    features = with_leaves(dict(data.features), _type_of_milliseconds)
    result = ours.load_dataset("json", data_files=path, split="train", features=Features(features), streaming=streaming)
    equality.same([_converted(row) for row in data], list(result))
