"""The base of outputs for array libraries: how columns, rows and nested values become tensors.

A subclass says how to make a tensor from a numpy array (`tensor`), what a list of values becomes (`gathered`) and how
text is shown (`text`). The rest follows from the shape of the data: equal shapes are converted in one go, everything
else value by value.
"""

from __future__ import annotations

import datetime as dt
import decimal
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import CastError, DatasetsError
from crucible_datasets.features import Features, dtypes
from crucible_datasets.features.arrays import ArrayXD
from crucible_datasets.features.batch_decode import Located, in_turn, is_media
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.image import is_picture
from crucible_datasets.features.storage import one_array
from crucible_datasets.outputs import arrays
from crucible_datasets.outputs.arrays import AnyArray

NUMBERS = (np.ndarray, np.generic, bool, int, float, decimal.Decimal, dt.date, dt.time, dt.timedelta)

_MEDIA_AT_ONCE = 64


class TensorFormatter(ABC):
    """Rows are dicts of tensors; batches are dicts of stacked tensors, or of lists where shapes differ."""

    def __init__(self, **kwargs: Any) -> None:
        self.kwargs = kwargs
        self._known: tuple[Features | None, bool] = None, False  # features, and whether there are media among them

    @abstractmethod
    def tensor(self, value: Any) -> Any:
        """A numpy array, a numpy scalar or a Python number as one tensor."""

    @abstractmethod
    def gathered(self, values: list[Any]) -> Any:
        """Converted values as one tensor when their shapes and dtypes agree, otherwise as a list."""

    def row(self, table: pa.Table, features: Features) -> dict[str, Any]:
        return next(self.rows(table, features))

    def rows(self, table: pa.Table, features: Features) -> Iterator[dict[str, Any]]:
        if not features:
            return ({} for _ in range(table.num_rows))
        if not self._has_media(features):
            pairs = zip(table.columns, features.values(), strict=True)
            columns = []
            for column, feature in pairs:
                with self._refusals(column):
                    columns.append(self.items(one_array(column), feature))
            return (dict(zip(features, values, strict=True)) for values in zip(*columns, strict=True))
        # Decoded media are much larger than stored ones.
        starts = range(0, table.num_rows, _MEDIA_AT_ONCE)
        return chain.from_iterable(self._rows(table.slice(at, _MEDIA_AT_ONCE), features, at) for at in starts)

    def _has_media(self, features: Features) -> bool:
        # Cached: rows are read one by one, with the same features each time.
        if self._known[0] is not features:
            self._known = features, any(map(is_media, features.values()))
        return self._known[1]

    def _rows(self, table: pa.Table, features: Features, first: int) -> Iterator[dict[str, Any]]:
        columns = [
            self._in_turn(column, name, kind, first) if is_media(kind) else self.items(one_array(column), kind)
            for column, (name, kind) in zip(table.columns, features.items(), strict=True)
        ]
        return (dict(zip(features, values, strict=True)) for values in zip(*columns, strict=True))

    def _in_turn(self, column: pa.ChunkedArray, name: str, feature: Any, first: int) -> Iterator[Any]:
        with Located(name, range(first, first + len(column))):
            yield from map(self.nested, in_turn(column.to_pylist(), feature))

    def batch(self, table: pa.Table, features: Features) -> dict[str, Any]:
        pairs = zip(features.items(), table.columns, strict=True)
        return {name: self.column(column, feature) for (name, feature), column in pairs}

    def column(self, column: pa.ChunkedArray, feature: Any) -> Any:
        with self._refusals(column):
            return self._column(column, feature)

    @contextmanager
    def _refusals(self, column: pa.ChunkedArray) -> Iterator[None]:
        """Name the column whose values the library has no type for."""
        try:
            with np.errstate(over="ignore"):  # values beyond float32 become infinite
                yield
        except DatasetsError:
            raise
        except (TypeError, ValueError, OverflowError, RuntimeError) as error:
            library = type(self).__module__.rpartition(".")[2]
            raise CastError(column._name, str(column.type), library, str(error)) from error

    def _column(self, column: pa.ChunkedArray, feature: Any) -> Any:
        if decoder(feature):
            values = in_turn(column.to_pylist(), feature, column._name)
            return self.gathered([self.nested(value) for value in values])
        if not len(column):
            # The type of nulls is unknown.
            return self.tensor(np.empty(0))
        if arrays.holds_no_numbers(column.type):
            return self.text_column(column)
        array = one_array(column)
        stacked = arrays.matrices(array, feature.shape) if isinstance(feature, ArrayXD) else arrays.block(array)
        if stacked is not None and stacked.dtype != object:
            return self.tensor(stacked)
        if stacked is None and (ragged := arrays.pieces(array)) is not None:
            return self.ragged(*ragged)
        return self.gathered(self.items_at_once(array, feature))

    def items(self, array: pa.Array, feature: Any) -> list[Any]:
        """The values of a column as they are shown in a row."""
        if decoder(feature):
            return [self.nested(value) for value in in_turn(array.to_pylist(), feature)]
        if arrays.holds_no_numbers(array.type):
            return self.text_items(array)
        # A null would change the dtype of its neighbours if they were converted together.
        if len(array) > 1 and arrays.has_nulls(array):
            return self.items_one_by_one(array, feature)
        if not dtypes.is_list(array.type) and (flat := arrays.block(array)) is not None:
            return self.scalars(flat)
        return self.items_at_once(array, feature)

    def items_at_once(self, array: pa.Array, feature: Any) -> list[Any]:
        if isinstance(feature, ArrayXD):
            stacked = arrays.matrices(array, feature.shape)
            return self.split(stacked) if stacked.dtype != object else [self.nested(value) for value in stacked]
        if (block := arrays.block(array)) is not None:
            return self.split(block)
        if (ragged := arrays.pieces(array)) is not None:
            return self.split(*ragged)
        return [self.nested(value) for value in arrays.objects(array)]

    def items_one_by_one(self, array: pa.Array, feature: Any) -> list[Any]:
        if not pa.types.is_integer(array.type):
            return [self.items(array.slice(index, 1), feature)[0] for index in range(len(array))]
        items = self.items(array.fill_null(0), feature)
        for index in np.flatnonzero(array.is_null()).tolist():
            items[index] = self.items(array.slice(index, 1), feature)[0]
        return items

    def options(self, value: Any, integers: Any, floats: Any) -> dict[str, Any]:
        """The keyword arguments for the tensor of a numpy value; durations count as integers, as in numpy."""
        if "dtype" in self.kwargs or not isinstance(value, (np.ndarray, np.generic)):
            return self.kwargs
        if value.dtype.kind in "ium":
            require_fitting(value, integers)
            return {"dtype": integers, **self.kwargs}
        return {"dtype": floats, **self.kwargs} if value.dtype.kind == "f" else self.kwargs

    def nested(self, value: Any) -> Any:
        """One value of any kind, with its numbers as tensors."""
        if value is None or isinstance(value, (str, bytes)):
            return self.text(value)
        if isinstance(value, dict):
            return {name: self.nested(item) for name, item in value.items()}
        if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype == object and value.ndim):
            return self.gathered([self.nested(item) for item in value])
        if isinstance(value, NUMBERS):
            return self.tensor(value)
        if callable(shown_as := getattr(value, "shown_as", None)):
            return shown_as(self.media)
        return self.image(np.asarray(value)) if is_picture(value) else value

    def text(self, value: Any) -> Any:
        """A string, bytes or None."""
        return value

    def text_items(self, array: pa.Array) -> list[Any]:
        """A column that holds nothing but text, as it is shown in rows."""
        return [self.nested(value) for value in array.to_pylist()]

    def text_column(self, column: pa.ChunkedArray) -> Any:
        """A column that holds nothing but text, at any depth."""
        return column.to_pylist()

    def ragged(self, flat: AnyArray, sizes: list[int]) -> Any:
        """A column of lists of unequal length, given as one flat array and the sizes of its lists."""
        return self.split(flat, sizes)

    def image(self, pixels: AnyArray) -> Any:
        """A decoded image, as height × width (× channels)."""
        return self.tensor(pixels)

    def media(self, array: AnyArray) -> Any:
        """Audio samples or video frames, unchanged."""
        return self.image(array)

    def scalars(self, flat: AnyArray) -> list[Any]:
        """The values of a flat array, as they are shown in rows."""
        return self.split(flat)

    def split(self, array: AnyArray, sizes: list[int] | None = None) -> list[Any]:
        """One tensor per row of `array`, or per run of `sizes` rows."""
        if sizes is None:
            return [self.tensor(row) for row in array]
        ends = np.cumsum(sizes).tolist()
        return [self.tensor(array[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def require_fitting(array: Any, dtype: Any) -> None:
    """Refuse integers and durations that the dtype would wrap around."""
    whole = array.view(np.int64) if array.dtype.kind == "m" else array
    limits = np.iinfo(dtype)
    if array.size and not np.can_cast(whole.dtype, dtype):
        least, most = int(whole.min()), int(whole.max())
        if least < limits.min or most > limits.max:
            raise OverflowError(f"{least if least < limits.min else most} is not a {np.dtype(dtype)}")


def alike(values: list[Any], kind: type | tuple[type, ...]) -> bool:
    """Whether values are tensors of one shape and dtype."""
    tensors = bool(values) and all(isinstance(value, kind) for value in values)
    return tensors and len({(tuple(value.shape), value.dtype) for value in values}) == 1
