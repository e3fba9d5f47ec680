"""Write a folder with a file of every format that an edition of the library leaves on disk.

    python tests/data/editions/write.py tests/data/editions/NAME

Run once by each edition that changes a format, with that edition installed. The folders are never written again:
tests/test_editions.py reads all of them, so that what was saved years ago stays readable.
"""

from __future__ import annotations

import datetime
import decimal
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROWS = [
    {
        "id": number,
        "question": text,
        "label": number % 2,
        "tags": ["é", None, "日本"][: number % 4],
        "message": {"role": "user", "content": text},
        "call": {"name": "f", "arguments": {key: number}},
        "price": decimal.Decimal("12.30"),
        "day": datetime.date(2024, 2, 29),
        "at": datetime.datetime(2024, 2, 29, 12, 30, 15, 250),
        "blob": bytes([0, 255, number]),
    }
    for number, (text, key) in enumerate([("2 + 2?", "x"), ("né 🎉", "y"), ("", "x"), ("漢字", "z"), ("null", "y")])
]


def features():
    from crucible_datasets import ClassLabel, Features, Json, List, Value

    return Features(
        {
            "id": Value("int64"),
            "question": Value("string"),
            "label": ClassLabel(names=["no", "yes"]),
            "tags": List(Value("string")),
            "message": {"role": Value("string"), "content": Value("string")},
            "call": Json(),
            "price": Value("decimal128(10, 2)"),
            "day": Value("date32"),
            "at": Value("timestamp[us]"),
            "blob": Value("binary"),
        }
    )


def write_datasets(folder: Path) -> None:
    from crucible_datasets import Dataset, DatasetDict

    rows = Dataset.from_list(ROWS, features=features())
    rows.save_to_disk(folder / "dataset")
    rows.select([4, 0, 2]).save_to_disk(folder / "selected", num_shards=2)
    DatasetDict(train=rows.select(range(3)), test=rows.select(range(3, 5))).save_to_disk(folder / "dict")
    rows.to_parquet(folder / "rows.parquet")
    rows.remove_columns("blob").to_json(folder / "rows.jsonl")
    rows.remove_columns(["call", "message", "tags", "blob"]).to_csv(folder / "rows.csv")
    rows.select_columns(["question", "message"]).to_webdataset(folder / "rows-%03d.tar")


def write_states(folder: Path) -> None:
    from crucible_datasets import load_dataset

    states = {}
    for name in ["rows.parquet", "rows.jsonl"]:
        stream = load_dataset(
            name.rpartition(".")[2].replace("jsonl", "json"), data_files=name, split="train", streaming=True
        )
        for count, _ in enumerate(stream, 1):
            if count == 2:
                states[name] = stream.state_dict()
    (folder / "states.json").write_text(json.dumps(states, indent=1))


def write_runs(folder: Path) -> None:
    from crucible_datasets.benchmarks import load_benchmark, samples_from
    from crucible_datasets.evaluation import Outcome, ResultStore, SampleResult, evaluate

    store = ResultStore(folder / "runs")
    samples = samples_from([{"id": n, "input": f"{n} + 1", "target": str(n + 1)} for n in range(4)], "adding")
    evaluate(["1", "so 2", "3", "é 🎉"], samples, model="org/small", store=store, tags=["best"])
    benchmark = load_benchmark("mmlu", synthetic=True)
    evaluate(
        [f"The answer is {'ABCD'[n % 4]}." for n in range(len(benchmark))], benchmark, model="org/large", store=store
    )
    run = store.open_run(model="org/killed", dataset="adding", metrics=["graded@1"], run_id="unfinished-run")
    run.append(SampleResult("0", "one", "1", {"graded@1": Outcome(0.8)}))
    run.close()
    for number in range(8):
        evaluate(["1"], samples.select([0]), model=f"org/copy-{number}", store=store)
    store.list()  # writes the index, which takes nine runs


def write_cache(folder: Path) -> None:
    """Entries of the cache: a converted file, the index of a tar, the result of `map`; their files are what `cache verify` reads."""
    from crucible_datasets import load_dataset

    rows = load_dataset("json", data_files="rows.jsonl", split="train")
    rows.map(_length)
    load_dataset("webdataset", data_files="rows-000.tar", split="train")  # the index of a tar
    cache = Path(os.environ["HF_DATASETS_CACHE"])
    shutil.copytree(cache, folder / "cache", ignore=shutil.ignore_patterns(".work"))
    for manifest in (folder / "cache").rglob("manifest.json"):
        manifest.write_text(manifest.read_text("utf-8").replace(os.getcwd(), "/data"), "utf-8")


def _length(row):
    return {"length": len(row["question"])}


def write_lock() -> None:
    from crucible_datasets.benchmarks import lock_datasets

    lock_datasets("gsm8k", synthetic=True)
    lock_datasets("rows.jsonl")


def main(target: Path) -> None:
    target.mkdir(parents=True)
    os.chdir(target)
    with tempfile.TemporaryDirectory() as cache:
        os.environ |= {"HF_DATASETS_CACHE": cache, "HF_HUB_OFFLINE": "1"}
        folder = Path()
        write_datasets(folder)
        write_states(folder)
        write_runs(folder)
        write_cache(folder)
        write_lock()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
