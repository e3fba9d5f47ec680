"""Plain values become the very arrays that Arrow makes of them, without pandas."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.features.leaves import leaves_of

PLAIN = {
    "int": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(),
    "bool": st.booleans(),
    "str": st.text(),
}


@pytest.mark.parametrize("kind", PLAIN)
@given(data=st.data())
def test_they_equal_what_arrow_makes(kind, data):
    values = data.draw(st.lists(PLAIN[kind] | st.none() if data.draw(st.booleans()) else PLAIN[kind]))
    found = leaves_of(values)
    expected = pa.array(values)
    if pa.types.is_null(expected.type):
        assert found is None
        return
    found.validate(full=True)
    assert found.type == expected.type and str(found) == str(expected)
    assert found.null_count == expected.null_count


@pytest.mark.parametrize(
    "values", [[1, 2.0], [1, "a"], [2**70], ["\ud800"], [[1]], [{"a": 1}], [b"x"], [None], [], [True, 1]]
)
def test_others_are_left_to_arrow(values):
    assert leaves_of(values) is None


def test_a_type_that_is_asked_for_is_given_or_nothing():
    assert leaves_of([1, 2], pa.int64()).type == pa.int64()
    assert leaves_of([1, 2], pa.int32()) is None


def test_a_program_that_makes_and_maps_rows_does_not_import_pandas(tmp_path):
    program = """
import sys
import crucible_datasets as cd
rows = cd.Dataset.from_list([{"n": n, "text": "é" * n, "tags": ["a", None], "more": {"x": 1.5}} for n in range(50)])
assert len(cd.Dataset.from_dict({"long": ["t" * 6_000_000, "🙂"]})[0]["long"]) == 6_000_000
rows = rows.map(lambda row: {"long": len(row["text"]) > 9}).filter(lambda row: row["long"]).shuffle(seed=1)
assert len(rows.to_list()) == 40 and rows[0]["tags"] == ["a", None]
assert "pandas" not in sys.modules, "pandas was imported"
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
