"""An expression keeps the rows, and gives the values, that the same thing written in Python does; it reads only what it names."""

import datetime
import math
import operator
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets import ClassLabel, Dataset, Features, Value, concatenate_datasets, load_dataset
from crucible_datasets.exceptions import (
    ArgumentError,
    ColumnLengthError,
    ColumnNamesError,
    ColumnNotFoundError,
    ExpressionError,
    FileFormatError,
    MissingPackageError,
)
from crucible_datasets.ops.expressions import is_expression
from crucible_datasets.ops.expressions.apply import _FOR_FUNCTIONS

# Conditions, written once and told to every engine

OPERATORS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def in_sql(value):
    if isinstance(value, datetime.date):
        return f"date '{value}'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


@dataclass(frozen=True)
class Compare:
    column: str
    symbol: str
    value: Any
    swapped: bool = False

    def sql(self):
        sides = [f'"{self.column}"', in_sql(self.value)]
        symbol = self.symbol if self.symbol != "!=" else "<>"
        return f" {symbol} ".join(sides) if not self.swapped else f"{sides[1]} {self.mirrored()} {sides[0]}"

    def mirrored(self):
        return self.symbol.translate(str.maketrans("<>", "><")) if self.symbol != "!=" else "<>"

    def of(self, field):
        return OPERATORS[self.symbol](field(self.column), self.value)

    def holds(self, row, nan_is_largest):
        found = row[self.column]
        if found is None:
            return None
        if nan_is_largest and isinstance(found, float):
            found, value = ((math.isnan(one), 0 if math.isnan(one) else one) for one in (found, self.value))
            return OPERATORS[self.symbol](found, value)
        return OPERATORS[self.symbol](found, self.value)


@dataclass(frozen=True)
class Both:
    left: Any
    right: Any
    word: str = "and"

    def sql(self):
        return f"({self.left.sql()} {self.word} {self.right.sql()})"

    def of(self, field):
        return (operator.and_ if self.word == "and" else operator.or_)(self.left.of(field), self.right.of(field))

    def holds(self, row, nan_is_largest):
        sides = [self.left.holds(row, nan_is_largest), self.right.holds(row, nan_is_largest)]
        decisive = self.word == "or"
        return decisive if decisive in sides else None if None in sides else not decisive


@dataclass(frozen=True)
class Not:
    inner: Any

    def sql(self):
        return f"not ({self.inner.sql()})"

    def of(self, field):
        return ~self.inner.of(field)

    def holds(self, row, nan_is_largest):
        found = self.inner.holds(row, nan_is_largest)
        return None if found is None else not found


ENGINES = {
    "pyarrow": (lambda condition: condition.of(pc.field), False),
    "polars": (lambda condition: condition.of(pl.col), True),
    "sql": (lambda condition: condition.sql(), True),
}

VALUES = {
    "i": st.integers(-3, 9),
    "f": st.sampled_from([-math.inf, -1.5, -0.0, 0.0, 0.5, 2.5, math.inf, math.nan]),
    "s": st.sampled_from(["", "a", "a'b", 'a"b', "né", "日本", "Z", "z"]),
    "d": st.dates(datetime.date(2024, 1, 1), datetime.date(2024, 1, 9)),
}
CONSTANTS = {**VALUES, "f": st.sampled_from([-1.5, 0.0, 0.5, 2.5])}
comparisons = st.one_of(
    st.builds(Compare, st.just(name), st.sampled_from(list(OPERATORS)), values, st.booleans())
    for name, values in CONSTANTS.items()
)
conditions = st.recursive(
    comparisons,
    lambda inner: st.builds(Both, inner, inner, st.sampled_from(["and", "or"])) | st.builds(Not, inner),
    max_leaves=4,
)
KINDS = Features({"i": Value("int64"), "f": Value("float64"), "s": Value("string"), "d": Value("date32")})
tables = st.lists(st.fixed_dictionaries({name: values | st.none() for name, values in VALUES.items()}), max_size=40)


# Datasets that hold the same kind of rows in different ways


def in_memory(rows, folder):
    return Dataset.from_dict({name: [row[name] for row in rows] for name in KINDS}, features=KINDS)


def in_chunks(rows, folder):
    return concatenate_datasets([in_memory(rows[at : at + 3], folder) for at in range(0, max(len(rows), 1), 3)])


def shuffled(rows, folder):
    return in_memory(rows, folder).shuffle(seed=1)


def repeated(rows, folder):
    return in_memory(rows, folder).select([*range(len(rows)), *range(0, len(rows), 3), *range(len(rows) // 2)])


def few_of_many(rows, folder):
    return in_memory(rows * 40, folder).select(range(7, len(rows) * 40, 40)) if len(rows) > 7 else in_memory([], folder)


def in_parquet(rows, folder):
    path = folder / f"{abs(hash(str(rows)))}.parquet"
    pq.write_table(in_memory(rows, folder).data.table, path, row_group_size=4)
    return load_dataset("parquet", data_files=str(path), split="train")


def shuffled_parquet(rows, folder):
    return in_parquet(rows, folder).shuffle(seed=2)


def part_of_parquet(rows, folder):
    found = in_parquet(rows, folder)
    return found.select(range(len(found) // 3, len(found)))


def beside_parquet(rows, folder):
    found = in_parquet(rows, folder).shuffle(seed=3)
    moved = found.rename_column("i", "old")
    return moved.add_column("i", found["i"][:], feature=Value("int64"))


def renamed_parquet(rows, folder):
    return in_parquet(rows, folder).rename_columns({"i": "s", "s": "i"}).rename_columns({"i": "s", "s": "i"})


def under_parquet(rows, folder):
    return concatenate_datasets([in_memory(rows[:5], folder), in_parquet(rows, folder)])


SHAPES = [
    in_memory,
    in_chunks,
    shuffled,
    repeated,
    few_of_many,
    in_parquet,
    shuffled_parquet,
    part_of_parquet,
    beside_parquet,
    renamed_parquet,
    under_parquet,
]


def same(found, expected):
    return repr(found) == repr(expected)  # NaN is not equal to itself


shapes = st.sampled_from(SHAPES)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=settings.default.max_examples * 3)
@given(shape=shapes, rows=tables, condition=conditions)
def test_a_filter_keeps_the_rows_that_python_would(shape, engine, rows, condition, tmp_path_factory):
    dataset = shape(rows, tmp_path_factory.getbasetemp())
    told, nan_is_largest = ENGINES[engine]
    expected = [row for row in dataset.select_columns(list(KINDS)) if condition.holds(row, nan_is_largest)]
    kept = dataset.filter(told(condition))
    assert same(list(kept.select_columns(list(KINDS))), expected)
    assert kept.features == dataset.features


@pytest.mark.parametrize(
    "way",
    [
        {"n": pc.field("i") + 1, "s": pc.binary_join_element_wise(pc.field("s"), pc.scalar("!"), pc.scalar(""))},
        [(pl.col("i") + 1).alias("n"), pl.col("s") + "!"],
        "i + 1 as n, s || '!' as s",
        {"n": pl.col("i") + 1, "s": "s || '!'"},
    ],
    ids=["pyarrow", "polars", "sql", "several"],
)
@given(shape=shapes, rows=tables)
def test_a_map_gives_the_values_that_python_would(shape, way, rows, tmp_path_factory):
    dataset = shape(rows, tmp_path_factory.getbasetemp())
    expected = [
        {**row, "n": None if row["i"] is None else row["i"] + 1, "s": None if row["s"] is None else row["s"] + "!"}
        for row in dataset
    ]
    mapped = dataset.map(way, keep_in_memory=True)
    assert same(list(mapped), expected)
    assert mapped.features == Features({**dataset.features, "n": Value("int64")})


@given(rows=tables, condition=conditions, other=conditions)
def test_expressions_follow_each_other(rows, condition, other, tmp_path_factory):
    dataset = in_parquet(rows, tmp_path_factory.getbasetemp())
    chained = (
        dataset.filter(condition.sql())
        .shuffle(seed=5)
        .map({"n": "i * 2"}, keep_in_memory=True)
        .filter(other.of(pl.col))
    )
    expected = [row for row in dataset if condition.holds(row, True)]
    expected = [expected[place] for place in np.random.default_rng(5).permutation(len(expected))]
    expected = [row | {"n": None if row["i"] is None else row["i"] * 2} for row in expected if other.holds(row, True)]
    assert same(list(chained), expected)


@given(rows=tables, clauses=st.lists(st.lists(comparisons, min_size=1, max_size=3), min_size=1, max_size=3))
def test_filters_of_load_dataset_mean_the_same(rows, clauses, tmp_path_factory):
    dataset = in_parquet(rows, tmp_path_factory.getbasetemp())
    filters = [[(one.column, one.symbol, one.value) for one in clause] for clause in clauses]
    expected = [row for row in dataset if any(all(one.holds(row, False) for one in clause) for clause in clauses)]
    path = dataset.cache_files[0]["filename"]
    assert same(list(load_dataset("parquet", data_files=path, split="train", filters=filters)), expected)


# What is read


def spoil(path, spared_groups, spared_columns):
    """Overwrite the values of all columns of all row groups but those spared; the footer stays."""
    metadata = pq.ParquetFile(path).metadata
    with open(path, "r+b") as file:
        for group in range(metadata.num_row_groups):
            for place in range(metadata.num_columns):
                chunk = metadata.row_group(group).column(place)
                if group not in spared_groups or chunk.path_in_schema not in spared_columns:
                    file.seek(chunk.dictionary_page_offset or chunk.data_page_offset)
                    file.write(b"\xff" * chunk.total_compressed_size)


@pytest.fixture
def spoiled(tmp_path):
    """40 rows in 10 row groups, of which only columns `id` and `e` of the eighth can be read."""
    path = tmp_path / "spoiled.parquet"
    numbers = list(range(40))
    table = pa.table({
        "id": numbers, "x": [float(n) for n in numbers], "e": [f"n{n:02d}" for n in numbers], "text": ["…"] * 40
    })  # fmt: skip
    pq.write_table(table, path, row_group_size=4)
    spoil(path, {7}, {"id", "e"})
    dataset = load_dataset("parquet", data_files=str(path), split="train")
    with pytest.raises(FileFormatError):
        dataset.select_columns("id").to_dict()
    with pytest.raises(FileFormatError):
        dataset.select_columns("text")[28]
    return dataset


SELECTIVE = {
    "pyarrow": (pc.field("id") >= 28) & (pc.field("id") < 32) & (pc.field("e") != "n29"),
    "polars": (pl.col("id") >= 28) & (pl.lit(32) > pl.col("id")) & (pl.col("e") != "n29"),
    "sql": "id between 28 and 31 and e <> 'n29'",
    "sql in": "id in (28, 30, 31) and e <> 'n29'",
    "sql or": "(id = 28 or 30 = ID or self.id = 31) and e <> 'n29'",
    "sql text": "e >= 'n28' and e < 'n32' and id <> 29",
}


@pytest.mark.parametrize("how", SELECTIVE)
@pytest.mark.parametrize(
    "moved",
    [
        lambda dataset: dataset,
        lambda dataset: dataset.select(range(1, 39)),
        lambda dataset: dataset.select([*range(40)][::-1]),
        lambda dataset: concatenate_datasets([dataset, dataset]),
        lambda dataset: dataset.add_column("more", [1] * 40),
    ],
    ids=["whole", "part", "backwards", "twice", "beside"],
)
def test_only_row_groups_and_columns_that_matter_are_read(spoiled, moved, how):
    dataset = moved(spoiled)
    kept = dataset.filter(SELECTIVE[how])
    expected = {28, 30, 31}
    assert set(kept["id"][:]) == expected
    assert len(kept) == len(expected) * (len(dataset) // 40 or 1)


def test_a_query_reads_only_row_groups_and_columns_that_matter(spoiled):
    assert spoiled.sql("select e from self s where s.id >= 28 and id < 32 order by id desc")["e"][:2] == ["n31", "n30"]
    assert spoiled.sql("select count(*) as n from self where id = 30")["n"][:] == [1]
    with pytest.raises(FileFormatError):
        spoiled.sql("select e from self where id + 0 = 30")


def test_load_filters_read_only_what_matters(spoiled):
    path = spoiled.cache_files[0]["filename"]
    for filters in ([("id", "in", [28, 30]), ("e", ">", "n28")], pc.field("id") == 30):
        found = load_dataset("parquet", data_files=path, split="train", columns=["e"], filters=filters)
        assert found.to_dict() == {"e": ["n30"]}


@pytest.mark.parametrize("condition", [pc.field("x") != 5.0, ~(pc.field("x") < 9.0), pc.is_nan(pc.field("x"))])
def test_statistics_that_leave_out_nan_rule_nothing_out(tmp_path, condition):
    path = tmp_path / "nan.parquet"
    pq.write_table(pa.table({"x": [5.0, math.nan]}), path)
    dataset = load_dataset("parquet", data_files=str(path), split="train")
    assert len(dataset.filter(condition)) == 1
    assert len(load_dataset("parquet", data_files=str(path), split="train", filters=condition)) == 1


@pytest.mark.parametrize("condition", [pl.col("x") > 9.0, pl.lit(9.0) <= pl.col("x"), "x > 9", "x between 9 and 'nan'"])
def test_nan_is_larger_than_any_number_where_statistics_do_not_tell_of_it(tmp_path, condition):
    path = tmp_path / "nan.parquet"
    pq.write_table(pa.table({"x": [5.0, math.nan]}), path)
    assert len(load_dataset("parquet", data_files=str(path), split="train").filter(condition)) == 1


def test_no_row_is_copied_and_order_is_kept(tmp_path):
    dataset = in_parquet([{"i": n, "f": 0.0, "s": "", "d": None} for n in range(100)], tmp_path).shuffle(seed=1)
    kept = dataset.filter("i % 3 = 0")
    assert kept.data is dataset.data
    assert kept["i"][:] == [i for i in dataset["i"] if i % 3 == 0]


def test_columns_that_a_map_leaves_alone_are_shared():
    dataset = Dataset.from_dict({"a": [1, 2], "b": ["x", "y"]})
    mapped = dataset.map({"a": pc.field("a") + 1})
    texts = [found.data.table["b"].chunk(0).buffers()[2].address for found in (dataset, mapped)]
    assert texts[0] == texts[1]


# What is refused, and how

TWO = Dataset.from_dict({"level": [1, 2], "subject": ["a", "b"]})


@pytest.mark.parametrize("condition", [pc.field("levl") > 3, pl.col("levl") > 3, "levl > 3", '"levl" > 3'])
def test_an_unknown_column_is_named(condition):
    with pytest.raises(ColumnNotFoundError, match="'levl' does not exist. Did you mean 'level'"):
        TWO.filter(condition)


@pytest.mark.parametrize("condition", [pc.field("subject") > 3, pl.col("subject") + 3 > 3, "subject + 3 > 3"])
def test_types_that_do_not_fit_are_named(condition):
    with pytest.raises(ExpressionError, match=r"subject.*string"):
        TWO.filter(condition)


@pytest.mark.parametrize("condition", [pc.field("level") + 1, pl.col("level") + 1, "level + 1", "subject"])
def test_a_filter_must_be_true_or_false(condition):
    with pytest.raises(ExpressionError, match="a filter must be true or false, this is"):
        TWO.filter(condition)


@pytest.mark.parametrize(
    "text", ["max(level) > 1", "level > (select 1)", "row_number() over () > 1", "unnest([true, false])"]
)
def test_sql_that_looks_at_several_rows_is_for_queries(text):
    with pytest.raises(ExpressionError, match="Dataset.sql"):
        TWO.filter(text)
    with pytest.raises(ExpressionError, match="Dataset.sql"):
        TWO.map({"x": text})


@pytest.mark.parametrize(
    "text",
    ["", "level >", "level > 1, true", "level > 1) or (true", "level > 1; select 1", "true from self where false --",
     "true from self limit 1 --", "level > 1 as x"],
)  # fmt: skip
def test_a_condition_is_nothing_but_a_condition(text):
    with pytest.raises(ExpressionError):
        TWO.filter(text)


@pytest.mark.parametrize("text", ["level + 1", "*", "level as x from self where true", "level + 1 as x, level as x"])
def test_results_need_names_and_nothing_else(text):
    with pytest.raises((ExpressionError, ColumnNamesError)):
        TWO.map(text)


def test_a_comment_ends_with_its_text():
    assert len(TWO.filter("level > 1 -- not more")) == 1
    assert TWO.map({"x": "level -- one", "y": "level /* two */"})["y"][:] == [1, 2]


@pytest.mark.parametrize("name", _FOR_FUNCTIONS)
def test_what_only_functions_take_is_refused(name):
    from crucible_datasets.ops import expressions

    for work in (expressions.filtered, expressions.mapped):
        with pytest.raises(ArgumentError, match=name):
            work(TWO._view, "level > 1", **{name: "given"})
    with pytest.raises(ArgumentError, match="batched"):
        TWO.filter("level > 1", batched=True)


def test_one_expression_is_given_to_filter_and_names_to_map():
    with pytest.raises(ArgumentError, match="one expression"):
        TWO.filter({"a": "level > 1"})
    with pytest.raises(ArgumentError, match="name"):
        TWO.map(pc.field("level") + 1)
    with pytest.raises(ExpressionError, match="x"):
        TWO.map([pl.col("level").alias("x"), pl.col("subject").alias("x")])


def test_polars_may_look_at_all_rows_but_not_change_their_number():
    several = Dataset.from_dict({"n": list(range(10))}).shuffle(seed=3)
    above = several.filter(pl.col("n") > pl.col("n").mean())
    assert above["n"][:] == [n for n in several["n"] if n > 4.5]
    before = several.map({"before": pl.col("n").shift(1)})
    assert before["before"][:] == [None, *several["n"][:-1]]
    assert set(several.map({"most": pl.col("n").max()})["most"]) == {9}
    with pytest.raises((ExpressionError, ColumnLengthError)):
        several.map({"few": pl.col("n").head(3)})


def test_names_that_sql_cannot_tell_apart_are_refused():
    with pytest.raises(ColumnNamesError, match="rename"):
        Dataset.from_dict({"a": [1], "A": [2]}).filter("a > 0")


def test_without_duckdb_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingPackageError, match=r"clone\[sql\]"):
        TWO.filter("level > 1")


def test_what_an_expression_is():
    yes = ["a > 1", pc.field("a"), pl.col("a"), {"x": "a"}, {"x": pc.field("a"), "y": pl.col("a")}, [pl.col("a")]]
    no = [None, len, lambda row: True, {}, [], {"x": 1}, ["a"], 1]
    assert all(map(is_expression, yes))
    assert not any(map(is_expression, no))


# Types and identities


def test_labels_are_numbers_and_stay_labels():
    dataset = Dataset.from_dict({"label": [0, 1, 1]}, features=Features({"label": ClassLabel(names=["no", "yes"])}))
    kept = dataset.filter("label = 1")
    assert kept.features == dataset.features
    assert dataset.map({"label": "1 - label"}).features == dataset.features


def test_remove_columns_features_and_formats_are_honoured():
    mapped = TWO.with_format("numpy", columns=["level"]).map({"n": "level + 1"}, remove_columns="subject")
    assert mapped.column_names == ["level", "n"]
    assert mapped.format["columns"] == ["level", "n"]
    wanted = Features({"level": Value("int32"), "subject": Value("string"), "n": Value("float32")})
    assert TWO.map({"n": "level + 1"}, features=wanted).features == wanted
    with pytest.raises(ColumnNotFoundError):
        TWO.map({"n": "level"}, remove_columns=["other"])


PROGRAM = """
import polars as pl, pyarrow.compute as pc
from crucible_datasets import Dataset
dataset = Dataset.from_dict({"a": [1, 2, 3]})
many = list(range(100))
for one in ("a > 1", pc.field("a").isin(many), (pl.col("a") > 1) & pl.col("a").is_in(many)):
    print(dataset.filter(one)._fingerprint, dataset.map({"x": one})._fingerprint)
"""


def test_fingerprints_are_the_same_in_every_process():
    runs = [
        subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert len(set(runs[0].split())) == 6


@pytest.mark.parametrize("isin", [lambda values: pc.field("a").isin(values), lambda values: pl.col("a").is_in(values)])
def test_fingerprints_differ_in_the_middle_of_long_lists(isin):
    dataset = Dataset.from_dict({"a": [50]})
    first, second = ([*range(50), other, *range(51, 100)] for other in (50, 1000))
    assert dataset.filter(isin(first))._fingerprint != dataset.filter(isin(second))._fingerprint


def test_load_filters_differ_in_the_middle_of_long_lists(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 50}\n{"a": 1000}\n')
    for other in (50, 1000):
        filters = pc.field("a").isin([*range(50), other, *range(51, 100)])
        found = load_dataset("json", data_files=str(path), split="train", filters=filters, cache_dir=str(tmp_path))
        assert found["a"][:] == [other]


def test_results_on_disk_are_found_again(tmp_path, monkeypatch):
    dataset = in_parquet([{"i": n, "f": 0.0, "s": "", "d": None} for n in range(9)], tmp_path)
    first = dataset.map({"n": pc.field("i") + 1})
    from crucible_datasets.ops.expressions.arrow import ArrowEngine

    monkeypatch.setattr(ArrowEngine, "computed", None)
    again = dataset.map({"n": pc.field("i") + 1})
    assert again.to_dict() == first.to_dict()
    assert again._fingerprint == first._fingerprint
    assert {file["filename"] for file in again.cache_files} == {file["filename"] for file in first.cache_files}
