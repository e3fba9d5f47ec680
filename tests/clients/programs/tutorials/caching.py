"""A mapped dataset is found again, also by a second program; fingerprints follow what is done."""

import datasets
from datasets import Dataset, load_dataset

calls = []
Dataset.from_dict({"n": list(range(20))}).to_parquet("n.parquet")


def double(row):
    calls.append(row["n"])
    return {"n": row["n"] * 2}


first = load_dataset("parquet", data_files="n.parquet", split="train", cache_dir="cache")
again = load_dataset("parquet", data_files="n.parquet", split="train", cache_dir="cache")
print(first._fingerprint == again._fingerprint, len(first._fingerprint))
a, b = first.shuffle(seed=1), again.shuffle(seed=1)
print(a._fingerprint == b._fingerprint, a._fingerprint == first._fingerprint)
print(first.shuffle(seed=2)._fingerprint == a._fingerprint)
print(first.map(double, load_from_cache_file=False)["n"][:5], len(calls) >= 20)
datasets.disable_caching()
print(datasets.is_caching_enabled())
datasets.enable_caching()
print(datasets.is_caching_enabled(), [len(file["filename"]) > 0 for file in first.map(double).cache_files])
datasets.disable_progress_bars()
print(datasets.are_progress_bars_disabled())
datasets.enable_progress_bars()
datasets.logging.set_verbosity_error()
print(datasets.logging.get_verbosity(), datasets.__version__)
datasets.logging.set_verbosity_warning()
