"""Laws that every output keeps, the one added tomorrow included."""

import importlib
import pickle
import sys

import numpy as np
import pyarrow as pa
import pytest

from crucible_datasets.exceptions import MissingPackageError, UnknownEntryError
from crucible_datasets.features import Array2D, ClassLabel, Features, Json, LargeList, List, Value
from crucible_datasets.features.storage import storage_type
from crucible_datasets.outputs.base import OUTPUTS

NAMES = OUTPUTS.names()
PACKAGES = {name: OUTPUTS[name].package for name in NAMES if OUTPUTS[name].package}  # those that may be missing

# Without nulls, so that a row alone has the dtypes it has among others.
COLUMNS = {
    "int": (Value("int64"), [3, 1, 2]),
    "small": (Value("int8"), [3, 1, 2]),
    "float": (Value("float32"), [0.5, 1.5, 2.5]),
    "bool": (Value("bool"), [True, False, True]),
    "text": (Value("string"), ["a", "né", ""]),
    "bytes": (Value("binary"), [b"a", b"\xff", b""]),
    "label": (ClassLabel(names=["no", "yes"]), [0, 1, 1]),
    "lists": (List(Value("float32")), [[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]]),
    "ragged": (LargeList(Value("int64")), [[1], [2, 3], []]),
    "words": (List(Value("string")), [["a"], ["b", "c"], []]),
    "struct": (
        {"x": Value("int64"), "y": Value("string")},
        [{"x": 1, "y": "a"}, {"x": 2, "y": "b"}, {"x": 3, "y": ""}],
    ),
    "messages": (List({"role": Value("string")}), [[{"role": "user"}], [{"role": "user"}, {"role": "bot"}], []]),
    "matrix": (Array2D(shape=(1, 2), dtype="float32"), [[[1, 2]], [[3, 4]], [[5, 6]]]),
    "json": (Json(), ['{"a": [1, "x"]}', "[1, 2]", '"text"']),
}
NULLS = {
    "int": (Value("int64"), [3, None, 2]),
    "text": (Value("string"), [None, "a", None]),
    "lists": (List(Value("int64")), [None, [1, None], []]),
    "struct": ({"x": Value("int64")}, [None, {"x": None}, {"x": 1}]),
    "matrix": (Array2D(shape=(1, 1), dtype="int64"), [[[1]], None, [[2]]]),
    "json": (Json(), [None, "1", "null"]),
    "nothing": (Value("null"), [None, None, None]),
}


def stored(columns):
    table = pa.table({name: pa.array(rows, storage_type(kind)) for name, (kind, rows) in columns.items()})
    return table, Features({name: kind for name, (kind, _) in columns.items()})


@pytest.fixture(params=NAMES)
def output(request):
    if package := PACKAGES.get(request.param):
        pytest.importorskip(package, reason=f"{package} is not installed")
    return OUTPUTS[request.param]


@pytest.fixture
def formatter(output):
    return output.make(lambda batch: batch) if output.name == "custom" else output.make()


def plain(value):
    """Anything an output gives as lists, dicts and Python scalars."""
    if isinstance(value, (pa.Table, pa.ChunkedArray)):
        return value.to_pydict() if isinstance(value, pa.Table) else value.to_pylist()
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        frame = value.to_dict(as_series=False) if hasattr(value, "to_dicts") else value.to_dict("list")
        return {name: [plain(item) for item in column] for name, column in frame.items()}
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if type(value).__module__.startswith("tensorflow"):
        return plain(value.to_list() if hasattr(value, "to_list") else np.asarray(value))
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def same(left, right):
    return repr(plain(left)) == repr(plain(right))


def test_a_row_is_a_batch_of_one(output, formatter):
    table, features = stored(COLUMNS)
    row, batch = formatter.row(table.slice(1, 1), features), formatter.batch(table.slice(1, 1), features)
    if not output.mapping:
        assert type(row) is type(batch)
        assert same(row, batch)
    else:
        assert list(row) == list(batch) == list(features)
        assert all(same(row[name], plain(batch[name])[0]) for name in features)


def test_rows_are_what_row_gives(formatter):
    table, features = stored(COLUMNS)
    together = list(formatter.rows(table, features))
    alone = [formatter.row(table.slice(index, 1), features) for index in range(3)]
    assert all(type(one) is type(other) for one, other in zip(together, alone, strict=True))
    assert same(together, alone)
    if isinstance(alone[0], dict):
        for one, other in zip(together, alone, strict=True):
            assert [type(value) for value in one.values()] == [type(value) for value in other.values()]
            assert [str(getattr(value, "dtype", "")) for value in one.values()] == [
                str(getattr(value, "dtype", "")) for value in other.values()
            ]


def test_nulls_in_rows_do_not_change_their_neighbours(formatter):
    table, features = stored(NULLS)
    together = list(formatter.rows(table, features))
    alone = [formatter.row(table.slice(index, 1), features) for index in range(3)]
    assert same(together, alone)


def test_a_column_is_a_column_of_the_batch(output, formatter):
    if output.name == "custom":
        pytest.skip("a transform sees whole rows")
    table, features = stored(COLUMNS)
    batch = formatter.batch(table, features)
    for name, feature in features.items():
        assert same(formatter.column(table.column(name), feature), batch[name])
        assert type(formatter.column(table.column(name), feature)) is type(batch[name])


def test_chunks_do_not_show(formatter):
    table, features = stored(COLUMNS)
    pieces = pa.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1)])
    assert same(formatter.batch(pieces, features), formatter.batch(table, features))
    assert same(list(formatter.rows(pieces, features)), list(formatter.rows(table, features)))


def test_slices_show_their_own_rows(formatter):
    table, features = stored(COLUMNS)
    copied = table.take([1, 2])
    assert same(formatter.batch(table.slice(1), features), formatter.batch(copied, features))


def test_every_row_is_there(formatter):
    for columns in (COLUMNS, NULLS):
        table, features = stored(columns)
        batch = formatter.batch(table, features)
        lengths = [len(plain(batch)[name]) for name in features]
        assert lengths == [3] * len(features)


def test_a_table_without_rows(formatter):
    table, features = stored(COLUMNS)
    none = table.slice(0, 0)
    assert list(formatter.rows(none, features)) == []
    assert all(len(values) == 0 for values in plain(formatter.batch(none, features)).values())


def test_a_table_without_columns(output, formatter):
    table = pa.table({"": pa.nulls(2)}).select([])
    if output.mapping:
        assert list(formatter.rows(table, Features())) == [{}, {}]
        assert formatter.batch(table, Features()) == {}


def test_the_table_is_left_as_it_was(formatter):
    table, features = stored(COLUMNS | {f"{name} with nulls": column for name, column in NULLS.items()})
    before = table.take(list(range(table.num_rows)))
    formatter.batch(table, features)
    list(formatter.rows(table, features))
    assert table.equals(before)


def test_values_outlive_the_table(formatter):
    columns = {"n": (Value("int64"), list(range(10_000))), "l": (List(Value("float32")), [[1.5, 2.5]] * 10_000)}
    table, features = stored(columns)
    batch = formatter.batch(table, features)
    expected = repr({name: rows for name, (_, rows) in columns.items()})
    del table
    overwritten = [pa.array(np.full(10_000, 7)) for _ in range(20)]
    assert repr(plain(batch)) == expected
    assert len(overwritten) == 20


def test_entries_pickle(output):
    assert pickle.loads(pickle.dumps(output)) == output


def test_names_are_unique():
    names = [name for entry in OUTPUTS.entries.values() for name in (entry.name, *entry.aliases)]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("np", "numpy"),
        ("pa", "arrow"),
        ("pyarrow", "arrow"),
        ("pd", "pandas"),
        ("pl", "polars"),
        ("pt", "torch"),
        ("pytorch", "torch"),
        ("tf", "tensorflow"),
    ],
)
def test_aliases(alias, name):
    assert OUTPUTS[alias] is OUTPUTS[name]


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(UnknownEntryError, match="Did you mean 'numpy'"):
        OUTPUTS["nunpy"]


@pytest.mark.parametrize("name", PACKAGES)
def test_a_missing_package_comes_with_its_install_line(name, monkeypatch):
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    with pytest.raises(MissingPackageError, match=rf"pip install '/path/to/clone\[{PACKAGES[name]}\]'"):
        OUTPUTS[name].make()


@pytest.mark.parametrize("name", NAMES)
def test_finding_an_output_imports_no_package(name):
    module = importlib.import_module(f"crucible_datasets.outputs.{name}")
    assert not set(PACKAGES.values()) & set(vars(module))


@pytest.mark.parametrize("name", ["python", "arrow", "pandas", "polars"])
def test_keyword_arguments_without_meaning_are_refused(name):
    with pytest.raises(TypeError):
        OUTPUTS[name].make(dtype="float64")
