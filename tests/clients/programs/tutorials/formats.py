"""NumPy, pandas, polars and Arrow views, transforms on the fly, and back."""

import numpy as np
import pandas as pd
import polars as pl
from datasets import Array2D, Dataset, Features, Sequence, Value

dataset = Dataset.from_dict({"x": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "y": [0, 1, 0], "name": ["a", "b", "c"]})
arrays = dataset.with_format("numpy")
print(arrays[:]["x"].shape, arrays[0]["x"].dtype, arrays["y"][:], arrays[1]["name"], arrays.format["type"])
print(dataset.with_format("pandas")[:2], type(dataset.with_format("polars")[:]).__name__)
print(dataset.with_format("arrow")[:].schema.names)
print(dataset.with_format("numpy", columns=["y"], output_all_columns=True)[0]["name"])
dataset.set_format("pandas", columns=["y", "name"])
print(dataset[:].groupby("y")["name"].count().to_dict())
dataset.reset_format()
upper = dataset.with_transform(lambda batch: {"shout": [name.upper() for name in batch["name"]]})
print(upper[0], upper[:2])
dataset.set_transform(lambda batch: {"twice": [2 * y for y in batch["y"]]}, columns=["y"])
print(dataset[:], dataset.with_format(None)[0])
frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
print(Dataset.from_pandas(frame).features, Dataset.from_pandas(frame.iloc[[1]], preserve_index=False)[0])
print(Dataset.from_polars(pl.DataFrame({"a": [1, 2], "b": ["x", None]}))[:])
features = Features({"image": Array2D((2, 2), "float32"), "ids": Sequence(Value("int32"))})
matrices = Dataset.from_dict({"image": np.ones((3, 2, 2)), "ids": [[1], [2, 3], []]}, features=features)
print(matrices.with_format("numpy")[0]["image"].shape, matrices[1], matrices.features)
with dataset.formatted_as("numpy", columns=["y"]):
    print(dataset[:]["y"].sum())
