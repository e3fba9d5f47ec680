"""Save, load again, write files of several kinds and read them back."""

from datasets import Dataset, DatasetDict, concatenate_datasets, load_dataset, load_from_disk

dataset = Dataset.from_dict({"id": [1, 2, 3, 4], "text": ["a", "b", None, "d"], "tags": [["x"], [], ["y", "z"], None]})
splits = dataset.train_test_split(test_size=0.25, shuffle=False)
splits.save_to_disk("saved")
again = load_from_disk("saved")
print(again, isinstance(again, DatasetDict))
print(again["train"].to_dict(), again["test"][0])
dataset.select([3, 1]).save_to_disk("two", num_shards=2)
print(load_from_disk("two").to_list())
print(dataset.to_json("out.jsonl") > 0, open("out.jsonl").read())
dataset.remove_columns("tags").to_csv("out.csv")
print(open("out.csv").read())
dataset.to_parquet("out.parquet")
print(load_dataset("parquet", data_files="out.parquet", split="train").features)
for index in range(2):
    dataset.shard(num_shards=2, index=index).to_parquet(f"part-{index}.parquet")
print(concatenate_datasets([Dataset.from_parquet(f"part-{index}.parquet") for index in range(2)])[:])
print(Dataset.from_json("out.jsonl").column_names, Dataset.from_csv("out.csv").num_rows)
print(dataset.to_pandas().dtypes.to_dict().keys(), dataset.to_dict())
