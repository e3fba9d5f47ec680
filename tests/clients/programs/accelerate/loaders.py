"""Accelerate prepares loaders over rows and over streams, shards and dispatches them, and skips batches."""

import torch
from accelerate import Accelerator, skip_first_batches
from accelerate.data_loader import IterableDatasetShard, prepare_data_loader
from accelerate.utils import DataLoaderConfiguration
from datasets import Dataset
from torch.utils.data import DataLoader

rows = Dataset.from_dict({"n": list(range(22))}).with_format("torch")
stream = rows.to_iterable_dataset(num_shards=2)
for options in (
    {},
    {"dispatch_batches": True},
    {"split_batches": True},
    {"use_seedable_sampler": True},
    {"use_stateful_dataloader": True},
):
    accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(**options))
    for dataset in (rows, stream):
        if isinstance(dataset, Dataset) and "dispatch_batches" in options:
            continue
        loader = accelerator.prepare(DataLoader(dataset, batch_size=4))
        print(options, type(loader).__name__, [batch["n"].tolist() for batch in loader])
        print([batch["n"].tolist() for batch in skip_first_batches(loader, 3)])
for rank in range(2):
    loader = DataLoader(stream, batch_size=3)
    shards = prepare_data_loader(
        loader, num_processes=2, process_index=rank, put_on_device=False, dispatch_batches=False
    )
    print(rank, [batch["n"].tolist() for batch in shards])
    print([row["n"].item() for row in IterableDatasetShard(stream, batch_size=2, num_processes=2, process_index=rank)])
    loader = DataLoader(rows, batch_size=3)
    print(
        [
            batch["n"].tolist()
            for batch in prepare_data_loader(loader, num_processes=2, process_index=rank, put_on_device=False)
        ]
    )
model, loader = torch.nn.Linear(1, 1), DataLoader(rows, batch_size=8)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model, optimiser, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.0), loader)
for batch in loader:
    with accelerator.accumulate(model):
        accelerator.backward(model(batch["n"].float()[:, None]).mean())
        optimiser.step()
    print(accelerator.gather_for_metrics(batch["n"]).sum().item(), accelerator.sync_gradients)
with accelerator.main_process_first():
    print(rows.map(lambda row: {"n": row["n"] * 2})[3]["n"].item())
