"""A query sees the datasets it is given, in their order, and nothing else; what it gives is a dataset."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets import (
    ClassLabel,
    Dataset,
    Features,
    LargeList,
    Value,
    disable_caching,
    enable_caching,
    load_dataset,
)
from crucible_datasets.exceptions import (
    ArgumentTypeError,
    ColumnNamesError,
    ColumnNotFoundError,
    ExpressionError,
    FileFormatError,
    MissingPackageError,
    UnknownTypeError,
)
from crucible_datasets.ops import sql

ROWS = Dataset.from_dict({"subject": ["algebra", "logic", "algebra", None], "level": [5, 2, 1, 4]})


def parquet(folder, table, **options):
    path = folder / "rows.parquet"
    pq.write_table(table, path, **options)
    return load_dataset("parquet", data_files=str(path), split="train")


@given(
    levels=st.lists(st.integers(-5, 5) | st.none(), max_size=60), seed=st.integers(0, 3), threshold=st.integers(-5, 5)
)
def test_rows_come_in_the_order_of_the_dataset(levels, seed, threshold):
    dataset = Dataset.from_dict(
        {"level": levels, "place": list(range(len(levels)))},
        features=Features({"level": Value("int64"), "place": Value("int64")}),
    ).shuffle(seed=seed)
    found = dataset.sql(f"select place, level from self where level > {threshold}")
    assert list(found) == [
        {"place": row["place"], "level": row["level"]}
        for row in dataset
        if row["level"] is not None and row["level"] > threshold
    ]


def test_many_rows_keep_their_order(tmp_path):
    dataset = parquet(tmp_path, pa.table({"n": pa.array(range(400_000))}), row_group_size=30_000)
    found = dataset.sql("select n, n * 2 as double from self where n % 2 = 0")
    assert found.data.table["n"].combine_chunks().equals(pa.array(range(0, 400_000, 2)))


def test_groups_windows_and_order():
    found = ROWS.sql("select subject, sum(level) as total, count(*) as n from self group by subject order by total")
    assert list(found) == [
        {"subject": "logic", "total": 2, "n": 1},
        {"subject": None, "total": 4, "n": 1},
        {"subject": "algebra", "total": 6, "n": 2},
    ]
    assert found.features["total"] == Value("int64")


def test_a_dataset_may_be_scanned_twice_and_joined_with_others():
    paired = ROWS.sql("select a.level as x, b.level as y from self a join self b on a.level = b.level + 1 order by x")
    assert paired.to_dict() == {"x": [2, 5], "y": [1, 4]}
    names = Dataset.from_dict({"subject": ["algebra", "logic"], "room": [101, 102]})
    joined = ROWS.sql("select room, level from self join rooms using (subject) order by level", rooms=names)
    assert joined.to_dict() == {"room": [101, 102, 101], "level": [1, 2, 5]}


def test_what_passes_through_keeps_its_type(tmp_path):
    features = Features({
        "label": ClassLabel(names=["no", "yes"]),
        "many": LargeList(Value("int64")),
        "when": Value("timestamp[us, tz=Europe/Paris]"),
        "text": Value("large_string"),
        "half": Value("float16"),
    })  # fmt: skip
    dataset = Dataset.from_dict(
        {"label": [1], "many": [[1]], "when": [0], "text": ["é\x00"], "half": [0.5]}, features=features
    )
    found = dataset.sql("select *, 1.5::double as x from self")
    assert found.features == Features({**features, "half": Value("float32"), "x": Value("float64")})
    assert list(found.remove_columns("x")) == list(dataset)


@pytest.mark.parametrize(
    "query",
    ["copy self to 'x.csv'", "attach 'x.db'", "create table t (a int)", "set threads = 1", "install json",
     "select 1 as a; select 2 as a", "", "select", "drop view self", "insert into self values (1)"],
)  # fmt: skip
def test_only_one_select_is_run(query, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ExpressionError):
        ROWS.sql(query)
    assert not list(tmp_path.iterdir())


def test_files_networks_and_python_variables_are_out_of_reach(tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    hidden = pa.table({"a": [1]})
    for source in (f"'{secret}'", f"read_csv('{secret}')", f"read_text('{secret}')", f"glob('{tmp_path}/*')",
                   "'http://127.0.0.1:9/x.parquet'", "hidden", "ROWS"):  # fmt: skip
        with pytest.raises(ExpressionError):
            ROWS.sql(f"select * from {source}")
    assert hidden.num_rows == 1


def test_errors_say_what_is_there():
    with pytest.raises(ColumnNotFoundError, match="'levl' does not exist. Did you mean 'level'"):
        ROWS.sql("select levl from self")
    with pytest.raises(ExpressionError, match=r"subject: string"):
        ROWS.sql("select subject + 1 as x from self")
    with pytest.raises(ColumnNamesError, match="name of its own"):
        ROWS.sql("select level, level from self")
    with pytest.raises(UnknownTypeError, match="interval"):
        ROWS.sql("select interval 1 day as x")
    with pytest.raises(ExpressionError, match="out of bounds"):
        ROWS.sql("select sum(9223372036854775807) as x from self")
    with pytest.raises(ArgumentTypeError, match="expected a Dataset"):
        ROWS.sql("select 1 as x", other={"a": 1})


def test_errors_of_files_stay_errors_of_files(tmp_path):
    dataset = parquet(tmp_path, pa.table({"n": list(range(1000))}))
    with open(dataset.cache_files[0]["filename"], "ab") as file:
        file.write(b"x")
    with pytest.raises(FileFormatError, match="changed"):
        dataset.sql("select sum(n) as n from self")
    with pytest.raises(FileFormatError, match="changed"):
        dataset.filter("n + 0 > 3")


def test_a_result_is_found_again_until_something_changes(tmp_path, monkeypatch):
    dataset = parquet(tmp_path, pa.table({"n": list(range(10))}))
    other = Dataset.from_dict({"n": [3]})
    query = "select n from self join other using (n)"
    first = dataset.sql(query, other=other)
    ran = []
    rows = sql._rows
    monkeypatch.setattr(sql, "_rows", lambda *given: ran.append(1) or rows(*given))
    again = dataset.sql(query, other=other)
    assert (again.to_dict(), again._fingerprint, ran) == (first.to_dict(), first._fingerprint, [])
    assert dataset.sql(query, other=Dataset.from_dict({"n": [4]}))["n"][:] == [4]
    assert dataset.sql(query + " order by n", other=other)["n"][:] == [3]
    assert dataset.sql(query, other=other, load_from_cache_file=False)["n"][:] == [3]
    assert len(ran) == 3


def test_without_caching_nothing_is_written(tmp_path):
    dataset = parquet(tmp_path, pa.table({"n": list(range(10))}))
    assert not dataset.sql("select n + 1 as m from self", keep_in_memory=True).cache_files
    disable_caching()
    try:
        assert not dataset.sql("select n + 2 as m from self").cache_files
    finally:
        enable_caching()


def test_no_rows_and_no_columns():
    empty = ROWS.select([])
    assert empty.sql("select * from self").features == ROWS.features
    assert empty.sql("select count(*) as n from self")["n"][:] == [0]
    assert ROWS.sql("select 1 as one").to_dict() == {"one": [1]}


def test_fields_of_structs():
    rows = [{"n": n, "a": {"b": n, "c d": {"e": -n}}, "a.b": {"f": n % 2}, "x y": {"z": str(n)}} for n in range(4)]
    data = Dataset.from_list([*rows, {"n": 4, "a": None, "a.b": None, "x y": None}])
    fields = {"a.b": [0, 1, 2, 3, None], 'a."c d".e': [0, -1, -2, -3, None], '"a.b".f': [0, 1, 0, 1, None]}
    for field, values in fields.items():
        expected = [n for n, value in enumerate(values) if value is not None and value > 0]
        assert data.map(f"{field} as v")["v"][:] == data.sql(f"select {field} as v from self")["v"][:] == values
        assert data.filter(f"{field} > 0")["n"][:] == expected
        assert data.sql(f"select n from self where {field} > 0")["n"][:] == expected
    assert data.filter("\"x y\".z = '2'")["n"][:] == [2]


def test_columns_of_the_same_name_as_words_of_sql():
    odd = Dataset.from_dict({"select": [1], 'a"b': [2], "c d": [3], "Größe": [4], "self": [5]})
    found = odd.sql('select "select", "a""b", "c d", größe as g, self.self as s from self'.replace("größe", '"Größe"'))
    assert list(found) == [{"select": 1, 'a"b': 2, "c d": 3, "g": 4, "s": 5}]


def test_without_duckdb_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingPackageError, match=r"clone\[sql\]"):
        ROWS.sql("select 1 as x")


PEAK = """
import sys, threading
from crucible_datasets import config, load_dataset

def held():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))

def watch():
    while not done.wait(0.01):
        peaks.append(held())

config.DECODED_MEMORY_BUDGET = 64 << 20
dataset = load_dataset("parquet", data_files=sys.argv[1], split="train")
peaks, done = [held()], threading.Event()
watcher = threading.Thread(target=watch)
watcher.start()
dataset.sql("select n, text || '!' as louder from self where n % 2 = 0")
done.set()
watcher.join()
print(max(peaks))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    block = pa.table({"n": pa.array(range(100_000)), "text": ["some words " * 10] * 100_000})
    peaks = []
    for rows in (400_000, 4_000_000):
        path = tmp_path / f"{rows}.parquet"
        with pq.ParquetWriter(path, block.schema) as writer:
            for _ in range(rows // len(block)):
                writer.write_table(block)
        ran = subprocess.run([sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True)
        peaks.append(int(ran.stdout))
    assert peaks[1] < 2 * peaks[0]
