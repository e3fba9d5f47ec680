"""The page: one HTML file with style, script and data, and a Content-Security-Policy.

The data is in a script element of type JSON, with every `<` escaped, and is only ever shown as text nodes. The policy
allows one script, by its hash, so an injected script would not run.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from msgspec import json

from crucible_datasets.evaluation.report.payload import payload
from crucible_datasets.evaluation.report.samples import Limits
from crucible_datasets.evaluation.results.runfile import results_in
from crucible_datasets.evaluation.runs.record import EvaluationResult
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError

_SCRIPTS = ("dom.js", "charts.js", "tables.js", "diff.js", "samples.js", "page.js")
_ESCAPES = ((b"<", b"\\u003c"), (b">", b"\\u003e"), (b"&", b"\\u0026"))


def html_report(
    results: EvaluationResult | Iterable[EvaluationResult] | Mapping[str, EvaluationResult],
    title: str | None = None,
    max_samples: int = Limits().samples,
    max_bytes: int = Limits().bytes,
) -> str:
    """The runs as one HTML page. Scores are over all samples; the page contains at most `max_samples` of them."""
    runs = _runs(results)
    if title is not None and not isinstance(title, str):
        raise ArgumentTypeError("title", title, "expected a text; several runs are given as one list.")
    if max_samples < 0 or max_bytes < 0:
        raise ArgumentError("max_samples", max_samples, "expected 0 or more, as for max_bytes.")
    data = payload(runs, title, Limits(max_samples, max_bytes))
    script, style = "".join(_in_one_script(_asset(name)) for name in _SCRIPTS), _asset("page.css")
    parts = {
        "CSP": _policy(script, style),
        "TITLE": escape(_printable(data["title"])),
        "STYLE": style,
        "DATA": _embedded(data),
        "SCRIPT": script,
    }
    # One pass, so that placeholders inside inserted text are not replaced.
    return re.sub("@(CSP|TITLE|STYLE|DATA|SCRIPT)@", lambda found: parts[found[1]], _asset("page.html"))


def write_report(
    path: str,
    results: EvaluationResult | Iterable[EvaluationResult] | Mapping[str, EvaluationResult],
    title: str | None = None,
    max_samples: int = Limits().samples,
    max_bytes: int = Limits().bytes,
) -> str:
    """Write the page to a file atomically; the path."""
    from crucible_datasets.atomic import atomic_file
    from crucible_datasets.atomic.files import make_folders

    page = html_report(results, title, max_samples, max_bytes)
    path = os.path.expanduser(path)
    make_folders(os.path.dirname(os.path.abspath(path)))
    with atomic_file(path) as temporary, open(temporary, "w", encoding="utf-8") as stream:
        stream.write(page)
    return path


def _runs(results: Any) -> Sequence[EvaluationResult]:
    found = results_in(results)
    if not found:
        raise ArgumentError("results", [], "a report needs at least one run.")
    return found


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text("utf-8")


def _in_one_script(module: str) -> str:
    """A JavaScript module of the viewer without imports and exports, so that several can be joined to one script."""
    return re.sub(r"^import .*\n|^export ", "", module, flags=re.MULTILINE)


def _policy(script: str, style: str) -> str:
    rules = {
        "default-src": "'none'",
        "script-src": _hash(script),
        "style-src": _hash(style),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {allowed}" for name, allowed in rules.items())


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _embedded(value: Any) -> str:
    """JSON without anything that an HTML parser would interpret: tags, comments, character references."""
    text = json.encode(value, enc_hook=str)
    for character, written in _ESCAPES:
        text = text.replace(character, written)
    return text.decode()


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)
