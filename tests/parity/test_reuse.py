"""Functions and generators that fill the same object anew for every row or batch."""

import datasets as theirs
import numpy as np
import pytest

import crucible_datasets as ours

ROWS = 700  # more than are read at once


def filled_anew(row, made={}):
    made["b"] = row["a"] * 10
    return made


def array_filled_anew(batch, made=np.zeros(1, dtype=np.int64)):
    made[:] = batch["a"]
    return {"b": made}


def rows_filled_anew():
    row = {}
    for number in range(ROWS):
        row["a"] = number
        yield row


def numbers(library):
    return library.Dataset.from_dict({"a": list(range(ROWS))})


@pytest.mark.parametrize(
    "values",
    [
        lambda library: numbers(library).map(filled_anew)["b"][:],
        lambda library: [row["b"] for row in numbers(library).to_iterable_dataset().map(filled_anew)],
        lambda library: [row["a"] for row in library.IterableDataset.from_generator(rows_filled_anew)],
        lambda library: numbers(library).map(array_filled_anew, batched=True, batch_size=1)["b"][:],
    ],
    ids=["map", "stream", "stream of a generator", "batches of arrays"],
)
def test_what_is_filled_anew_is_not_what_was_given_before(values):
    assert values(ours) == values(theirs)


def test_a_generator_may_fill_one_dict_anew_where_hugging_face_repeats_its_last_row():
    assert ours.Dataset.from_generator(rows_filled_anew)["a"][:] == list(range(ROWS))


def test_an_array_that_is_written_to_later_is_not_the_column():
    held = np.arange(3)
    made = [library.Dataset.from_dict({"a": held}) for library in (ours, theirs)]
    held[:] = 7
    assert made[0]["a"][:] == made[1]["a"][:] == [0, 1, 2]


def test_objects_that_lack_keys_come_back_without_them_where_hugging_face_adds_nulls():
    def with_answer(row):
        row["messages"].append({"role": "assistant", "content": "yes"})
        return row

    messages = [[{"role": "user", "content": "why", "name": "n"}]]
    results = [library.Dataset.from_dict({"messages": messages}).map(with_answer) for library in (ours, theirs)]
    answers = [result[0]["messages"][1] for result in results]
    assert answers == [{"role": "assistant", "content": "yes"}, {"role": "assistant", "content": "yes", "name": None}]
    assert results[0].features == {"messages": ours.List(ours.Json())}
