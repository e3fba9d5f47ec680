"""`to_tf_dataset` gives the same tensors as Hugging Face `datasets`."""

from __future__ import annotations

import datasets as hf
import numpy as np
import pytest

import crucible_datasets as ours
from crucible_datasets.exceptions import ArgumentError

tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed")
pytestmark = [
    pytest.mark.filterwarnings("ignore:The output of `to_tf_dataset`:FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def dataset(module):
    features = module.Features(
        {
            "a": module.Value("int32"),
            "f": module.Value("float64"),
            "t": module.Value("string"),
            "l": module.List(module.Value("int32")),
            "label": module.ClassLabel(names=["n", "p"]),
        }
    )
    columns = {
        "a": [1, 2, 3, 4, 5],
        "f": [0.5, 1.5, 2.5, 3.5, 4.5],
        "t": ["x", "yy", "ü", "", "v"],
        "l": [[n, n + 1] for n in range(5)],
        "label": [0, 1, 0, 1, 0],
    }
    return module.Dataset.from_dict(columns, features=features)


def seen(made):
    return [tf.nest.map_structure(lambda value: np.asarray(value).tolist(), one) for one in made.as_numpy_iterator()]


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 2},
        {"batch_size": 2, "drop_remainder": True},
        {"batch_size": 2, "columns": ["a", "f"]},
        {"batch_size": 3, "columns": "t"},
        {"batch_size": 2, "columns": ["l"]},
        {"batch_size": 2, "columns": ["a", "f"], "label_cols": "label"},
        {"batch_size": 2, "columns": "l", "label_cols": ["label", "a"]},
        {"batch_size": 2, "columns": ["a", "label"], "label_cols": ["label"], "prefetch": False},
        {"columns": ["a", "l"]},
    ],
)
def test_the_same_call_gives_the_same_tensors(options):
    theirs, made = dataset(hf).to_tf_dataset(**options), dataset(ours).to_tf_dataset(**options)
    assert tf.nest.flatten(made.element_spec) == tf.nest.flatten(theirs.element_spec) or isinstance(
        made.element_spec, tuple
    )
    assert len(made) == len(theirs)
    assert seen(made) == seen(theirs)


def test_a_function_puts_rows_together():
    def padded(rows, width):
        return {"wide": np.stack([np.pad(row["l"], (0, width - len(row["l"]))) for row in rows])}

    made = (
        dataset(ours)
        .select([3, 1])
        .to_tf_dataset(2, columns=["wide"], collate_fn=padded, collate_fn_args={"width": 4}, num_workers=2)
    )
    assert seen(made) == [[[3, 4, 0, 0], [1, 2, 0, 0]]]


def test_shuffling_gives_every_row_once_in_each_epoch():
    made = dataset(ours).to_tf_dataset(2, columns="a", shuffle=True)
    for _ in range(2):
        assert sorted(value for batch in seen(made) for value in batch) == [1, 2, 3, 4, 5]


def test_lists_of_different_lengths_need_a_function():
    ragged = ours.Dataset.from_dict({"l": [[1], [1, 2]]})
    with pytest.raises(ArgumentError, match="collate_fn"):
        ragged.to_tf_dataset(2)
