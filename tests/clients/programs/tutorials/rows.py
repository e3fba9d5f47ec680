"""The everyday operations on rows and columns."""

from datasets import Dataset, concatenate_datasets

dataset = Dataset.from_dict({"text": [f"text {n}" for n in range(12)], "length": [n * 7 % 12 for n in range(12)]})
print(dataset, len(dataset), dataset.shape, dataset.column_names)
print(dataset[0], dataset[-1], dataset[2:4], dataset[[0, 5]], dataset["text"][3])
small = dataset.filter(lambda row: row["length"] > 3).shuffle(seed=42).select(range(5))
print(small["length"][:], small.sort("length", reverse=True)["length"][:])
print(dataset.map(lambda row: {"length": row["length"] + 1, "new": [row["text"]] * 2})[1])
print(dataset.map(lambda batch: {"text": [t + "!" for t in batch["text"]]}, batched=True, batch_size=5)["text"][:3])
print(dataset.map(lambda row, i: {"i": i}, with_indices=True, remove_columns=dataset.column_names)[:])
print(dataset.add_column("extra", list(range(12)))[11], dataset.add_item({"text": "more", "length": 1})[-1])
print(concatenate_datasets([dataset.select_columns("text"), dataset.select_columns("length")], axis=1)[3])
print(dataset.rename_column("text", "input").remove_columns("length").features)
print([len(dataset.shard(num_shards=5, index=index)) for index in range(5)])
print(dataset.train_test_split(test_size=3, seed=0)["test"]["length"][:])
print(
    [batch["length"] for batch in dataset.iter(batch_size=5)], dataset.take(2)["text"][:], dataset.skip(10)["text"][:]
)
print(list(dataset.batch(5)["length"]), dataset.repeat(2).num_rows)
for example in dataset.select([4]):
    print(example)
