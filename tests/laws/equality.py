"""What is equal, and which rows no column can hold.

Values are equal if a user cannot tell them apart: 1, 1.0 and True differ, so do 0.0 and -0.0, a key that is missing and
a key that is null; NaN equals NaN. A column has one type, and therefore may give back

- an integer as the float, or the decimal, of the same number, beside floats or decimals,
- a date as midnight, beside timestamps without a zone,
- an instant in the zone of another row,
- null for a column that a row lacks,
- a decimal with more zeros at its end,
- a timestamp for a text of a JSON file, if all texts of the column are dates without a zone.

Every other difference is a fault. `refusable` says which rows may be refused, always with a typed error.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

Path = tuple[str, ...]
_DIGIT = re.compile(r"[0-9]")
_DATES = {"0000-00-00", "0000-00-00T00:00:00", "0000-00-00 00:00:00"}
_INSIDE = "[]"  # the path of the items of a list


@dataclass
class Facts:
    """What a path holds in all rows."""

    types: set[str] = field(default_factory=set)
    keys: set[frozenset[Any]] = field(default_factory=set)
    orders: set[tuple[Any, ...]] = field(default_factory=set)
    integers: list[int] = field(default_factory=list)
    decimals: list[Decimal] = field(default_factory=list)
    has_no_text: bool = False  # a text that UTF-8 has no form for
    has_no_number: bool = False  # NaN or an infinity
    zones: set[Any] = field(default_factory=set)
    forms: set[str] = field(default_factory=set)  # of texts, with their digits as zeros

    @property
    def is_json(self) -> bool:
        """Whether the column becomes `Json`, because keys of objects differ."""
        return len(self.keys) > 1 or frozenset() in self.keys


def type_of(value: Any) -> str:
    if isinstance(value, dt.datetime):
        return "instant" if value.tzinfo else "timestamp"
    return type(value).__name__


def facts_of(rows: Iterable[dict[str, Any]]) -> dict[Path, Facts]:
    """The facts of every path below the rows."""
    facts: dict[Path, Facts] = defaultdict(Facts)
    previous: Any = None
    for row in rows:
        if row is not previous:  # runs hold the same row thousands of times
            previous = row
            for name, value in row.items():
                _collect(value, (name,), facts)
    return facts


def _collect(value: Any, path: Path, facts: dict[Path, Facts]) -> None:
    if value is None:
        return
    fact = facts[path]
    fact.types.add(type_of(value))
    match value:
        case dict():
            fact.keys.add(frozenset(value))
            fact.orders.add(tuple(value))
            fact.has_no_text |= any(isinstance(key, str) and not is_utf8(key) for key in value)
            for key, item in value.items():
                _collect(item, (*path, key), facts)
        case list() | tuple():
            for item in value:
                _collect(item, (*path, _INSIDE), facts)
        case str():
            fact.has_no_text |= not is_utf8(value)
            fact.forms.add(_DIGIT.sub("0", value[:30]))
        case float():
            fact.has_no_number |= not math.isfinite(value)
        case bool():
            pass
        case int():
            fact.integers.append(value)
        case Decimal():
            fact.decimals.append(value)
        case dt.datetime():
            fact.zones.add(str(value.tzinfo))


def is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_JSON_TYPES = {"bool", "int", "float", "str", "list", "dict"}
_UNITED = [{"int", "float"}, {"int", "Decimal"}, {"date", "timestamp"}]


def refusable(facts: dict[Path, Facts], mixed: bool = False) -> str | None:
    """Why rows may be refused; None if they must be kept. `mixed` says that values without a common type become `Json`."""
    json_paths = [path for path, fact in facts.items() if (mixed and _is_mixed(fact)) or fact.is_json]
    for path, fact in facts.items():
        inside_json = any(path[: len(outer)] == outer for outer in json_paths)
        # Objects become `Json` beside other objects; beside other types, they do on request.
        if path in json_paths and len(fact.types) > 1 and not mixed and not _is_inside(path, json_paths):
            return f"{path}: no type holds {sorted(fact.types)}"
        if (reason := _reason(fact, inside_json)) is not None:
            return f"{'.'.join(map(str, path))!r}: {reason}"
        if not all(isinstance(key, str) for key in path):
            return f"{path}: a key is no text"
    return None


def _is_inside(path: Path, outer_paths: list[Path]) -> bool:
    return any(path != outer and path[: len(outer)] == outer for outer in outer_paths)


def _reason(fact: Facts, inside_json: bool) -> str | None:
    if fact.has_no_text:
        return "a text has no form in UTF-8"
    if inside_json:
        if fact.has_no_number:
            return "JSON has no form for NaN and infinities"
        return None if fact.types <= _JSON_TYPES else f"JSON has no form for {sorted(fact.types)}"
    if _is_mixed(fact):
        return f"no type holds {sorted(fact.types)}"
    if fact.integers and (min(fact.integers) < -(2**63) or max(fact.integers) >= 2**64):
        return "integers of more than 64 bits"
    if any(not value.is_finite() for value in fact.decimals) or _digits(fact) > 76:
        return "decimals of more than 76 digits"
    return None


def _is_mixed(fact: Facts) -> bool:
    if len(fact.types) > 1 and not any(fact.types <= family for family in _UNITED):
        return True
    if "float" in fact.types and any(abs(value) > 2**53 for value in fact.integers):
        return True
    return bool(fact.integers) and min(fact.integers) < 0 and max(fact.integers) >= 2**63


def _digits(fact: Facts) -> int:
    """Of a decimal that holds all decimals and integers of the path."""
    parts = [value.as_tuple() for value in fact.decimals if value.is_finite()]
    before = [len(part.digits) + int(part.exponent) for part in parts] + [20] * bool(fact.integers)
    return max(before, default=0) + max((-int(part.exponent) for part in parts), default=0)


def is_uniform(facts: dict[Path, Facts]) -> bool:
    """Whether the first rows show the types of all: only nulls, lengths and values differ."""
    return all(
        max(len(fact.types), len(fact.zones), len(set(map(_decimal_type, fact.decimals)))) <= 1 and not fact.is_json
        for fact in facts.values()
    )


def _decimal_type(number: Decimal) -> tuple[int, Any]:
    """The digits of a decimal, and those after the point."""
    return len(number.as_tuple().digits), number.as_tuple().exponent


# ── comparison ────────────────────────────────────────────────────────────────────────────────────────────────────────


def differences(expected: list[Any], actual: list[Any], facts: dict[Path, Facts] | None = None) -> Iterator[str]:
    """Where rows differ, the first first."""
    facts = facts_of(expected) if facts is None else facts
    names = list(dict.fromkeys(name for row in {id(row): row for row in expected}.values() for name in row))
    for number, (before, after) in enumerate(zip(expected, actual, strict=False)):
        if before is after:
            continue
        if not before.keys() <= after.keys() <= set(names):
            yield f"row {number} has the columns {list(after)}, not {names}"
            continue
        for name, value in after.items():
            yield from _difference(before.get(name), value, (name,), facts, f"row {number}, {name!r}")
    if len(expected) != len(actual):
        yield f"{len(actual):,} rows, not {len(expected):,}"


def _difference(before: Any, after: Any, path: Path, facts: dict[Path, Facts], where: str) -> Iterator[str]:
    if isinstance(before, tuple):
        before = list(before)
    if type(before) is dict and type(after) is dict:
        if before.keys() != after.keys():
            yield f"{where}: keys {list(after)}, not {list(before)}"
            return
        for key, value in before.items():
            yield from _difference(value, after[key], (*path, key), facts, f"{where}[{key!r}]")
    elif type(before) is list and type(after) is list:
        if len(before) != len(after):
            yield f"{where}: {len(after)} items, not {len(before)}"
            return
        for position, (first, second) in enumerate(zip(before, after, strict=True)):
            yield from _difference(first, second, (*path, _INSIDE), facts, f"{where}[{position}]")
    elif not _is_equal(before, after, facts.get(path) or Facts()):
        yield f"{where}: {show(after)}, not {show(before)}"


def _is_equal(before: Any, after: Any, fact: Facts) -> bool:
    if type(before) is not type(after):
        return _is_united(before, after, fact)
    if isinstance(before, float):
        same = before == after or (math.isnan(before) and math.isnan(after))
        return (same and math.copysign(1, before) == math.copysign(1, after)) or (
            math.isnan(before) and math.isnan(after)
        )
    if isinstance(before, dt.datetime):
        if (before.tzinfo is None) != (after.tzinfo is None):
            return False
        return _is_same_time(before, after, fact)
    return bool(before == after)


def _is_united(before: Any, after: Any, fact: Facts) -> bool:
    """Whether a value is the same in the type that its column has for other values."""
    if isinstance(before, dt.datetime) and isinstance(after, dt.datetime):  # a Timestamp of pandas has nanoseconds
        return _is_same_time(before, after.to_pydatetime(), fact) if hasattr(after, "to_pydatetime") else False
    if type(before) is int and type(after) is float:
        return "float" in fact.types and after == before and int(after) == before
    if type(before) is int and type(after) is Decimal:
        return "Decimal" in fact.types and after == before
    if type(before) is dt.date and type(after) is dt.datetime:
        return "timestamp" in fact.types and after == dt.datetime.combine(before, dt.time())
    if type(before) is str and type(after) is dt.datetime:
        return fact.forms <= _DATES and after == dt.datetime.fromisoformat(before)
    return False


def _is_same_time(before: dt.datetime, after: dt.datetime, fact: Facts) -> bool:
    if before.tzinfo is None:
        return after.tzinfo is None and before == after and before.fold == before.fold
    if before.astimezone(dt.UTC) != after.astimezone(dt.UTC):
        return False
    return len(fact.zones) > 1 or before.utcoffset() == after.utcoffset()


def same(expected: list[Any], actual: list[Any], facts: dict[Path, Facts] | None = None) -> None:
    """Raise with the first differences between rows."""
    lines = []
    for line in differences(expected, actual, facts):
        lines.append(line)
        if len(lines) == 4:
            break
    assert not lines, "\n  " + "\n  ".join(lines)


def show(value: Any, longest: int = 300) -> str:
    """The value as Python would write it, but long repetitive texts as products."""
    if isinstance(value, str) and len(value) > 1000:
        part = value[: 1 + (value[1:2] != value[:1])]
        times, rest = divmod(len(value), len(part))
        if part * times + value[len(value) - rest :] == value and not rest:
            return f"{part!r} * {times}"
    text = repr(value)
    return text if len(text) <= longest else f"{text[:longest]}…"
