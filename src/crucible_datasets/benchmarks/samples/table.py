"""`Samples`: a dataset whose rows are typed samples."""

from __future__ import annotations

import copy
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar, overload

import msgspec

from crucible_datasets.arrow_dataset import Column, Dataset
from crucible_datasets.benchmarks.samples import shuffling
from crucible_datasets.benchmarks.samples.decoding import FIELDS, has_pictures, samples_in, with_bytes
from crucible_datasets.benchmarks.samples.provenance import Provenance, content_hash
from crucible_datasets.benchmarks.types import Comparison, Conversation, LabeledComparison, Message, Sample
from crucible_datasets.exceptions import DatasetsError, InvalidRecordError, MissingFieldError
from crucible_datasets.forking import cached_property
from crucible_datasets.internal_api import media_roots, stored_rows

if TYPE_CHECKING:
    import pyarrow as pa


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


_DECODED = 256  # rows; decoding is fastest while they fit the CPU cache
_GATHERED = 2048  # scattered rows are gathered faster in larger blocks
_PICTURED = 16  # images are large


class Samples(Viewed, Sequence[Sample]):
    """Samples of a table, with random access.

    >>> from crucible_datasets.benchmarks import Sample, samples_from
    >>> samples_from([Sample(id=1, input="1 + 1", target="2")])[0].target
    '2'
    """

    dataset: Dataset

    def __init__(
        self,
        dataset: Dataset,
        name: str = "samples",
        provenance: Provenance | None = None,
        bad_rows: Dataset | None = None,
    ) -> None:
        super().__init__(dataset, name, provenance)
        self.bad_rows = bad_rows  # skipped rows: index, exception, traceback

    def __len__(self) -> int:
        return len(self.dataset)

    @overload
    def __getitem__(self, key: int) -> Sample: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    @overload
    def __getitem__(self, key: str) -> Column: ...
    def __getitem__(self, key: int | slice | str) -> Sample | Self | Column:
        if isinstance(key, str):
            return self.dataset[key]
        if isinstance(key, slice):
            return self.select(range(*key.indices(len(self))))
        return self._typed(self._arrow[key])[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self)} samples)"

    def __iter__(self) -> Iterator[Sample]:
        for block in self._blocks():
            yield from block

    @cached_property
    def _arrow(self) -> Dataset:
        return self.dataset.with_format("arrow")

    def _blocks(self) -> Iterator[list[Sample]]:
        in_a_row = isinstance(stored_rows(self.dataset), range)
        for table in self._arrow.iter(_PICTURED if self._has_pictures else _DECODED if in_a_row else _GATHERED):
            for start in range(0, table.num_rows, _DECODED):
                yield self._typed(table.slice(start, _DECODED))

    @cached_property
    def _has_pictures(self) -> bool:
        return has_pictures(self.dataset.features["input"])

    def _typed(self, table: pa.Table) -> list[Sample]:
        samples = samples_in(table)
        if not self._has_pictures:
            return samples
        roots = media_roots(self.dataset)
        return [with_bytes(sample, roots) for sample in samples]

    @cached_property
    def content_hash(self) -> str:
        """The SHA-256 of all samples in order, independent of storage."""
        return content_hash(self._blocks())

    @property
    def provenance(self) -> Provenance:
        """The provenance of the samples, with their number and hash."""
        return self._provenance.replace(num_rows=len(self), content_hash=self.content_hash)

    @property
    def skipped(self) -> int:
        """The number of invalid rows that were skipped."""
        return self._provenance.skipped

    def select(self, indices: Iterable[int]) -> Self:
        """The samples with these indices."""
        return self._with(self.dataset.select(indices))

    def filter(self, predicate: Predicate) -> Self:
        """The samples for which a function is true."""
        return self.select([place for place, sample in enumerate(self) if predicate(sample)])

    def sort(self, key: str | Predicate | None = None, reverse: bool = False) -> Self:
        """The samples sorted by a field (`"metadata.level"`) or a function; default: by the length of the input."""
        keys = list(map(key_of(key), self))
        return self.select(sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse))

    def shuffle(self, seed: int | None = None) -> Self:
        """The samples shuffled, in the order of `Dataset.shuffle` with the same seed."""
        return self._with(self.dataset.shuffle(seed=seed))

    def shuffle_choices(self, seed: int | None = None) -> Self:
        """The samples with shuffled choices and adjusted targets. The order depends only on seed and id."""
        return self._with(shuffling.dataset_with_shuffled_choices(self.dataset, seed))


_LABELS = {"A": "a", "B": "b", "0": "a", "1": "b"}


def conversation_of(sample: Sample) -> Conversation:
    """The messages of the input, and the first target as the answer to them."""
    answer = next(iter(sample.targets), "")
    said = [Message("assistant", answer)] if answer else []
    return Conversation([*sample.messages, *said], sample.metadata)


def comparison_of(sample: Sample, name: str) -> LabeledComparison:
    """The two choices of a sample as responses, and the one that its target names.

    `metadata.conversation_a` and `conversation_b`, if present, have all messages, of which the choices are the last
    ones; `metadata.margin` is the margin of the preference.
    """
    try:
        return _compared(sample)
    except (DatasetsError, msgspec.ValidationError) as error:
        raise InvalidRecordError(f"{name}, sample {sample.id!r}", f"not a comparison: {error}") from error


def _compared(sample: Sample) -> LabeledComparison:
    if sample.choices is None or len(sample.choices) != 2 or not isinstance(sample.target, str):
        raise InvalidRecordError("Sample", "a comparison has two choices and one target: A, B or tie")
    first, second = sample.choices
    known = [_messages(sample.metadata.get(key)) for key in ("conversation_a", "conversation_b")]
    if known[0] and known[1] and known[0][-1].text == second != known[1][-1].text:
        known.reverse()  # the choices have been swapped
    comparison = Comparison(
        sample.input, _response(sample, first, known[0]), _response(sample, second, known[1]), sample.metadata
    )
    margin = sample.metadata.get("margin")
    label = _LABELS.get(sample.target, sample.target)
    return LabeledComparison.from_label(comparison, label, None if margin is None else abs(float(margin)))


def _messages(value: Any) -> list[Message] | None:
    return None if value is None else msgspec.convert(value, list[Message])


def _response(sample: Sample, text: str, messages: list[Message] | None) -> str | list[Message]:
    """The messages after the prompt if there are several, else the text."""
    prompt = sample.messages
    if (
        messages is None
        or messages[: len(prompt)] != prompt
        or messages[-1].text != text
        or len(messages) == len(prompt) + 1
    ):
        return text
    return messages[len(prompt) :]
