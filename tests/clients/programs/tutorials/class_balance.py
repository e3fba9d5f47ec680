"""Encode labels, count them, take as many of each, split by class."""

from collections import Counter

from datasets import ClassLabel, Dataset, Features, Value, concatenate_datasets

texts = [f"review {n}" for n in range(30)]
labels = ["good" if n % 3 else "bad" for n in range(30)]
dataset = Dataset.from_dict({"text": texts, "label": labels})
print(dataset.unique("label"))
dataset = dataset.class_encode_column("label")
print(dataset.features["label"], dataset.features["label"].names)
print(Counter(dataset["label"]), dataset.features["label"].int2str(0), dataset.features["label"].str2int("good"))
smallest = min(Counter(dataset["label"]).values())
balanced = concatenate_datasets(
    [dataset.filter(lambda row, label=label: row["label"] == label).select(range(smallest)) for label in (0, 1)]
).shuffle(seed=42)
print(Counter(balanced["label"]), balanced["text"][:5])
splits = dataset.train_test_split(test_size=0.2, stratify_by_column="label", seed=42)
print({name: Counter(split["label"]) for name, split in splits.items()})
print(splits["test"]["text"][:])
renamed = dataset.cast_column("label", ClassLabel(names=["no", "yes"]))
print(renamed.features, renamed[0])
features = Features({"text": Value("string"), "label": ClassLabel(names=["bad", "good"])})
print(Dataset.from_dict({"text": ["a"], "label": ["good"]}, features=features)[0])
print(dataset.align_labels_with_mapping({"good": 0, "bad": 1}, "label")["label"][:4])
