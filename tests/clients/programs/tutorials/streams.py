"""Mix streams of files and of generators; skip, take, shuffle, filter, map, resume."""

import json

from datasets import Dataset, IterableDataset, concatenate_datasets, interleave_datasets, load_dataset

for name, count in (("web", 9), ("code", 5)):
    with open(f"{name}.jsonl", "w") as file:
        file.writelines(json.dumps({"id": n, "source": name, "text": f"{name} {n}"}) + "\n" for n in range(count))

web = load_dataset("json", data_files="web.jsonl", split="train", streaming=True)
code = load_dataset("json", data_files="code.jsonl", split="train", streaming=True)
print(type(web).__name__, web.features, web.column_names)
mixed = interleave_datasets([web, code], probabilities=[0.7, 0.3], seed=42, stopping_strategy="all_exhausted")
print([row["text"] for row in mixed])
print([row["text"] for row in interleave_datasets([web, code])])
print([row["text"] for row in concatenate_datasets([code, web]).skip(3).take(4)])
print([row["id"] for row in web.shuffle(seed=7, buffer_size=4)])
upper = web.map(lambda row: {"text": row["text"].upper()}, remove_columns=["source"]).filter(lambda row: row["id"] % 2)
print(list(upper), upper.column_names)
print(next(iter(web.batch(4))))


def numbers():
    for n in range(6):
        yield {"n": n}


stream = IterableDataset.from_generator(numbers)
print(list(stream.rename_column("n", "number").map(lambda row: {"square": row["number"] ** 2})))
stream = Dataset.from_dict({"n": list(range(10))}).to_iterable_dataset(num_shards=2)
print(stream.num_shards if hasattr(stream, "num_shards") else stream.n_shards)
seen = []
for row in stream:
    seen.append(row["n"])
    if len(seen) == 4:
        state = stream.state_dict()
        break
stream.load_state_dict(state)
print(seen, [row["n"] for row in stream])
