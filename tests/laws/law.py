"""A law as a test: first the examples of the corpus, then made-up ones; what fails is made small.

    @law(rows=values.rows(JSON_LEAVES))
    def test_rows_are_kept(rows, folder): ...

The check gets a folder of its own, which is also the cache. `LAWS` holds all laws of the modules imported so far, for
`soak`.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import math
import os
import shutil
import tempfile
import zoneinfo
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, example, given, seed, settings
from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets import config
from laws import equality

CORPUS = Path(__file__).parent / "corpus"
_CHECKS = list(HealthCheck)
_DEEP = 20  # times as many examples with HYPOTHESIS_PROFILE=deep
_NAMES: dict[str, Any] = {
    "pa": pa,
    "datetime": datetime,
    "Decimal": decimal.Decimal,
    "zoneinfo": zoneinfo,
    "nan": math.nan,
    "inf": math.inf,
}


@dataclass(frozen=True)
class Law:
    """A statement about all examples of a strategy."""

    name: str
    module: str
    check: Callable[..., None]
    strategies: dict[str, st.SearchStrategy[Any]]
    weight: float
    examples: int  # of a quick run

    def run(self, seed_number: int, examples: int) -> None:
        """Raise for the smallest example that breaks the law, among so many made from the seed."""
        test = given(**self.strategies)(self.checked)
        test = settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=False,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=_CHECKS,
            report_multiple_bugs=False,
        )(test)
        seed(seed_number)(test)()

    def checked(self, **drawn: Any) -> None:
        """Check one example in a folder of its own; a failure says what the example was."""
        with workspace() as folder:
            try:
                self.check(**drawn, folder=folder)
            except Exception as error:
                raise Broken(self.name, drawn, error) from error


class Broken(AssertionError):
    """An example that breaks a law, and its line for the corpus if it can have one."""

    def __init__(self, name: str, drawn: dict[str, Any], error: Exception) -> None:
        # What is drawn on the way cannot be written down.
        is_kept = not any(isinstance(value, st.DataObject) for value in drawn.values())
        self.name, self.line = name, literal(drawn) if is_kept else ""
        reason = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
        shown = "\n".join(f"  {key} = {equality.show(value, 2000)}" for key, value in drawn.items())
        super().__init__(f"{name} does not hold for\n{shown}\nbecause {reason[:3000]}")


LAWS: dict[str, Law] = {}


def _skipped() -> None:
    """A test of a law that needs another package; marks only take functions with a name."""


def law(
    examples: int = 20, weight: float = 1, needs: str | None = None, **strategies: st.SearchStrategy[Any]
) -> Callable[..., Any]:
    """Make a test of a law; `examples` of it are made up by `make test`, `weight` is its share of a soak.

    It is skipped unless the package that it `needs` is installed.
    """

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        if needs is not None and find_spec(needs) is None:
            return pytest.mark.skip(reason=f"{needs} is not installed")(_skipped)
        made = Law(check.__name__, check.__module__, check, strategies, weight, examples)
        LAWS[made.name] = made

        def test(**drawn: Any) -> None:
            made.checked(**drawn)

        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        run = given(**strategies)(test)
        for drawn in corpus(made.name, check.__globals__):
            run = example(**drawn)(run)
        is_deep = os.environ.get("HYPOTHESIS_PROFILE", "ci") == "deep"
        return settings(
            max_examples=examples * (_DEEP if is_deep else 1),
            derandomize=not is_deep,
            deadline=None,
            database=None,
            phases=[Phase.explicit, Phase.generate, Phase.shrink],
            suppress_health_check=_CHECKS,
        )(run)

    return decorate


@contextlib.contextmanager
def workspace() -> Iterator[str]:
    """A folder that is also the cache of what is done in it, quietly."""
    folder, cache = tempfile.mkdtemp(prefix="law-"), config.HF_DATASETS_CACHE
    verbosity, has_bars = ours.logging.get_verbosity(), not ours.are_progress_bars_disabled()
    config.HF_DATASETS_CACHE = Path(folder) / "cache"
    ours.logging.set_verbosity_error()
    ours.disable_progress_bars()
    try:
        yield folder
    finally:
        config.HF_DATASETS_CACHE = cache
        ours.logging.set_verbosity(verbosity)
        if has_bars:
            ours.enable_progress_bars()
        shutil.rmtree(folder, ignore_errors=True)


# ── the corpus ────────────────────────────────────────────────────────────────────────────────────────────────────────


def corpus(name: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """The examples that once broke a law; `names` are those of its module."""
    path = CORPUS / f"{name}.txt"
    if not path.exists():
        return []
    from laws import values, ways

    names = {**vars(values), **vars(ways), **_NAMES, **names}
    return [eval(line, names) for line in path.read_text().splitlines() if line.strip() and not line.startswith("# ")]


def literal(value: Any) -> str:
    """The value as Python code, which `corpus` evaluates."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = (f"{field.name}={literal(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__}({', '.join(parts)})"
    match value:
        case dict():
            return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(literal, value)) + "]"
        case tuple():
            return "(" + "".join(f"{literal(item)}, " for item in value) + ")"
        case pa.DataType():
            return _arrow_literal(value)
        case str():
            return equality.show(value, len(value) * 10 + 10) if len(value) > 1000 else ascii(value)
    return repr(value)


_ARROW_NAMES = {"float": "float32", "double": "float64", "halffloat": "float16", "bool": "bool_"}


def _arrow_literal(arrow: pa.DataType) -> str:
    types = pa.types
    if types.is_struct(arrow):
        return f"pa.struct([{', '.join(f'({field.name!a}, {_arrow_literal(field.type)})' for field in arrow)}])"
    if types.is_fixed_size_list(arrow):
        return f"pa.list_({_arrow_literal(arrow.value_type)}, {arrow.list_size})"
    if types.is_list(arrow) or types.is_large_list(arrow):
        return f"pa.{'list_' if types.is_list(arrow) else 'large_list'}({_arrow_literal(arrow.value_type)})"
    if types.is_dictionary(arrow):
        return f"pa.dictionary({_arrow_literal(arrow.index_type)}, {_arrow_literal(arrow.value_type)})"
    if types.is_fixed_size_binary(arrow) and not types.is_decimal(arrow):
        return f"pa.binary({arrow.byte_width})"
    if types.is_timestamp(arrow):
        return f"pa.timestamp({arrow.unit!r}, {arrow.tz!r})"
    name, parts, inner = str(arrow).partition("[")
    if parts and not types.is_date(arrow):
        return f"pa.{name}({inner[:-1]!r})"
    return f"pa.{name}" if "(" in name else f"pa.{_ARROW_NAMES.get(name, name)}()"
