"""The names of columns and of fields of objects: text that UTF-8 has a form for."""

from __future__ import annotations

from typing import Any

from crucible_datasets.exceptions import ColumnNamesError


def require_name(name: Any) -> None:
    """Raise unless Arrow can store the name."""
    if not isinstance(name, str):
        raise ColumnNamesError([name], (), f"a name is a text, not {type(name).__name__}")
    if not name.isascii():
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise ColumnNamesError([name], (), "UTF-8 has no form for it") from error
