"""A result from the cache is the result; two calls that differ never share one."""

from __future__ import annotations

from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets.exceptions import DatasetsError
from laws import equality, values
from laws.law import law
from laws.ways import json_files

_NUMBERS = {"#": range(3)}


def _by_closure(value):
    return ours.Dataset.from_dict(_NUMBERS).map(lambda row: {"v": value})


def _by_default(value):
    def function(row, value=value):
        return {"v": value}

    return ours.Dataset.from_dict(_NUMBERS).map(function)


def _by_keyword(value):
    def function(row, value):
        return {"v": value}

    return ours.Dataset.from_dict(_NUMBERS).map(function, fn_kwargs={"value": value})


class _Holder:
    def __init__(self, value):
        self.value = value

    def __call__(self, row):
        return {"v": self.value}

    def rows(self):
        yield {"v": self.value}


def _by_object(value):
    return ours.Dataset.from_dict(_NUMBERS).map(_Holder(value))


def _by_data(value):
    return ours.Dataset.from_list([{"v": value}]).map(lambda row: {"w": 1})


def _by_generator(value):
    def rows():
        yield {"v": value}

    return ours.Dataset.from_generator(rows)


def _by_arguments(value):
    def rows(value):
        yield {"v": value}

    return ours.Dataset.from_generator(rows, gen_kwargs={"value": value})


def _by_method(value):
    return ours.Dataset.from_generator(_Holder(value).rows)


def _by_list(value):
    return ours.Dataset.from_dict(_NUMBERS).map(lambda row, values: {"v": values[0]}, fn_kwargs={"values": [value]})


_CALLS = {
    "closure": _by_closure,
    "default": _by_default,
    "keyword": _by_keyword,
    "object": _by_object,
    "data": _by_data,
    "generator": _by_generator,
    "arguments": _by_arguments,
    "method": _by_method,
    "list": _by_list,
}

# Values that are equal, look alike or print alike, but are not the same.
_TWINS = [
    0,
    0.0,
    -0.0,
    False,
    "0",
    b"0",
    1,
    1.0,
    True,
    "1",
    None,
    "None",
    "",
    b"",
    [],
    [None],
    [""],
    {"a": 1},
    {"a": 1.0},
]
_TWINS += [{"a": None}, {"b": 1}, [1, 2], [2, 1], [[1], 2], [[1, 2]], "é", "e\u0301", float("nan"), float("inf")]


@law(
    examples=30,
    first=st.one_of(st.sampled_from(_TWINS), st.sampled_from(values.PYTHON_LEAVES).flatmap(values.LEAVES.get)),
    second=st.one_of(st.sampled_from(_TWINS), st.sampled_from(values.PYTHON_LEAVES).flatmap(values.LEAVES.get)),
    call=st.sampled_from(sorted(_CALLS)),
)
def test_calls_that_differ_never_share_a_result(first, second, call, folder):
    for value in (first, second, first):
        if equality.refusable(equality.facts_of([{"v": value}])) is not None:
            continue
        equality.same([{"v": value}], _CALLS[call](value).select_columns(["v"]).to_list()[:1])


@st.composite
def _two_files(draw):
    rows = draw(values.rows(values.JSON_LEAVES, longest=11))
    return rows, draw(json_files(rows)), draw(json_files(rows))


@law(examples=20, case=_two_files())
def test_files_that_are_read_again_give_the_same(case, folder):
    rows, first, second = case
    source = rows.list()
    for files in (first, first, second, first):
        try:
            result = files.load(source, folder).to_list()
        except DatasetsError:
            return
        if rows.columns:
            equality.same(source, result)
