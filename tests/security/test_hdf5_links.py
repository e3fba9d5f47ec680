"""Links inside of an HDF5 file reach no other file, whichever columns are asked for, and multiply nothing without bound."""

import numpy as np
import pytest

from crucible_datasets import load_dataset
from crucible_datasets.exceptions import FileFormatError, LimitExceededError

h5py = pytest.importorskip("h5py")


def external(file, other):
    file["b"] = h5py.ExternalLink(other, "/secret")


def soft_into_external(file, other):
    file["x"] = h5py.ExternalLink(other, "/")
    file["b"] = h5py.SoftLink("/x/secret")


def soft_to_external(file, other):
    file.create_group("g")["x"] = h5py.ExternalLink(other, "/secret")
    file["b"] = h5py.SoftLink("/g/x")


def soft_chain(file, other):
    file["y"] = h5py.ExternalLink(other, "/")
    file["z"] = h5py.SoftLink("/y/secret")
    file["b"] = h5py.SoftLink("/z")


def group_of_external(file, other):
    file.create_group("b")["x"] = h5py.ExternalLink(other, "/secret")


def raw_storage(file, other):
    file.create_dataset("b", (3,), "i8", external=[(other, 0, 24)])


def virtual(file, other):
    layout = h5py.VirtualLayout((3,), "i8")
    layout[:] = h5py.VirtualSource(other, "secret", (3,))
    file.create_virtual_dataset("b", layout)


WAYS = [external, soft_into_external, soft_to_external, soft_chain, group_of_external, raw_storage, virtual]


@pytest.mark.parametrize("columns", [None, ["b"], ["b", "a"]])
@pytest.mark.parametrize("make", WAYS)
def test_values_of_another_file_are_refused(make, columns, tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["secret"] = np.array([41, 42, 43])
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["a"] = np.arange(3)
        make(file, str(tmp_path / "other.h5"))
    with pytest.raises(FileFormatError):
        load_dataset("hdf5", data_files=str(tmp_path / "a.h5"), columns=columns)


def test_soft_links_inside_of_the_file_are_followed(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["a"] = np.arange(3)
        file["b"] = h5py.SoftLink("/a")
    rows = load_dataset("hdf5", data_files=str(tmp_path / "a.h5"), columns=["b"], split="train")
    assert rows["b"][:] == [0, 1, 2]


def test_groups_that_links_multiply_are_refused(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        below = file.create_group("g0")
        below["a"] = np.arange(3)
        for number in range(1, 40):
            group = file.create_group(f"g{number}")
            group["left"] = group["right"] = below
            below = group
    with pytest.raises(LimitExceededError):
        load_dataset("hdf5", data_files=str(tmp_path / "a.h5"), columns=["g39"])
