"""A stream of files gives what a dataset of them has, row by row, or an error at the row that has another type."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from itertools import islice
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import assume
from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets.exceptions import AlignmentError, DatasetsError, StreamTypeError
from crucible_datasets.reading import blockshards, csvshards
from laws import equality, values
from laws.law import law
from laws.test_csv_files import rows_and_csv_files
from laws.ways import cuts_of, json_files, pieces

_FAMILIES = [["integer", "number", "text", "null"], ["bool", "integer"], ["finite", "integer", "number text"]]


@dataclass(frozen=True)
class ArrowFiles:
    """Rows as Parquet or Arrow files that pyarrow wrote, each with the types of its own rows."""

    format: str
    cuts: tuple[int, ...]
    batch: int

    def write(self, rows, folder):
        paths = []
        os.mkdir(inner := os.path.join(folder, str(len(os.listdir(folder)))))
        for number, part in enumerate(pieces(rows, self.cuts)):
            names = dict.fromkeys(name for row in part for name in row)
            table = pa.table({name: pa.array([row.get(name) for row in part]) for name in names})
            paths.append(os.path.join(inner, f"{number}.{self.format}"))
            if self.format == "parquet":
                pq.write_table(table, paths[-1], row_group_size=self.batch)
            else:
                with pa.ipc.new_file(paths[-1], table.schema) as writer:
                    writer.write_table(table, max_chunksize=self.batch)
        return paths

    def load(self, rows, folder, **options):
        return ours.load_dataset(self.format, data_files=self.write(rows, folder), split="train", **options)


def _is_writable(rows, files):
    """Whether pyarrow has types for the rows of each file."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            files.write(rows.list(), folder)
    except (pa.ArrowException, OverflowError):
        return False
    return True


@st.composite
def rows_and_files(draw, longest=100):
    way = draw(st.sampled_from(["json", "json", "csv", "parquet", "arrow"]))
    if way == "csv":
        made, files = draw(rows_and_csv_files())
        # An integer `-0` has a sign only in a file that has other floats.
        assume(not any("-0" in row.values() for row, _ in made.runs))
        return made, files
    # Half of the rows are of one type; the others change it somewhere.
    leaves = draw(st.sampled_from([values.JSON_LEAVES, *_FAMILIES]))
    mixed = draw(st.booleans())
    rows = values.rows(leaves, longest=longest, mixed=mixed)
    if way == "json":
        made = draw(rows)
        return made, draw(json_files(made))
    made = draw(rows)
    files = ArrowFiles(way, draw(cuts_of(made)), draw(st.sampled_from([1, 3, 10, 1000])))
    assume(_is_writable(made, files))
    return made, files


@contextlib.contextmanager
def blocks_of(size):
    if size is None:
        yield
        return
    with mock.patch.object(blockshards, "BLOCK", size), mock.patch.object(csvshards, "BLOCK", size, create=True):
        yield


def _read(rows, start=0):
    """The rows up to an error, and the error."""
    result = []
    try:
        for row in rows:
            result.append(row)
    except DatasetsError as error:
        return result, error
    return result, None


_BLOCKS = st.sampled_from([None, None, 60, 200, 1000, 5000])


@law(examples=60, weight=3, case=rows_and_files(), block=_BLOCKS)
def test_a_stream_gives_the_rows_of_a_dataset_or_refuses_one(case, block, folder):
    rows, files = case
    source = rows.list()
    with blocks_of(block):
        os.mkdir(streamed := os.path.join(folder, "streamed"))
        os.mkdir(loaded := os.path.join(folder, "loaded"))
        try:
            result, error = _read(files.load(source, streamed, streaming=True))
        except DatasetsError as refusal:
            result, error = [], refusal
        try:
            expected = files.load(source, loaded).to_list()
        except DatasetsError:
            assert error is not None, "only the dataset is refused"
            return
        if error is not None:  # rows that come later change the types of a dataset
            os.mkdir(before := os.path.join(folder, "before"))
            expected = files.load(source[: len(result)], before).to_list() if result else []
    equality.same(result, expected, equality.facts_of([*source, *expected]))
    if isinstance(error, StreamTypeError) and error.row is not None:
        lengths = [len(part) for part in pieces(source, files.cuts)]
        number = int(os.path.basename(error.path).split(".")[0])
        assert sum(lengths[:number]) + error.row == len(result), "rows before the error are missing"


@law(examples=30, weight=3, case=rows_and_files(longest=40), block=_BLOCKS, data=st.data())
def test_a_stream_goes_on_at_any_row(case, block, data, folder):
    rows, files = case
    source = rows.list()
    with blocks_of(block):
        os.mkdir(first := os.path.join(folder, "first"))
        os.mkdir(second := os.path.join(folder, "second"))
        try:
            stream, again = (files.load(source, inner, streaming=True) for inner in (first, second))
        except DatasetsError:
            return
        result, error = _read(stream)
        for start in data.draw(st.lists(st.integers(0, len(result)), min_size=1, max_size=4)):
            stream.load_state_dict(None)
            iterator = iter(stream)
            head = list(islice(iterator, start))
            state = stream.state_dict()
            del iterator
            again.load_state_dict(state)
            rest, problem = _read(again)
            equality.same(result, head + rest)
            assert type(problem) is type(error)


def _joined(parts, join):
    try:
        return list(join(parts)), None
    except AlignmentError as error:
        return [], error


_OBJECTS = st.dictionaries(st.sampled_from(["role", "content", "from", "value"]), st.sampled_from(["a", 1, None, 2.5]))
_COLUMNS = st.one_of(
    _OBJECTS.filter(bool), st.lists(_OBJECTS.filter(bool), max_size=2), st.sampled_from(["a", 1, None])
)


@law(
    examples=60,
    first=st.lists(_COLUMNS, min_size=1, max_size=3),
    second=st.lists(_COLUMNS, min_size=1, max_size=3),
    join=st.sampled_from(["concatenate_datasets", "interleave_datasets"]),
)
def test_joined_rows_stay_as_they_are_or_are_refused(first, second, join, folder):
    options = {"stopping_strategy": "all_exhausted_without_replacement"} if join == "interleave_datasets" else {}
    try:
        parts = [ours.Dataset.from_list([{"m": value} for value in column]) for column in (first, second)]
    except DatasetsError:
        return
    streams = [part.to_iterable_dataset() for part in parts]
    rows, error = _joined(parts, lambda parts: getattr(ours, join)(parts, **options))
    streamed, refusal = _joined(streams, lambda parts: getattr(ours, join)(parts, **options))
    assert (error is None) == (refusal is None), (error, refusal)
    equality.same(rows, streamed)
    if error is None:
        before = [row for part in parts for row in part]
        assert len(rows) == len(before)
        facts = equality.facts_of(before)
        if join == "concatenate_datasets":
            equality.same(before, rows, facts)
        for row in rows:  # interleaved rows are in another order
            assert any(not list(equality.differences([other], [row], facts)) for other in before), row
