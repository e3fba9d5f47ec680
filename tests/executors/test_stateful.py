"""Classes as functions: one object for each worker, wherever the workers are."""

import asyncio
import os
import pickle
from functools import partial

import pytest

from crucible_datasets import Dataset
from crucible_datasets.executors.base import EXECUTORS


class Adder:
    """Adds a number; notes in a folder that it was made, and by which process."""

    def __init__(self, folder, plus=1):
        self.plus = plus
        with open(f"{folder}/{os.getpid()}", "a") as file:
            file.write(".")

    def __call__(self, n, times=1):
        return {"m": [one * times + self.plus for one in n] if isinstance(n, list) else n * times + self.plus}


class Later(Adder):
    async def __call__(self, n):
        await asyncio.sleep(0)
        return super().__call__(n)


class Once:
    def __init__(self):
        raise OSError("no model")

    def __call__(self, row):
        return row


@pytest.fixture
def numbers():
    return Dataset.from_dict({"n": list(range(2000))})


@pytest.mark.parametrize("executor", EXECUTORS.names())
@pytest.mark.parametrize("kind", [Adder, Later])
def test_each_worker_makes_one_object(executor, kind, numbers, tmp_path, request):
    if executor == "ray":
        request.getfixturevalue("ray_cluster")
    how = {"input_columns": "n", "executor": executor, "num_proc": 2 if executor == "processes" else None}
    made = numbers.map(partial(kind, str(tmp_path)), batched=True, batch_size=50, **how)
    assert made["m"][:] == list(range(1, 2001))
    found = [file.read_text() for file in tmp_path.iterdir()]
    assert set(found) == {"."}
    assert len(found) <= (1 if executor == "serial" else 2)


def test_arguments_of_the_object_and_of_the_call(numbers, tmp_path):
    made = numbers.map(partial(Adder, str(tmp_path), plus=5), input_columns="n", fn_kwargs={"times": 2})
    assert made["m"][:3] == [5, 7, 9]
    again = numbers.map(partial(Adder, str(tmp_path), plus=6), input_columns="n", fn_kwargs={"times": 2})
    assert again["m"][:3] == [6, 8, 10]


@pytest.mark.parametrize("batched", [False, True])
def test_a_class_whose_object_cannot_be_made_is_no_error_of_rows(numbers, batched):
    with pytest.raises(OSError, match="no model"):
        numbers.map(Once, batched=batched, on_error="skip")


def test_streams_make_one_object_and_leave_it_here(numbers, tmp_path):
    stream = numbers.to_iterable_dataset().map(partial(Adder, str(tmp_path)), input_columns="n")
    assert [row["m"] for row in stream.take(3)] == [1, 2, 3]
    assert [row["m"] for row in pickle.loads(pickle.dumps(stream)).take(2)] == [1, 2]
    assert [file.read_text() for file in tmp_path.iterdir()] == [".."]


def test_classes_that_are_dicts_are_functions(numbers):
    assert numbers.map(dict)["n"][:3] == [0, 1, 2]
