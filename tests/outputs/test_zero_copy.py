"""numpy and torch see Arrow's own memory wherever the dtype is already the one they show."""

import gc
import weakref

import numpy as np
import pyarrow as pa
import pytest

from crucible_datasets.features import Array2D, Array3D, Features, LargeList, List, Value
from crucible_datasets.features.storage import storage_type
from crucible_datasets.outputs.base import OUTPUTS

ROWS = 1000

SHARED = {
    "int64": (Value("int64"), list(range(ROWS))),
    "float32": (Value("float32"), [0.5] * ROWS),
    "equal lists": (List(Value("float32")), [[1.5, 2.5, 3.5]] * ROWS),
    "fixed lists": (List(Value("int64"), length=2), [[1, 2]] * ROWS),
    "large lists": (LargeList(Value("int64")), [[1, 2]] * ROWS),
    "lists of lists": (List(List(Value("float32"))), [[[1.5, 2.5], [3.5, 4.5]]] * ROWS),
    "matrices": (Array2D(shape=(2, 2), dtype="int64"), [[[1, 2], [3, 4]]] * ROWS),
    "matrices of any height": (Array2D(shape=(None, 2), dtype="int64"), [[[1, 2], [3, 4]]] * ROWS),
    "cubes": (Array3D(shape=(1, 2, 2), dtype="float32"), [[[[1, 2], [3, 4]]]] * ROWS),
}


def stored(feature, rows):
    return pa.chunked_array([pa.array(rows, storage_type(feature))])


def values_of(column):
    """The address and the length in bytes of the buffer that holds the innermost values."""
    buffer = column.chunk(0).buffers()[-1]
    return buffer.address, buffer.size


def address(tensor):
    return tensor.ctypes.data if isinstance(tensor, np.ndarray) else tensor.data_ptr()


def sharing(name):
    """The formatter that does not copy: numpy's is read-only and the default, torch's is asked for."""
    return OUTPUTS[name].make(copy=False) if name == "torch" else OUTPUTS[name].make()


@pytest.fixture(params=["numpy", "torch"])
def name(request):
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    return request.param


@pytest.mark.parametrize("case", SHARED)
def test_batches_share_the_memory_of_the_table(name, case):
    feature, rows = SHARED[case]
    column = stored(feature, rows)
    tensor = sharing(name).column(column, feature)
    assert address(tensor) == values_of(column)[0]
    assert tensor.tolist() == rows


@pytest.mark.parametrize("case", SHARED)
def test_slices_share_it_too(name, case):
    feature, rows = SHARED[case]
    column = stored(feature, rows)
    tensor = sharing(name).column(column.slice(10, 5), feature)
    start, size = values_of(column)
    assert start < address(tensor) < start + size
    assert tensor.tolist() == rows[10:15]


@pytest.mark.parametrize("case", SHARED)
def test_rows_share_it_too(name, case):
    feature, rows = SHARED[case]
    table = pa.table({"c": stored(feature, rows)})
    start, size = values_of(table.column(0))
    last = list(sharing(name).rows(table, Features({"c": feature})))[-1]["c"]
    assert np.asarray(last).tolist() == rows[-1]
    if not isinstance(last, np.generic):
        assert start < address(last) < start + size


@pytest.mark.parametrize("case", SHARED)
def test_a_copy_can_be_asked_for(name, case):
    feature, rows = SHARED[case]
    column = stored(feature, rows)
    tensor = OUTPUTS[name].make(copy=True).column(column, feature)
    tensor += 1
    assert column.to_pylist() == rows


def test_torch_tensors_are_safe_to_write_into():
    pytest.importorskip("torch", reason="torch is not installed")
    for feature, rows in SHARED.values():
        column = stored(feature, rows)
        tensor = OUTPUTS["torch"].make().column(column, feature)
        tensor += 1
        assert column.to_pylist() == rows


def test_numpy_refuses_to_write_into_the_table():
    column = stored(*SHARED["int64"])
    with pytest.raises(ValueError, match="read-only"):
        OUTPUTS["numpy"].make().column(column, Value("int64"))[0] = 1


def test_torch_does_not_warn_of_memory_it_cannot_write(recwarn):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    formatter = sharing("torch")
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        for feature, rows in SHARED.values():
            formatter.column(stored(feature, rows), feature)
    finally:
        torch.set_warn_always(always)
    assert not recwarn.list


def test_memory_lives_as_long_as_its_last_tensor(name):
    memory = np.arange(ROWS)
    column = pa.chunked_array([pa.Array.from_buffers(pa.int64(), ROWS, [None, pa.py_buffer(memory)])])
    alive = weakref.ref(memory)
    tensor = sharing(name).column(column, Value("int64"))
    assert address(tensor) == memory.ctypes.data
    del memory, column
    gc.collect()
    assert alive() is not None
    del tensor
    gc.collect()
    assert alive() is None


def test_other_dtypes_are_converted_in_one_go(name):
    column = stored(Value("int8"), [1, 2, 3])
    assert str(OUTPUTS[name].make().column(column, Value("int8")).dtype).endswith("int64")
    assert str(OUTPUTS[name].make().column(stored(Value("float64"), [0.5]), Value("float64")).dtype).endswith("float32")


def test_torch_dtype_that_is_already_there_is_shared():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    column = stored(*SHARED["float32"])
    tensor = OUTPUTS["torch"].make(dtype=torch.float32, device="cpu", copy=False).column(column, Value("float32"))
    assert address(tensor) == values_of(column)[0]
