"""Names of columns are texts that UTF-8 has a form for; anything else is a typed error, wherever it comes from."""

from __future__ import annotations

import pytest

from crucible_datasets import Dataset, Features, IterableDataset, Value
from crucible_datasets.exceptions import ColumnNamesError, DatasetsError

BAD_NAMES = [1, 1.5, True, None, b"x", ("a",), "\ud800", "a\udfff"]
_WAYS = {
    "from_list": lambda rows, name: Dataset.from_list([{name: 1}]),
    "from_dict": lambda rows, name: Dataset.from_dict({name: [1]}),
    "features": lambda rows, name: Features({name: Value("int64")}),
    "features of objects": lambda rows, name: Features({"a": {name: Value("int64")}}),
    "features, later": lambda rows, name: Features().__setitem__(name, Value("int64")),
    "map": lambda rows, name: rows.map(lambda row: {name: 1}),
    "map of batches": lambda rows, name: rows.map(lambda batch: {name: [1]}, batched=True),
    "add_item": lambda rows, name: rows.add_item({"a": 1, name: 1}),
    "add_column": lambda rows, name: rows.add_column(name, [1]),
    "rename_column": lambda rows, name: rows.rename_column("a", name),
    "stream, rename_column": lambda rows, name: rows.to_iterable_dataset().rename_column("a", name),
    "stream, add_column": lambda rows, name: rows.to_iterable_dataset().add_column(name, [1]),
}


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_a_name_that_no_column_can_have_is_refused(way, name):
    with pytest.raises(ColumnNamesError) as caught:
        _WAYS[way](Dataset.from_dict({"a": [1]}), name)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_a_generator_and_objects_say_so_too(name, tmp_path):
    for rows in ([{name: 1}], [{"a": {name: 1}}], [{"a": [{name: 1}]}]):
        with pytest.raises(DatasetsError):
            Dataset.from_generator(lambda rows=rows: iter(rows), cache_dir=str(tmp_path))
        with pytest.raises(DatasetsError):
            IterableDataset.from_generator(lambda rows=rows: iter(rows)).to_parquet(str(tmp_path / "a.parquet"))
