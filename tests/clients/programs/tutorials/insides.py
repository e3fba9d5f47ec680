"""What programs read of a dataset though it is not public, and the tables under it."""

import pyarrow as pa
from datasets import Dataset, DatasetDict
from datasets.arrow_writer import OptimizedTypedSequence, TypedSequence
from datasets.features import Value
from datasets.formatting import format_table, get_formatter, query_table
from datasets.table import InMemoryTable

data = Dataset.from_dict({"a": [3, 1, 2, 4], "t": ["x", "y", "z", "w"]})
part, moved = data.select(range(1, 3)), data.shuffle(seed=0)
for each in (data, part, moved):
    indices = each._indices
    print(each.data.num_rows, len(each.data), each.data["a"].to_pylist(), each._data.table.column_names)
    print(None if indices is None else indices.column(0).to_pylist(), each._getitem(0), each._getitem("a"))
print(
    DatasetDict({"all": data, "part": part}).data["part"].to_pydict(),
    Dataset(part.data)[:],
    part._estimate_nbytes() > 0,
)
print(Dataset(moved.data, indices_table=moved._indices)[:] == moved[:], data._select_contiguous(1, 2)[:])
print(data._select_with_indices_mapping([3, 0])[:], data.data.slice(1, 1).to_pydict(), data.data.to_pandas().shape)
table = InMemoryTable(pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"]}))
order = InMemoryTable(pa.table({"indices": pa.array([2, 0], pa.uint64())}))
print([query_table(table, key).to_pydict() for key in (0, -1, slice(1, 3), range(2), [2, 0], "a")])
print([query_table(table, key, indices=order).to_pydict() for key in (0, slice(0, 2), [1], "b")])
for key in (5, "zz", [0, 7]):
    try:
        query_table(table, key)
    except (IndexError, KeyError) as error:
        print(isinstance(error, KeyError))
print(
    [
        format_table(query_table(table, key), key, get_formatter(name))
        for name in (None, "numpy")
        for key in (0, [0], "a")
    ]
)
print(format_table(query_table(table, 0), 0, get_formatter("numpy"), format_columns=["a"], output_all_columns=True))
print(
    [pa.array(TypedSequence(values)).type for values in ([1], ["a"], [[1.5]])],
    TypedSequence([True]).get_inferred_type(),
)
print(
    pa.array(TypedSequence([1], type=Value("int8"))).type, pa.array(TypedSequence(["a"], try_type=Value("int8"))).type
)
print([pa.array(OptimizedTypedSequence([[1]], col=name)).type for name in ("attention_mask", "input_ids", "x")])
