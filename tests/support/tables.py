"""Tables of any types, written down once and built in either library."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

# A feature is written as a function of the library that makes it.
MakeFeature = Callable[[Any], Any]


@dataclass(frozen=True)
class Kind:
    """A type of column and the values it can hold."""

    name: str
    feature: MakeFeature
    values: st.SearchStrategy[Any]

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Spec:
    """Columns with their types, from which either library builds a dataset."""

    columns: dict[str, list[Any]]
    kinds: dict[str, Kind]

    def features(self, library: Any) -> Any:
        return library.Features({name: kind.feature(library) for name, kind in self.kinds.items()})

    def dataset(self, library: Any) -> Any:
        return library.Dataset.from_dict(self.columns, features=self.features(library))

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __repr__(self) -> str:
        return f"Spec({self.columns!r}, {self.kinds!r})"


ODD_TEXTS = ["", " ", "a", "né", "日本語", "👩‍👩‍👧", "שלום", "\u202eabc", "a\x00b", "ﬀ", "\n"]
texts = st.sampled_from(ODD_TEXTS) | st.text(st.characters(codec="utf-8"), max_size=6)


def scalar(dtype: str, values: st.SearchStrategy[Any]) -> Kind:
    return Kind(dtype, lambda library: library.Value(dtype), values)


def _whole(bits: int, signed: bool) -> st.SearchStrategy[int]:
    # Hugging Face cannot store the upper half of uint64 inside lists and structs.
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2 ** min(bits, 63) - 1)
    return st.sampled_from([low, 0, 1, high]) | st.integers(low, high)


_moments = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2200, 1, 1))
_dates = st.dates(datetime.date(1900, 1, 1), datetime.date(2200, 1, 1))

INTEGERS = [
    scalar(f"{'' if signed else 'u'}int{bits}", _whole(bits, signed))
    for bits in (8, 16, 32, 64)
    for signed in (True, False)
]
FLOATS = [
    scalar("float32", st.floats(width=32)),
    scalar("float64", st.floats() | st.sampled_from([0.0, -0.0, 1.5])),
]
TEXTS = [scalar("string", texts), scalar("large_string", texts)]
TIMES = [
    scalar("timestamp[us]", _moments),
    scalar("timestamp[s]", _moments.map(lambda moment: moment.replace(microsecond=0))),
    scalar("date32", _dates),
    scalar("time64[us]", st.times()),
    scalar("duration[us]", st.timedeltas(datetime.timedelta(-9999), datetime.timedelta(9999))),
]
BOOL = scalar("bool", st.booleans())
BYTES = scalar("binary", st.binary(max_size=4))
DECIMAL = scalar("decimal128(9, 2)", st.integers(-(10**6), 10**6).map(lambda n: decimal.Decimal(n) / 100))
NULL = scalar("null", st.none())
LABELS = Kind("labels", lambda library: library.ClassLabel(names=["no", "Yes", "perhaps"]), st.integers(-1, 2))
SCALARS = [*INTEGERS, *FLOATS, *TEXTS, *TIMES, BOOL, BYTES, DECIMAL, NULL, LABELS]
# What Arrow can put into order, and what it can find the different values of.
ORDERED = [*INTEGERS, *FLOATS, *TEXTS, *TIMES, BOOL, BYTES, DECIMAL, LABELS]


def nullable(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


def listed(kind: Kind) -> Kind:
    return Kind(
        f"List({kind})",
        lambda library: library.List(kind.feature(library)),
        st.lists(nullable(kind.values), max_size=3),
    )


def large_listed(kind: Kind) -> Kind:
    return Kind(
        f"LargeList({kind})",
        lambda library: library.LargeList(kind.feature(library)),
        st.lists(nullable(kind.values), max_size=3),
    )


def paired(kind: Kind) -> Kind:
    return Kind(
        f"List({kind}, 2)",
        lambda library: library.List(kind.feature(library), length=2),
        st.lists(kind.values, min_size=2, max_size=2),
    )


def struct(left: Kind, right: Kind) -> Kind:
    return Kind(
        f"{{x: {left}, y z: {right}}}",
        lambda library: {"x": left.feature(library), "y z": right.feature(library)},
        st.fixed_dictionaries({"x": nullable(left.values), "y z": nullable(right.values)}),
    )


MATRIX = Kind(
    "Array2D",
    lambda library: library.Array2D(shape=(2, 2), dtype="float32"),
    st.lists(st.lists(st.integers(-9, 9).map(float), min_size=2, max_size=2), min_size=2, max_size=2),
)
JSON = Kind(
    "Json",
    lambda library: library.Json(),
    st.recursive(
        st.booleans() | st.integers(-9, 9) | texts,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
        max_leaves=4,
    ),
)
TRANSLATION = Kind(
    "Translation",
    lambda library: library.Translation(languages=["de", "en"]),
    st.fixed_dictionaries({"de": texts, "en": texts}),
)


def wrapped(inner: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    """Lists and structs of other kinds."""
    return inner.map(listed) | inner.map(large_listed) | inner.map(paired) | st.builds(struct, inner, inner)


plain_kinds = st.sampled_from(SCALARS)
nested_kinds = wrapped(plain_kinds | wrapped(plain_kinds))
kinds = plain_kinds | nested_kinds | st.sampled_from([MATRIX, JSON, TRANSLATION])
NAMES = ["a", "B", "é 🙂", "with space", "x-1"]


@st.composite
def specs(
    draw: Any,
    kind: st.SearchStrategy[Kind] = kinds,
    min_columns: int = 1,
    max_columns: int = 3,
    min_rows: int = 0,
    max_rows: int = 7,
    nulls: bool = True,
) -> Spec:
    """Tables of some columns and rows."""
    names = draw(st.permutations(NAMES))[: draw(st.integers(min_columns, max_columns))]
    size = draw(st.integers(min_rows, max_rows))
    chosen = {name: draw(kind) for name in names}
    columns = {
        name: draw(st.lists(nullable(each.values) if nulls else each.values, min_size=size, max_size=size))
        for name, each in chosen.items()
    }
    return Spec(columns, chosen)
