"""Each library opens the folders that the other saved."""

from __future__ import annotations

import io
import json
import os
from typing import Any

import datasets as hf
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Picture
from support.parity import canonical, standard_class
from support.tables import specs

import crucible_datasets as ours

LIBRARIES = [(hf, ours), (ours, hf), (ours, ours)]
BOTH_WAYS = pytest.mark.parametrize(("writer", "reader"), LIBRARIES, ids=["theirs→ours", "ours→theirs", "ours→ours"])


def png() -> bytes:
    stream = io.BytesIO()
    Picture.fromarray(np.zeros((2, 3, 3), np.uint8)).save(stream, "PNG")
    return stream.getvalue()


def rich(library: Any) -> Any:
    """One column of every kind that files keep in a way of their own."""
    features = library.Features(
        {
            "label": library.ClassLabel(names=["no", "yes"]),
            "json": library.Json(),
            "matrix": library.Array2D((2, 2), "float32"),
            "image": library.Image(decode=False),
            "turns": library.List(
                {"role": library.Value("string"), "n": library.List(library.Value("int8"), length=2)}
            ),
            "when": library.Value("timestamp[us, tz=UTC]"),
            "text": library.Value("large_string"),
        }
    )
    row = {
        "label": 1,
        "json": {"a": [1, "b", None]},
        "matrix": [[1.0, 2.0], [3.0, 4.0]],
        "image": {"bytes": png(), "path": None},
        "turns": [{"role": "user", "n": [1, 2]}, {"role": None, "n": None}],
        "when": 1,
        "text": "é🙂",
    }
    empty = dict.fromkeys(row)
    return library.Dataset.from_list([row, {**empty, "label": 0}, row], features=features, split="validation")


@BOTH_WAYS
@given(spec=specs(), num_shards=st.integers(1, 2), random=st.randoms())
def test_tables_of_any_types(tmp_path_factory, writer, reader, spec, num_shards, random):
    if len(spec) < num_shards:
        return  # Hugging Face saves no rows as no files, and cannot open them
    folder = str(tmp_path_factory.mktemp("saved") / "it")
    written = spec.dataset(writer).select(random.sample(range(len(spec)), len(spec)))
    written.save_to_disk(folder, num_shards=num_shards)
    assert canonical(reader.load_from_disk(folder)) == canonical(written)


@BOTH_WAYS
def test_columns_of_every_kind(tmp_path, writer, reader):
    written = rich(writer)
    written.save_to_disk(tmp_path / "it")
    found = reader.load_from_disk(tmp_path / "it")
    assert canonical(found) == canonical(written)
    assert found.split == "validation"


@BOTH_WAYS
@pytest.mark.parametrize("format", [None, "numpy", "torch", "pandas", "polars", "arrow", "jax"])
def test_formats(tmp_path, writer, reader, format):
    if format in ("torch", "jax"):
        pytest.importorskip(format, reason=f"{format} is not installed")
    written = writer.Dataset.from_dict({"a": [1, 2], "b": ["x", "y"]})
    written = written.with_format(format, columns=["a"], output_all_columns=format in (None, "numpy"))
    written.save_to_disk(tmp_path / "it")
    assert reader.load_from_disk(tmp_path / "it").format == written.format


@BOTH_WAYS
@pytest.mark.parametrize(
    "view",
    [
        lambda dataset: dataset.shuffle(seed=5),
        lambda dataset: dataset.select([3, 3, 1]),
        lambda dataset: dataset.select(range(2, 6)),
        lambda dataset: dataset.rename_column("n", "m").shard(3, 1, contiguous=False),
    ],
)
def test_indices_are_applied(tmp_path, writer, reader, view):
    written = view(writer.Dataset.from_dict({"n": list(range(10))}))
    written.save_to_disk(tmp_path / "it", num_shards=2)
    assert canonical(reader.load_from_disk(tmp_path / "it")) == canonical(written)


@BOTH_WAYS
def test_dicts(tmp_path, writer, reader):
    rows = writer.Dataset.from_dict({"n": list(range(4))})
    written = writer.DatasetDict({"train": rows, "test": rows.select([1])})
    written.save_to_disk(tmp_path / "it", num_shards={"train": 2, "test": 1})
    found = reader.load_from_disk(tmp_path / "it")
    assert type(found) is reader.DatasetDict
    assert canonical(found) == canonical(written)


def test_the_files_are_the_same(tmp_path):
    for name, library in (("theirs", hf), ("ours", ours)):
        rich(library).with_format("numpy", ["label"]).save_to_disk(tmp_path / name, num_shards=2)
        library.DatasetDict({"a": rich(library)}).save_to_disk(tmp_path / f"{name} dict")
    for theirs, own in (("theirs", "ours"), ("theirs dict", "ours dict")):
        assert layout(tmp_path / theirs) == layout(tmp_path / own)
    keep = "_data_files", "_format_columns", "_format_kwargs", "_format_type", "_output_all_columns", "_split"
    states = [json.loads((tmp_path / name / "state.json").read_text()) for name in ("theirs", "ours")]
    assert [states[0][key] for key in keep] == [states[1][key] for key in keep]
    assert states[0].keys() == states[1].keys()
    infos = [(tmp_path / name / "dataset_info.json").read_text() for name in ("theirs", "ours")]
    assert infos[0] == infos[1]


def layout(folder: Any) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_the_fingerprint_travels(tmp_path):
    for writer in (hf, ours):
        written = writer.Dataset.from_dict({"n": [1]})
        written.save_to_disk(tmp_path / writer.__name__)
        assert ours.load_from_disk(tmp_path / writer.__name__)._fingerprint == written._fingerprint


@pytest.mark.parametrize(
    "wishes", [{}, {"num_shards": 4}, {"max_shard_size": 20}, {"max_shard_size": 50}, {"max_shard_size": "1KB"}]
)
def test_the_same_number_of_files(tmp_path, wishes):
    counts = []
    for library in (hf, ours):
        folder = tmp_path / library.__name__
        library.Dataset.from_dict({"n": list(range(10))}).save_to_disk(folder, **wishes)
        counts.append(layout(folder))
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    "call",
    [
        lambda library, path: library.load_from_disk(path / "missing"),
        lambda library, path: library.load_from_disk(path),
        lambda library, path: library.Dataset.load_from_disk(path),
        lambda library, path: library.DatasetDict.load_from_disk(path),
        lambda library, path: library.Dataset.from_dict({"n": [1]}).save_to_disk(
            path / "it", num_shards=2, max_shard_size="1MB"
        ),
        lambda library, path: library.Dataset.from_dict({"n": [1]}).save_to_disk(path / "it", max_shard_size="big"),
        lambda library, path: library.Dataset.from_dict({"n": [1]}).with_transform(str).save_to_disk(path / "it"),
        lambda library, path: library.DatasetDict({"a": library.Dataset.from_dict({"n": [1]})}).save_to_disk(
            path / "it", num_shards=1
        ),
    ],
)
def test_the_same_errors(tmp_path, call):
    kinds = []
    for library in (hf, ours):
        folder = tmp_path / library.__name__
        os.makedirs(folder)
        with pytest.raises(Exception) as raised:
            call(library, folder)
        kinds.append(raised.value)
    assert isinstance(kinds[1], standard_class(kinds[0]))
