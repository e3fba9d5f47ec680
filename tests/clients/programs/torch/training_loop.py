"""A training loop in plain PyTorch: tensors from a dataset, batches from a loader with and without workers."""

import torch
from datasets import Dataset
from torch.utils.data import DataLoader
from torch.utils.data import Dataset as TorchDataset

dataset = Dataset.from_dict(
    {"x": [[n / 10, 1.0] for n in range(24)], "label": [n % 2 for n in range(24)], "text": [str(n) for n in range(24)]}
)
dataset.set_format("torch", columns=["x", "label"])
print(isinstance(dataset, TorchDataset), dataset[0], dataset[:2]["x"].dtype)
for batch in DataLoader(dataset, batch_size=10):
    print({key: tuple(value.shape) for key, value in batch.items()}, batch["label"].sum().item())
shuffled = DataLoader(dataset, batch_size=12, shuffle=True, generator=torch.Generator().manual_seed(0))
print([batch["x"][:, 0].sum().item() for batch in shuffled])
print([batch["label"].tolist() for batch in DataLoader(dataset, batch_size=9, num_workers=2)])
stream = dataset.with_format(None).to_iterable_dataset(num_shards=4).with_format("torch")
print(isinstance(stream, torch.utils.data.IterableDataset))
print(sorted(n for batch in DataLoader(stream, batch_size=4, num_workers=2) for n in batch["label"].tolist()))
model = torch.nn.Linear(2, 2)
torch.nn.init.zeros_(model.weight), torch.nn.init.zeros_(model.bias)
optimiser = torch.optim.SGD(model.parameters(), lr=0.5)
for _ in range(2):
    for batch in DataLoader(dataset, batch_size=8):
        loss = torch.nn.functional.cross_entropy(model(batch["x"]), batch["label"])
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
print(round(loss.item(), 4))
train, test = torch.utils.data.random_split(dataset, [20, 4], generator=torch.Generator().manual_seed(1))
print(len(train), [row["label"].item() for row in test])
print(torch.utils.data.Subset(dataset, [3, 1])[0]["x"], dataset.__getitems__([1, 2])[0]["label"])
