"""Values with a type, as Arrow takes them: `pa.array(TypedSequence(values))`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.features import Features


class TypedSequence:
    """Values, and the feature that they shall have, or have if they can."""

    _column = "_"

    def __init__(
        self, data: Iterable[Any], type: Any = None, try_type: Any = None, optimized_int_type: Any = None
    ) -> None:
        if type is not None and try_type is not None:
            raise ValueError("Give a type, or a type to try, not both.")
        self.data, self.type, self.try_type, self.optimized_int_type = data, type, try_type, optimized_int_type

    def get_inferred_type(self) -> Any:
        """The feature of the values."""
        return self._rows().features[self._column]

    def _rows(self) -> Dataset:
        if self.type is not None:
            return self._rows_of(self.type)
        try:
            return self._rows_of(self.try_type)
        except (ValueError, TypeError, pa.ArrowException):
            return self._rows_of(None)

    def _rows_of(self, feature: Any) -> Dataset:
        return Dataset.from_dict(
            {self._column: self.data}, None if feature is None else Features({self._column: feature})
        )

    def __arrow_array__(self, type: pa.DataType | None = None) -> pa.Array:
        if type is not None:
            raise ValueError("The type is told when the sequence is made: pa.array(sequence).")
        table: Any = self._rows().with_format("arrow")[:]
        return table.column(0).combine_chunks()


class OptimizedTypedSequence(TypedSequence):
    """The same; columns that tokenizers make are small integers, by the name that they have."""

    def __init__(
        self, data: Any, type: Any = None, try_type: Any = None, col: str | None = None, optimized_int_type: Any = None
    ) -> None:
        super().__init__(data, type, try_type, optimized_int_type)
        self._column = col or "_"
