"""Parquet files read in place: the same rows as the whole table, whatever is asked and however little memory there is."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crucible_datasets import ClassLabel, Features, List, Value, concatenate_datasets, config
from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.exceptions import (
    ColumnNotFoundError,
    FileFormatError,
    LimitExceededError,
    SchemaConflictError,
)
from crucible_datasets.fingerprint import Fingerprint
from crucible_datasets.tables import parquet as parquet_module
from crucible_datasets.tables import spill
from crucible_datasets.tables.budget import BUDGET
from crucible_datasets.tables.parquet import ParquetTable
from crucible_datasets.tables.rowgroups import RowGroup
from crucible_datasets.tables.stack import Stacked
from crucible_datasets.tables.view import View

SCHEMA = pa.schema(
    {
        "n": pa.int64(),
        "text": pa.string(),
        "turns": pa.list_(pa.struct({"role": pa.string(), "tokens": pa.list_(pa.int32())})),
        "score": pa.float64(),
    }
)


def rows_of(count: int, seed: int = 0) -> pa.Table:
    draw = random.Random(seed)

    def maybe(value):
        return None if draw.random() < 0.2 else value

    rows = [
        {
            "n": maybe(index),
            "text": maybe("né" * draw.randrange(4)),
            "turns": maybe(
                [maybe({"role": maybe("user"), "tokens": [1] * draw.randrange(3)}) for _ in range(draw.randrange(3))]
            ),
            "score": maybe(draw.random()),
        }
        for index in range(count)
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


def written(folder, tables, row_group_size: int = 7) -> list[str]:
    paths = []
    for index, table in enumerate(tables):
        paths.append(str(folder / f"part-{index}-{len(os.listdir(folder))}.parquet"))
        pq.write_table(table, paths[-1], row_group_size=row_group_size)
    return paths


def dataset_of(table: ParquetTable) -> Dataset:
    return Dataset._of(View(table, range(table.num_rows), table.features, Fingerprint.fixed("test")))


@pytest.fixture
def decodes(monkeypatch):
    """How often each column of each row group was decoded, and the most bytes that were held."""
    counts: dict[tuple[str, int, str], int] = {}
    decode = RowGroup._decode

    def counted(self, names, spill):
        for name in names:
            key = self.part.path, self.index, name
            counts[key] = counts.get(key, 0) + 1
        return decode(self, names, spill)

    monkeypatch.setattr(RowGroup, "_decode", counted)
    return counts


@given(
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=4),
    group=st.integers(1, 20),
    picks=st.lists(st.integers(0, 10**6), max_size=60),
    bounds=st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
    columns=st.none() | st.lists(st.sampled_from(SCHEMA.names), unique=True, min_size=1),
    budget=st.sampled_from([300, 3000, 1 << 30]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_rows_and_columns_are_those_of_the_whole_table(
    tmp_path, monkeypatch, sizes, group, picks, bounds, columns, budget
):
    monkeypatch.setattr(config, "DECODED_MEMORY_BUDGET", budget)
    tables = [rows_of(size, size) for size in sizes]
    whole = pa.concat_tables(tables)
    table = ParquetTable.open(written(tmp_path, tables, group))
    count = whole.num_rows
    assert table.num_rows == count
    start, stop = sorted(bound % (count + 1) for bound in bounds)
    for rows in (range(start, stop), np.array([pick % count for pick in picks if count], dtype=np.int64), range(count)):
        expected = whole.select(columns or SCHEMA.names).take(list(rows) if len(rows) else pa.array([], pa.int64()))
        assert table.read(rows, columns).to_pylist() == expected.to_pylist()
        assert table.read(rows, columns).schema.equals(expected.schema)
    for pick in picks[:5]:
        if count:
            assert (
                table.row(pick % count, columns)
                == whole.select(columns or SCHEMA.names).slice(pick % count, 1).to_pylist()[0]
            )


def test_shuffled_access_beyond_the_budget_decodes_no_group_more_than_twice(tmp_path, monkeypatch, decodes):
    monkeypatch.setattr(config, "DECODED_MEMORY_BUDGET", 4000)
    monkeypatch.setattr(spill, "_LEAST_TOUCHED", 0)  # what is spilled is given back and read again all the time
    most = []
    admit = BUDGET.admit
    monkeypatch.setattr(BUDGET, "admit", lambda *given: (admit(*given), most.append(BUDGET.held)))
    whole = rows_of(2000)
    table = ParquetTable.open(written(tmp_path, [whole.slice(0, 1000), whole.slice(1000)], 40))
    largest = max(group.size(table.names) for group in table.source.groups)
    order = np.random.default_rng(3).permutation(2000)
    for start in range(0, 2000, 100):
        block = order[start : start + 100]
        assert table.read(block).to_pylist() == whole.take(block).to_pylist()
    for row in order[:300].tolist():
        assert table.row(row) == whole.slice(row, 1).to_pylist()[0]
    for _ in range(2):
        assert table.read(range(2000)).equals(whole)
    assert max(decodes.values()) <= 2
    assert max(most) <= 4000 + 3 * largest
    assert len(decodes) == 4 * len(table.source.groups)


def test_one_pass_in_order_beyond_the_budget_writes_nothing(tmp_path, monkeypatch, decodes):
    monkeypatch.setattr(config, "DECODED_MEMORY_BUDGET", 4000)
    monkeypatch.setattr("crucible_datasets.tables.spill.spilled", lambda *_: pytest.fail("spilled"))
    whole = rows_of(2000)
    data = dataset_of(ParquetTable.open(written(tmp_path, [whole], 40)))
    assert list(data) == whole.to_pylist()
    assert set(decodes.values()) == {1}
    assert BUDGET.held <= 4000


def test_a_group_too_large_for_the_budget_goes_to_the_disk_as_it_is_decoded(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "DECODED_MEMORY_BUDGET", 1000)
    whole = rows_of(3000)
    table = ParquetTable.open(written(tmp_path, [whole], 3000))
    assert table.read(range(2999, 3000)).equals(whole.slice(2999))
    assert BUDGET.held <= 1000
    assert not os.listdir(os.path.join(config.HF_DATASETS_CACHE, "spill"))


def test_a_disk_that_takes_nothing_costs_memory_but_no_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "DECODED_MEMORY_BUDGET", 1000)
    monkeypatch.setattr(config, "SPILL_FOLDER", tmp_path / "file" / "folder")
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "data").mkdir()
    whole = rows_of(300)
    table = ParquetTable.open(written(tmp_path / "data", [whole], 50))
    for _ in range(3):
        order = np.random.default_rng(1).permutation(300)
        assert table.read(order).to_pylist() == whole.take(order).to_pylist()


def test_only_what_is_asked_for_is_decoded(tmp_path, decodes):
    table = ParquetTable.open(written(tmp_path, [rows_of(100)], 10))
    assert not decodes
    table.read(range(15, 17), ["n"])
    table.row(55, ["text"])
    assert {(index, name) for _, index, name in decodes} >= {(1, "n"), (5, "text")}
    assert {name for _, _, name in decodes} == {"n", "text"}


def test_the_first_rows_come_before_their_group_is_decoded(tmp_path, decodes):
    whole = rows_of(5000)
    table = ParquetTable.open(written(tmp_path, [whole], 5000))
    assert table.row(0) == whole.slice(0, 1).to_pylist()[0]
    assert table.read(range(10)).equals(whole.slice(0, 10))
    assert not decodes
    assert table.read(range(10, 200)).equals(whole.slice(10, 190))
    assert set(decodes.values()) == {1}


def test_the_next_group_is_decoded_ahead_in_order_and_only_one(tmp_path, decodes):
    table = ParquetTable.open(written(tmp_path, [rows_of(1000)], 100))
    table.read(range(20))
    table.read(range(20, 40))
    table.source._ahead.join()
    assert {index for _, index, _ in decodes} == {0, 1}


def test_threads_read_the_same(tmp_path, monkeypatch, decodes):
    monkeypatch.setattr(config, "DECODED_MEMORY_BUDGET", 5000)
    whole = rows_of(1000)
    table = ParquetTable.open(written(tmp_path, [whole.slice(0, 500), whole.slice(500)], 30))
    wrong: list[object] = []

    def work(seed: int) -> None:
        draw = np.random.default_rng(seed)
        for _ in range(15):
            rows = draw.integers(0, 1000, 40)
            if table.read(rows).to_pylist() != whole.take(rows).to_pylist():
                wrong.append(rows)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not wrong
    assert not any(thread.is_alive() for thread in threads)
    assert max(decodes.values()) <= 2


def test_it_is_pickled_as_a_reference(tmp_path):
    whole = rows_of(1000)
    table = ParquetTable.open(written(tmp_path, [whole], 100)).select(["text", "n"]).renamed(["t", "m"])
    table.read(range(1000))
    sent = pickle.dumps(table)
    assert len(sent) < 2000
    assert pickle.loads(sent).source is table.source
    parquet_module._sources.clear()
    there = pickle.loads(sent)
    assert there.source is not table.source
    assert there.read(range(5)).equals(table.read(range(5)))


def test_a_changed_file_is_not_read_as_the_old_one(tmp_path):
    [path] = written(tmp_path, [rows_of(500)], 100)
    table = ParquetTable.open([path])
    sent = pickle.dumps(table)
    pq.write_table(rows_of(400), path)
    with pytest.raises(FileFormatError, match="changed"):
        table.read(range(400, 500))
    parquet_module._sources.clear()
    with pytest.raises(FileFormatError, match="changed"):
        pickle.loads(sent)
    os.unlink(path)
    with pytest.raises(FileFormatError, match="removed"):
        table.read(range(400, 500))


# JAX and Lance, which other tests load, warn of any fork.
@pytest.mark.filterwarnings("ignore:os.fork", "ignore:lance is not fork-safe")
def test_a_forked_process_reads_while_threads_of_the_parent_decode(tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    whole = rows_of(600)
    data = dataset_of(ParquetTable.open(written(tmp_path, [whole.slice(0, 300), whole.slice(300)], 50)))
    assert data[0] == whole.slice(0, 1).to_pylist()[0]
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            ParquetTable.open(data._view.table.files).read(range(600))

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        loader = torch.utils.data.DataLoader(
            data, batch_size=50, num_workers=2, collate_fn=list, multiprocessing_context="fork", timeout=30
        )
        assert [row for batch in loader for row in batch] == whole.to_pylist()
    finally:
        stop.set()
        thread.join()


def test_statistics_rule_groups_out(tmp_path, decodes):
    whole = pa.table({"n": range(1000), "text": [str(n) for n in range(1000)], "rest": ["x"] * 1000})
    table = ParquetTable.open(written(tmp_path, [whole.slice(0, 500), whole.slice(500)], 50), columns=["text"])
    assert table.matching_rows(pc.field("n") == 321) == range(321, 322)
    assert {(index, name) for _, index, name in decodes} == {(6, "n")}
    assert table.matching_rows(pc.field("n") > 2000) == range(0)
    assert table.matching_rows([("n", ">=", 498), ("n", "<", 502)]) == range(498, 502)
    assert table.matching_rows([("n", "in", [3, 7, 900])]).tolist() == [3, 7, 900]
    assert table.matching_rows(pc.field("text") == "77") == range(77, 78)
    assert {name for _, _, name in decodes} == {"n", "text"}
    assert table.read(range(77, 78)).to_pylist() == [{"text": "77"}]


@given(value=st.integers(-5, 60), operator=st.sampled_from(["==", "!=", "<", ">=", "in"]), group=st.integers(1, 30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_matching_rows_are_those_that_a_filter_finds(tmp_path, value, operator, group):
    tables = [rows_of(30, 1), rows_of(25, 2).set_column(0, "n", pa.array(range(25), pa.int32()))]
    table = ParquetTable.open(written(tmp_path, tables, group))
    found = table.matching_rows([("n", operator, [value, 3] if operator == "in" else value)])
    column = [n for part in tables for n in part["n"].to_pylist()]
    holds = {
        "==": lambda n: n == value,
        "!=": lambda n: n != value,
        "<": lambda n: n < value,
        ">=": lambda n: n >= value,
        "in": lambda n: n in (value, 3),
    }[operator]
    assert list(found) == [index for index, n in enumerate(column) if n is not None and holds(n)]


def test_types_of_all_files_unite(tmp_path):
    tables = [
        pa.table({"a": pa.array([1], pa.int32()), "s": [{"x": 1}], "e": pa.nulls(1)}),
        pa.table({"a": pa.array([2], pa.int64()), "s": [{"y": "b"}], "e": ["text"], "new": [True]}),
    ]
    table = ParquetTable.open(written(tmp_path, tables))
    assert table.features == Features(
        {
            "a": Value("int64"),
            "s": {"x": Value("int64"), "y": Value("string")},
            "e": Value("string"),
            "new": Value("bool"),
        }
    )
    assert table.read(range(2)).to_pylist() == [
        {"a": 1, "s": {"x": 1, "y": None}, "e": None, "new": None},
        {"a": 2, "s": {"x": None, "y": "b"}, "e": "text", "new": True},
    ]


def test_a_conflict_names_both_files_and_types(tmp_path):
    paths = written(tmp_path, [pa.table({"a": [1]}), pa.table({"b": [1]}), pa.table({"a": ["x"]})])
    with pytest.raises(SchemaConflictError) as caught:
        ParquetTable.open(paths)
    for fact in ("'a'", paths[0], paths[2], "int64", "string"):
        assert fact in str(caught.value)


def test_features_come_from_the_metadata_or_the_caller(tmp_path):
    features = Features({"label": ClassLabel(names=["no", "yes"]), "tags": List(Value("string"))})
    told = pa.table({"label": [0, 1], "tags": [["a"], []]}).replace_schema_metadata(features.metadata())
    paths = written(tmp_path, [told, told.replace_schema_metadata(None)])
    assert ParquetTable.open(paths).features == features
    assert ParquetTable.open(paths[1:], features=features).features == features
    floats = ParquetTable.open(paths, columns=["label"], features={"label": Value("float32")})
    assert floats.read(range(2)).to_pylist() == [{"label": 0.0}, {"label": 1.0}]
    with pytest.raises(ColumnNotFoundError):
        ParquetTable.open(paths, columns=["lable"])


def test_bad_files(tmp_path):
    good = written(tmp_path, [rows_of(5)])
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1 is not enough")
    with pytest.raises(FileFormatError, match="bad.parquet"):
        ParquetTable.open([*good, bad])
    with pytest.raises(FileNotFoundError):
        ParquetTable.open([tmp_path / "missing.parquet"])


@pytest.mark.parametrize("padding", [0, 4])
def test_a_bomb_is_refused_before_it_costs_memory(tmp_path, monkeypatch, padding):
    monkeypatch.setattr(config, "MAX_DECODED_BYTES", 64 << 20)
    path = tmp_path / "bomb.parquet"
    values = pa.DictionaryArray.from_arrays(pa.array([0] * 2000, pa.int32()), pa.array(["x" * (1 << 20)]))
    pq.write_table(pa.table({"a": values, "b": [os.urandom(padding) for _ in range(2000)]}), path, compression="zstd")
    assert path.stat().st_size < 40_000
    before = pa.total_allocated_bytes()
    peak = pa.default_memory_pool().max_memory()
    with pytest.raises(LimitExceededError, match="MAX_DECODED_BYTES"):
        ParquetTable.open([path]).read(range(2000))
    assert max(pa.default_memory_pool().max_memory() - peak, pa.total_allocated_bytes() - before) < 128 << 20


def test_every_operation_works_on_a_view_of_it(tmp_path):
    whole = rows_of(120)
    here = dataset_of(ParquetTable.open(written(tmp_path, [whole.slice(0, 50), whole.slice(50)], 20)))
    there = Dataset.from_dict(whole.to_pydict(), features=here.features)
    chains = [
        lambda data: data.shuffle(seed=5).select(range(10, 60)),
        lambda data: data.sort("score", null_placement="at_start"),
        lambda data: data.select_columns(["n", "text"]).rename_column("n", "m"),
        lambda data: data.remove_columns(["turns"]).add_column("extra", list(range(120))),
        lambda data: concatenate_datasets([data, data.select(range(5)), data.shuffle(seed=1)]),
        lambda data: concatenate_datasets([data.select(range(30, 40)), data.select(range(7))]).select([3, 12, 3]),
        lambda data: data.train_test_split(test_size=0.25, seed=3)["test"],
        lambda data: data.flatten(),
        lambda data: data.cast_column("n", Value("string")),
        lambda data: concatenate_datasets([data.select_columns(["n"]), data.select_columns(["text"])], axis=1),
    ]
    for chain in chains:
        assert chain(here).to_list() == chain(there).to_list()


def test_putting_tables_under_each_other_reads_neither(tmp_path, decodes):
    first = dataset_of(ParquetTable.open(written(tmp_path, [rows_of(300, 1)], 50)))
    second = dataset_of(ParquetTable.open(written(tmp_path, [rows_of(200, 2)], 50)))
    both = concatenate_datasets([first, second.select(range(20, 200))])
    assert isinstance(both._view.table, Stacked)
    assert not decodes
    assert both.to_list() == rows_of(300, 1).to_pylist() + rows_of(200, 2).to_pylist()[20:]


FUZZ = """
    import random, sys, os, io
    import pyarrow as pa, pyarrow.parquet as pq
    import numpy as np
    from crucible_datasets.exceptions import DatasetsError
    from crucible_datasets.formats.parquet import FORMAT
    from crucible_datasets.tables.parquet import ParquetTable
    seed, path, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    import time
    draw = random.Random(seed)
    whole = open(path, "rb").read()
    end, tried = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        data = bytearray(whole)
        kind = draw.randrange(3)
        if kind == 0:
            del data[draw.randrange(len(data)):]
        for _ in range(draw.randrange(1, 6) if kind else 0):
            place = draw.randrange(len(data)) if kind == 1 else len(data) - 1 - draw.randrange(min(2000, len(data)))
            data[place] = draw.randrange(256)
        target = f"{path}.{tried}"
        open(target, "wb").write(data)
        try:
            table = ParquetTable.open([target])
            if table.num_rows < 10**6:
                table.read(range(table.num_rows)).to_pylist()
                table.read(np.arange(0, table.num_rows, 3)).to_pylist()
                if "n" in table.schema.names:
                    table.matching_rows([("n", "in", [10, 250])])
            for batch in FORMAT.rows(io.BytesIO(data)):
                batch.to_pylist()
        except DatasetsError:
            pass
        os.unlink(target)
        tried += 1
    print("tried", tried)
"""


def test_names_inside_of_a_list_that_are_no_text_are_a_typed_error(tmp_path):
    [path] = written(tmp_path, [pa.table({"items": [[row] for row in range(300)]})], 100)
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "wb") as file:
        file.write(content.replace(b"element", b"elem\x94nt"))
    with pytest.raises(FileFormatError, match="utf-8"):
        ParquetTable.open([path]).read(range(300))


def test_broken_files_raise_typed_errors_and_nothing_else(tmp_path):
    [path] = written(tmp_path, [rows_of(300)], 100)
    seed = int(os.environ.get("CRUCIBLE_SEED", 20261115))
    print("seed", seed)  # noqa: T201
    command = [sys.executable, "-c", textwrap.dedent(FUZZ), str(seed), path, "4"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, f"seed {seed}: {ran.stderr[-3000:]}"
