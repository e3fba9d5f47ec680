"""JAX arrays land on the device that is named."""

import pyarrow as pa
import pytest

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.features import Value
from crucible_datasets.outputs.base import OUTPUTS

jax = pytest.importorskip("jax", reason="jax is not installed")


def test_a_device_is_named_by_a_string():
    with pytest.raises(ArgumentError, match=r"str\(device\)"):
        OUTPUTS["jax"].make(device=jax.devices()[0])


def test_an_unknown_device_gives_way_to_the_first_one(caplog):
    formatter = OUTPUTS["jax"].make(device="cpu:99")
    assert formatter.device == jax.devices()[0]
    assert "cpu:99" in caplog.text


def test_the_device_is_where_arrays_are():
    name = str(jax.devices()[0])
    array = OUTPUTS["jax"].make(device=name).column(pa.chunked_array([[1, 2]]), Value("int64"))
    assert {str(device) for device in array.devices()} == {name}
