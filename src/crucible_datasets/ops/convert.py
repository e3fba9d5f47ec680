"""All rows of a view at once, as Python objects, Arrow or data frames. The view's format is ignored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.config import DEFAULT_MAX_BATCH_SIZE
from crucible_datasets.features import Features
from crucible_datasets.features.media import Media
from crucible_datasets.features.types import with_leaves
from crucible_datasets.ops.read import Reader
from crucible_datasets.outputs.base import OUTPUTS, Format
from crucible_datasets.tables.view import View


def to_dict(view: View, batch_size: int | None = None, batched: bool = False) -> Any:
    """Columns as Python lists."""
    return _whole_or_batches(view, Format(), batch_size, batched)


def to_list(view: View) -> list[dict[str, Any]]:
    """Rows as dicts."""
    return _reader(view, Format()).all_rows()


def to_pandas(view: View, batch_size: int | None = None, batched: bool = False) -> Any:
    """Rows as a pandas data frame, or as an iterator over frames."""
    return _whole_or_batches(view, Format("pandas"), batch_size, batched)


def to_polars(
    view: View, batch_size: int | None, batched: bool, schema_overrides: Mapping[str, Any] | None, rechunk: bool
) -> Any:
    """Rows as a polars data frame, or as an iterator over frames."""
    made = _whole_or_batches(view, Format("polars"), batch_size, batched)
    finish = partial(finished_frame, schema_overrides=schema_overrides, rechunk=rechunk)
    return map(finish, made) if batched else finish(made)


def finished_frame(frame: Any, schema_overrides: Mapping[str, Any] | None, rechunk: bool) -> Any:
    """A polars data frame with the dtypes and the memory layout requested from `to_polars`."""
    frame = frame.cast(dict(schema_overrides)) if schema_overrides else frame
    return frame.rechunk() if rechunk else frame


def _whole_or_batches(view: View, format: Format, batch_size: int | None, batched: bool) -> Any:
    reader = _reader(view, format)
    return reader.batches(batch_size or DEFAULT_MAX_BATCH_SIZE) if batched else reader.batch(range(len(view)))


def _reader(view: View, format: Format) -> Reader:
    features = Features({name: reference(kind) for name, kind in view.features.items()})
    return Reader(replace(view, features=features, format=format))


def reference(feature: Any) -> Any:
    """The feature with media undecoded: the result holds bytes and paths, not open files."""
    return with_leaves(feature, _undecoded)


def _undecoded(feature: Any) -> Any:
    return replace(feature, decode=False) if isinstance(feature, Media) else feature  # type: ignore[type-var]


def to_arrow(view: View, names: Sequence[str] | None = None) -> pa.Table:
    """Rows as an Arrow table of the features' own types."""
    features = Features({name: view.features[name] for name in names}) if names is not None else view.features
    return OUTPUTS["arrow"].make().batch(view.read(columns=names), features)


def to_numpy(reader: Reader, name: str) -> np.ndarray:
    """One column as a numpy array of its own type: the format's own array if it makes one."""
    if reader.output.name != "python":
        return np.asarray(reader.column(name))
    column = reader.view.column(name)
    if column.null_count == 0 and (pa.types.is_primitive(column.type) and not pa.types.is_temporal(column.type)):
        return column.chunk(0).to_numpy(zero_copy_only=False) if column.num_chunks == 1 else column.to_numpy()
    return np.asarray(list(reader.values(name)))
