"""Where an error of a user's function came from, told on the error itself."""

from __future__ import annotations

from collections.abc import Collection

from crucible_datasets.exceptions import ColumnNotFoundError


def tell_where(error: BaseException, name: str, rows: range, columns: Collection[str]) -> None:
    """Note on an error the function and the rows, and the columns there are if another one was asked for."""
    where = f"row {rows.start}" if len(rows) == 1 else f"rows {rows.start} to {rows.stop - 1}"
    error.add_note(f"This came from {name} on {where}.")
    asked = error.args[0] if type(error) is KeyError and error.args else None
    if isinstance(asked, str) and asked not in columns:
        error.add_note(str(ColumnNotFoundError(asked, columns)))
