"""A loader that stopped after some batches goes on with the next one, whatever it reads and however many workers help."""

from datasets import Dataset, load_dataset
from torchdata.stateful_dataloader import StatefulDataLoader

rows = Dataset.from_dict({"n": list(range(40))})
for part in range(4):
    rows.shard(4, part, contiguous=True).to_parquet(f"part-{part}.parquet")


def files():
    return load_dataset("parquet", data_files="part-*.parquet", split="train", streaming=True)


def batches_of(loader):
    return [batch["n"].tolist() for batch in loader]


def goes_on(make, workers, stops):
    """Whether the batches before and after each stop are those of a run without one."""
    whole = batches_of(StatefulDataLoader(make(), batch_size=6, num_workers=workers))
    loader = StatefulDataLoader(make(), batch_size=6, num_workers=workers)
    states = []
    for _, state in zip(loader, iter(loader.state_dict, None), strict=False):
        states.append(state)
    answers = []
    for stop in stops:
        resumed = StatefulDataLoader(make(), batch_size=6, num_workers=workers)
        resumed.load_state_dict(states[stop - 1])
        answers.append(whole[:stop] + batches_of(resumed) == whole)
    return answers, sum(map(len, whole))


sources = {
    "rows": lambda: rows,
    "files": files,
    "sharded": lambda: rows.to_iterable_dataset(num_shards=4),
    "mapped": lambda: files().map(lambda row: {"n": row["n"] + 100}),
    "shuffled": lambda: files().shuffle(seed=3, buffer_size=8),
}
for name, make in sources.items():
    print(name, "alone", *goes_on(make, 0, range(1, 7)))
    if name in ("mapped", "shuffled"):
        print(name, "with two workers", *goes_on(make, 2, (1, 4)))
