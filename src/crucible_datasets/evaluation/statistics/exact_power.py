"""The power of McNemar's exact test, which rejects less often than a normal approximation promises.

Given the number of samples on which the models differ, the test is fixed: it rejects if one model wins at most so many
of them. Power is the mean over that number, which is binomial.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from crucible_datasets.evaluation.statistics.arrays import Codes, Floats
from crucible_datasets.evaluation.statistics.discordance import fair_coin_tail
from crucible_datasets.evaluation.statistics.student import critical, normal_tail

# From here on, the normal approximation with a correction for continuity differs by less than 0.003.
_MANY_DISCORDANT = 300


def mcnemar_power(gained: float, lost: float, n: int, level: float = 0.95) -> float:
    """The probability that McNemar's exact test of `n` samples rejects; `gained` and `lost` are expected shares.

    >>> round(mcnemar_power(0.15, 0.05, 164), 3)
    0.789
    """
    discordant = gained + lost
    mean = n * discordant
    if not mean:
        return 0.0
    if mean > _MANY_DISCORDANT:
        return _approximate(gained, lost, n, level)
    reach = 8 * math.sqrt(mean) + 8
    numbers = np.arange(max(0, math.floor(mean - reach)), min(n, math.ceil(mean + reach)) + 1)
    most = np.array([_most_to_reject(number, level) for number in numbers.tolist()])[:, None]
    wins = np.arange(max(int(most.max()), 0) + 1)[None, :]
    tails = sum(_binomial(numbers[:, None], wins, share / discordant) for share in (gained, lost))
    rejected = np.where(wins <= most, tails, 0.0).sum(axis=1)
    return float(_binomial(np.array(n), numbers, discordant) @ rejected)


def _approximate(gained: float, lost: float, n: int, level: float) -> float:
    difference, discordant = abs(gained - lost), gained + lost
    bound = critical(level) * math.sqrt(n * discordant) + 1
    spread = math.sqrt(n * max(discordant - difference**2, 1e-12))
    return normal_tail((bound - n * difference) / spread) + normal_tail((bound + n * difference) / spread)


@lru_cache(maxsize=1 << 14)
def _most_to_reject(discordant: int, level: float) -> int:
    """The largest number of wins of one model at which the test rejects; -1 if it never does."""
    low, high = -1, discordant // 2 + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if 2 * fair_coin_tail(middle, discordant) <= 1 - level else (low, middle)
    return low


def _binomial(trials: Codes, successes: Codes, share: float) -> Floats:
    """The probability of numbers of successes."""
    share = min(share, 1.0)
    logs = _log_factorials(int(trials.max()))
    failures = trials - successes
    rest = np.maximum(failures, 0)
    chosen = logs[trials] - logs[np.minimum(successes, trials)] - logs[rest]
    return np.where(failures < 0, 0.0, np.exp(chosen + _log_power(successes, share) + _log_power(rest, 1 - share)))


def _log_power(exponents: Codes, base: float) -> Floats:
    if base > 0:
        return np.asarray(exponents * math.log(base), dtype=np.float64)
    return np.where(exponents == 0, 0.0, -np.inf)


@lru_cache(maxsize=8)
def _log_factorials(most: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
