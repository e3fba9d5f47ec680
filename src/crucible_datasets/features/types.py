"""The feature types: what a column means, beyond how Arrow stores it.

A feature is a small dataclass. `pa_type` is its Arrow type; `encode_example` turns
what users hand in into what Arrow stores; where reading gives back something else
than the stored value, `decode_example` does that. Lists, structs (plain dicts) and
`Features` nest them to any depth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Sequence as AnySequence
from dataclasses import InitVar, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import (
    ArgumentError,
    ArgumentTypeError,
    CastError,
    DecodingDisabledError,
    UnknownEntryError,
)
from crucible_datasets.features import dtypes, jsontext
from crucible_datasets.features.extension import array_extension_type
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
        """Convert to the Python type that Arrow expects: `"3"` for an int64 column becomes 3."""
        if pa.types.is_boolean(self.pa_type):
            return bool(value)
        if pa.types.is_integer(self.pa_type):
            return int(value)
        if pa.types.is_floating(self.pa_type):
            return float(value)
        return str(value) if dtypes.is_text(self.pa_type) else value


@dataclass
class ClassLabel:
    """An integer that stands for one of some names; -1 stands for "no label"."""

    num_classes: InitVar[int | None] = None
    names: list[str] = None  # type: ignore[assignment]
    names_file: InitVar[str | None] = None
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "int64"
    pa_type: ClassVar[Any] = pa.int64()
    _type: str = field(init=False, repr=False, default="ClassLabel")

    def __post_init__(self, num_classes: int | None, names_file: str | None) -> None:
        self.names = _label_names(self.names, num_classes, names_file)
        # Once made, a label shows how many classes it has, however it was made.
        vars(self).update(num_classes=len(self.names), names_file=names_file)

    def __call__(self) -> pa.DataType:
        return self.pa_type

    @cached_property
    def _index_of(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

    def str2int(self, values: str | Iterable[str]) -> int | list[int]:
        """The integers of one or many names."""
        if not isinstance(values, (str, Iterable)):
            raise ArgumentError("values", values, "expected a name or an iterable of names.")
        return self._label(values) if isinstance(values, str) else [self._label(value) for value in values]

    def _label(self, value: Any) -> int:
        name = str(value)
        if name in self._index_of:
            return self._index_of[name]
        if name.strip() in self._index_of:
            return self._index_of[name.strip()]
        # Names that are not known may still be the digits of a label.
        digits = name.strip().removeprefix("-")
        if digits.isdigit() and -1 <= int(name) < len(self.names):
            return int(name)
        raise UnknownEntryError("class label", value, self.names)

    def int2str(self, values: int | Iterable[int]) -> str | list[str]:
        """The names of one or many integers."""
        if not isinstance(values, (int, np.integer, Iterable)):
            raise ArgumentError("values", values, "expected an integer or an iterable of integers.")
        many = isinstance(values, Iterable)
        labels = list(values) if isinstance(values, Iterable) else [values]
        for label in labels:
            if not 0 <= label < len(self.names):
                raise ArgumentError("label", label, f"expected 0 to {len(self.names) - 1}.")
        names = [self.names[int(label)] for label in labels]
        return names if many else names[0]

    def encode_example(self, example_data: Any) -> int:
        """A name or an integer as a checked label."""
        if isinstance(example_data, str):
            return self._label(example_data)
        if isinstance(example_data, (bytes, bytearray)):
            raise ArgumentTypeError("label", example_data, "expected a name or an integer.")
        label = int(example_data)
        if label != example_data or not -1 <= label < len(self.names):
            raise ArgumentError("label", example_data, f"expected an integer from -1 to {len(self.names) - 1}.")
        return label

    def cast_storage(self, storage: pa.Array) -> pa.Array:
        """Strings are looked up, anything else must be integers in range."""
        if dtypes.is_text(storage.type):
            codes = storage.dictionary_encode()
            labels = pa.array([self._label(name) for name in codes.dictionary.to_pylist()], pa.int64())
            return labels.take(codes.indices)
        if pa.types.is_nested(storage.type):
            raise CastError(None, str(storage.type), str(self))
        labels = storage.cast(self.pa_type)
        low, high = pc.min_max(labels).as_py().values()
        if high is not None and not (low >= -1 and high < len(self.names)):
            label = high if high >= len(self.names) else low
            raise ArgumentError("label", label, f"expected -1 to {len(self.names) - 1}.")
        return labels


def _label_names(names: Any, num_classes: int | None, names_file: str | None) -> Any:
    if names is not None and names_file is not None:
        raise ArgumentError("names_file", names_file, "give either names or names_file, not both.")
    if names is None and names_file is not None:
        with open(names_file, encoding="utf-8") as lines:
            names = [line.strip() for line in lines if line.strip()]
    elif names is None and num_classes is not None:
        names = [str(index) for index in range(num_classes)]
    elif names is None:
        raise ArgumentError("names", None, "give names, names_file or num_classes.")
    elif isinstance(names, str) or not isinstance(names, AnySequence):
        raise ArgumentTypeError("names", names, "expected a list of strings.")
    if num_classes is not None and num_classes != len(names):
        raise ArgumentError("num_classes", num_classes, f"there are {len(names)} names.")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ArgumentError("names", names, f"names must differ; repeated: {', '.join(map(str, repeated))}.")
    return names


class _SequenceFactory(type):
    """`Sequence(...)` makes a `List` (or a dict of lists); `isinstance(a_list, Sequence)` holds."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return _sequence(*args, **kwargs) if cls is Sequence else super().__call__(*args, **kwargs)


class Sequence(metaclass=_SequenceFactory):
    """An older spelling of `List`: of a dict it makes a dict of lists."""

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


def _sequence(feature: Any = None, length: int = -1, **kwargs: Any) -> Any:
    if feature is None:
        raise ArgumentTypeError("feature", feature, "a sequence needs the feature of its items.")
    if isinstance(feature, dict) and not all(isinstance(value, List) for value in feature.values()):
        return {name: List(value, length=length, **kwargs) for name, value in feature.items()}
    return List(feature, length=length, **kwargs)


@dataclass
class _ArrayXD:
    shape: tuple[int | None, ...]
    dtype: str
    id: str | None = field(default=None, repr=False)
    _ndims: ClassVar[int] = 0

    def __post_init__(self) -> None:
        self.shape = tuple(self.shape)

    def __call__(self) -> pa.DataType:
        return array_extension_type(self.shape, self.dtype, self._ndims)

    def encode_example(self, value: Any) -> Any:
        """Nested lists stay, tensors become numpy arrays; storing them checks the shape."""
        return value if isinstance(value, (list, tuple)) else np.asarray(value)


@dataclass
class Array2D(_ArrayXD):
    """A matrix of one shape; only its first dimension may be None (any)."""

    _type: str = field(init=False, repr=False, default="Array2D")
    _ndims: ClassVar[int] = 2


@dataclass
class Array3D(_ArrayXD):
    """A three-dimensional array of one shape."""

    _type: str = field(init=False, repr=False, default="Array3D")
    _ndims: ClassVar[int] = 3


@dataclass
class Array4D(_ArrayXD):
    """A four-dimensional array of one shape."""

    _type: str = field(init=False, repr=False, default="Array4D")
    _ndims: ClassVar[int] = 4


@dataclass
class Array5D(_ArrayXD):
    """A five-dimensional array of one shape."""

    _type: str = field(init=False, repr=False, default="Array5D")
    _ndims: ClassVar[int] = 5


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
        """The value as JSON text; a string that already is JSON text stays as it is."""
        if example_data is None or (isinstance(example_data, str) and jsontext.is_json(example_data)):
            return example_data
        return jsontext.dumps(example_data)

    def decode_example(self, example_data: str | None, token_per_repo_id: Any = None) -> Any:
        """The value that a JSON text stands for."""
        if not self.decode:
            raise DecodingDisabledError("Json")
        return None if example_data is None else jsontext.loads(example_data)

    def cast_storage(self, storage: pa.Array) -> pa.Array:
        """A column of JSON texts stays as it is; of any other column each value becomes JSON text."""
        values = storage.to_pylist()
        if dtypes.is_text(storage.type) and all(value is None or jsontext.is_json(value) for value in values):
            texts = storage.cast(pa.string())
        else:
            texts = pa.array([None if value is None else jsontext.dumps(value) for value in values], pa.string())
        return pa.ExtensionArray.from_storage(self.pa_type, texts)


@dataclass
class Translation:
    """One sentence in a fixed set of languages."""

    languages: list[str]
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "dict"
    pa_type: ClassVar[Any] = None
    _type: str = field(init=False, repr=False, default="Translation")

    def __call__(self) -> pa.DataType:
        return pa.struct({language: pa.string() for language in sorted(self.languages)})

    def flatten(self) -> dict[str, Value]:
        return {language: Value("string") for language in sorted(self.languages)}


@dataclass
class TranslationVariableLanguages:
    """One sentence in some of the languages, with one or several translations each."""

    languages: list[str] | None = None
    num_languages: int | None = None
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "dict"
    pa_type: ClassVar[Any] = pa.struct({"language": pa.list_(pa.string()), "translation": pa.list_(pa.string())})
    _type: str = field(init=False, repr=False, default="TranslationVariableLanguages")

    def __post_init__(self) -> None:
        self.languages = sorted(set(self.languages)) if self.languages else None
        self.num_languages = len(self.languages) if self.languages else None

    def __call__(self) -> pa.DataType:
        return self.pa_type

    def encode_example(self, translation_dict: dict[str, Any]) -> dict[str, Any]:
        """`{"en": ["a", "b"], "fr": "c"}` becomes two parallel tuples, sorted by language."""
        if set(translation_dict) == {"language", "translation"}:
            return translation_dict
        unknown = set(translation_dict) - set(self.languages or translation_dict)
        if unknown:
            raise UnknownEntryError("language", min(unknown), self.languages)
        pairs = [
            (language, text)
            for language, texts in translation_dict.items()
            for text in ([texts] if isinstance(texts, str) else texts)
        ]
        languages, texts = zip(*sorted(pairs), strict=True) if pairs else ((), ())
        return {"language": languages, "translation": texts}

    def flatten(self) -> dict[str, List]:
        return {"language": List(Value("string")), "translation": List(Value("string"))}
