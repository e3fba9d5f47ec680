"""The order of rows when several views are interleaved, computed with numpy, without a loop over rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crucible_datasets.exceptions import ArgumentError, ProbabilitiesError
from crucible_datasets.ops.codes import turns

Indices = npt.NDArray[np.int64]
Chances = npt.NDArray[np.float64]

FIRST = "first_exhausted"
ALL = "all_exhausted"
ONCE = "all_exhausted_without_replacement"
STRATEGIES = (FIRST, ALL, ONCE)

_ROUNDING = float(np.sqrt(np.finfo(np.float64).eps))


def interleaved_rows(
    lengths: Sequence[int], probabilities: Sequence[float] | None, seed: int | None, stopping_strategy: str
) -> Indices:
    """The rows in interleaved order, numbered as in the concatenation of all views.

    >>> interleaved_rows([1, 2], None, None, "all_exhausted_without_replacement").tolist()
    [0, 1, 2]
    """
    if stopping_strategy not in STRATEGIES:
        raise ArgumentError("stopping_strategy", stopping_strategy, f"expected one of {', '.join(STRATEGIES)}.")
    sizes = np.asarray(lengths, dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    if probabilities is None:
        whose, turn = _in_turns(sizes, stopping_strategy)
    else:
        chances = _chances(sizes, probabilities, stopping_strategy)
        whose, turn = _by_chance(sizes, chances, np.random.default_rng(seed), stopping_strategy)
    return starts[whose] + turn


def _in_turns(sizes: Indices, strategy: str) -> tuple[Indices, Indices]:
    """One row of each view in turn."""
    if strategy == ONCE:
        whose = np.repeat(np.arange(len(sizes)), sizes)
        turn = turns(whose)
        order = np.argsort(turn, kind="stable")
        return whose[order], turn[order]
    if strategy == ALL:
        filled = np.flatnonzero(sizes)
        rounds = int(sizes.max())
    else:
        filled = np.arange(len(sizes))
        rounds = int(sizes.min())
    whose = np.tile(filled, rounds)
    turn = np.repeat(np.arange(rounds), len(filled))
    return whose, turn % sizes[whose]


def chances_of(count: int, probabilities: Sequence[float]) -> Chances:
    """The probabilities for this many datasets, checked."""
    chances = np.asarray(probabilities, dtype=np.float64)
    if chances.shape != (count,):
        raise ProbabilitiesError(chances.tolist(), f"expected one for each of {count} datasets.")
    if not (chances >= 0).all():
        raise ProbabilitiesError(chances.tolist(), "none may be negative.")
    if abs(chances.sum() - 1) > _ROUNDING:
        raise ProbabilitiesError(chances.tolist(), f"they add up to {chances.sum():g} instead of 1.")
    return chances


def refuse_never_drawn(chances: Chances, never: npt.NDArray[np.bool_], strategy: str) -> None:
    """Raise if the strategy waits for the end of datasets that are `never` drawn."""
    if strategy != FIRST and never.any():
        places = np.flatnonzero(never).tolist()
        reason = f"the datasets at {places} are never drawn, so {strategy!r} would never end."
        raise ProbabilitiesError(chances.tolist(), reason)


def _chances(sizes: Indices, probabilities: Sequence[float], strategy: str) -> Chances:
    """The probabilities; raises if drawing with them would never end."""
    chances = chances_of(len(sizes), probabilities)
    refuse_never_drawn(chances, (chances == 0) & ((sizes > 0) | (strategy == ALL)), strategy)
    empty = np.flatnonzero((chances > 0) & (sizes == 0))
    if strategy != ONCE and len(empty):
        raise ProbabilitiesError(chances.tolist(), f"the datasets at {empty.tolist()} have no row to draw.")
    return chances


def _by_chance(sizes: Indices, chances: Chances, draw: np.random.Generator, strategy: str) -> tuple[Indices, Indices]:
    """Draw views until the strategy stops, then assign to each draw the next row of its view."""
    watched = np.flatnonzero((chances > 0) & (sizes > 0))
    enough = np.any if strategy == FIRST else np.all
    counts = np.zeros(len(sizes), dtype=np.int64)
    blocks = [np.zeros(0, dtype=np.int64)]
    while not enough((counts >= sizes)[watched]):
        # The draws do not depend on the block size, so blocks may grow.
        block = draw.choice(len(sizes), size=max(1000, int(counts.sum())), p=chances)
        counts += np.bincount(block, minlength=len(sizes))
        blocks.append(block)
    whose = np.concatenate(blocks)
    turn = turns(whose)
    if strategy == ONCE:
        kept = turn < sizes[whose]
        return whose[kept], turn[kept]
    last_rows = np.flatnonzero(turn == sizes[whose] - 1)
    stop = int(last_rows[0 if strategy == FIRST else -1]) + 1
    return whose[:stop], turn[:stop] % sizes[whose[:stop]]
