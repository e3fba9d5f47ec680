"""How many rows a map has, and of which types, when its function returns nothing for some of them."""

from __future__ import annotations

import pytest

from crucible_datasets import Dataset, Features, Json

ROWS = 2500


def _numbers(stream=False):
    rows = Dataset.from_dict({"n": range(ROWS)})
    return rows.to_iterable_dataset() if stream else rows


@pytest.mark.parametrize("options", [{}, {"num_proc": 2}, {"keep_in_memory": True}, {"stream": True}], ids=str)
def test_a_batch_without_columns_has_no_rows(options):
    options = dict(options)
    rows = _numbers(options.pop("stream", False))

    def later(batch):
        return {"x": batch["n"]} if batch["n"][0] >= 500 else {}

    result = rows.map(later, batched=True, batch_size=100, remove_columns="n", **options)
    assert [row["x"] for row in result] == list(range(500, ROWS))
    assert list(rows.map(lambda batch: {}, batched=True, remove_columns="n", **options)) == []


@pytest.mark.parametrize("num_proc", [None, 2])
def test_a_key_that_a_block_of_rows_lacks_is_null_there(num_proc):
    rows = _numbers().map(lambda row: {"x": row["n"]} if row["n"] // 1000 != 1 else {}, num_proc=num_proc)
    assert rows["x"][:] == [n if n // 1000 != 1 else None for n in range(ROWS)]


@pytest.mark.parametrize("nothing", [None, []])
@pytest.mark.parametrize("options", [{}, {"remove_columns": "messages"}, {"num_proc": 2}], ids=str)
def test_nulls_and_empty_lists_keep_the_type_of_their_column(nothing, options):
    rows = Dataset.from_list([{"messages": [{"role": "user", "content": "x"}]}] * 2)
    assert rows.map(lambda row: {"messages": nothing}, **options).features == rows.features
    assert rows.map(lambda row: {"messages": [nothing]}, batched=True, batch_size=1).features == rows.features


def test_nulls_take_the_type_of_other_blocks_before_that_of_the_input():
    result = _numbers().map(lambda row: {"n": str(row["n"]) if row["n"] >= 2000 else None})
    assert result["n"][:] == [str(n) if n >= 2000 else None for n in range(ROWS)]


@pytest.mark.parametrize("other", ["", [], None, {"a": 1}, 0], ids=str)
def test_an_empty_object_may_become_anything_else(other):
    rows = Dataset.from_dict({"v": [{}, {}]}, features=Features(v=Json()))
    assert rows.map(lambda row: {"v": other})["v"][:] == [other, other]
    assert rows.map(lambda batch: {"v": [other for _ in batch["v"]]}, batched=True)["v"][:] == [other, other]
