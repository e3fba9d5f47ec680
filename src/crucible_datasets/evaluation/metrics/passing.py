"""pass@k: the chance that at least one of k completions, drawn from n, is right."""

from __future__ import annotations

from math import comb

from crucible_datasets.exceptions import ArgumentError, TooFewCompletionsError


def pass_at_k(n: int, c: int, k: int) -> float:
    """1 − C(n−c, k) / C(n, k), exactly, for `c` right ones of `n` completions.

    >>> pass_at_k(10, 3, 1), pass_at_k(10, 3, 5)
    (0.3, 0.9166666666666666)
    """
    if k < 1:
        raise ArgumentError("k", k, "draw at least one completion.")
    if not 0 <= c <= n:
        raise ArgumentError("c", c, f"of {n} completions, 0 to {n} can be right.")
    if n < k:
        raise TooFewCompletionsError(n, k)
    return (comb(n, k) - comb(n - c, k)) / comb(n, k)
