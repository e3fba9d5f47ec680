"""No public callable swallows a keyword that it does not know."""

from __future__ import annotations

import ast
import gzip
import inspect
import re
import sqlite3
from decimal import Decimal
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from crucible_datasets.utils import extract, file_utils, py_utils

import crucible_datasets
from crucible_datasets import (
    Dataset,
    DatasetDict,
    DatasetInfo,
    Features,
    GeneratorBasedBuilder,
    IterableDataset,
    ResultStore,
    SplitGenerator,
    Value,
    evaluate,
    evaluation,
    formatting,
    load_benchmark,
    load_dataset,
    load_samples,
    table,
    webdataset,
)
from crucible_datasets.evaluation.metrics.base import metric_of
from crucible_datasets.exceptions import ArgumentError, CastError, UnknownKeywordError

_PACKAGE = Path(crucible_datasets.__file__).parent
_INTERNAL = {"ops", "hashing", "formats", "outputs", "tables", "dropin"}
_UNKNOWN = {"limt": 3}
# `__new__` of an error, whose `__init__` reads them, and a function that stands for any.
_GIVEN_TO_OTHERS = {"base.py: made", "operations.py: _nothing"}


def _public_modules():
    """The package, and all of its modules that say what is public in them."""
    for path in sorted(_PACKAGE.rglob("*.py")):
        names = path.relative_to(_PACKAGE.parent).with_suffix("").parts
        names = [name for name in names if name != "__init__"]
        is_public = not any(name.startswith("_") or name in _INTERNAL for name in names)
        if is_public and re.search(r"^__all__\b", path.read_text(), re.MULTILINE):
            yield import_module(".".join(names))
    yield webdataset


def _callables():
    """Functions, classes and their methods by name; an inherited method once."""
    found = {}
    for module in _public_modules():
        for name in getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]:
            value = getattr(module, name)
            if (
                not callable(value)
                or (isinstance(value, type(type)) and issubclass(value, type))
                or not value.__module__.startswith("crucible_datasets.")
            ):
                continue
            found.setdefault(value, name)
            for member in dir(value) if inspect.isclass(value) else ():
                method = getattr(value, member, None)
                own = getattr(method, "__func__", method)
                if not member.startswith("_") and inspect.isfunction(own) and own.__module__.startswith("crucible_"):
                    found.setdefault(own, own.__qualname__)
    return {name: value for value, name in found.items()}


class _Frame:
    def toArrow(self):
        return pa.table({"a": [1]})


class _Builder(GeneratorBasedBuilder):
    def _info(self):
        return DatasetInfo(features=Features(a=Value("int64")))

    def _split_generators(self, manager):
        return [SplitGenerator("train", {})]

    def _generate_examples(self):
        yield 0, {"a": 1}


class _Calls:
    """Calls of the callables that pass keywords on, with all arguments that they need."""

    def __init__(self, folder):
        self.folder, self.rows = str(folder), Dataset.from_dict({"a": [1, 2], "v": [[1.0, 0.0], [0.0, 1.0]]})
        self.stream, self.splits = self.rows.to_iterable_dataset(), DatasetDict(train=self.rows)
        self.database = sqlite3.connect(":memory:")
        self.indexed = self.rows.add_exact_index("v")
        self.index = self.indexed.get_index("v")
        self.rows.select_columns("a").to_sql("rows", self.database)
        for format in ("csv", "json", "parquet"):
            getattr(self.rows.select_columns("a"), f"to_{format}")(self.file(format))
        Path(self.file("text")).write_text("a\n")

    def file(self, format):
        return f"{self.folder}/data.{format}"

    def of(self, name):
        """A function that calls the callable with a keyword."""
        owner, _, method = name.rpartition(".")
        if method in ("from_csv", "from_json", "from_parquet", "from_text"):
            format = method.removeprefix("from_")
            paths = {"train": self.file(format)} if owner == "DatasetDict" else self.file(format)
            return lambda **given: getattr(getattr(crucible_datasets, owner), method)(paths, **given)
        if method in ("to_csv", "to_json", "to_parquet"):
            rows = self.stream if owner == "IterableDataset" else self.rows
            return lambda **given: getattr(rows, method)(f"{self.folder}/out", **given)
        if method in ("with_format", "set_format"):
            return lambda **given: getattr(self.splits if owner == "DatasetDict" else self.rows, method)(**given)
        if name.startswith(("get_dataset_", "load_dataset")):
            return lambda **given: getattr(crucible_datasets, name)(self.file("csv"), **given)
        return getattr(self, name.replace(".", "_"))

    def Dataset_from_generator(self, **given):
        Dataset.from_generator(lambda: iter([{"a": 1}]), **given)

    def Dataset_from_spark(self, **given):
        Dataset.from_spark(_Frame(), **given)

    def IterableDataset_from_spark(self, **given):
        IterableDataset.from_spark(_Frame(), **given)

    def Dataset_from_sql(self, **given):
        Dataset.from_sql("rows", self.database, **given)

    def Dataset_to_sql(self, **given):
        self.rows.select_columns("a").to_sql("other", self.database, **given)

    def IterableDataset_to_sql(self, **given):
        self.stream.select_columns("a").to_sql("other", self.database, **given)

    def Dataset_formatted_as(self, **given):
        with self.rows.formatted_as("numpy", **given):
            pass

    def DatasetDict_formatted_as(self, **given):
        with self.splits.formatted_as("numpy", **given):
            pass

    def DatasetBuilder_download_and_prepare(self, **given):
        _Builder(cache_dir=self.folder).download_and_prepare(**given)

    def IndexableMixin_search(self, **given):
        self.indexed.search("v", np.ones(2, "f4"), 1, **given)

    def IndexableMixin_search_batch(self, **given):
        self.indexed.search_batch("v", np.ones((1, 2), "f4"), 1, **given)

    def IndexableMixin_get_nearest_examples(self, **given):
        self.indexed.get_nearest_examples("v", np.ones(2, "f4"), 1, **given)

    def IndexableMixin_get_nearest_examples_batch(self, **given):
        self.indexed.get_nearest_examples_batch("v", np.ones((1, 2), "f4"), 1, **given)

    def ExactIndex_search(self, **given):
        self.index.search(np.ones(2, "f4"), 1, **given)

    def ExactIndex_search_batch(self, **given):
        self.index.search_batch(np.ones((1, 2), "f4"), 1, **given)

    def Viewable_view(self, **given):
        self.rows.view(**given)

    def List(self, **given):
        crucible_datasets.List(Value("int64"), **given)

    def Sequence(self, **given):
        crucible_datasets.Sequence(Value("int64"), **given)

    def load_benchmark(self, **given):
        load_benchmark("gsm8k", synthetic=True, **given)

    def load_samples(self, **given):
        load_samples([{"input": "q", "target": "a"}], **given)

    def Record_replace(self, **given):
        load_benchmark("gsm8k", synthetic=True)[0].replace(**given)

    def _result(self):
        return evaluate(["1"], [{"input": "q", "target": "1"}], store=f"{self.folder}/runs")

    def evaluate_many(self, **given):
        crucible_datasets.evaluate_many({"m": ["1"]}, [{"input": "q", "target": "1"}], **given)

    def export(self, **given):
        evaluation.export(self._result(), f"{self.folder}/out.html", **given)

    def ResultStore_rescore(self, **given):
        ResultStore(f"{self.folder}/runs").rescore(self._result(), "exact_match", **given)

    def ResultStore_open_run(self, **given):
        ResultStore(f"{self.folder}/runs").open_run(**given)

    def metric(self, **given):
        evaluation.metric(**given)(lambda prediction, target: 1.0)

    def rule(self, **given):
        evaluation.rule("name", **given)(lambda prediction: prediction)

    def score(self, **given):
        evaluation.score("exact_match", "a", "a", **given)

    def score_corpus(self, **given):
        evaluation.score_corpus("bleu", ["a"], ["a"], **given)

    def Metric_score(self, **given):
        metric_of("exact_match").score("a", "a", **given)

    def Metric_score_many(self, **given):
        metric_of("exact_match").score_many(["a"], ["a"], **given)

    def Metric_aggregate(self, **given):
        metric_of("bleu").aggregate([], **given)

    def tqdm(self, **given):
        crucible_datasets.tqdm([], disable=True, **given)


# Their keywords are names that the caller chooses, or belong to a server or to faiss, whose search passes them on.
_TAKES_ANY_NAME = {
    "Features": "columns",
    "Features.update": "columns",
    "DatasetDict": "splits",
    "IterableDatasetDict": "splits",
    "SplitDict": "splits",
    "DatasetInfosDict": "configurations",
    "Dataset.sql": "tables",
    "Template.text": "fields",
    "Viewed.seen_as": "attributes",
    "conversation": "metadata",
    "Fingerprint.derive": "facts",
    "BaseIndex.search": "an interface",
    "BaseIndex.search_batch": "an interface",
    "ElasticSearchIndex.search": "a server",
    "ElasticSearchIndex.search_batch": "a server",
    "FaissIndex.search": "faiss",
    "FaissIndex.search_batch": "faiss",
}


def _refuses(function):
    """Whether a call names the unknown keyword, or says that there are no arguments at all."""
    try:
        function(**_UNKNOWN)
    except (TypeError, ArgumentError) as error:
        return "limt" in str(error) or "takes no arguments" in str(error)
    return False


def test_no_public_callable_swallows_a_keyword(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    functions = {name: value for name, value in _callables().items() if name not in _TAKES_ANY_NAME}
    assert len(functions) > 600
    # Python itself refuses the keyword, unless arguments are missing and others would be passed on.
    others = [name for name, function in functions.items() if not _refuses(function)]
    calls = _Calls(tmp_path)
    assert [name for name in others if not _refuses(calls.of(name))] == []


def _takers_of_any_keyword():
    """Every function of the package that takes keywords with `**`, where it is, and whether its body reads them."""
    for path in sorted(_PACKAGE.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function.args.kwarg is not None:
                names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
                last = function.body[-1]
                is_interface = isinstance(last, ast.Raise) or isinstance(getattr(last, "value", None), ast.Constant)
                yield f"{path.name}: {function.name}", is_interface or function.args.kwarg.arg in names


def test_keywords_that_a_function_takes_are_read():
    takers = list(_takers_of_any_keyword())
    assert len(takers) > 100
    assert [where for where, is_read in takers if not is_read and where not in _GIVEN_TO_OTHERS] == []


def test_the_drop_in_refuses_unknown_keywords(tmp_path):
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b"{}"))
    array = pa.array([1])
    calls = (
        lambda **given: table.array_cast(array, pa.int8(), **given),
        lambda **given: table.cast_array_to_feature(array, Value("int8"), **given),
        lambda **given: table.embed_array_storage(array, Value("int64"), **given),
        lambda **given: extract.GzipExtractor.is_extractable(path, **given),
        lambda **given: file_utils.xglob(f"{tmp_path}/*", **given),
        lambda **given: py_utils.map_nested(abs, [1], **given),
        lambda **given: formatting.get_formatter("numpy", **given),
    )
    for call in calls:
        call()
    assert [number for number, call in enumerate(calls) if not _refuses(call)] == []


def test_options_of_the_drop_in_are_followed(tmp_path):
    for value, dtype in ((1, pa.int64()), (Decimal("1.5"), pa.decimal128(5, 1))):
        for array, target in (
            (pa.array([value], dtype), pa.string()),
            (pa.array([[value]], pa.list_(dtype)), pa.list_(pa.string())),
        ):
            is_decimal = isinstance(value, Decimal)
            assert table.array_cast(array, target).to_pylist() in ([str(value)], [[str(value)]])
            with pytest.raises(CastError, match="forbid"):
                table.array_cast(array, target, allow_primitive_to_str=is_decimal, allow_decimal_to_str=not is_decimal)
            table.array_cast(array, target, allow_primitive_to_str=not is_decimal, allow_decimal_to_str=is_decimal)
    assert py_utils.map_nested(
        lambda values: [-v for v in values], {"a": [1, 2], "b": 3}, batched=True, batch_size=2
    ) == {
        "a": [-1, -2],
        "b": -3,
    }
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "d.txt").write_text("")
    assert file_utils.xglob(f"{tmp_path}/**/d.txt") == []
    assert len(file_utils.xglob(f"{tmp_path}/**/d.txt", recursive=True)) == 1


@pytest.mark.parametrize(
    ("call", "suggestion"),
    [
        (lambda file: load_benchmark("gsm8k", synthetic=True, limt=3), "limit"),
        (lambda file: load_samples([{"input": "q"}], limt=3), "limit"),
        (lambda file: load_samples(file, limt=3), "limit"),
        (lambda file: load_dataset(file, splt="train"), "split"),
        (lambda file: load_dataset(file, steaming=True), "streaming"),
        (lambda file: load_dataset("csv", data_files=file, delimeter=";"), "delimiter"),
        (lambda file: Dataset.from_csv(file, keep_in_memry=True), "keep_in_memory"),
        (lambda file: Dataset.from_dict({"a": [1]}).with_format("numpy", dtyp="int8"), "dtype"),
        (lambda file: evaluation.score("exact_match", "a", "a", ignore_cas=True), "ignore_case"),
        (lambda file: crucible_datasets.tqdm([], disable=True, tota=1), "total"),
    ],
)
def test_a_misspelt_keyword_is_answered_with_the_right_one(tmp_path, call, suggestion):
    file = tmp_path / "a.csv"
    file.write_text("input,target\nq,a\n")
    with pytest.raises(UnknownKeywordError, match=f"Did you mean '{suggestion}'"):
        call(str(file))


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("format", [None, "numpy", "pandas", "polars", "arrow"])
def test_every_format_refuses_unknown_options(format, streaming):
    rows = Dataset.from_dict({"a": [1]})
    with pytest.raises(TypeError, match="limt"):
        (rows.to_iterable_dataset() if streaming else rows).with_format(format, **_UNKNOWN)


def test_where_a_benchmark_comes_from_need_not_matter(tmp_path):
    assert load_benchmark("gsm8k", synthetic=True, cache_dir=str(tmp_path), token=False)
