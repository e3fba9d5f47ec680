"""Datasets become frames and frames become datasets."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from datasets import Dataset

dataset = Dataset.from_dict({"a": [3, 1, 2, None], "b": ["x", "y", None, "z"], "c": [[1.0], [], None, [2.0, 3.0]]})
shuffled = dataset.sort("b").select([2, 0, 1])
print(dataset.to_pandas().dtypes.astype(str).to_dict(), dataset.to_polars().schema)
print(shuffled.to_pandas().to_dict("list"), shuffled.to_polars().rows())
print(pd.DataFrame(dataset.to_dict()).shape, pd.DataFrame(dataset.select_columns(["a", "b"])).shape)
print(
    Dataset.from_pandas(dataset.to_pandas())[:] == dataset[:],
    Dataset.from_polars(dataset.to_polars()).features == dataset.features,
)
arrow = dataset.with_format("arrow")[:]
print(type(arrow).__name__, arrow.num_rows, Dataset(pa.table({"a": [1, 2]}))[:])
print(duckdb.sql("select b, a + 1 as a from arrow where a > 1 order by a").fetchall())
frame = dataset.with_format("polars")[:]
print(frame.filter(pl.col("a") > 1)["b"].to_list(), [len(f) for f in dataset.with_format("pandas").iter(batch_size=3)])
print(
    dataset.with_format("pandas")
    .map(lambda f: f.assign(d=f["a"].fillna(0) * 2), batched=True)
    .with_format(None)["d"][:]
)
print(
    dataset.with_format("polars")
    .map(lambda f: f.with_columns(d=pl.col("a") * 2), batched=True)
    .with_format(None)["d"][:]
)
print(
    dataset.with_format("arrow")
    .map(lambda t: t.append_column("d", pa.array(range(len(t)))), batched=True)[:]["d"]
    .to_pylist()
)
print(
    np.asarray(dataset["a"][:2]),
    np.array(dataset.with_format("numpy")["a"][:2]),
    pd.Series(dataset["b"][:]).isna().sum(),
)
print([len(each) for each in dataset.to_pandas(batched=True, batch_size=3)], pl.Series(dataset["b"][:]).to_list())
joined = pd.merge(dataset.to_pandas()[["a", "b"]], pd.DataFrame({"b": ["x", "y"], "w": [1, 2]}), on="b")
print(Dataset.from_pandas(joined, preserve_index=False)[:])
