"""Workers of torch's `DataLoader` give every row once, unchanged."""

from __future__ import annotations

import copy
import multiprocessing
import os
import warnings

from hypothesis import strategies as st

import crucible_datasets as ours
from laws import equality
from laws.law import law
from laws.test_chains import _LEAVES, _rows
from laws.ways import MOVES


def _from_parquet(data, folder):
    data.to_parquet(path := os.path.join(folder, "data.parquet"), batch_size=3)
    return ours.load_dataset("parquet", data_files=path, split="train", streaming=True)


_SOURCES = {
    "dataset": lambda data, folder: data,
    "shuffled dataset": lambda data, folder: MOVES["shuffle"][0](data, 2),
    "stream": lambda data, folder: data.to_iterable_dataset(num_shards=min(3, len(data))),
    "shuffled stream": lambda data, folder: data.to_iterable_dataset(num_shards=1).shuffle(seed=2, buffer_size=4),
    "mapped stream": lambda data, folder: data.to_iterable_dataset(num_shards=2 if len(data) > 1 else 1).map(dict),
    "streamed files": _from_parquet,
}


@law(
    examples=2,
    needs="torch",
    rows=_rows(_LEAVES, longest=11),
    source=st.sampled_from(sorted(_SOURCES)),
    workers=st.sampled_from([1, 2]),
    batch_size=st.sampled_from([None, 3]),
)
def test_workers_of_torch_give_every_row_once(rows, source, workers, batch_size, folder):
    from torch.utils.data import DataLoader

    data = ours.Dataset.from_list(rows.list())
    # Threads of jax and others make it unsafe to fork this process.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "crucible_datasets"])
    loader = DataLoader(
        _SOURCES[source](data, folder),
        batch_size=batch_size,
        num_workers=workers,
        collate_fn=copy.copy,
        multiprocessing_context=context,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "This DataLoader will create", UserWarning)
        batches = list(loader)
    result = batches if batch_size is None else [row for batch in batches for row in batch]
    equality.same(data.to_list(), sorted(result, key=lambda row: row["row"]))
