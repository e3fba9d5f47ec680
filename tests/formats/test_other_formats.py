"""Text, XML, HDF5, Lance and evaluation logs: what they refuse and what they read."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from support.formats import loaded

from crucible_datasets.exceptions import ArgumentError, FileFormatError, LimitExceededError, ValueTypeError
from crucible_datasets.features import Features
from crucible_datasets.formats import eval_members
from crucible_datasets.formats.base import FORMATS


def rows(name: str, data: bytes, **options) -> dict:
    return loaded(FORMATS[name], data, **options)[1]


def test_a_text_with_a_line_break_is_not_written_as_two_lines():
    table = pa.table({"text": ["a\nb"]})
    with pytest.raises(ValueTypeError, match="line break"):
        FORMATS["text"].write([table], Features.from_arrow_schema(table.schema), io.BytesIO())


def test_an_unknown_way_to_split_text_is_refused():
    with pytest.raises(ArgumentError, match="paragraph"):
        rows("text", b"a\n", sample_by="word")


@pytest.mark.parametrize("name", ["text", "xml", "conll", "json", "csv"])
def test_bytes_that_are_not_text_are_an_error_that_names_the_place(name):
    with pytest.raises(FileFormatError, match="utf-8") as caught:
        rows(name, b'{"a": "\xe9"}\n')
    assert caught.value.offset is not None


def test_xml_is_one_row():
    assert rows("xml", "<a>é</a>\r\n".encode()) == {"xml": ["<a>é</a>\n"]}


@pytest.fixture
def hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")

    def make(fill) -> bytes:
        with h5py.File(tmp_path / "made.h5", "w") as file:
            fill(h5py, file)
        return (tmp_path / "made.h5").read_bytes()

    return make


@pytest.mark.parametrize(
    "fill",
    [
        lambda h5py, file: file.__setitem__("a", h5py.ExternalLink("/etc/hostname", "/x")),
        lambda h5py, file: file.create_dataset("a", (3,), dtype="u1", external=[("/etc/hostname", 0, 3)]),
        lambda h5py, file: file.create_virtual_dataset("a", h5py.VirtualLayout((3,), "i4")),
        lambda h5py, file: file.create_group("g").__setitem__("loop", file["/"]),
        lambda h5py, file: (file.__setitem__("a", np.arange(3)), file.__setitem__("b", np.arange(2))),
        lambda h5py, file: file.__setitem__("a", 5),
    ],
    ids=["external link", "external storage", "virtual", "loop", "lengths", "scalar"],
)
def test_hdf5_that_reaches_outside_or_is_no_table_is_refused(hdf5, fill):
    with pytest.raises(FileFormatError):
        rows("hdf5", hdf5(fill))


@pytest.mark.parametrize("shape", [(10**11,), (1, 10**11)], ids=["rows", "one row"])
def test_hdf5_of_values_that_were_never_written_is_refused(hdf5, shape):
    with pytest.raises(LimitExceededError, match="MAX_UNPACKED_RATIO"):
        rows("hdf5", hdf5(lambda h5py, file: file.create_dataset("a", shape, dtype="u1", chunks=True)))


def test_hdf5_without_rows_keeps_its_columns(hdf5):
    assert rows("hdf5", hdf5(lambda h5py, file: file.create_dataset("a", data=np.zeros((0, 2))))) == {"a": []}


def log_of(members: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as log:
        for name, text in members.items():
            log.writestr(name, text)
    return stream.getvalue()


def test_a_log_may_name_its_samples():
    members = {"samples/b_epoch_1.json": '{"id": "b"}', "samples/a_epoch_1.json": '{"id": "a"}', "header.json": "{}"}
    assert rows("eval", log_of(members)) == {"id": ["a", "b"]}


def test_a_sample_that_grows_beyond_the_limit_is_refused(monkeypatch):
    monkeypatch.setattr(eval_members, "LARGEST", 1000)
    with pytest.raises(LimitExceededError):
        rows("eval", log_of({"samples/1_epoch_1.json": '{"id": "' + "x" * 5000 + '"}'}))


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_lance(kind, tmp_path):
    lance = pytest.importorskip("lance")
    from lance.file import LanceFileWriter

    table = pa.table({"a": [1, 2, 3], "s": ["x", None, "z"]})
    path = tmp_path / "data.lance"
    if kind == "folder":
        lance.write_dataset(table, path)
    else:
        with LanceFileWriter(str(path), table.schema) as writer:
            writer.write_batch(table.to_batches()[0])
    stream = io.BytesIO()
    stream.name = str(path)
    tables = list(FORMATS["lance"].rows(stream, columns=["s"], filters=[("a", ">", 1)]))
    assert pa.concat_tables(tables).to_pylist() == [{"s": None}, {"s": "z"}]


def test_lengths_and_heaps_of_hdf5_that_cannot_be_are_refused_before_they_are_followed(hdf5):
    data = hdf5(lambda h5py, file: file.create_dataset("t", data=["one", "", "three"], dtype=h5py.string_dtype()))
    assert rows("hdf5", data) == {"t": ["one", "", "three"]}
    heap = data.index(b"GCOL")
    address = heap.to_bytes(8, "little")
    endless = bytearray(data)
    endless[heap + 16 : heap + 32] = bytes(16)
    with pytest.raises(FileFormatError, match="heap") as caught:
        rows("hdf5", bytes(endless))
    assert caught.value.offset == heap
    at = data.index((3).to_bytes(4, "little") + address)
    with pytest.raises(FileFormatError, match="longer than the file"):
        rows("hdf5", data[: at + 3] + b"\xf0" + data[at + 4 :])
