"""What is pushed to the Hub is loaded from it, as a dataset or a stream, and after more is appended."""

from __future__ import annotations

import contextlib
import os

import pytest
from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets import config
from crucible_datasets.localhub.server import serving
from laws import equality
from laws.law import law
from laws.test_chains import _LEAVES, _rows
from laws.ways import MOVES

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@contextlib.contextmanager
def _hub(folder):
    """A Hub for a folder of this computer, and a client of it."""
    with serving(os.path.join(folder, "hub")) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        patch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
        patch.setattr("huggingface_hub.constants.HF_HUB_CACHE", os.path.join(folder, "downloads"))
        patch.setattr(config, "HF_HUB_OFFLINE", False)
        patch.setattr(config, "HF_ENDPOINT", server.endpoint)
        patch.setenv("HF_TOKEN", next(iter(server.access.tokens)))
        yield


@law(
    examples=3,
    rows=_rows(_LEAVES),
    move=st.sampled_from(["all", "shuffle", "take"]),
    pushed=st.sampled_from(["dataset", "stream", "dict", "twice"]),
    num_shards=st.sampled_from([None, 2]),
    streaming=st.booleans(),
)
def test_what_is_pushed_is_loaded(rows, move, pushed, num_shards, streaming, folder):
    data = ours.Dataset.from_list(rows.list())
    data = data if move == "all" else MOVES[move][0](data, 3)
    expected = data.to_list()
    with _hub(folder):
        match pushed:
            case "dict":
                ours.DatasetDict(train=data, test=data.take(1)).push_to_hub("me/data")
            case "stream":
                data.to_iterable_dataset().push_to_hub("me/data", num_shards=num_shards)
            case _:
                data.push_to_hub("me/data", num_shards=num_shards)
        if pushed == "twice":
            data.push_to_hub("me/data", append=True)
            expected = expected * 2
        result = ours.load_dataset("me/data", split="train", streaming=streaming)
        equality.same(expected, list(result))
    if not streaming:
        assert result.features == data.features or not len(data), f"{result.features}, not {data.features}"
