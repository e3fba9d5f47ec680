"""Expressions of pyarrow and polars, and SQL, instead of functions: columns in, columns out, never a Python row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crucible_datasets.ops.expressions.kinds import is_expression

if TYPE_CHECKING:
    from crucible_datasets.tables.view import View

__all__ = ["filtered", "is_expression", "mapped"]


def filtered(view: View, function: Any, **given: Any) -> View:
    """The rows for which an expression is true; `given` are the other arguments of `filter`."""
    from crucible_datasets.ops.expressions import apply

    return apply.filtered(view, function, **given)


def mapped(view: View, function: Any, **given: Any) -> View:
    """The view with columns computed by expressions; `given` are the other arguments of `map`."""
    from crucible_datasets.ops.expressions import apply

    return apply.mapped(view, function, **given)
