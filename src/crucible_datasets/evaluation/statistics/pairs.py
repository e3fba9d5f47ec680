"""Two models on the same samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from crucible_datasets.evaluation.statistics.arrays import Codes, Floats, is_binary, numbers, of_one_length
from crucible_datasets.evaluation.statistics.bootstrapping import bootstrap
from crucible_datasets.evaluation.statistics.clusters import coded, effective_size, stderr_of_mean, unbiased_stderr
from crucible_datasets.evaluation.statistics.discordance import mcnemar, tango_bounds
from crucible_datasets.evaluation.statistics.interval import Interval
from crucible_datasets.evaluation.statistics.signflips import sign_flip_test
from crucible_datasets.evaluation.statistics.small_samples import note_on
from crucible_datasets.evaluation.statistics.student import critical, student_tail
from crucible_datasets.exceptions import ArgumentError

# For more, resampling takes many seconds and agrees with Student's t to three digits.
_MOST_TO_RESAMPLE = 20_000
EXACT_TEST = "McNemar, exact"


class PairedDifference(Struct, frozen=True):
    """The difference of two models on the same samples."""

    n: int
    first: float
    second: float
    difference: float
    stderr: float | None
    interval: Interval | None
    p_value: float
    test: str
    gained: int
    lost: int
    equal: int
    num_clusters: int | None = None


def paired(
    first: Any,
    second: Any,
    clusters: Any = None,
    binary: bool | None = None,
    level: float = 0.95,
    n: int = 10_000,
    seed: int = 0,
) -> PairedDifference:
    """The difference of two models, second minus first, with its interval and its p-value.

    The values belong to the same samples in the same order. If all are 0 or 1 (`binary`): McNemar's exact test and
    Tango's score interval. Otherwise a permutation test, and an interval by `n` bootstrap resamples; for more than
    20,000 samples or clusters Student's t, which then gives the same. With `clusters`, one label per sample, whole
    clusters are permuted and resampled. The test takes it that without a difference, either sign of a sample's
    difference is as likely; if few values are too skewed for that, the `note` of the interval says so, for both.
    """
    before, after = numbers("first", first), numbers("second", second)
    of_one_length(first=before, second=after, clusters=clusters)
    if not len(before):
        raise ArgumentError("first", [], "there is no sample to compare.")
    right_or_wrong = _right_or_wrong(binary, before, after)
    codes, num_clusters = coded(clusters)
    change = after - before
    gained, lost = int(np.count_nonzero(change > 0)), int(np.count_nonzero(change < 0))
    stderr = stderr_of_mean(change, codes, num_clusters)
    units = num_clusters or len(change)
    if right_or_wrong:
        interval: Interval | None = _score_interval(gained, lost, change, codes, num_clusters, level)
    else:
        interval = _mean_interval(change, codes, units, level, stderr, n, seed)
    if right_or_wrong and codes is None:
        test, p_value = EXACT_TEST, mcnemar(lost, gained).p_value
    else:
        test, p_value = _tested(change, codes, units, stderr, n, seed)
    return PairedDifference(
        n=len(change),
        first=float(before.mean()),
        second=float(after.mean()),
        difference=float(change.mean()),
        stderr=stderr,
        interval=interval,
        p_value=p_value,
        test=test,
        gained=gained,
        lost=lost,
        equal=len(change) - gained - lost,
        num_clusters=num_clusters,
    )


def _tested(
    change: Floats, codes: Codes | None, units: int, stderr: float | None, n: int, seed: int
) -> tuple[str, float]:
    """The name of the test for differences of any size, and its p-value."""
    clustered = "" if codes is None else ", clustered"
    if stderr is not None and units > _MOST_TO_RESAMPLE:
        return f"t{clustered}", _chance(float(change.mean()), *unbiased_stderr(change, codes, units))
    return f"permutation{clustered}", sign_flip_test(change, 2 * n, seed, codes)


def _right_or_wrong(binary: bool | None, *arrays: Floats) -> bool:
    found = is_binary(*arrays)
    if binary and not found:
        raise ArgumentError("binary", binary, "values other than 0 and 1 occur.")
    return found if binary is None else binary


def _score_interval(
    gained: float, lost: float, change: Floats, codes: Codes | None, num_clusters: int | None, level: float
) -> Interval:
    if codes is None or num_clusters is None:
        return Interval(*tango_bounds(lost, gained, len(change), critical(level)), level, "tango")
    size, freedom = effective_size(change, codes, num_clusters)
    share = size / len(change)
    low, high = tango_bounds(lost * share, gained * share, size, critical(level, freedom))
    return Interval(low, high, level, "tango, clustered", note_on(change, codes))


def _chance(difference: float, stderr: float, freedom: float) -> float:
    """The p-value by Student's t."""
    if not stderr:
        return float(not difference)
    return 2 * student_tail(abs(difference) / stderr, freedom)


def _mean_interval(
    change: Floats, codes: Codes | None, units: int, level: float, stderr: float | None, n: int, seed: int
) -> Interval | None:
    if stderr is None:
        return None
    if units <= _MOST_TO_RESAMPLE:
        return bootstrap(change, n=n, seed=seed, clusters=codes, level=level).interval
    corrected, freedom = unbiased_stderr(change, codes, units)
    reach, middle = critical(level, freedom) * corrected, float(change.mean())
    note = note_on(change, codes)
    return Interval(middle - reach, middle + reach, level, "t" if codes is None else "t, clustered", note)
