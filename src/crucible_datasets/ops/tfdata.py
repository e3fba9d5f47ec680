"""`to_tf_dataset`: batches of a view as a `tf.data.Dataset`, read on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from crucible_datasets.exceptions import ArgumentError, ColumnNotFoundError
from crucible_datasets.forking import cached_property
from crucible_datasets.ops.read import Reader
from crucible_datasets.outputs.base import Format
from crucible_datasets.registry import need
from crucible_datasets.tables.view import View

Arrays = dict[str, np.ndarray[Any, Any]]
_KINDS = {"i": np.int64, "u": np.int64, "f": np.float32}
_PREVIEWED = 20


@dataclass(frozen=True, eq=False)
class Batches:
    """How batches are read: which columns, and the collate function."""

    view: View
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    batch_size: int | None
    collate: Callable[..., Mapping[str, Any]] | None = None
    collate_args: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns of a batch."""
        return tuple(dict.fromkeys((*self.columns, *self.labels))) or tuple(self.view.column_names)

    @cached_property
    def reader(self) -> Reader:
        """Reads the requested columns, or all if the collate function creates others."""
        there = [name for name in self.shown if name in self.view.features]
        if len(there) < len(self.shown):
            if self.collate is None:
                missing = next(name for name in self.shown if name not in there)
                raise ColumnNotFoundError(missing, self.view.column_names)
            there = self.view.column_names
        return Reader(replace(self.view, format=Format("numpy", columns=tuple(there))))

    def arrays(self, rows: np.ndarray[Any, Any]) -> Arrays:
        """The columns of some rows, each as one array."""
        batch: Mapping[str, Any] = self.reader.batch(rows.astype(np.int64))
        if self.collate is not None:
            given = [{name: values[place] for name, values in batch.items()} for place in range(len(rows))]
            batch = self.collate(given, **self.collate_args)
        names = self.shown if self.columns or self.labels else tuple(batch)
        return {name: _as_array(batch[name], name) for name in names}

    def preview(self, count: int) -> list[Arrays]:
        """The arrays of some batches, from which types and shapes are inferred."""
        size, chance = self.batch_size or 1, np.random.default_rng(0)
        most = min(len(self.view), size)
        return [self.arrays(chance.choice(len(self.view), most, replace=False)) for _ in range(max(count, 1))]


def tf_dataset(
    view: View,
    batch_size: int | None = None,
    columns: str | Sequence[str] | None = None,
    shuffle: bool = False,
    collate_fn: Callable[..., Any] | None = None,
    drop_remainder: bool = False,
    collate_fn_args: Mapping[str, Any] | None = None,
    label_cols: str | Sequence[str] | None = None,
    prefetch: bool = True,
    num_workers: int = 0,
    num_test_batches: int = _PREVIEWED,
) -> Any:
    """Batches of rows, or single rows, as tensors: features, or pairs of features and labels."""
    tf = need("tensorflow", extra="tensorflow")
    if label_cols and not columns:
        raise ArgumentError("label_cols", label_cols, "name the other columns too, in `columns`.")
    if not len(view):
        raise ArgumentError("self", "an empty dataset", "there are no rows that tell the shapes of tensors.")
    batches = Batches(view, _listed(columns), _listed(label_cols), batch_size, collate_fn, collate_fn_args or {})
    seen = batches.preview(num_test_batches)
    names, fixed = list(seen[0]), batch_size if drop_remainder else None
    specs = [_spec(tf, [one[name] for one in seen], batch_size is not None, fixed) for name in names]

    def read(rows: Any) -> list[Any]:
        found = batches.arrays(np.atleast_1d(rows))
        return [found[name] if batch_size is not None else found[name][0] for name in names]

    def tensors(rows: Any) -> Any:
        values = tf.numpy_function(read, [rows], [spec.dtype for spec in specs])
        for value, spec in zip(values, specs, strict=True):
            value.set_shape(spec.shape)
        return _parted(dict(zip(names, values, strict=True)), batches)

    made = tf.data.Dataset.range(len(view))
    made = made.shuffle(len(view)) if shuffle else made
    made = made.batch(batch_size, drop_remainder=drop_remainder) if batch_size is not None else made
    made = made.map(tensors, num_parallel_calls=num_workers, deterministic=True) if num_workers else made.map(tensors)
    return made.prefetch(tf.data.AUTOTUNE) if prefetch else made


def _listed(names: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if names is None else (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))


def _as_array(values: Any, name: str) -> np.ndarray[Any, Any]:
    array = np.asarray(values.numpy() if hasattr(values, "numpy") else values)
    if array.dtype.kind == "O" and len(array) and isinstance(array[0], np.ndarray):
        raise ArgumentError("columns", name, "its lists differ in length. Pass a collate_fn that pads them.")
    if array.dtype.kind in "UO":
        return array.astype(object)
    return array.astype(_KINDS.get(array.dtype.kind, array.dtype), copy=False)


def _spec(tf: Any, arrays: Sequence[np.ndarray[Any, Any]], is_batched: bool, fixed: int | None) -> Any:
    """The dtype and shape of a column, with None for dimensions that differ between batches."""
    lengths = map(set, zip(*(array.shape[1:] for array in arrays), strict=True))
    inner = [sizes.pop() if len(sizes) == 1 else None for sizes in lengths]
    kind = tf.string if arrays[0].dtype.kind in "SO" else tf.as_dtype(arrays[0].dtype)
    return tf.TensorSpec([fixed, *inner] if is_batched else inner, kind)


def _parted(tensors: dict[str, Any], batches: Batches) -> Any:
    """Features, or features and labels; one column alone is its tensor."""
    if not batches.columns and not batches.labels:
        return tensors
    features = {name: tensors[name] for name in batches.columns}
    labels = {name: tensors[name] for name in batches.labels}
    alone = [next(iter(part.values())) if len(part) == 1 else part for part in (features, labels)]
    return (alone[0], alone[1]) if labels else alone[0]
