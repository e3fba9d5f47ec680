"""One side streamed through the index of the other: which of its n-grams are in the index, and in which rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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


# With so many table entries per key, a hash passes by chance once in 16 times; the table is far faster than a search.
_PLACES_PER_KEY = 16


class Hits(NamedTuple):
    """Which of the looked up hashes are keys, and which keys."""

    at: Places
    keys: Places


class Index:
    """Distinct hashes, with the rows that contain each, in order, and the number of occurrences."""

    def __init__(self, blocks: Iterable[Grams]) -> None:
        numbers, rows, self.per_row = _collected(blocks)
        order = np.lexsort((rows, numbers))
        numbers, rows = numbers[order], rows[order]
        new_key = _changes(numbers)
        new_pair = new_key | _changes(rows)
        pairs = np.flatnonzero(new_pair)
        self.rows = rows[pairs]
        self.times = np.diff(pairs, append=len(numbers))
        self.keys = numbers[new_key]
        self.starts = np.append(np.flatnonzero(new_key[pairs]), len(pairs))
        self._gate, self._shift = _gate(self.keys)

    def found(self, numbers: Numbers) -> Hits:
        """The keys among some hashes."""
        if not len(self.keys):
            return Hits(np.empty(0, np.int64), np.empty(0, np.int64))
        maybe = np.flatnonzero(self._gate[numbers >> self._shift])
        wanted = numbers[maybe]
        keys = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        same = self.keys[keys] == wanted
        return Hits(maybe[same], keys[same])

    def rows_of(self, keys: Places, most: int) -> tuple[Places, Places]:
        """The first rows of each key, at most `most`: pairs of a position in `keys` and a row."""
        counts = np.minimum(self.starts[keys + 1] - self.starts[keys], most)
        before = np.cumsum(counts) - counts
        places = np.arange(int(counts.sum())) + np.repeat(self.starts[keys] - before, counts)
        return np.repeat(np.arange(len(keys)), counts), self.rows[places]

    def rows_with(self, seen: npt.NDArray[np.bool_]) -> Places:
        """For each row, how many of its hashes were seen."""
        weights = self.times * np.repeat(seen, np.diff(self.starts))
        return np.bincount(self.rows, weights, len(self.per_row)).astype(np.int64)


def _collected(blocks: Iterable[Grams]) -> tuple[Numbers, Places, Places]:
    numbers, rows, per_row, count = [np.empty(0, np.uint64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    for grams in blocks:
        numbers.append(grams.numbers)
        rows.append(grams.texts + count)
        per_row.append(grams.per_text)
        count += len(grams.per_text)
    return np.concatenate(numbers), np.concatenate(rows), np.concatenate(per_row)


def _changes(values: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """The positions at which a value differs from its predecessor."""
    changes = np.ones(len(values), bool)
    changes[1:] = values[1:] != values[:-1]
    return changes


def _gate(keys: Numbers) -> tuple[npt.NDArray[np.bool_], np.uint64]:
    """A bitmap: whether any key begins with given bits."""
    bits = min(max((len(keys) * _PLACES_PER_KEY).bit_length() - 1, 10), 28)
    gate, shift = np.zeros(1 << bits, bool), np.uint64(64 - bits)
    gate[keys >> shift] = True
    return gate, shift


def first_of_each(groups: Places, members: Places, most: Places | int) -> tuple[Places, Places]:
    """The lowest distinct members of each group, at most `most` (a number, or one per group)."""
    order = np.lexsort((members, groups))
    groups, members = groups[order], members[order]
    new = np.ones(len(groups), bool)
    new[1:] = (groups[1:] != groups[:-1]) | (members[1:] != members[:-1])
    groups, members = groups[new], members[new]
    begins = np.ones(len(groups), bool)
    begins[1:] = groups[1:] != groups[:-1]
    starts = np.flatnonzero(begins)
    rank = np.arange(len(groups)) - np.repeat(starts, np.diff(starts, append=len(groups)))
    kept = rank < (most if isinstance(most, int) else most[groups])
    return groups[kept], members[kept]


class Matches:
    """The first training rows that match each test row."""

    def __init__(self, most: int) -> None:
        self._most, self._test, self._train = most, [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        self._room = np.empty(0, np.int64)

    def room(self, rows: int) -> Places:
        """How many more matches each of these test rows can take."""
        missing = max(0, rows - len(self._room))
        self._room = np.append(self._room, np.full(missing, self._most))
        return self._room

    def add(self, test: Places, train: Places) -> None:
        """Add pairs; their training rows must not come before those added earlier."""
        if len(test):
            test, train = first_of_each(test, train, self.room(int(test.max()) + 1))
            self._room -= np.bincount(test, minlength=len(self._room))
            self._test.append(test)
            self._train.append(train)

    def sorted(self) -> tuple[Places, Places]:
        """All pairs, sorted by test row and training row."""
        return first_of_each(np.concatenate(self._test), np.concatenate(self._train), self._most)


_ALL = 1 << 62


@dataclass(frozen=True)
class Found:
    """For each test row, its share and the matching rows; for each training row, whether it matches."""

    share: npt.NDArray[np.float64]
    train_matched: npt.NDArray[np.bool_]
    test_rows: Places
    train_rows: Places


class Scan:
    """Accumulates the matches of streamed blocks. The first `most` training rows are kept per test row."""

    def __init__(self, index: Index, test_is_indexed: bool, most: int) -> None:
        self._index, self._test_is_indexed, self._matches = index, test_is_indexed, Matches(most)
        self._most = most
        self._seen = np.zeros(len(index.keys), bool)
        self._open = np.ones(len(index.keys), bool)
        self._hits = [np.empty(0, np.int64)]
        self._totals = [np.empty(0, np.int64)]
        self._count = 0

    def add(self, grams: Grams) -> None:
        """Look up the n-grams of the next rows."""
        hits = self._index.found(grams.numbers)
        rows = np.searchsorted(np.cumsum(grams.per_text), hits.at, side="right")
        self._hits.append(np.bincount(rows, minlength=len(grams.per_text)))
        self._totals.append(grams.per_text)
        self._seen[hits.keys] = True
        if len(rows):
            pair = self._with_indexed_tests if self._test_is_indexed else self._with_indexed_trains
            pair(hits.keys, rows + self._count)
        self._count += len(grams.per_text)

    def _with_indexed_tests(self, keys: Places, train: Places) -> None:
        # A phrase that all rows have would pair all with all, so keys whose rows have enough matches are skipped.
        still = self._open[keys]
        keys, train = first_of_each(keys[still], train[still], self._most)
        if not len(keys):
            return
        place, test = self._index.rows_of(keys, _ALL)
        room = self._matches.room(len(self._index.per_row))
        wanted = room[test] > 0
        self._matches.add(test[wanted], train[place[wanted]])
        room = self._matches.room(0)
        self._open = np.logical_or.reduceat(room[self._index.rows] > 0, self._index.starts[:-1])

    def _with_indexed_trains(self, keys: Places, test: Places) -> None:
        place, train = self._index.rows_of(keys, self._most)
        self._matches.add(test[place], train)

    def found(self) -> Found:
        """The findings so far."""
        hits, totals = np.concatenate(self._hits), np.concatenate(self._totals)
        indexed = self._index.rows_with(self._seen)
        test = (indexed, self._index.per_row) if self._test_is_indexed else (hits, totals)
        return Found(
            test[0] / np.maximum(test[1], 1),
            (hits if self._test_is_indexed else indexed) > 0,
            *self._matches.sorted(),
        )


def scanned(indexed: Iterable[Grams], streamed: Iterable[Grams], test_is_indexed: bool, most: int) -> Found:
    """The common n-grams of both sides."""
    scan = Scan(Index(indexed), test_is_indexed, most)
    for grams in streamed:
        scan.add(grams)
    return scan.found()
