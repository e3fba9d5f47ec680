"""Text as numpy shows it: fixed-width strings, made in bulk where all characters are ASCII."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.features import Features, Value
from crucible_datasets.outputs.base import OUTPUTS
from crucible_datasets.outputs.numpy import WIDEST_IN_BULK

KINDS = {"string": pa.string(), "large_string": pa.large_string(), "string_view": pa.string_view()}


def shown(chunks, kind="string"):
    column = pa.chunked_array([pa.array(chunk, KINDS[kind]) for chunk in chunks], KINDS[kind])
    return OUTPUTS["numpy"].make().column(column, Value(kind))


@given(
    st.lists(st.lists(st.text(max_size=8), min_size=1, max_size=5), min_size=1, max_size=3),
    st.sampled_from(list(KINDS)),
)
def test_columns_are_what_numpy_makes_of_a_list(chunks, kind):
    found, expected = shown(chunks, kind), np.array([value for chunk in chunks for value in chunk])
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()


@given(st.lists(st.text(alphabet="ab ", max_size=40), min_size=3, max_size=20), st.integers(0, 2))
def test_slices(values, start):
    column = pa.chunked_array([pa.array(values).slice(start)])
    found = OUTPUTS["numpy"].make().column(column, Value("string"))
    assert found.tolist() == values[start:]


@pytest.mark.parametrize("width", [WIDEST_IN_BULK - 1, WIDEST_IN_BULK, WIDEST_IN_BULK + 1])
def test_wide_strings(width):
    assert shown([["a" * width, "b"]]).tolist() == ["a" * width, "b"]


def test_rows_are_numpy_strings():
    table = pa.table({"s": ["a", None], "b": [b"x\x00", None]})
    rows = list(OUTPUTS["numpy"].make().rows(table, Features({"s": Value("string"), "b": Value("binary")})))
    assert [type(value) for value in rows[0].values()] == [np.str_, np.bytes_]
    assert rows[1] == {"s": None, "b": None}


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_bytes_keep_their_last_zeros(name):
    pytest.importorskip(name, reason=f"{name} is not installed")
    column = pa.chunked_array([pa.array([b"a\x00", b"\x00"])])
    assert OUTPUTS[name].make().column(column, Value("binary")) == [b"a\x00", b"\x00"]
