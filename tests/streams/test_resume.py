"""A stream resumes exactly, from every row, whatever it is made of."""

from __future__ import annotations

import bz2
import gzip
import json
import sqlite3
import zipfile
from itertools import product
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.streams import STRATEGIES, assert_resumes, built, pipelines, read, saved, sources, values

import crucible_datasets as ours
from crucible_datasets.exceptions import ArgumentTypeError, DamagedStateError, ForeignStateError

# One example of every step, for pairs of them.
STEPS: dict[str, Any] = {
    "map": ("map",),
    "map_batches": ("map_batches", 3),
    "filter": ("filter",),
    "select": ("select",),
    "rename": ("rename",),
    "numbered": ("numbered",),
    "take": ("take", 11),
    "skip": ("skip", 4),
    "repeat": ("repeat", 2),
    "batch": ("batch", 3, False),
    "batch_whole": ("batch", 3, True),
    "shard": ("shard", 2, 1, False),
    "shuffle": ("shuffle", 1, 6, 2),
    "shuffle_little": ("shuffle", 2, 1, 10),
    "shuffle_all": ("shuffle", 3, 1000, 10),
}
MIXES: dict[str, Any] = {
    "concatenate": ("concatenate",),
    **{
        f"interleave {strategy} {seed}": ("interleave", strategy, seed) for strategy in STRATEGIES for seed in (None, 3)
    },
}
SOURCES: dict[str, Any] = {"generated": ("generated", [5, 0, 7]), "table": ("table", 12, 3)}


@pytest.mark.parametrize("epoch", [0, 2])
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_step(source, epoch):
    for step in STEPS.values():
        stream = built(ours, (step, source))
        stream.set_epoch(epoch)
        assert_resumes(stream)


@pytest.mark.parametrize("mix", MIXES.values(), ids=MIXES)
def test_every_mix(mix):
    for below in (list(SOURCES.values()), [SOURCES["table"]], [("generated", [0]), ("generated", [1])]):
        assert_resumes(built(ours, (mix, below)))


@pytest.mark.parametrize("outer", STEPS.values(), ids=STEPS)
def test_every_pair_of_steps(outer):
    for inner, source in product(STEPS.values(), SOURCES.values()):
        assert_resumes(built(ours, (outer, (inner, source))), most=4)


@pytest.mark.parametrize("outer", STEPS.values(), ids=STEPS)
def test_every_step_over_every_mix(outer):
    for mix in MIXES.values():
        assert_resumes(built(ours, (outer, (mix, list(SOURCES.values())))), most=3)


@given(spec=pipelines(), epoch=st.sampled_from([0, 0, 1, 4]), seed=st.integers(0, 99))
@settings(max_examples=60)
def test_random_pipelines(spec, epoch, seed):
    stream = built(ours, spec)
    stream.set_epoch(epoch)
    assert_resumes(stream, most=6, seed=seed)


@pytest.mark.slow
@given(spec=pipelines(6), epoch=st.sampled_from([0, 0, 1, 4]), seed=st.integers(0, 99))
@settings(max_examples=400, derandomize=False)
def test_many_random_pipelines(spec, epoch, seed):
    stream = built(ours, spec)
    stream.set_epoch(epoch)
    assert_resumes(stream, most=25, seed=seed)


@pytest.mark.parametrize("mix", STRATEGIES)
def test_streams_without_end(mix):
    """Of which some rows are taken in the end."""
    for source in SOURCES.values():
        endless = built(ours, source).repeat(None).shuffle(seed=1, buffer_size=5)
        assert_resumes(endless.take(60), most=12)
        mixed = ours.interleave_datasets([endless, built(ours, source)], stopping_strategy=mix)
        assert_resumes(mixed.filter(_is_odd).skip(3).take(50).batch(4), most=12)


def _is_odd(row: dict[str, Any]) -> bool:
    return bool(row["x"] % 2)


@given(source=sources, size=st.integers(1, 7))
def test_batches_of_columns(source, size):
    """`iter(batch_size)` resumes as well, at the ends of its batches."""
    stream = built(ours, source)
    expected = list(stream.iter(size))
    for start in range(len(expected) + 1):
        stream.load_state_dict([])
        rows = stream.iter(size)
        found = [next(rows) for _ in range(start)]
        stream.load_state_dict(saved(stream))
        assert found + list(stream.iter(size)) == expected


# Sources of every kind


ROWS = [{"x": number, "text": f'row {number}, with a "quote" and\nan end of line'} for number in range(50)]
PLAIN = [{"x": row["x"], "text": f"row {row['x']}"} for row in ROWS]


def _write(folder: Any, kind: str) -> tuple[str, list[str], dict[str, Any]]:
    """Two files of a kind: the format that reads them, their paths, and options."""
    paths = []
    for index, rows in enumerate((ROWS[:33], ROWS[33:])):
        plain = PLAIN[rows[0]["x"] : rows[-1]["x"] + 1]
        lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
        table, path = pa.Table.from_pylist(rows), folder / f"{index}.{kind}"
        if kind == "parquet":
            pq.write_table(table, path, row_group_size=10)
        elif kind == "arrow":
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table, max_chunksize=10)
        elif kind in ("jsonl", "jsonl.gz", "jsonl.bz2", "jsonl.zip"):
            _pack(path, lines)
        elif kind == "json":
            path.write_text(json.dumps(rows))
        elif kind in ("csv", "csv.gz"):
            text = "x,text\n" + "".join(f'{row["x"]},"{row["text"].replace(chr(34), 2 * chr(34))}"\n' for row in rows)
            _pack(path, text.encode())
        elif kind == "txt":
            path.write_text("".join(row["text"] + "\n" for row in plain))
        elif kind == "xml":
            path.write_text("<r>" + "".join(f"<i>{row['x']}</i>" for row in plain) + "</r>")
        paths.append(str(path))
    formats = {"txt": "text", "jsonl": "json", "parquet": "parquet", "arrow": "arrow", "xml": "xml"}
    return formats.get(kind, kind.split(".")[0].replace("jsonl", "json")), paths, {}


def _pack(path: Any, data: bytes) -> None:
    if path.suffix == ".gz":
        data = gzip.compress(data)
    elif path.suffix == ".bz2":
        data = bz2.compress(data)
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("rows.jsonl", data)
        return
    path.write_bytes(data)


KINDS = ("parquet", "arrow", "jsonl", "jsonl.gz", "jsonl.bz2", "jsonl.zip", "json", "csv", "csv.gz", "txt", "xml")


@pytest.mark.parametrize("most", [6, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_files(kind, most, tmp_path):
    format, paths, options = _write(tmp_path, kind)
    stream = ours.load_dataset(format, data_files=paths, split="train", streaming=True, **options)
    assert len(list(stream)) in (2, 50)
    for steps in (stream, stream.shuffle(seed=2, buffer_size=7).repeat(2), stream.skip(5).batch(4)):
        assert_resumes(steps, most=most)


@pytest.mark.parametrize("most", [12, pytest.param(51, marks=pytest.mark.slow)])
def test_blocks_of_a_file(most, tmp_path, monkeypatch):
    """A file of several blocks, in which records end anywhere."""
    from crucible_datasets.reading import blockshards

    monkeypatch.setattr(blockshards, "BLOCK", 300)
    for kind in ("jsonl", "csv", "txt", "jsonl.gz"):
        format, paths, _ = _write(tmp_path, kind)
        stream = ours.load_dataset(format, data_files=paths, split="train", streaming=True)
        assert len(list(stream)) == 50
        # From every row of one kind: lines end anywhere in blocks. The others know the same blocks.
        assert_resumes(stream, most=51 if kind == "jsonl" else most)


def test_sql(tmp_path):
    with sqlite3.connect(tmp_path / "rows.db") as base:
        base.execute("create table rows (x integer)")
        base.executemany("insert into rows values (?)", [(number,) for number in range(20)])
    base.close()
    table = ours.Dataset.from_sql("select x from rows", f"sqlite:///{tmp_path / 'rows.db'}")
    assert_resumes(table.to_iterable_dataset(num_shards=3))


def test_datasets_after_any_selection():
    dataset = ours.Dataset.from_dict({"x": list(range(60))}).shuffle(seed=1).select(range(3, 50))
    assert_resumes(dataset.to_iterable_dataset(num_shards=4).shuffle(seed=2, buffer_size=10), most=15)


class Counting:
    """An iterable that can tell and take over its state."""

    def __init__(self, size: int) -> None:
        self.size, self.next = size, 0

    def __iter__(self) -> Any:
        while self.next < self.size:
            self.next += 1
            made.append(self.next)
            yield {"x": self.next}

    def state_dict(self) -> dict[str, int]:
        return {"next": self.next}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.next = state["next"]


made: list[int] = []


def test_a_generator_with_a_state_is_not_run_again():
    stream = ours.IterableDataset.from_generator(Counting, gen_kwargs={"size": 2000})
    read(stream, 1900)
    state = saved(stream)
    made.clear()
    stream.load_state_dict(state)
    assert values(stream) == list(range(1901, 2001))
    assert min(made) > 1
    assert_resumes(stream.take(30))


# What a state is


def test_states_are_small():
    """However large the buffer of a shuffle is, and however many shards there are."""
    stream = built(ours, (("shuffle", 1, 4000, 10), ("table", 20_000, 100)))
    rows = iter(stream)
    for _ in range(9_000):
        next(rows)
    assert len(json.dumps(stream.state_dict())) < 2500
    rows.close()


def test_resuming_reads_files_from_where_they_are_needed(tmp_path):
    pq.write_table(pa.table({"x": list(range(20_000))}), tmp_path / "a.parquet", row_group_size=500)
    stream = ours.load_dataset("parquet", data_files=str(tmp_path / "a.parquet"), split="train", streaming=True)
    read(stream, 18_000)
    state = saved(stream)
    seen: list[int] = []

    def noted(row: dict[str, int]) -> dict[str, int]:
        seen.append(row["x"])
        return row

    again = stream.map(noted)
    again.load_state_dict({"epoch": 0, "place": [[state["place"], 18_000], 0]})
    read(again, 1)
    assert min(seen) >= 18_000


@given(pipelines(2), pipelines(2), st.data())
@settings(max_examples=25)
def test_a_state_is_that_of_these_steps_and_whole(spec, other, data):
    stream, another = built(ours, spec), built(ours, other)
    read(stream, data.draw(st.integers(0, 6)))
    state = saved(stream)
    stream.load_state_dict(state)
    if state["steps"] != another.state_dict()["steps"]:
        with pytest.raises(ForeignStateError, match="steps"):
            another.load_state_dict(state)
    text = json.dumps(state)
    place = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:place] + data.draw(st.sampled_from('0123456789[]{},"nx')) + text[place + 1 :]
    try:
        nonsense = json.loads(damaged)
    except ValueError:
        return
    if nonsense != state and "sum" in nonsense:
        with pytest.raises((DamagedStateError, ForeignStateError, ArgumentTypeError)):
            stream.load_state_dict(nonsense)


def _altered(spec: Any, draw: Any) -> Any:
    """The same pipeline with other numbers in it."""
    if isinstance(spec, bool) or not isinstance(spec, (int, tuple, list)):
        return spec
    if isinstance(spec, int):
        return draw(st.one_of(st.just(spec), st.just(spec), st.integers(1, 20)))
    return type(spec)(_altered(item, draw) for item in spec)


@given(pipelines(3), st.data(), st.integers(0, 6))
@settings(max_examples=100)
def test_a_stream_that_accepts_a_state_gives_the_rest_of_it(spec, data, count):
    stream = built(ours, spec)
    try:
        another = built(ours, _altered(spec, data.draw))
    except ValueError:  # more shards than rows
        return
    read(stream, count)
    state = saved(stream)
    stream.load_state_dict(state)
    try:
        another.load_state_dict(state)
    except ForeignStateError:
        return
    assert list(another) == list(stream)


def test_an_epoch_has_its_own_states():
    stream = built(ours, (("shuffle", 1, 6, 2), ("table", 20, 4)))
    read(stream, 5)
    state = saved(stream)
    stream.set_epoch(1)
    fresh = values(stream)
    stream.load_state_dict(state)
    assert values(stream) == fresh  # the state is of epoch 0
    assert stream.state_dict()["epoch"] == 1
    stream.set_epoch(0)
    assert len(values(stream)) == 15


def test_a_state_before_the_first_row_is_the_beginning():
    stream = built(ours, ("table", 5, 1))
    start = saved(stream)
    expected = values(stream)
    stream.load_state_dict(start)
    assert values(stream) == expected


def test_a_loaded_state_is_told_at_once():
    stream = built(ours, ("table", 5, 1))
    read(stream, 3)
    state = saved(stream)
    other = built(ours, ("table", 5, 1))
    other.load_state_dict(state)
    assert saved(other) == state


@pytest.mark.parametrize("wrong", [3, {"epoch": 0}, [{"place": 1}], "text"])
def test_what_is_no_state(wrong):
    with pytest.raises((TypeError, ValueError)):
        built(ours, ("table", 5, 1)).load_state_dict(wrong)


# Rows that never come


class OutOfOrderError(Exception):
    pass


def _fails_at(number: int, error: type[BaseException]) -> Any:
    def function(row: dict[str, Any]) -> dict[str, Any]:
        if row["x"] == number:
            raise error("here")
        return row

    return function


@pytest.mark.parametrize("error", [OutOfOrderError, ValueError, KeyError, StopIteration])
@pytest.mark.parametrize("number", [0, 1, 7, 500])
def test_a_function_that_fails_does_so_at_its_row(error, number):
    """The rows before it are given, the state is that of the last of them, and it fails again when resumed."""
    stream = built(ours, ("table", 600, 2)).map(_fails_at(number, error))
    for _ in range(2):
        found = []
        with pytest.raises((error, RuntimeError)):
            for row in stream:
                found.append(row["x"])
        assert found == list(range(number))
    read(stream, number // 2)
    stream.load_state_dict(saved(stream))
    with pytest.raises((error, RuntimeError)):
        list(stream)


def _generated(fails_at: int | None) -> Any:
    for number in range(10):
        if number == fails_at:
            raise OutOfOrderError("here")
        yield {"x": number}


@pytest.mark.parametrize("number", [0, 1, 5])
def test_a_generator_that_fails_does_so_at_its_row(number):
    stream = ours.IterableDataset.from_generator(_generated, gen_kwargs={"fails_at": number})
    found = []
    with pytest.raises(OutOfOrderError):
        for row in stream:
            found.append(row["x"])
    assert found == list(range(number))


@pytest.mark.parametrize("size", [0, 1])
def test_no_row_and_one_row(size):
    for step in STEPS.values():
        for mix in MIXES.values():
            assert_resumes(built(ours, (step, (mix, [("generated", [size]), ("generated", [0, size, 0])]))))
    assert values(built(ours, ("generated", [0])).repeat(None)) == []
