"""A dataset as an HTML table, for notebooks. Every value is escaped: data cannot become markup."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

from crucible_datasets.ops.read import Reader
from crucible_datasets.outputs.base import PYTHON
from crucible_datasets.tables.view import View

_ROWS = 8
_CHARACTERS = 160
_STYLE = "max-width:32em;overflow:hidden;text-overflow:ellipsis;text-align:left;vertical-align:top;white-space:pre-wrap"


def table(view: View) -> str:
    """The first rows, under the names and types of the columns."""
    rows = list(Reader(replace(view, format=PYTHON)).rows(range(min(_ROWS, len(view)))))
    head = "".join(
        f'<th style="{_STYLE}">{escape(name)}<br><small>{escape(_shortened(str(kind)))}</small></th>'
        for name, kind in view.features.items()
    )
    body = "".join(_row(number, row) for number, row in enumerate(rows))
    split = f" · {escape(str(view.split))}" if view.split is not None else ""
    more = f"<p><small>… {len(view) - len(rows):,} more rows</small></p>" if len(view) > len(rows) else ""
    return (
        f"<div><p><b>Dataset</b>{split} · {len(view):,} rows × {len(view.features)} columns</p>"
        f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"
    )


def _row(number: int, row: dict[str, Any]) -> str:
    cells = "".join(f'<td style="{_STYLE}">{escape(_shortened(_text(value)))}</td>' for value in row.values())
    return f"<tr><th>{number}</th>{cells}</tr>"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _shortened(text: str) -> str:
    return text if len(text) <= _CHARACTERS else text[: _CHARACTERS - 1] + "…"
