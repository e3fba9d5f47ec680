"""Few-shot examples: drawn by a seed, and never the question itself."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from crucible_datasets.benchmarks.samples.base import key_of
from crucible_datasets.benchmarks.types import Sample
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError
from crucible_datasets.forking import cached_property

Pick = Literal["each", "same", "first"]


@dataclass(frozen=True)
class FewShot:
    """`k` examples from other samples, such as the training split.

    `pick="each"` draws examples for each sample, by the seed and its id; `"same"` draws once for all; `"first"` takes
    the first ones. With `by`, such as `by="metadata.subject"`, examples have the same value as the sample. A sample
    with the same input and choices is never an example.
    """

    pool: Sequence[Sample]
    k: int = 5
    seed: int = 0
    pick: Pick = "each"
    by: str | None = None

    def __post_init__(self) -> None:
        if self.pick not in ("each", "same", "first"):
            raise ArgumentError("pick", self.pick, "choose 'each', 'same' or 'first'")
        if not isinstance(self.pool, Sequence):
            raise ArgumentTypeError("pool", self.pool, "a stream is no pool to draw from; list(stream.take(100)) is.")
        if self.k < 0:
            raise ArgumentError("k", self.k, "the number of examples is 0 or more")

    def examples(self, sample: Sample) -> list[Sample]:
        """The examples for a sample."""
        group = self._group_of(sample)
        places = self._groups.get(group, [])
        own = _content(sample)
        if len(places) - self._copies[group, own] < self.k:
            among = f" among those with {self.by} = {group!r}" if self.by else ""
            found = len(places) - self._copies[group, own]
            raise ArgumentError("k", self.k, f"there are {found} samples to choose examples from{among}")
        chosen: dict[int, None] = {}
        for place in self._drawn(sample, places):
            if len(chosen) == self.k:
                break
            if self._contents[place] != own:
                chosen[place] = None
        return [self.pool[place] for place in chosen]

    def _drawn(self, sample: Sample, places: list[int]) -> Any:
        """Positions in the order they are drawn, possibly repeated."""
        if self.pick == "first":
            return places
        asked = f"{self.seed}\0{sample.id if self.pick == 'each' else ''}"
        return (places[_number(f"{asked}\0{draw}") % len(places)] for draw in count())

    def _group_of(self, sample: Sample) -> Any:
        return key_of(self.by)(sample) if self.by else None

    @cached_property
    def _contents(self) -> list[bytes]:
        return [_content(sample) for sample in self.pool]

    @cached_property
    def _groups(self) -> dict[Any, list[int]]:
        groups: dict[Any, list[int]] = {}
        for place, sample in enumerate(self.pool):
            groups.setdefault(self._group_of(sample), []).append(place)
        return groups

    @cached_property
    def _copies(self) -> Counter[tuple[Any, bytes]]:
        """The number of copies of each content in each group."""
        places = ((group, place) for group, places in self._groups.items() for place in places)
        return Counter((group, self._contents[place]) for group, place in places)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest())


def _content(sample: Sample) -> bytes:
    """A digest of input and choices, independent of the order of choices."""
    asked = "\0".join([sample.input_text, *sorted(sample.choices or [])])
    pictures = [picture.bytes or (picture.path or "").encode() for one in sample.messages for picture in one.images]
    return hashlib.blake2b(asked.encode() + b"\0".join(pictures), digest_size=16).digest()
