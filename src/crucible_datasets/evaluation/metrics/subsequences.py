"""Longest common subsequences of lists of words, by bit-parallel dynamic programming."""

from __future__ import annotations

from collections.abc import Sequence


class Line:
    """A list of words, prepared to be compared with many others."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self._positions: dict[str, list[int]] = {}
        self._bits: dict[str, int] = {}
        for at, word in enumerate(words):
            self._positions.setdefault(word, []).append(at)

    def common_with(self, words: Sequence[str]) -> set[int]:
        """The positions in `words` of one longest subsequence that this line has too.

        Of several, it is the one found by backtracking from the ends: equal words are taken; otherwise the last of
        `words` is dropped, unless dropping the last word of this line keeps a longer subsequence.
        """
        if self._positions.keys().isdisjoint(words):
            return set()
        rows = self._rows(words)
        at, to = len(words), len(self.words)
        left = _length(rows[at], to)
        positions: set[int] = set()
        while left:
            if words[at - 1] != self.words[to - 1] and _length(rows[at - 1], to) == left:
                at -= 1
                continue
            # The last of `words` is in the subsequence; it is matched with its last occurrence in the line so far.
            to = (self._places(words[at - 1]) & ((1 << to) - 1)).bit_length() - 1
            at, left = at - 1, left - 1
            positions.add(at)
        return positions

    def _rows(self, words: Sequence[str]) -> list[int]:
        """One int per prefix of `words`: bit j is 0 where word j of the line makes the subsequence longer.

        This is the table of lengths in bits (Hyyrö 2004): a row takes four operations on ints instead of one step per
        word.
        """
        row = all_ones = (1 << len(self.words)) - 1
        rows = [row]
        for word in words:
            if word in self._positions:
                matches = row & self._places(word)
                row = ((row + matches) | (row - matches)) & all_ones
            rows.append(row)
        return rows

    def _places(self, word: str) -> int:
        """An int with a bit for each position of a word."""
        if word not in self._bits:
            self._bits[word] = _with_bits(self._positions[word])
        return self._bits[word]


def _length(row: int, to: int) -> int:
    """The length of the subsequence with the first `to` words of the line."""
    return to - (row & ((1 << to) - 1)).bit_count()


def _with_bits(positions: list[int]) -> int:
    """The int with ones at those positions."""
    if len(positions) < 64:
        return sum(1 << at for at in positions)
    bits = bytearray(positions[-1] // 8 + 1)  # an int would be copied for every position
    for at in positions:
        bits[at >> 3] |= 1 << (at & 7)
    return int.from_bytes(bits, "little")
