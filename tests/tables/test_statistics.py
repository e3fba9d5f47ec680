"""Footers rule out what cannot match, and a footer that lies never ends the process."""

import datetime
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.formats.filters import clauses_of, mask_of
from crucible_datasets.formats.parquet_footer import is_sound, stated_rows
from crucible_datasets.tables.statistics import groups_left

VALUES = {
    "i": (pa.int64(), st.integers(-(2**62), 2**62) | st.integers(-3, 3)),
    "u": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "b": (pa.int8(), st.integers(-128, 127)),
    "f": (pa.float64(), st.floats(width=64) | st.integers(-3, 3).map(float)),
    "g": (pa.float32(), st.floats(width=32) | st.sampled_from([0.5, 1.5])),
    "s": (pa.string(), st.text(st.characters(codec="utf-8"), max_size=3)),
    "d": (pa.date32(), st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1))),
}
columns = st.sampled_from(list(VALUES))
operators = st.sampled_from(["=", "==", "!=", "<", "<=", ">", ">="])


@st.composite
def cases(draw):
    name = draw(columns)
    kind, values = VALUES[name]
    table = pa.table({name: pa.array(draw(st.lists(values | st.none(), min_size=1, max_size=12)), kind)})
    filters = [(name, draw(operators), draw(values)) for _ in range(draw(st.integers(1, 2)))]
    return table, filters if draw(st.booleans()) else [[one] for one in filters]


@given(case=cases(), size=st.integers(1, 5))
def test_a_group_that_is_ruled_out_holds_no_row_that_matches(case, size, tmp_path_factory):
    table, filters = case
    path = tmp_path_factory.getbasetemp() / "statistics.parquet"
    pq.write_table(table, path, row_group_size=size)
    file = pq.ParquetFile(path)
    left = groups_left(file.metadata, clauses_of(filters))
    for group in set(range(file.num_row_groups)) - left:
        try:
            mask = mask_of(file.read_row_group(group), clauses_of(filters))
        except pa.ArrowException:
            continue  # expressions compare what kernels do not
        assert True not in mask.to_pylist()


def test_groups_are_ruled_out(tmp_path):
    path = tmp_path / "sorted.parquet"
    pq.write_table(pa.table({"n": range(10), "s": [f"t{n}" for n in range(10)]}), path, row_group_size=2)
    metadata = pq.ParquetFile(path).metadata
    expected = {
        ("n", "=", 4): {2},
        ("n", "<", 4): {0, 1},
        ("n", "<=", 4): {0, 1, 2},
        ("n", ">", 5): {3, 4},
        ("n", ">=", 5): {2, 3, 4},
        ("n", "in", (0, 9)): {0, 4},
        ("n", "!=", 4): {0, 1, 2, 3, 4},
        ("n", "=", "4"): {0, 1, 2, 3, 4},
        ("s", ">", "t7"): {4},
        ("other", "=", 1): {0, 1, 2, 3, 4},
    }
    assert {condition: groups_left(metadata, [[condition]]) for condition in expected} == expected


@pytest.mark.parametrize(
    "options",
    [{}, {"write_page_index": True}, {"use_dictionary": False}, {"version": "1.0"}, {"data_page_version": "2.0"},
     {"write_statistics": False}, {"compression": "zstd"}, {"use_byte_stream_split": ["f"], "use_dictionary": False}],
    ids=str,
)  # fmt: skip
def test_honest_footers_are_sound(tmp_path, options):
    nested = {"l": [[1], None, []], "m": [{"a": [1]}, None, {"a": None}], "n": pa.nulls(3), "e": [[[1]], [], [[]]]}
    table = pa.table({"f": [1.5, None, 2.5], "t": ["x", None, "y" * 300], **nested})
    for rows in (table, table.slice(0, 0)):
        path = tmp_path / "honest.parquet"
        pq.write_table(rows, path, row_group_size=2, **options)
        assert is_sound(str(path), pq.ParquetFile(path).metadata)
        assert stated_rows(str(path)) == len(rows)


@given(st.lists(st.tuples(st.integers(0, 300), st.sampled_from(["a", "b"])), min_size=1, max_size=4))
def test_the_stated_rows_are_those_that_arrow_finds(tmp_path_factory, files):
    folder = tmp_path_factory.mktemp("stated")
    for number, (rows, name) in enumerate(files):  # one after the other, of one schema and of another
        path = str(folder / f"{number}.parquet")
        pq.write_table(pa.table({name: [[1]] * rows}, pa.schema({name: pa.list_(pa.int64())})), path)
        assert stated_rows(path) == pq.read_metadata(path).num_rows == rows


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"x" * 50, b"PAR1" + b"\xff" * 20 + b"\x10\0\0\0PAR1", b"PAR1\0\0\0\0PARE"]
)
def test_a_footer_that_cannot_be_read_states_nothing(tmp_path, content):
    path = tmp_path / "broken.parquet"
    path.write_bytes(content)
    assert stated_rows(str(path)) is None


# In a process of its own: what is tested is that it does not end.
MANGLE = """
import random, sys
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
from crucible_datasets.exceptions import DatasetsError
from crucible_datasets.tables.parquet import ParquetTable

path, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
numbers = list(range(60))
table = pa.table({"i": numbers, "s": [f"t{n}" for n in numbers], "x": [float(n) for n in numbers], "l": [[n] for n in numbers]})
pq.write_table(table, path, row_group_size=20)
honest = open(path, "rb").read()
length = int.from_bytes(honest[-8:-4], "little")
for seed in range(first, last):
    draw, mangled = random.Random(seed), bytearray(honest)
    for _ in range(draw.choice([1, 1, 2, 4])):
        mangled[len(honest) - 8 - length + draw.randrange(length)] = draw.randrange(256)
    with open(path, "wb") as file:
        file.write(mangled)
    for filters in ([("i", ">", 50), ("s", "<", "t80"), ("x", ">=", 3.0)], (pc.field("i") > 50) & (pc.field("s") < "t80")):
        try:
            ParquetTable.open([path]).matching_rows(filters)
        except DatasetsError:
            pass
print("alive")
"""


@pytest.mark.parametrize(
    ("first", "last"), [(40_000, 40_300), pytest.param(0, 20_000, marks=pytest.mark.slow)], ids=["short", "long"]
)
def test_mangled_footers_do_not_end_the_process(tmp_path, first, last):
    program = [sys.executable, "-c", MANGLE, str(tmp_path / "mangled.parquet"), str(first), str(last)]
    ran = subprocess.run(program, capture_output=True, text=True)
    assert ran.stdout == "alive\n", ran.stderr[-500:]
