"""Two calls that differ in one thing that a result depends on never share an entry of the cache; equal calls do.

Each case has variants of one thing. The calls of all variants must give what they give without a cache, and a second
round must find all of their entries.
"""

from __future__ import annotations

import functools
import itertools
import operator
import os
import random
import re
import sys
import types

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from crucible_datasets import (
    ClassLabel,
    Dataset,
    Features,
    Value,
    concatenate_datasets,
    config,
    disable_caching,
    enable_caching,
    interleave_datasets,
    load_dataset,
    load_from_disk,
)
from crucible_datasets.cache import default_cache
from crucible_datasets.exceptions import DatasetsError

NUMBERS = Dataset.from_dict({"n": [1, 2, 3]})
TWO = Dataset.from_dict({"n": [1], "m": [2]})
INT = Value("int64")


def _shown(run):
    try:
        result = run()
    except (DatasetsError, ZeroDivisionError) as error:
        return type(error).__name__
    plain = result.with_format(None)
    return repr((list(plain.features.items()), [list(row.items()) for row in plain]))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.chdir(tmp_path)
    yield
    enable_caching()


def _check(runs, differ=True):
    disable_caching()
    expected = [_shown(run) for run in runs]
    enable_caching()
    assert [_shown(run) for run in runs] == expected
    assert len(set(expected)) == (len(runs) if differ else 1), "the case does not show what it is about"


def _shares(runs):
    entries = len(list(default_cache().entries()))
    for run in runs:
        _shown(run)
    return len(list(default_cache().entries())) == entries


# ── what a function is ────────────────────────────────────────────────────────────────────────────────────────────────

CONSTANT = 1


class Holder:
    kind = 1

    def __init__(self, value=1):
        self.value = value

    def method(self, row):
        return {"x": self.value}

    @classmethod
    def of_class(cls, row):
        return {"x": cls.kind}

    def __call__(self, row):
        return {"x": self.value}


class SubHolder(Holder):
    kind = 2


HELD = Holder()


def _of_global(row):
    return {"x": CONSTANT}


def _of_global_by_name(row):
    return {"x": globals()["CONSTANT"]}


def _of_global_in_text(row):
    return {"x": eval("CONSTANT")}


def _of_object(row):
    return {"x": HELD.value}


def _of_class_attribute(row):
    return {"x": Holder.kind}


def _of_environment(row):
    return {"x": os.environ["LAWS_OF_CACHES"]}


VARIABLE = "LAWS_OF_CACHES"


def _of_environment_by_global(row):
    return {"x": os.environ[VARIABLE]}


def _of_environment_by_default(row, name="LAWS_OF_CACHES"):
    return {"x": os.getenv(name)}


def _of_environment_by_closure(name):
    return lambda row: {"x": os.environ.get(name)}


def _of_module(row):
    return {"x": sys.modules["users_module"].helper()}


def _of_import(row):
    import users_module

    return {"x": users_module.helper()}


def _of_name_import(row):
    from users_module import helper

    return {"x": helper()}


def _setting(owner, name, function):
    def variants(monkeypatch):
        for value in (1, 2):

            def run(value=value):
                monkeypatch.setattr(owner, name, value)
                return NUMBERS.map(function)

            yield run

    return variants


def _times(factor):
    def decorate(function):
        @functools.wraps(function)
        def multiplied(row):
            return {"x": function(row)["x"] * factor}

        return multiplied

    return decorate


def _recursive(value):
    def even(row, depth=3):
        return {"x": value} if depth == 0 else odd(row, depth - 1)

    def odd(row, depth):
        return even(row, depth)

    return even


def _one(row):
    return {"x": 1}


def _keywords(row, a=1, *, b=2):
    return {"x": a * 10 + b}


FUNCTIONS = {
    "constants": [lambda row: {"x": 1}, lambda row: {"x": 1.0}, lambda row: {"x": True}, lambda row: {"x": -0.0}, lambda row: {"x": 0.0}],
    "constants in tuples": [lambda row: {"x": (1, 2)}, lambda row: {"x": (1.0, 2.0)}],
    "constants in sets": [lambda row: {"x": row["n"] in {1, 2}}, lambda row: {"x": row["n"] in {1, 3}}],
    "closures": [(lambda value: lambda row: {"x": value})(value) for value in (1, 1.0, "1", [1], None)],
    "closures of closures": [_recursive(1), _recursive(2)],
    "defaults": [lambda row, k=1: {"x": k}, lambda row, k=2: {"x": k}],
    "keyword defaults": [lambda row, *, k=1: {"x": k}, lambda row, *, k=2: {"x": k}],
    "methods": [Holder(1).method, Holder(2).method, Holder(1.0).method],
    "methods of classes": [Holder.of_class, SubHolder.of_class],
    "callable objects": [Holder(1), Holder(2)],
    "partials": [functools.partial(_keywords, **options) for options in ({}, {"a": 2}, {"b": 3}, {"a": 2, "b": 3})],
    "decorators": [_times(2)(_one), _times(3)(_one)],
    "cached functions": [(lambda value: lambda row, f=functools.lru_cache(lambda: value): {"x": f()})(value) for value in (1, 2)],
    "getters": [lambda row, get=operator.itemgetter(index): {"x": get([1, 2])} for index in (0, 1)],
    "patterns": [lambda row, get=re.compile(*given): {"x": bool(get.match("A"))} for given in (("a",), ("a", re.IGNORECASE))],
    "orders of dicts": [(lambda value: lambda row: {"x": list(value)})(value) for value in ({"a": 1, "b": 2}, {"b": 2, "a": 1})],
    "arrays": [(lambda value: lambda row: {"x": str(value.dtype) + str(value.shape)})(value) for value in (np.zeros(2), np.zeros((2, 1)), np.zeros(2, "f4"))],
}  # fmt: skip
STATES = {
    "random": lambda seed: (lambda get: lambda row: {"x": get.random()})(random.Random(seed)),
    "numpy": lambda seed: (lambda get: lambda row: {"x": float(get.random())})(np.random.default_rng(seed)),
    "iterator": lambda start: (lambda get: lambda row: {"x": next(get)})(itertools.count(start)),
}


@pytest.mark.parametrize("case", FUNCTIONS)
def test_functions_that_differ(case):
    runs = [lambda function=function: NUMBERS.map(function) for function in FUNCTIONS[case]]
    _check(runs)
    assert _shares(runs)


@pytest.mark.parametrize("case", STATES)
def test_objects_with_other_states(case):
    _check([lambda seed=seed: NUMBERS.map(STATES[case](seed)) for seed in (1, 2)])


@pytest.mark.parametrize(
    "variants",
    [
        _setting(sys.modules[__name__], "CONSTANT", _of_global),
        _setting(sys.modules[__name__], "CONSTANT", _of_global_by_name),
        _setting(sys.modules[__name__], "CONSTANT", _of_global_in_text),
        _setting(HELD, "value", _of_object),
        _setting(Holder, "kind", _of_class_attribute),
        _setting(Holder, "kind", Holder.of_class),
    ],
)
def test_what_functions_refer_to(variants, monkeypatch):
    runs = list(variants(monkeypatch))
    _check(runs)
    assert _shares(runs)


@pytest.mark.parametrize(
    "function",
    [
        _of_environment,
        _of_environment_by_global,
        _of_environment_by_default,
        _of_environment_by_closure("LAWS_OF_CACHES"),
    ],
)
def test_the_environment_that_a_function_names(function, monkeypatch):
    def run(value):
        monkeypatch.setenv("LAWS_OF_CACHES", value)
        return NUMBERS.map(function)

    runs = [functools.partial(run, "1"), functools.partial(run, "2")]
    _check(runs)
    monkeypatch.setenv("ANOTHER_VARIABLE", "1")
    assert _shares(runs)


@pytest.mark.parametrize("function", [_of_import, _of_name_import])
def test_modules_of_users(function, monkeypatch):
    module = types.ModuleType("users_module")
    exec("K = 1\ndef helper():\n    return K", vars(module))
    monkeypatch.setitem(sys.modules, "users_module", module)
    runs = list(_setting(module, "K", function)(monkeypatch))
    _check(runs)
    assert _shares(runs)


# ── what an operation is told ─────────────────────────────────────────────────────────────────────────────────────────


def _order(row):
    return {"x": list(row)}


def _kind(row):
    return {"x": f"{type(row['n']).__name__} {getattr(row['n'], 'dtype', '')}"}


def _size(batch):
    return {"x": [len(batch["n"])] * len(batch["n"])}


def _none_fits(row):
    return {"x": 1 if row["n"] == 1 else "a"}


def _fails(row):
    return {"x": 1 // (row["n"] - 1)}


def _names(row, **options):
    return {"x": list(options)}


def _label(*names):
    return Features(n=INT, x=ClassLabel(names=list(names)))


def _generated(**options):
    return iter([{"x": list(options)}])


def _counted(items):
    return iter([{"x": len(items)}])


_SHUFFLED = NUMBERS.select([2, 0, 1])
OPTIONS = {
    "features": (lambda value: NUMBERS.map(_one, features=Features(n=INT, x=Value(value))), ["int64", "int8", "string"]),
    "order of features": (lambda value: NUMBERS.map(_one, features=Features(dict.fromkeys(value, INT))), ["nx", "xn"]),
    "order of fields": (
        lambda value: NUMBERS.map(lambda row: {"x": {"p": 1, "q": 2}}, features=Features(n=INT, x=dict.fromkeys(value, INT))),
        ["pq", "qp"],
    ),
    "names of labels": (lambda value: NUMBERS.map(lambda row: {"x": 0}, features=_label(*value)), ["ab", "ba"]),
    "batch_size": (lambda value: NUMBERS.map(_size, batched=True, batch_size=value), [1, 2, 3]),
    "batched": (lambda value: NUMBERS.map(lambda row: {"x": str(row["n"])} if not value else {"x": ["1"] * len(row["n"])}, batched=value), [False, True]),
    "drop_last_batch": (lambda value: NUMBERS.map(_size, batched=True, batch_size=2, drop_last_batch=value), [True, False]),
    "input_columns": (lambda value: TWO.map(lambda *values: {"x": list(values)}, input_columns=value), [["n"], ["m"], ["n", "m"], ["m", "n"]]),
    "remove_columns": (lambda value: TWO.map(_one, remove_columns=value), [None, ["n"], ["m"], ["n", "m"]]),
    "on_mixed_types": (lambda value: NUMBERS.map(_none_fits, on_mixed_types=value), ["use_json", None]),
    "try_original_type": (
        lambda value: NUMBERS.cast_column("n", Value("int8")).map(lambda row: {"n": 2}, try_original_type=value), [True, False]
    ),
    "on_error": (lambda value: NUMBERS.map(_fails, on_error=value), ["raise", "skip"]),
    "with_indices": (lambda value: NUMBERS.map(lambda row, *more: {"x": len(more)}, with_indices=value), [True, False]),
    "with_rank and num_proc": (lambda value: NUMBERS.map(lambda row, rank: {"x": rank}, with_rank=True, num_proc=value), [None, 2]),
    "values of fn_kwargs": (lambda value: NUMBERS.map(_keywords, fn_kwargs={"a": value}), [1, 2, 1.0]),
    "order of fn_kwargs": (lambda value: NUMBERS.map(_names, fn_kwargs=dict.fromkeys(value)), ["ab", "ba"]),
    "format": (lambda value: NUMBERS.with_format(value).map(_kind), [None, "numpy"]),
    "options of a format": (
        lambda value: NUMBERS.with_format("numpy", dtype=value).map(lambda batch: {"x": [str(batch["n"].dtype)] * 3}, batched=True),
        ["int8", "float32"],
    ),
    "transform": (lambda value: NUMBERS.with_transform(lambda batch: {"n": [value] * len(batch["n"])}).map(lambda row: {"x": row["n"]}), [1, 2]),
    "select": (lambda value: NUMBERS.select(value).map(_one), [[0, 1], [1, 0], [0]]),
    "shuffle": (lambda value: Dataset.from_dict({"n": range(50)}).shuffle(seed=value).map(_one), [1, 2]),
    "sort": (lambda value: _SHUFFLED.sort("n", reverse=value).map(_one), [True, False]),
    "nulls of sort": (lambda value: Dataset.from_dict({"n": [1, None]}).sort("n", null_placement=value).map(_one), ["at_start", "at_end"]),
    "cast": (lambda value: NUMBERS.cast_column("n", Value(value)).map(_one), ["int8", "float32", "string"]),
    "cast of fields": (
        lambda value: Dataset.from_list([{"s": {"p": 1, "q": 2}}]).cast(Features(s=dict.fromkeys(value, INT))).map(lambda row: {"x": list(row["s"])}),
        ["pq", "qp"],
    ),
    "add_column": (lambda value: NUMBERS.add_column("y", [0, 0, 0], feature=value).map(lambda row: {"x": 1}), [INT, ClassLabel(names=["a"]), ClassLabel(names=["b"])]),
    "rename": (lambda value: TWO.rename_columns(dict(zip("nm", value, strict=True))).map(lambda row: {"x": row["p"]}), ["pq", "qp"]),
    "order of columns": (lambda value: TWO.select_columns(list(value)).map(_order), ["nm", "mn"]),
    "class_encode_column": (lambda value: Dataset.from_dict({"n": list(value)}).class_encode_column("n").map(_one), ["ab", "cb"]),
    "join": (lambda value: NUMBERS.join(Dataset.from_dict({"n": [1, 4], "z": [5, 6]}), on="n", how=value).map(_one), ["inner", "left", "outer"]),
    "the other side of join": (lambda value: NUMBERS.join(Dataset.from_dict({"n": [1], "z": [value]}), on="n").map(_one), [5, 6]),
    "suffix of join": (lambda value: TWO.join(Dataset.from_dict({"n": [1], "m": [3]}), on="n", suffix=value).map(_order), ["_a", "_b"]),
    "group_by": (lambda value: Dataset.from_dict({"k": [1, 1], "v": [1, 3]}).group_by("k").agg({"v": value}).map(_order), ["sum", "max", "min"]),
    "concatenate": (lambda value: concatenate_datasets([NUMBERS.select([i]) for i in value]).map(_one), [[0, 1], [1, 0]]),
    "interleave": (lambda value: interleave_datasets([NUMBERS, _SHUFFLED], stopping_strategy=value[0], probabilities=[0.5, 0.5], seed=value[1]).map(_one), [("first_exhausted", 1), ("all_exhausted", 1), ("first_exhausted", 3)]),
    "train_test_split": (lambda value: Dataset.from_dict({"n": range(50)}).train_test_split(test_size=9, seed=value)["test"].map(_one), [1, 2]),
    "filter": (lambda value: NUMBERS.filter(lambda row: row["n"] > value), [1, 2, 0.5]),
    "an expression": (lambda value: NUMBERS.map({"x": pc.field("n") + value}), [1, 2]),
    "add_item": (lambda value: NUMBERS.add_item({"n": value}).map(_one), [1, 2, 0.5]),
    "features of from_generator": (lambda value: Dataset.from_generator(lambda: iter([{"x": 1}]), features=Features(x=Value(value))), ["int8", "string"]),
    "values of gen_kwargs": (lambda value: Dataset.from_generator(_counted, gen_kwargs={"items": value}), [[1], [1, 2]]),
    "order of gen_kwargs": (lambda value: Dataset.from_generator(_generated, gen_kwargs=dict.fromkeys(value)), ["ab", "ba"]),
    "num_proc of from_generator": (lambda value: Dataset.from_generator(_counted, gen_kwargs={"items": [1, 2, 3, 4]}, num_proc=value), [None, 2]),
    "objects of from_generator": (lambda value: Dataset.from_generator(types.MethodType(lambda self: iter([{"x": self.value}]), Holder(value))), [1, 1.0]),
}  # fmt: skip


@pytest.mark.parametrize("case", OPTIONS)
def test_arguments_that_differ(case):
    call, values = OPTIONS[case]
    runs = [lambda value=value: call(value) for value in values]
    _check(runs)
    assert _shares(runs)


def test_the_order_of_arguments_that_a_function_names_does_not_count():
    runs = [lambda names=names: NUMBERS.map(_keywords, fn_kwargs=dict.fromkeys(names, 1)) for names in ("ab", "ba")]
    _check(runs, differ=False)
    assert len(list(default_cache().entries())) == 1


# ── what files hold ───────────────────────────────────────────────────────────────────────────────────────────────────


def _csv(value):
    with open("data.csv", "w", encoding="utf-8") as file:
        file.write(f"n\n{value}\n")
    return lambda: load_dataset("csv", data_files="data.csv", split="train")


def _json(value):
    with open("data.jsonl", "w", encoding="utf-8") as file:
        file.write(f'{{"n": {value}}}\n')
    return lambda: load_dataset("json", data_files="data.jsonl", split="train")


def _parquet(value):
    Dataset.from_dict({"n": [value]}).to_parquet("data.parquet")
    return lambda: load_dataset("parquet", data_files="data.parquet", split="train")


def _arrow(value):
    table = pa.table({"n": [value]})
    with pa.ipc.new_stream("data.arrow", table.schema) as writer:
        writer.write_table(table)
    return lambda: Dataset.from_file("data.arrow")


def _saved(value):
    Dataset.from_dict({"n": [value]}).save_to_disk("saved")
    return lambda: load_from_disk("saved")


def _files():
    return [os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names if "cache" not in folder]


@pytest.mark.parametrize("write", [_csv, _json, _parquet, _arrow, _saved])
def test_files_of_the_same_size_and_time_with_other_content(write):
    shown = []
    for value in (1, 2):
        read = write(value)
        for path in _files():
            os.utime(path, (1_000_000_000, 1_000_000_000))
        shown.append([row["x"] for row in read().map(lambda row: {"x": row["n"]})])
        assert _shares([lambda read=read: read().map(lambda row: {"x": row["n"]})])
    assert shown == [[1], [2]]


def test_options_of_a_format():
    with open("data.csv", "w", encoding="utf-8") as file:
        file.write("a;b\n1;2\n")
    options = [
        {},
        {"sep": ";"},
        {"sep": ";", "header": None},
        {"sep": ";", "names": ["p", "q"]},
        {"sep": ";", "dtype": str},
    ]
    options += [{"sep": ";", "columns": ["a"]}, {"sep": ";", "features": Features(a=Value("string"), b=Value("int8"))}]
    runs = [lambda given=given: load_dataset("csv", data_files="data.csv", split="train", **given) for given in options]
    _check(runs)
    assert _shares(runs)
