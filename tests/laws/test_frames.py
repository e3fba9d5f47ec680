"""Rows that pass through data frames of pandas and Polars stay what they are."""

from __future__ import annotations

import pandas as pd
import polars as pl
from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets.exceptions import DatasetsError
from laws import equality, values
from laws.law import law
from laws.ways import columns_of

_ROWS = st.booleans().flatmap(lambda mixed: values.rows(values.JSON_LEAVES, mixed=mixed, longest=11))


def _objects(source):
    return {name: pd.Series(cells, dtype=object) for name, cells in columns_of(source).items()}


_CONSTRUCTORS = {
    "pandas": lambda source: ours.Dataset.from_pandas(pd.DataFrame(_objects(source))),
    "pandas, as a stream": lambda source: ours.IterableDataset.from_pandas(pd.DataFrame(_objects(source))),
    "pandas, columns": lambda source: ours.Dataset.from_dict(_objects(source)),
    "Polars": lambda source: ours.Dataset.from_polars(
        pl.DataFrame([pl.Series(name, cells, dtype=pl.Object) for name, cells in columns_of(source).items()])
    ),
    "Polars, columns": lambda source: ours.Dataset.from_dict(
        {name: pl.Series(name, cells, dtype=pl.Object) for name, cells in columns_of(source).items()}
    ),
}


@law(examples=30, rows=_ROWS, constructor=st.sampled_from(sorted(_CONSTRUCTORS)))
def test_objects_in_data_frames_become_what_lists_of_them_become(rows, constructor, folder):
    source = rows.list()
    try:
        expected = ours.Dataset.from_list(source)
    except DatasetsError as error:
        expected, refusal = None, type(error)
    try:
        result = _CONSTRUCTORS[constructor](source)
    except DatasetsError as error:
        assert expected is None, f"refused: {error}"
        assert type(error) is refusal
        return
    assert expected is not None, f"not refused: {result.features}"
    equality.same(expected.to_list(), list(result))
    assert result.features == expected.features


_WAYS = {
    "to_pandas": lambda data: ours.Dataset.from_pandas(data.to_pandas(), data.features, preserve_index=False),
    "to_polars": lambda data: ours.Dataset.from_polars(data.to_polars(), data.features),
    **{
        f"map of {library}{', a stream' if streaming else ''}": lambda data, library=library, streaming=streaming: (
            (data.to_iterable_dataset() if streaming else data)
            .with_format(library)
            .map(lambda frame: frame, batched=True, batch_size=3, features=data.features)
            .with_format(None)
        )
        for library in ("pandas", "polars", "arrow")
        for streaming in (False, True)
    },
}


def _has_gaps(value):
    """Whether a list holds None, which pandas turns into NaN if the list is one of numbers."""
    if isinstance(value, dict):
        return any(map(_has_gaps, value.values()))
    return isinstance(value, list) and (None in value or any(map(_has_gaps, value)))


@law(examples=25, rows=_ROWS, way=st.sampled_from(sorted(_WAYS)))
def test_data_frames_give_their_rows_back(rows, way, folder):
    if "pandas" in way and any(_has_gaps(list(row.values())) for row, _ in rows.runs):
        return
    data = ours.Dataset.from_list(rows.list(), on_mixed_types="use_json")
    equality.same(data.to_list(), list(_WAYS[way](data)))
