"""Comparison of the output of a program with the expected output."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation


def same_output(printed: str, expected: str) -> bool:
    r"""Equal line by line, ignoring surrounding white space and blank lines at the end; numbers by value.

    >>> same_output("1.50 a \n\n", "1.5 a"), same_output("1 2", "1\n2")
    (True, False)
    """
    ours, theirs = _lines(printed), _lines(expected)
    return ours == theirs or (len(ours) == len(theirs) and all(map(_same_line, ours, theirs)))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def _same_line(one: str, other: str) -> bool:
    ours, theirs = one.split(), other.split()
    return len(ours) == len(theirs) and all(map(_same_word, ours, theirs))


def _same_word(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return Decimal(one) == Decimal(other)
    except InvalidOperation:
        return False
