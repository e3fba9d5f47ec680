"""Rows that carry what one function made into the next: the same whether the function gave all of them the same keys."""

from __future__ import annotations

import pytest

from crucible_datasets import IterableDataset

ROWS = [{"text": f"t{n}", "tags": [n], "number": n} for n in range(7)]


def stream():
    return IterableDataset.from_list(ROWS)


def sized(row):
    return {"size": len(row["text"]), "seen": [row["number"]]}


def sized_now_and_then(row):
    return sized(row) if row["number"] % 2 else {"size": len(row["text"])}


def marked(row):
    row["tags"].append("mark")
    if "seen" in row:
        row["seen"].append("again")
    return {"both": (row.get("size"), row["number"])}


@pytest.mark.parametrize("first", [sized, sized_now_and_then])
def test_two_maps_are_one_function_after_the_other(first):
    expected = []
    for given in ROWS:
        row = {**given, "tags": list(given["tags"])}
        row |= first(row)
        expected.append(row | {key: list(value) for key, value in marked(row).items()})
    assert [dict(row, both=list(row["both"])) for row in stream().map(first).map(marked)] == expected


@pytest.mark.parametrize("first", [sized, sized_now_and_then])
def test_rows_that_a_function_keeps_stay_what_they_were(first):
    kept = []
    list(stream().map(first).filter(lambda row: kept.append(row) or True))
    assert [row["number"] for row in kept] == list(range(7))
    assert [dict(row)["size"] for row in kept] == [2] * 7


@pytest.mark.parametrize("first", [sized, sized_now_and_then])
def test_keys_come_in_the_order_in_which_they_were_made(first):
    (row, *_) = stream().map(first).map(lambda row: {"text": row["text"].upper(), "last": 1}).take(1)
    assert list(row) == ["text", "tags", "number", *first(ROWS[0]), "last"]


def test_a_row_that_is_changed_and_returned_keeps_what_came_before():
    def changed(row):
        row["size"] += 1
        row["tags"] = None
        return row

    assert [row["size"] for row in stream().map(sized).map(changed)] == [3] * 7
    assert [row["tags"] for row in stream().map(sized).map(changed)] == [None] * 7
