"""Small things that differ easily: order of columns, kinds of errors, batches for loaders, numbers beside nulls."""

from __future__ import annotations

import datasets as hf
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from support.parity import canonical, same_outcome

import crucible_datasets as ours

ROWS = {"n": [3, None, 2], "s": ["b", "a", "c"], "f": [0.5, 1.5, 2.5]}


def both(call):
    return same_outcome(lambda: call(hf), lambda: call(ours))


def turned(library):
    return library.Features({"b": library.Value("int64"), "a": library.Value("int64")})


@pytest.mark.parametrize(
    "make",
    [
        lambda library, file: library.Dataset.from_dict({"a": [1], "b": [2]}, features=turned(library)),
        lambda library, file: library.Dataset.from_list([{"a": 1, "b": 2}], features=turned(library)),
        lambda library, file: library.Dataset(
            pa.table({"a": [1], "b": [2]}), info=library.DatasetInfo(features=turned(library))
        ),
        lambda library, file: library.Dataset.from_csv(
            str(file), features=turned(library), cache_dir=str(file.parent / library.__name__)
        ),
    ],
    ids=["dict", "list", "table", "csv"],
)
def test_the_order_of_columns_beside_stated_features(make, tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("a,b\n1,2\n")
    both(lambda library: make(library, file))


@pytest.mark.parametrize("format", ["numpy", "torch", "pandas"])
def test_rows_for_a_loader_are_cut_from_one_batch(format):
    both(lambda library: library.Dataset.from_dict(ROWS).with_format(format, columns=["n", "f"]).__getitems__([2, 1]))


def test_a_transform_is_called_once_for_a_batch_of_a_loader():
    loading = pytest.importorskip("torch.utils.data", reason="torch is not installed")

    def padded(batch):
        width = max(map(len, batch["s"]))
        return {"s": [[ord(letter) for letter in text.ljust(width)] for text in batch["s"]]}

    def loaded(library):
        data = library.Dataset.from_dict({"s": ["a", "bcd", "ef", "g"]}).with_transform(padded)
        return [[part.tolist() for part in batch["s"]] for batch in loading.DataLoader(data, batch_size=2)]

    both(loaded)


@pytest.mark.parametrize(
    "call",
    [
        lambda data: data.select(pl.Series([2, 0])),
        lambda data: data.select(np.array([1.0])),
        lambda data: data.select([2**70]),
        lambda data: data[[2**70]],
        lambda data: data.rename_column("n", "n"),
        lambda data: data.unique(["n"]),
        lambda data: data.batch(1.5),
        lambda data: data.with_format("pandas", zz=1),
        lambda data: data.with_format(None, zz=1),
        lambda data: data.with_format("arrow", zz=1),
    ],
)
def test_unusual_arguments(call):
    both(lambda library: call(library.Dataset.from_dict(ROWS)))


@pytest.mark.parametrize(
    "call",
    [
        lambda library: library.Dataset.from_dict({"a": [1, "x"]}),
        lambda library: library.Dataset.from_dict({"a": [1], "b": [1, 2]}),
        lambda library: library.Dataset.from_dict({"a": ["x"]}).cast_column("a", library.Value("int64")),
        lambda library: library.Dataset.from_dict({"a": [1]}).cast_column("a", library.Value("time32[s]")),
        lambda library: library.Dataset.from_dict(
            {"a": [1]}, features=library.Features({"a": library.Value("time32[s]")})
        ),
    ],
)
def test_errors_of_arrow_are_caught_as_such(call):
    with pytest.raises(pa.ArrowException) as theirs:
        call(hf)
    with pytest.raises(theirs.type) as found:
        call(ours)
    assert isinstance(found.value, ours.exceptions.DatasetsError)


def test_features_in_their_dict_form_keep_tuples():
    both(lambda library: library.Features({"m": library.Array2D((2, 3), "int32")}).to_dict()["m"]["shape"])
    assert isinstance(ours.Features({"m": ours.Array2D((2, 3), "int32")}).to_dict()["m"]["shape"], tuple)
    encode = {"en": ["b", "a"], "de": "c"}
    languages = [library.TranslationVariableLanguages(["en", "de"]).encode_example(encode) for library in (hf, ours)]
    assert languages[0] == languages[1]


@pytest.mark.parametrize("options", [{"date_format": "iso"}, {"double_precision": 3}], ids=str)
def test_integers_beside_nulls_are_written_as_integers(options, tmp_path):
    files = [tmp_path / library.__name__ for library in (hf, ours)]
    nested = {**ROWS, "d": [{"x": 1}, {"x": None}, {"x": 2}]}
    for library, file in zip((hf, ours), files, strict=True):
        library.Dataset.from_dict(nested).to_json(str(file), **options)
    assert files[0].read_text() == files[1].read_text()


def test_not_a_number_in_a_csv_with_a_format(tmp_path):
    files = [tmp_path / library.__name__ for library in (hf, ours)]
    for library, file in zip((hf, ours), files, strict=True):
        library.Dataset.from_dict({"f": [1.5, float("nan"), None], "n": [1, 2, 3]}).to_csv(
            str(file), float_format="%.2f"
        )
    assert files[0].read_text() == files[1].read_text()


def test_a_column_shows_itself_as_a_batch():
    shown = [repr(library.Dataset.from_dict(ROWS).with_format("numpy")["n"]) for library in (hf, ours)]
    assert shown[0] == shown[1]
    assert canonical(list(ours.Dataset.from_dict(ROWS)["n"])) == canonical(ROWS["n"])


@pytest.mark.parametrize("format", ["numpy", "torch", "pandas", "polars", "arrow", None])
def test_a_column_is_shown_as_its_dataset_is_shown_now(format):
    def looked_at_later(library):
        data = library.Dataset.from_dict(ROWS).with_format("numpy" if format is None else None)
        column = data["f"]
        data.set_format(format)
        return column[0], column[:2], column[[2, 0]], list(column), len(column)

    both(looked_at_later)
