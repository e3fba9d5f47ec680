"""Rows that are hard to keep: values of every type, nested in every way, alike until one row differs.

A column has a shape, which is drawn first: a leaf, a list, a struct (the same keys in any order), an object (optional
keys) or any JSON value. Rows are kept as runs of equal rows, so that thousands of them shrink to a few.
"""

from __future__ import annotations

import datetime as dt
import decimal
import zoneinfo
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

Row = dict[str, Any]
Shape = tuple[Any, ...]

ODD_TEXTS = [
    *("", " ", "a", "b", "x y", "it's", '"', '""', '"a"', "\\", "\\n", "a,b", "a;b", "a\tb", "a|b", "#", "%s", "=1+1", "<b>&"),
    *("\n", "a\nb", "a\r\nb", "\r", "a\rb", "\n\n", " a ", "\u2028", "\x85", "\x0b", "\x1c", "\x00", "a\x00b", "\x7f", "\ufeff"),
    *("é", "e\u0301", "ß", "İ", "日本語", "한국어", "العربية", "🙂", "👩‍👩‍👧", "\U0010ffff", "\ufffd", "\ufdd0"),
    *("008", "42", "-7", "+1", "1e5", "1E400", "0x1F", "1_000", "1,5", "4.0", ".5", "5.", "-0", "0", "1", "٣", "½"),
    *("NaN", "nan", "inf", "-Infinity", "null", "None", "NULL", "NA", "N/A", "n/a", "<NA>", "NaT", "true", "false", "True", "yes"),
    *("2020-01-01", "2020-01-01 00:00:00", "2020-01-01T10:20:30Z", "2020-01-01T10:20:30.123456+02:00", "10:20", "1970-01-01"),
    *("{", "{}", "[]", "[1, 2]", '{"a": 1}', '{"a":1,"b":null}', '"quoted"', "b'x'", "file:///etc", "http://x"),
    *("9223372036854775808", "18446744073709551615", "99999999999999999.99", "0.1", "0.10", "1.0"),
]  # fmt: skip
SURROGATES = ["\ud800", "a\udfffb", "\ude00\ud83d"]
ODD_INTEGERS = [0, 1, -1, 127, 128, 255, 2**31, -(2**31) - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]
ODD_FLOATS = [
    0.0,
    -0.0,
    0.1,
    0.1 + 0.2,
    0.555,
    1.0,
    -1.5,
    5e-324,
    2.2250738585072014e-308,
    1e22,
    1e23,
    1.7976931348623157e308,
]
ODD_FLOATS += [2.0**53, 2.0**63, 1e16, 123456789.123456789, 3.4e38, 1e-7]
NO_NUMBERS = [float("nan"), float("inf"), float("-inf")]
ZONES = [dt.UTC, dt.timezone(dt.timedelta(hours=5, minutes=30)), zoneinfo.ZoneInfo("Europe/Berlin")]
_FIRST, _LAST = dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30)
_DAY = dt.timedelta(days=1)


def _decimals() -> st.SearchStrategy[Decimal]:
    digits = st.one_of(st.integers(-999, 999), st.integers(-(10**18), 10**18), st.integers(-(10**30), 10**30))
    odd = ["0", "0.0", "-0.00", "9.90", "0.1", "99999999999999999.99", "1e3", "123456789012345678901234567890.12345678"]
    # Under the precision of the context `scaleb` rounds.
    context = decimal.Context(prec=60)
    return st.one_of(
        st.sampled_from([Decimal(text) for text in odd]),
        st.builds(lambda number, scale: Decimal(number).scaleb(-scale, context), digits, st.integers(0, 8)),
    )


def _timedeltas() -> st.SearchStrategy[dt.timedelta]:
    odd = [dt.timedelta(0), dt.timedelta(microseconds=1500), dt.timedelta(microseconds=-1), dt.timedelta(days=-400)]
    return st.one_of(st.sampled_from(odd), st.timedeltas(dt.timedelta(days=-99999), dt.timedelta(days=99999)))


LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "integer": st.one_of(st.integers(-3, 9), st.sampled_from(ODD_INTEGERS), st.integers(-(2**63), 2**63 - 1)),
    "unsigned": st.one_of(st.integers(0, 3), st.sampled_from([2**63, 2**64 - 1])),
    "huge": st.sampled_from([10**22, -(2**63) - 1, 2**64, 1, 10**40]),
    "finite": st.one_of(st.sampled_from(ODD_FLOATS), st.floats(allow_nan=False, allow_infinity=False)),
    "number": st.one_of(st.sampled_from([0, 1, 2**53, -5]), st.sampled_from(ODD_FLOATS)),
    "float": st.one_of(st.sampled_from(ODD_FLOATS + NO_NUMBERS), st.floats()),
    "text": st.one_of(st.sampled_from(ODD_TEXTS), st.text(st.characters(exclude_categories=["Cs"]), max_size=8)),
    "number text": st.sampled_from(["008", "42", "1e5", "0", "1", "4.0", "-7"]),
    "date text": st.sampled_from(["2020-01-01", "1999-12-31", "2020-01-01T10:20:30Z", "2020-01-01 00:00:00", "x"]),
    "json text": st.sampled_from(["null", "42", "{}", '{"a": 1}', "[1]", '"a"', "true", "a"]),
    "surrogate": st.sampled_from([*SURROGATES, "a"]),
    "long text": st.builds(lambda text, size: text * size, st.sampled_from(["a", "長", "🙂\n", '"']), st.integers(2**20, 2**20 + 2)),
    "bytes": st.one_of(st.sampled_from([b"", b"\x00", b"\xff\xfe", b"a", b"{}"]), st.binary(max_size=6)),
    "decimal": _decimals(),
    "date": st.dates(),
    "time": st.times(),
    "timestamp": st.datetimes(_FIRST, _LAST),
    "instant": st.builds(lambda at, zone: at.replace(tzinfo=zone), st.datetimes(_FIRST + _DAY, _LAST - _DAY), st.sampled_from(ZONES)),
    "duration": _timedeltas(),
    "null": st.none(),
}  # fmt: skip
JSON_LEAVES = ["text", "text", "integer", "finite", "bool", "number", "number text", "date text", "json text", "null"]
ODD_JSON_LEAVES = [*JSON_LEAVES, "huge", "unsigned", "surrogate"]
PYTHON_LEAVES = [*ODD_JSON_LEAVES, "float", "bytes", "decimal", "date", "time", "timestamp", "instant", "duration"]
KEYS = ["x", "y", "role", "content", "é", "日本", "a b", "a.b", "", "null", "0", "type"]
COLUMNS = ["a", "b", "é", "日本", "a b", "a.b", "text", "messages", "A"]


def shapes(leaves: list[str], objects: bool = True) -> st.SearchStrategy[Shape]:
    """What the values of a column look like; `objects` also with keys that some of them lack."""
    kinds = ["struct", "object"] if objects else ["struct"]
    return st.recursive(
        st.tuples(st.just("leaf"), st.sampled_from(leaves)),
        lambda inner: st.one_of(
            st.tuples(st.just("list"), inner),
            st.tuples(st.sampled_from(kinds), st.dictionaries(st.sampled_from(KEYS), inner, min_size=1, max_size=3)),
        ),
        max_leaves=5,
    )


def values(shape: Shape, null: bool = True) -> st.SearchStrategy[Any]:
    """Values of a shape, and nulls."""
    match shape:
        case "leaf", name:
            strategy = LEAVES[name]
        case "list", inner:
            strategy = st.lists(values(inner), max_size=3)
        case "struct", fields:
            strategy = _ordered({key: values(field) for key, field in fields.items()})
        case "object", fields:
            optional = {key: values(field) for key, field in fields.items()}
            strategy = st.sets(st.sampled_from(sorted(optional))).flatmap(
                lambda keys: _ordered({key: optional[key] for key in sorted(keys)})
            )
        case ("json",):
            strategy = json_values()
    return st.one_of(strategy, strategy, strategy, st.none()) if null else strategy


def _ordered(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    orders = st.permutations(list(fields))
    return st.tuples(orders, st.fixed_dictionaries(fields)).map(lambda drawn: {key: drawn[1][key] for key in drawn[0]})


def json_values(leaves: list[str] | None = None) -> st.SearchStrategy[Any]:
    """Any value that JSON has a form for."""
    leaf = st.sampled_from(leaves or JSON_LEAVES).flatmap(LEAVES.__getitem__)
    return st.recursive(
        leaf,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)),
        max_leaves=4,
    )


# ── datasets for post-training ────────────────────────────────────────────────────────────────────────────────────────

_MESSAGE = ("struct", {"role": ("leaf", "text"), "content": ("leaf", "text")})
_ARGUMENTS = ("object", {"x": ("leaf", "text"), "y": ("leaf", "number"), "city": ("leaf", "json text"), "a": ("json",)})
_TOOL_CALL = ("struct", {"name": ("leaf", "text"), "arguments": _ARGUMENTS})
_AGENT_MESSAGE = ("object", {**_MESSAGE[1], "tool_calls": ("list", _TOOL_CALL)})
POST_TRAINING: list[dict[str, Shape]] = [
    {"messages": ("list", _MESSAGE)},
    {"messages": ("list", _AGENT_MESSAGE), "tools": ("json",)},
    {"p": ("struct", {"chosen": ("leaf", "text"), "rejected": ("leaf", "text")})},
    {"prompt": ("leaf", "text"), "chosen": ("list", _MESSAGE), "rejected": ("list", _MESSAGE), "score": ("leaf", "number")},
    {"problem": ("leaf", "text"), "answer": ("leaf", "number text"), "level": ("leaf", "integer"), "info": _ARGUMENTS},
]  # fmt: skip


# ── rows ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Rows:
    """Runs of equal rows. `numbered` rows have one more column, `row`, by which a row that moved is recognized."""

    runs: tuple[tuple[Row, int], ...]
    numbered: bool = False

    def list(self) -> list[Row]:
        rows = [row for row, times in self.runs for _ in range(times)]
        return [{**row, "row": number} for number, row in enumerate(rows)] if self.numbered else rows

    def __len__(self) -> int:
        return sum(times for _, times in self.runs)

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(key for row, times in self.runs for key in row if times))

    def number(self) -> Rows:
        return replace(self, numbered=True)


_LONG_RUNS = [9, 10, 11, 99, 100, 101, 255, 256, 999, 1000, 1001, 1023, 1024, 1025, 2000, 2001, 2048, 4097]


def _counts(longest: int) -> st.SearchStrategy[int]:
    long = [count for count in _LONG_RUNS if count <= longest]
    return st.one_of(st.just(1), st.just(1), st.integers(1, min(40, longest)), st.sampled_from(long or [longest]))


@st.composite
def rows(
    draw: st.DrawFn,
    leaves: list[str],
    objects: bool = True,
    optional: bool = True,
    longest: int = 1001,
    mixed: bool = False,
    empty: bool = False,
) -> Rows:
    """Rows of a few columns; `optional` columns are absent from some rows, `mixed` ones change their type.

    A row has a column, unless rows may be `empty`: a table without columns has no rows.
    """
    if objects and draw(st.integers(0, 3)) == 0:
        columns = draw(st.sampled_from(POST_TRAINING))
    else:
        names = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=3, unique=True))
        columns = {name: draw(shapes(leaves, objects)) for name in names}
    if "text" in leaves and draw(st.integers(0, 49)) == 49:
        columns = {**columns, draw(st.sampled_from(sorted(columns))): ("leaf", "long text")}
        longest = 1
    strategies = {name: values(shape) for name, shape in columns.items()}
    if mixed:
        other = values(draw(shapes(leaves, objects)))
        strategies = {name: st.one_of(strategy, strategy, other) for name, strategy in strategies.items()}
    first = st.fixed_dictionaries(dict(strategies))
    if optional and draw(st.integers(0, 3)) == 0:
        # A row has one column at least: a table without columns has no rows.
        required = draw(st.sampled_from(sorted(strategies)))
        row = st.one_of(first, st.fixed_dictionaries({required: strategies.pop(required)}, optional=dict(strategies)))
    else:
        row = first
    runs = draw(st.lists(st.tuples(row, _counts(longest)), min_size=1, max_size=5))
    return Rows(tuple(runs), numbered=draw(st.booleans()))


# ── tables that Arrow writes ──────────────────────────────────────────────────────────────────────────────────────────

_INTEGERS = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)}
_UNITS = {"s": 10**6, "ms": 10**3, "us": 1}
_EPOCH = dt.datetime(1970, 1, 1)


def _integers_of(name: str) -> st.SearchStrategy[int]:
    bits = _INTEGERS[name]
    low, high = (0, 2**bits - 1) if name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return st.one_of(st.sampled_from([low, high, 0, 1]), st.integers(low, high))


def _decimals_of(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    context = decimal.Context(prec=90)
    most = 10**precision - 1
    return st.integers(-most, most).map(lambda number: Decimal(number).scaleb(-scale, context))


def _arrow_leaves() -> dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]]:
    text, raw = LEAVES["text"], LEAVES["bytes"]
    leaves: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
        **{name: (getattr(pa, name)(), _integers_of(name)) for name in _INTEGERS},
        **{f"float{bits}": (getattr(pa, f"float{bits}")(), st.floats(width=bits)) for bits in (16, 32, 64)},
        **{name: (getattr(pa, name)(), text) for name in ("string", "large_string", "string_view")},
        **{name: (getattr(pa, name)(), raw) for name in ("binary", "large_binary", "binary_view")},
        "bool": (pa.bool_(), st.booleans()),
        "null": (pa.null(), st.none()),
        "fixed bytes": (pa.binary(3), st.binary(min_size=3, max_size=3)),
        "date32": (pa.date32(), st.dates()),
        "date64": (pa.date64(), st.dates()),
        "dictionary": (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["a", "b", "", "é", "42"])),
        "dictionary of integers": (pa.dictionary(pa.int32(), pa.int64()), st.sampled_from([1, 2, 2**53 + 1])),
        "decimal 10 2": (pa.decimal128(10, 2), _decimals_of(10, 2)),
        "decimal 38 0": (pa.decimal128(38, 0), _decimals_of(38, 0)),
        "decimal 50 5": (pa.decimal256(50, 5), _decimals_of(50, 5)),
        "time32 s": (pa.time32("s"), st.times().map(lambda time: time.replace(microsecond=0))),
        "time32 ms": (pa.time32("ms"), st.times().map(lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000))),
        "time64 us": (pa.time64("us"), st.times()),
    }  # fmt: skip
    for unit, size in _UNITS.items():
        moments = st.integers(-(10**16) // size, 10**16 // size).map(
            lambda count, size=size: dt.timedelta(microseconds=count * size)
        )
        times = moments.map(lambda moment: _EPOCH + moment)
        leaves[f"duration {unit}"] = pa.duration(unit), moments
        leaves[f"timestamp {unit}"] = pa.timestamp(unit), times
        for zone in ("UTC", "Europe/Berlin", "+05:30"):
            leaves[f"timestamp {unit} {zone}"] = (
                pa.timestamp(unit, zone),
                times.map(lambda at: at.replace(tzinfo=dt.UTC)),
            )
    return leaves


ARROW_LEAVES = _arrow_leaves()


def arrow_types(names: list[str]) -> st.SearchStrategy[tuple[pa.DataType, st.SearchStrategy[Any]]]:
    """Types and strategies of their values, also nested."""

    def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(
            inner.map(lambda item: (pa.list_(item[0]), st.lists(_or_null(item[1]), max_size=3))),
            inner.map(lambda item: (pa.large_list(item[0]), st.lists(_or_null(item[1]), max_size=3))),
            inner.map(lambda item: (pa.list_(item[0], 2), st.lists(_or_null(item[1]), min_size=2, max_size=2))),
            st.dictionaries(st.sampled_from(KEYS), inner, min_size=1, max_size=3).map(_struct),
        )

    return st.recursive(st.sampled_from(names).map(ARROW_LEAVES.__getitem__), nested, max_leaves=4)


def _struct(
    fields: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]],
) -> tuple[pa.DataType, st.SearchStrategy[Any]]:
    arrow = pa.struct([(name, item[0]) for name, item in fields.items()])
    return arrow, st.fixed_dictionaries({name: _or_null(item[1]) for name, item in fields.items()})


def _or_null(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(strategy, strategy, strategy, st.none())


@dataclass(frozen=True)
class Table:
    """Columns of an Arrow table as Python values, and the names of their types."""

    columns: tuple[tuple[str, pa.DataType, tuple[Any, ...]], ...]

    def arrow(self) -> pa.Table:
        return pa.table({name: pa.array(list(cells), arrow) for name, arrow, cells in self.columns})


@st.composite
def tables(draw: st.DrawFn, number: int = 1, longest: int = 8) -> tuple[Table, ...]:
    """Arrow tables of all types with the same columns, which have other types in some; the first numbers the rows."""
    names = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=3, unique=True))
    every = sorted(ARROW_LEAVES)
    types = {name: draw(arrow_types(every)) for name in names}
    drawn = []
    for _ in range(number):
        size = draw(st.integers(1, longest))
        columns = [("row", pa.int64(), tuple(range(size)))]
        for name in names:
            if drawn and draw(st.booleans()):
                types[name] = draw(arrow_types(every))
            arrow, strategy = types[name]
            columns.append((name, arrow, tuple(draw(st.lists(_or_null(strategy), min_size=size, max_size=size)))))
        drawn.append(Table(tuple(columns)))
    return tuple(drawn)
