"""Words → hashes of n-grams or of whole texts, 64 bits each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crucible_datasets.benchmarks.contamination.words import Numbers, Places, Words, mixed, powers


class Grams(NamedTuple):
    """The n-gram hashes of several texts, concatenated, and the number of each text."""

    numbers: Numbers
    per_text: Places

    @property
    def texts(self) -> Places:
        """For every n-gram, the index of its text."""
        return np.repeat(np.arange(len(self.per_text)), self.per_text)


def runs(words: Words, n: int) -> Grams:
    """All `n`-grams. A text with fewer words is one n-gram; a text without words has none."""
    last = np.cumsum(words.per_text)
    first = last - words.per_text
    per_text = np.where(words.per_text < n, np.minimum(words.per_text, 1), words.per_text - n + 1)
    starts = _ranges(first, per_text)
    ends = np.minimum(starts + n, np.repeat(last, per_text))
    return Grams(_between(words.numbers, starts, ends), per_text)


def wholes(words: Words) -> Grams:
    """Each text as one n-gram; a text without words has none."""
    last = np.cumsum(words.per_text)
    some = words.per_text > 0
    numbers = _between(words.numbers, (last - words.per_text)[some], last[some])
    return Grams(numbers, some.astype(np.int64))


def distinct(grams: Grams) -> Grams:
    """The distinct n-grams of each text, sorted."""
    order = np.lexsort((grams.numbers, texts := grams.texts))
    numbers, texts = grams.numbers[order], texts[order]
    new = np.ones(len(numbers), bool)
    new[1:] = (numbers[1:] != numbers[:-1]) | (texts[1:] != texts[:-1])
    return Grams(numbers[new], np.bincount(texts[new], minlength=len(grams.per_text)))


def _ranges(first: Places, counts: Places) -> Places:
    """The concatenated ranges first, first + 1, …, of the given lengths."""
    before = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) + np.repeat(first - before, counts)


def _between(numbers: Numbers, starts: Places, ends: Places) -> Numbers:
    """The hash of the words from each start to its end, which does not depend on their position."""
    power, inverse = powers(len(numbers) + 1)
    sums = np.zeros(len(numbers) + 1, np.uint64)
    np.cumsum(numbers * power[: len(numbers)], out=sums[1:])
    return mixed((sums[ends] - sums[starts]) * inverse[starts])
