"""The result of a batched function → columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crucible_datasets.exceptions import ColumnLengthError, FunctionResultError
from crucible_datasets.ops.mapping.calls import Returned
from crucible_datasets.ops.mapping.lazy import UNREAD, LazyBatch
from crucible_datasets.ops.mapping.outcomes import Merged, Outcome


class Batch(Merged):
    """The result of a batched function."""

    def outcome(self, given: Returned) -> Outcome:
        value = given.values[0]
        own = isinstance(value, LazyBatch) and value.block is self.block
        if not isinstance(value, Mapping):
            raise FunctionResultError(type(value).__name__, True)
        returned: dict[str, Any] = {} if own else dict(value)
        changes = self._changes(value if isinstance(value, LazyBatch) and own else None, returned)
        for name, column in returned.items():
            _require_column(name, column)
        lengths = {name: len(column) for name, column in {**changes, **returned}.items()}
        has_columns = set(self.block.names) - self.gone - self.merge.removed
        num_rows = next(iter(lengths.values()), len(self.rows) if has_columns else 0)
        for name, length in lengths.items():
            if length != num_rows:
                raise ColumnLengthError(name, length, num_rows)
        made = {**returned, **changes}
        for name in {**dict.fromkeys(self._held()), **made}:  # columns set in the batch come before those returned
            if name in made:
                self.set(name, made[name])
        return self.finished(num_rows)

    def _held(self) -> Iterable[str]:
        """The columns of the input batch, including those that the function set in it."""
        return self.block.batch or () if self.block.source.is_python else ()

    def _changes(self, batch: LazyBatch | None, returned: Mapping[str, Any]) -> dict[str, Any]:
        """Columns that the function set or changed in place in the batch itself."""
        block = self.block
        if not block.source.is_python and batch is None:
            return {}
        held = batch if batch is not None else block.batch
        if held is None:
            return {}
        self.gone |= {name for name in block.names if name not in held and name not in returned}
        values = {name: held.held(name) for name in held}
        return {
            name: value
            for name, value in values.items()
            if value is not UNREAD and name not in returned and name not in self.merge.removed
            if batch is not None or not (value is block.columns.get(name) and self.is_media(name))
        }


def _require_column(name: str, column: Any) -> None:
    if isinstance(column, (str, bytes, Mapping, set, frozenset)) or not hasattr(column, "__len__"):
        raise FunctionResultError(type(column).__name__, True, name)
    if getattr(column, "ndim", 1) == 0:
        raise FunctionResultError("a scalar", True, name)
