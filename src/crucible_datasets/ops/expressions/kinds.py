"""Recognising expressions. It imports nothing heavy, since every `map` and `filter` calls it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any


def is_expression(given: Any) -> bool:
    """Whether something is an expression (pyarrow, polars, SQL, or several by name) rather than a function."""
    if isinstance(given, Mapping):
        return bool(given) and all(map(kind_of, given.values()))
    if isinstance(given, (list, tuple)):
        return bool(given) and all(kind_of(one) == "polars" for one in given)
    return bool(kind_of(given))


def kind_of(given: Any) -> str:
    """`"pyarrow"`, `"polars"` or `"sql"`; empty if it is none of them."""
    if isinstance(given, str):
        return "sql"
    # Whoever has an expression has imported its package.
    for package, name in (("pyarrow.compute", "Expression"), ("polars", "Expr")):
        # While another thread imports the package, neither its names nor expressions exist yet.
        if isinstance(given, getattr(sys.modules.get(package), name, ())):
            return package.partition(".")[0]
    return ""
