"""Scikit-learn takes datasets, their columns and their arrays."""

import numpy as np
from datasets import Dataset
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

rng = np.random.default_rng(0)
features = rng.normal(size=(40, 3))
dataset = Dataset.from_dict(
    {
        "x": features,
        "y": (features.sum(1) > 0).astype(int),
        "text": [f"{'good' if f.sum() > 0 else 'bad'} w{n % 3}" for n, f in enumerate(features)],
    }
)
arrays = dataset.with_format("numpy")[:]
model = LogisticRegression().fit(arrays["x"], arrays["y"])
print(accuracy_score(arrays["y"], model.predict(arrays["x"])), arrays["x"].shape)
train, test = train_test_split(list(dataset), test_size=0.25, random_state=0)
print(len(train), [row["text"] for row in test])
texts, others, labels, rest = train_test_split(dataset["text"], dataset["y"], test_size=0.25, random_state=0)
print(type(texts).__name__, len(texts), others[:3], rest)
kept, left = train_test_split(range(len(dataset)), test_size=0.25, random_state=0, stratify=dataset["y"])
print(dataset.select(kept).num_rows, dataset.select(left)["y"][:])
words = make_pipeline(CountVectorizer(), LogisticRegression()).fit(dataset["text"], dataset["y"])
print(
    words.score(dataset["text"], dataset["y"]),
    confusion_matrix(dataset["y"], words.predict(dataset["text"][:])).tolist(),
)
for folds in (KFold(3), StratifiedKFold(3, shuffle=True, random_state=1)):
    for _, held_out in folds.split(dataset["x"], dataset["y"]):
        print(sum(dataset.select(held_out)["y"]), end=" ")
print(cross_val_score(LogisticRegression(), np.asarray(dataset["x"]), np.asarray(dataset["y"]), cv=3).round(2))
with dataset.formatted_as("pandas"):
    print(dataset[:].groupby("y")["text"].agg("count").to_dict())
