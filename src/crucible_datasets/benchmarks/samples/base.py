"""Shared by samples of a table and of a stream."""

from __future__ import annotations

import copy
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from crucible_datasets.benchmarks.samples.decoding import FIELDS
from crucible_datasets.benchmarks.samples.judged import comparison_of, conversation_of
from crucible_datasets.benchmarks.samples.provenance import Provenance
from crucible_datasets.benchmarks.types import Conversation, LabeledComparison, Sample
from crucible_datasets.exceptions import MissingFieldError

Predicate = Callable[[Sample], Any]
Seen = TypeVar("Seen", bound="Viewed")


class Viewed(ABC):
    """A dataset seen as samples, with its name and provenance."""

    dataset: Any

    def __init__(self, dataset: Any, name: str = "samples", provenance: Provenance | None = None) -> None:
        self.dataset, self.name = dataset.with_format(None), name
        self._provenance = provenance or Provenance()
        refuse_other_columns(dataset.column_names, name)

    def _with(self, dataset: Any) -> Self:
        """The same with other rows."""
        other = copy.copy(self)
        other.dataset = dataset
        for name in list(vars(other)):
            if isinstance(getattr(type(other), name, None), functools.cached_property):  # computed from the old rows
                del other.__dict__[name]
        return other

    def seen_as(self, kind: type[Seen], **attributes: Any) -> Seen:
        """The same samples as an instance of a subclass, with additional attributes."""
        other = kind.__new__(kind)
        other.__dict__.update(self.__dict__, **attributes)
        return other

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an error that refers to `dataset` for methods of datasets, such as `map`."""
            error = f"{type(self).__name__!r} object has no attribute {name!r}"
            dataset = vars(self).get("dataset")
            if not name.startswith("_") and hasattr(type(dataset), name):
                error += f"; its rows are a {type(dataset).__name__}, which has: .dataset.{name}"
            raise AttributeError(error, name=name, obj=self)

    @abstractmethod
    def __iter__(self) -> Iterator[Sample]: ...

    def take(self, n: int) -> Self:
        """The first `n` samples."""
        return self._with(self.dataset.take(n))

    def skip(self, n: int) -> Self:
        """The samples after the first `n`."""
        return self._with(self.dataset.skip(n))

    def conversations(self) -> Iterator[Conversation]:
        """Each sample as a conversation: the messages of its input, and its target as the answer."""
        return map(conversation_of, self)

    def comparisons(self) -> Iterator[LabeledComparison]:
        """Each sample of a preference dataset as a comparison: two choices, and which is better."""
        return (comparison_of(sample, self.name) for sample in self)


def key_of(key: str | Predicate | None) -> Predicate:
    """The function from a sample to its sort or group key."""
    if key is None:
        return lambda sample: len(sample.input_text)
    return key if callable(key) else partial(_reached, key)


def _reached(path: str, sample: Sample) -> Any:
    first, *rest = path.split(".")
    value: Any = {name: getattr(sample, name) for name in FIELDS}
    for name in (first, *rest):
        if not isinstance(value, dict) or name not in value:
            known = [*FIELDS[:-1], *(f"metadata.{one}" for one in sample.metadata)]
            raise MissingFieldError(f"sample {sample.id!r}", first, path, known)
        value = value[name]
    return value


def refuse_other_columns(names: list[str] | None, dataset: str) -> None:
    """Raise unless every field of a sample has a column; a stream may not know its columns yet."""
    for field in FIELDS:
        if names is not None and field not in names:
            raise MissingFieldError(dataset, field, field, names)
