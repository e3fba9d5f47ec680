"""What is an expression, and of which kind. It imports nothing, since every `map` and `filter` asks."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any


def is_expression(given: Any) -> bool:
    """Whether something is an expression, and not a function: of pyarrow, of polars, SQL, or several by name."""
    if isinstance(given, Mapping):
        return bool(given) and all(map(kind_of, given.values()))
    if isinstance(given, (list, tuple)):
        return bool(given) and all(kind_of(one) == "polars" for one in given)
    return bool(kind_of(given))


def kind_of(given: Any) -> str:
    """`"pyarrow"`, `"polars"` or `"sql"`; empty if it is none of them."""
    if isinstance(given, str):
        return "sql"
    # Who holds an expression has imported the package that it is of.
    for package, name in (("pyarrow.compute", "Expression"), ("polars", "Expr")):
        # While another thread imports the package, its names are not there yet, and neither are expressions.
        if isinstance(given, getattr(sys.modules.get(package), name, ())):
            return package.partition(".")[0]
    return ""
