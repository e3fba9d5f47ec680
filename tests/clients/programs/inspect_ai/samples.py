"""Samples of Inspect from datasets on disk, from CSV and from JSON; the second reading comes from Inspect's own cache."""

import csv
import json

from datasets import Dataset
from inspect_ai.dataset import FieldSpec, Sample, csv_dataset, hf_dataset, json_dataset

rows = [{"question": f"q{n}", "choices": ["x", "y", "z"], "answer": n % 3, "id": f"s{n}", "n": n} for n in range(8)]
Dataset.from_list(rows).to_parquet("bench/train.parquet")
fields = FieldSpec(input="question", choices="choices", target="answer", id="id", metadata=["n"])


def record(row):
    return Sample(input=row["question"].upper(), target="ABC"[row["answer"]], metadata={"n": row["n"]})


def show(samples):
    print(samples.name, len(samples), [(s.id, s.input, s.choices, s.target, s.metadata) for s in samples])


show(hf_dataset("bench", split="train", sample_fields=record))
show(hf_dataset("bench", split="train", sample_fields=record))
show(hf_dataset("bench", split="train", sample_fields=record, shuffle=True, seed=3, limit=4, auto_id=True))
show(hf_dataset("parquet", split="train[:3]", sample_fields=record, data_files="bench/train.parquet", cached=False))
with open("rows.jsonl", "w") as file:
    file.writelines(json.dumps({**row, "answer": "ABC"[row["answer"]]}) + "\n" for row in rows)
show(json_dataset("rows.jsonl", fields, shuffle=True, seed=1))
show(hf_dataset("json", split="train", sample_fields=fields, data_files="rows.jsonl", shuffle_choices=5))
with open("rows.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerows([["input", "target"], ["2+2", "4"], ["1, 2 or 3?", "2"]])
show(csv_dataset("rows.csv"))
try:
    hf_dataset("bench", split="missing", sample_fields=record, retry=False)
except ValueError as error:
    print("no such split", isinstance(error, ValueError))
