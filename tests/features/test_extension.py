"""ArrayND in files: nothing is registered with Arrow, and still nothing is forgotten."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from crucible_datasets.features import Array2D, Array5D, Features, Json, List
from crucible_datasets.features.encode import column_of
from crucible_datasets.features.extension import array_extension_type
from crucible_datasets.features.storage import to_extension

PROGRAM = """
import sys
import pyarrow as pa, pyarrow.parquet as pq
from crucible_datasets.features import Array2D, Array3D, Features, Json, List
from crucible_datasets.features.encode import column_of
from crucible_datasets.features.storage import chunked, to_extension
features = Features({"m": Array2D((2, 2), "int8"), "n": {"a": [Array3D((None, 1, 1), "int8")]}, "j": [Json()]})
rows = {"m": [[[1, 2], [3, 4]], None], "n": [{"a": [[[[1]]], None]}, None], "j": [["x", None], None]}
columns = [to_extension(column_of(rows[name], kind), kind) for name, kind in features.items()]
for schema in (features.arrow_schema, features.arrow_schema.remove_metadata()):
    table = pa.table(columns, schema=schema)
    pq.write_table(table, sys.argv[1])
    with pa.OSFile(sys.argv[1] + ".arrow", "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    for read in (pq.read_table(sys.argv[1]), pa.ipc.open_stream(sys.argv[1] + ".arrow").read_all()):
        assert Features.from_arrow_schema(read.schema) == features, read.schema
        assert chunked(read["m"]).to_pylist() == rows["m"]
        assert chunked(read["n"]).to_pylist() == rows["n"]
assert "datasets" not in sys.modules
"""


def test_files_are_understood_without_registered_types(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path / "t.parquet")], check=True)


def test_types_are_values() -> None:
    arrow = Array5D((None, 1, 1, 1, 1), "float32")()
    assert arrow == array_extension_type((None, 1, 1, 1, 1), "float32")
    assert pickle.loads(pickle.dumps(arrow)) == arrow
    assert hash(arrow) == hash(array_extension_type((None, 1, 1, 1, 1), "float32"))


@pytest.mark.parametrize("shape", [(2,), (2, None), (2, 3, 4)])
def test_only_the_first_size_may_be_unknown(shape: tuple[int | None, ...]) -> None:
    with pytest.raises(ValueError, match="Array2D"):
        Array2D(shape, "int8")()


def test_arrays_come_out_as_numpy() -> None:
    feature = Array2D((2, 2), "float32")
    whole = to_extension(column_of(np.ones((3, 2, 2)), feature), feature).chunk(0)
    assert whole.to_numpy().shape == (3, 2, 2)
    gaps = to_extension(column_of([np.ones((2, 2)), None], feature), feature).chunk(0)
    assert gaps.to_numpy()[1] is None


def test_only_schemas_carry_extension_types() -> None:
    features = Features({"a": List(Array2D((1, 1), "int8")), "b": Json()})
    assert isinstance(features.arrow_schema.field("b").type, pa.BaseExtensionType)
    assert column_of([[[[1]]]], features["a"]).type == pa.list_(pa.list_(pa.list_(pa.int8())))
