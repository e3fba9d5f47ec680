"""Load CSV, JSON, text and Parquet files by names and patterns, with splits and slices."""

import csv
import json
import os

from datasets import Dataset, get_dataset_config_names, get_dataset_split_names, load_dataset

for split, count in (("train", 6), ("validation", 3)):
    os.makedirs(f"data/{split}", exist_ok=True)
    for part in range(2):
        Dataset.from_dict({"id": range(part * count, (part + 1) * count)}).to_parquet(f"data/{split}/{part}.parquet")
with open("rows.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["question", "answer", "score"])
    writer.writerows([["what?", "that", 1.5], ["who, then?", "", 2], ['"quoted"', "they", None]])
with open("nested.json", "w") as file:
    json.dump({"version": 1, "data": [{"a": 1, "b": {"c": [1, 2]}}, {"a": None, "b": {"c": []}}]}, file)
with open("lines.txt", "w") as file:
    file.write("first\nsecond\n\nlast")

parquet = load_dataset(
    "parquet", data_files={"train": "data/train/*.parquet", "validation": "data/validation/*.parquet"}
)
print(parquet)
print(parquet["train"]["id"][:], parquet["validation"][-1])
print(load_dataset("data", split="train[:50%]+validation[-2:]")["id"][:])
print(load_dataset("parquet", data_dir="data"))
table = load_dataset("csv", data_files="rows.csv")
print(table["train"].features)
print(table["train"].to_list())
print(load_dataset("csv", data_files=["rows.csv"], split="train", column_names=["q", "a", "s"], skiprows=1)[0])
nested = load_dataset("json", data_files="nested.json", field="data", split="train")
print(nested.features, nested[:])
print(load_dataset("text", data_files={"test": "lines.txt"})["test"]["text"][:])
print(get_dataset_split_names("data"), get_dataset_config_names("data"))
print(load_dataset("json", data_files="nested.json", field="data", split="train").flatten().column_names)
