"""Loaders with workers over rows and streams, and loaders that stop and go on where they were."""

import torch
from datasets import Dataset, load_dataset
from datasets.distributed import split_dataset_by_node
from torch.utils.data import DataLoader, WeightedRandomSampler

rows = Dataset.from_dict({"n": list(range(40)), "text": [str(n) for n in range(40)]})
for part in range(4):
    rows.shard(4, part, contiguous=True).to_parquet(f"part-{part}.parquet")
files = load_dataset("parquet", data_files="part-*.parquet", split="train", streaming=True)


def numbers(loader):
    return [batch["n"].tolist() for batch in loader]


print(numbers(DataLoader(rows, batch_size=7, num_workers=2)))
print(
    numbers(DataLoader(rows.with_format("torch"), batch_size=7, drop_last=True, num_workers=1, persistent_workers=True))
)
print(numbers(DataLoader(files, batch_size=6, num_workers=2)))
shuffled = DataLoader(files.shuffle(seed=1, buffer_size=5), batch_size=6, num_workers=2)
print(sorted(n for batch in numbers(shuffled) for n in batch))
for rank in range(2):
    print(numbers(DataLoader(split_dataset_by_node(files, rank=rank, world_size=2), batch_size=6, num_workers=2)))
    print(numbers(DataLoader(split_dataset_by_node(rows, rank=rank, world_size=2), batch_size=8)))
sampler = WeightedRandomSampler([1.0] * 40, 10, generator=torch.Generator().manual_seed(0))
print(numbers(DataLoader(rows, batch_size=5, sampler=sampler)))
