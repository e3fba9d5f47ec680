"""Views in a form that other machines can read: remote files by their URL, all other rows as Arrow."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.features.batch_decode import is_media
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.embed import embedded
from crucible_datasets.tables.portable import Journey
from crucible_datasets.tables.rows import Rows, compose
from crucible_datasets.tables.view import View


def portable(view: View, rows: Rows, sees_files: bool) -> View:
    """These rows of a view; `sees_files` says whether the other machine shares our file system."""
    journey = Journey(sees_files, partial(with_files, features=view.readable))
    table, places = journey.of(view.table, compose(view.rows, rows))
    return replace(view, table=table, rows=places)


def with_files(table: pa.Table, features: Features) -> pa.Table:
    """The table with the media files embedded that other machines do not have."""
    for place, name in enumerate(table.column_names):
        feature = features[name]
        if is_media(feature) and decoder(feature):
            held = _holding_files(table.select([name]), Features({name: feature}))
            table = table.set_column(place, table.schema.field(name), held.column(0))
    return table


def _holding_files(table: pa.Table, features: Features) -> pa.Table:
    """A column with readable media files embedded; unreadable ones raise when they are decoded."""
    try:
        return embedded(table, features)
    except Exception:  # noqa: BLE001  (whatever reading a file raises)
        half = table.num_rows // 2
        if not half:
            return table
        return pa.concat_tables([_holding_files(part, features) for part in (table.slice(0, half), table.slice(half))])
