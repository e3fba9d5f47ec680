"""`ClassLabel`: integers that stand for names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import InitVar, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, CastError, UnknownEntryError
from crucible_datasets.features import dtypes
from crucible_datasets.forking import cached_property
from crucible_datasets.records import dataclass


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
        # The repr shows the number of classes, however the label was created.
        vars(self).update(num_classes=len(self.names), names_file=names_file)

    def __call__(self) -> pa.DataType:
        return self.pa_type

    @cached_property
    def _str2int(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

    @property
    def _int2str(self) -> list[str]:  # private in Hugging Face, but used by scripts
        return self.names

    def str2int(self, values: str | Iterable[str]) -> int | list[int]:
        """The integers of one or many names."""
        if not isinstance(values, (str, Iterable)):
            raise ArgumentError("values", values, "expected a name or an iterable of names.")
        return self._label(values) if isinstance(values, str) else [self._label(value) for value in values]

    def _label(self, value: Any) -> int:
        name = str(value)
        if name in self._str2int:
            return self._str2int[name]
        if name.strip() in self._str2int:
            return self._str2int[name.strip()]
        # Text that is no name may be the number of one.
        if re.fullmatch(r"\s*-?[0-9]{1,18}\s*", name) and -1 <= int(name) < len(self.names):
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
            labels = pa.array(list(self._labels_of(codes)), pa.int64())
            return labels.take(codes.indices)
        if pa.types.is_nested(storage.type):
            raise CastError(None, str(storage.type), str(self))
        labels = storage.cast(self.pa_type)
        low, high = pc.min_max(labels).as_py().values()
        if high is not None and not (low >= -1 and high < len(self.names)):
            label = high if high >= len(self.names) else low
            reason = f"{label} is no label: expected -1 to {len(self.names) - 1}."
            raise CastError(None, str(storage.type), str(self), reason, pc.index(labels, label).as_py())
        return labels

    def _labels_of(self, codes: pa.DictionaryArray) -> Iterator[int]:
        for code, name in enumerate(codes.dictionary.to_pylist()):
            try:
                yield self._label(name)
            except UnknownEntryError as error:
                row = pc.index(codes.indices, pa.scalar(code, codes.indices.type)).as_py()
                raise CastError(None, str(codes.type.value_type), str(self), str(error), row) from error


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
    elif isinstance(names, str) or not isinstance(names, Sequence):
        raise ArgumentTypeError("names", names, "expected a list of strings.")
    if num_classes is not None and num_classes != len(names):
        raise ArgumentError("num_classes", num_classes, f"there are {len(names)} names.")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ArgumentError("names", names, f"names must differ; repeated: {', '.join(map(str, repeated))}.")
    return names
