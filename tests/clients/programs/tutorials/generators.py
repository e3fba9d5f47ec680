"""Datasets of generators, with arguments, with features, and of lists that do not agree at first."""

from datasets import Dataset, Features, List, Value, Version, load_dataset_builder


def rows(start, shards):
    for shard in shards:
        for n in range(3):
            yield {"shard": shard, "n": start + n, "half": n / 2}


dataset = Dataset.from_generator(rows, gen_kwargs={"start": 10, "shards": ["a", "b"]})
print(dataset, dataset.features)
print(dataset[:])
features = Features({"n": Value("float32"), "tags": List(Value("string"))})
typed = Dataset.from_generator(lambda: ({"n": n, "tags": ["t"] * n} for n in range(3)), features=features)
print(typed.features, typed[:])
print(Dataset.from_list([{"a": 1, "b": None}, {"b": "x"}])[:])
print(Dataset.from_list([{"a": None}, {"a": [1]}, {"a": []}]).features)
print(Dataset.from_dict({"m": [{"role": "u", "content": None}, {"role": "v", "content": "c"}]})[0])
print(Dataset.from_dict({}).num_rows, Dataset.from_list([]).column_names)
dataset.info.description = "rows"
print(dataset.info.description, dataset.split, Version("1.2.0") > "1.1.0")
Dataset.from_dict({"q": ["?"]}).to_json("q.jsonl")
builder = load_dataset_builder("json", data_files="q.jsonl")
builder.download_and_prepare()
print(builder.as_dataset(split="train")[0], builder.info.features, list(builder.info.splits))
