"""The feature types of values and lists: what a column means, beyond how Arrow stores it.

A feature is a small dataclass. `pa_type` is its Arrow type; `encode_example` converts a user's value to the stored one;
`decode_example`, if defined, converts the stored value to the one that users read. Lists, structs (plain dicts) and
`Features` nest them to any depth.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

import pyarrow as pa

from crucible_datasets.exceptions import ArgumentTypeError, CastError, DecodingDisabledError
from crucible_datasets.features import dtypes, jsontext, scalars
from crucible_datasets.records import dataclass


@dataclass(repr=False)
class Value:
    """A scalar of one Arrow type, named as `"int64"`, `"string"`, `"timestamp[us, tz=UTC]"`, …"""

    dtype: str
    id: str | None = field(default=None, repr=False)
    pa_type: ClassVar[Any] = None
    _type: str = field(init=False, repr=False, default="Value")

    def __post_init__(self) -> None:
        self.dtype = dtypes.canonical(self.dtype)
        self.pa_type = dtypes.arrow_of(self.dtype)  # type: ignore[misc]

    def __call__(self) -> pa.DataType:
        return self.pa_type

    def __repr__(self) -> str:
        return f"Value({self.dtype!r})"

    def encode_example(self, value: Any) -> Any:
        """Convert to the Python type that Arrow expects: `"3"` for an int64 column becomes 3, `"x"` is an error."""
        return scalars.as_type(value, self.pa_type)


class _SequenceFactory(type):
    """`Sequence(...)` makes a `List` (or a dict of lists); `isinstance(a_list, Sequence)` holds."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return _sequence(*args, **kwargs) if cls is Sequence else super().__call__(*args, **kwargs)


class Sequence(metaclass=_SequenceFactory):
    """An older spelling of `List`; with a dict it returns a dict of lists."""

    def __init__(self, feature: Any = None, length: int = -1, **kwargs: Any) -> None: ...


@dataclass(repr=False)
class List(Sequence):
    """A list of one feature, of any length or of a fixed one."""

    feature: Any
    length: int = -1
    id: str | None = field(default=None, repr=False)
    pa_type: ClassVar[Any] = None
    _type: str = field(init=False, repr=False, default="List")

    def __repr__(self) -> str:
        length = f", length={self.length}" if self.length != -1 else ""
        return f"List({self.feature}{length})"


@dataclass(repr=False)
class LargeList:
    """A list whose offsets take 64 bits."""

    feature: Any
    id: str | None = field(default=None, repr=False)
    pa_type: ClassVar[Any] = None
    _type: str = field(init=False, repr=False, default="LargeList")

    def __repr__(self) -> str:
        return f"LargeList({self.feature})"


def with_item(several: Any, feature: Any) -> Any:
    """The same kind of list, of another feature."""
    made = copy.copy(several)
    made.feature = feature
    return made


def any_leaf(feature: Any, kinds: tuple[type, ...]) -> bool:
    """Whether a feature is, or holds at any depth, one of these types."""
    if isinstance(feature, dict):
        return any(any_leaf(value, kinds) for value in feature.values())
    if isinstance(feature, (List, LargeList)):
        return any_leaf(feature.feature, kinds)
    return isinstance(feature, kinds)


def is_identical(left: Any, right: Any) -> bool:
    """Whether two features are equal and name their columns and fields in the same order, as Arrow types must.

    >>> is_identical({"a": Value("int8"), "b": Value("int8")}, {"b": Value("int8"), "a": Value("int8")})
    False
    """
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(map(is_identical, left.values(), right.values()))
    if isinstance(left, (List, LargeList)) and type(left) is type(right):
        return left == right and is_identical(left.feature, right.feature)
    return bool(left == right)


def with_leaves(feature: Any, change: Callable[[Any], Any]) -> Any:
    """The feature, nested as it is, with `change` applied to the types inside its structs and lists."""
    if isinstance(feature, dict):
        return {name: with_leaves(value, change) for name, value in feature.items()}
    if isinstance(feature, (List, LargeList)):
        return with_item(feature, with_leaves(feature.feature, change))
    return change(feature)


def _sequence(feature: Any = None, length: int = -1, **kwargs: Any) -> Any:
    if feature is None:
        raise ArgumentTypeError("feature", feature, "a sequence needs the feature of its items.")
    if isinstance(feature, dict) and not all(isinstance(value, List) for value in feature.values()):
        return {name: List(value, length=length, **kwargs) for name, value in feature.items()}
    return List(feature, length=length, **kwargs)


@dataclass
class Json:
    """Any JSON value: stored as text, read back as Python objects."""

    decode: bool = True
    id: str | None = field(default=None, repr=False)
    pa_type: ClassVar[Any] = pa.json_()
    _type: str = field(init=False, repr=False, default="Json")

    def __call__(self) -> pa.DataType:
        return self.pa_type

    def encode_example(self, example_data: Any) -> str | None:
        """The value as JSON text."""
        return None if example_data is None else jsontext.dumps(example_data)

    def decode_example(self, example_data: str | None, token_per_repo_id: Any = None) -> Any:
        """The value of a JSON text."""
        if not self.decode:
            raise DecodingDisabledError("Json")
        return None if example_data is None else jsontext.loads(example_data)

    def cast_storage(self, storage: pa.Array) -> pa.Array:
        """Text is parsed as JSON, and kept as it is written; values of other types become JSON text."""
        if dtypes.is_text(storage.type):
            texts = storage.cast(pa.string())
            for row, text in enumerate(texts.to_pylist()):
                if text is not None and not jsontext.is_json(text):
                    raise CastError(None, str(storage.type), str(self), f"row {row} is no JSON: {text:.40}")
        else:
            rows = enumerate(storage.to_pylist())
            texts = pa.array([self._encoded(value, row, storage.type) for row, value in rows], pa.string())
        return pa.ExtensionArray.from_storage(self.pa_type, texts)

    def _encoded(self, value: Any, row: int, source: pa.DataType) -> str | None:
        try:
            return self.encode_example(value)
        except (ValueError, TypeError) as error:
            raise CastError(None, str(source), str(self), f"row {row}: {error}") from error
