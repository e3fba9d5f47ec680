"""Power analysis: detectable differences and required sample sizes.

Two models with right and wrong answers to the same samples are compared by McNemar's exact test, whose power is
computed (exact_power). It depends on the samples on which they differ: known as their share (`discordance`, from an
earlier run), or from the `accuracy` of one and the `correlation` of their scores; the other model may be better or
worse, and the harder case counts. Other comparisons are taken as normal: of models that answer different samples, and
of numbers with a known `sd`, or `sd_difference`, the standard deviation of the differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from crucible_datasets.evaluation.statistics.exact_power import mcnemar_power
from crucible_datasets.evaluation.statistics.student import critical, normal_quantile, normal_tail
from crucible_datasets.exceptions import ArgumentError


def minimum_detectable_effect(
    n: int,
    *,
    accuracy: float | None = None,
    sd: float | None = None,
    correlation: float | None = None,
    sd_difference: float | None = None,
    discordance: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> float:
    """The smallest true difference that is detected with `n` samples with probability `power`; inf if there is none.

    With `correlation`, `discordance` or `sd_difference` both models answer the same samples; without, `n` samples each.
    `design_effect` is the factor by which clusters increase the variance.

    >>> round(minimum_detectable_effect(1319, accuracy=0.8), 4)
    0.0436
    >>> round(minimum_detectable_effect(1319, accuracy=0.8, correlation=0.5), 4)
    0.0325
    """
    if not n >= 1:
        raise ArgumentError("n", n, "at least one sample is needed.")
    distance = _distance(power, level)
    if shares := _discordant_shares(accuracy, sd, correlation, sd_difference, discordance):
        effective = _effective(n, design_effect)
        most = 1.0 if accuracy is None else max(accuracy, 1 - accuracy)
        return _smallest(lambda effect: _exact_power(shares(effect), effective, level) >= power, most)
    spread = _spread(accuracy, sd, correlation, sd_difference)
    return distance * spread * math.sqrt(_effect(design_effect) / n)


def required_sample_size(
    effect: float,
    *,
    accuracy: float | None = None,
    sd: float | None = None,
    correlation: float | None = None,
    sd_difference: float | None = None,
    discordance: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> int:
    """The number of samples (per model, if not paired) that detect a true difference `effect` with probability `power`.

    >>> required_sample_size(0.02, accuracy=0.8, correlation=0.5)
    3361
    """
    if not effect or not math.isfinite(effect):
        raise ArgumentError("effect", effect, "expected a finite difference, and no number of samples shows one of 0.")
    distance = _distance(power, level)
    if shares := _discordant_shares(accuracy, sd, correlation, sd_difference, discordance):
        expected = shares(abs(effect))
        if not expected:
            raise ArgumentError("effect", effect, f"two models of which one scores {accuracy} cannot differ so much.")
        low, high = 0, 8
        while _exact_power(expected, high, level) < power:
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if _exact_power(expected, middle, level) >= power else (middle, high)
        return math.ceil(high * _effect(design_effect))
    spread = _spread(accuracy, sd, correlation, sd_difference)
    return max(1, math.ceil((distance * spread / effect) ** 2 * _effect(design_effect)))


def power_of(
    effect: float,
    n: int,
    *,
    accuracy: float | None = None,
    sd: float | None = None,
    correlation: float | None = None,
    sd_difference: float | None = None,
    discordance: float | None = None,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> float:
    """The probability that `n` samples detect a true difference of `effect`."""
    if not n >= 1:
        raise ArgumentError("n", n, "at least one sample is needed.")
    if shares := _discordant_shares(accuracy, sd, correlation, sd_difference, discordance):
        return _exact_power(shares(abs(effect)), _effective(n, design_effect), level)
    stderr = _spread(accuracy, sd, correlation, sd_difference) * math.sqrt(_effect(design_effect) / n)
    if not stderr:
        return float(effect != 0)
    z = critical(level)
    return normal_tail(z - effect / stderr) + normal_tail(z + effect / stderr)


Shares = list[tuple[float, float]]  # expected shares of samples that only the second, and only the first gets right


def _discordant_shares(
    accuracy: float | None,
    sd: float | None,
    correlation: float | None,
    sd_difference: float | None,
    discordance: float | None,
) -> Callable[[float], Shares] | None:
    """The shares for an effect, in every direction that is possible; None if scores are not right or wrong in pairs."""
    if discordance is not None:
        if any(value is not None for value in (accuracy, sd, correlation, sd_difference)):
            raise ArgumentError("discordance", discordance, "give it alone.")
        if not 0 <= discordance <= 1:
            raise ArgumentError("discordance", discordance, "expected a share between 0 and 1.")
        return lambda effect: (
            [((max(discordance, effect) + effect) / 2, (max(discordance, effect) - effect) / 2)] * (effect <= 1)
        )
    if accuracy is None or correlation is None:
        return None
    _spread(accuracy, sd, correlation, sd_difference)  # which checks them
    return lambda effect: [
        _shares_of(accuracy, other, correlation)
        for other in (accuracy + effect, accuracy - effect)
        if -1e-12 <= other <= 1 + 1e-12
    ]


def _shares_of(first: float, second: float, correlation: float) -> tuple[float, float]:
    second = min(max(second, 0.0), 1.0)
    together = first * second + correlation * math.sqrt(first * (1 - first) * second * (1 - second))
    together = min(max(together, first + second - 1, 0.0), first, second)
    return second - together, first - together


def _exact_power(shares: Shares, n: int, level: float) -> float:
    """The power in the direction in which it is lower."""
    critical(level)
    return min((mcnemar_power(gained, lost, n, level) for gained, lost in shares), default=0.0)


def _smallest(detects: Callable[[float], bool], most: float) -> float:
    if not detects(most):
        return math.inf
    low, high = 0.0, most
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if detects(middle) else (middle, high)
    return high


def _effective(n: int, design_effect: float) -> int:
    return max(1, math.floor(n / _effect(design_effect)))


def _distance(power: float, level: float) -> float:
    """The number of standard errors that a difference must have to be detected with this power."""
    if not 0.5 <= power < 1:
        raise ArgumentError("power", power, "expected a probability from 0.5 up, such as 0.8.")
    return critical(level) + normal_quantile(power)


def _spread(accuracy: float | None, sd: float | None, correlation: float | None, sd_difference: float | None) -> float:
    """The standard deviation of the difference on one sample."""
    given = {"accuracy": accuracy, "sd": sd, "sd_difference": sd_difference}
    known = {name: value for name, value in given.items() if value is not None}
    if len(known) != 1:
        raise ArgumentError("known", known, "give exactly one of accuracy, sd and sd_difference.")
    ((name, value),) = known.items()
    if name == "accuracy" and not 0 <= value <= 1:
        raise ArgumentError(name, value, "expected a share between 0 and 1.")
    if not 0 <= value < math.inf:
        raise ArgumentError(name, value, "a standard deviation is a finite number, 0 or more.")
    if name == "sd_difference":
        if correlation is not None:
            raise ArgumentError("correlation", correlation, "sd_difference has it in it already.")
        return value
    if not -1 <= (correlation or 0) <= 1:
        raise ArgumentError("correlation", correlation, "expected a number between -1 and 1.")
    alone = math.sqrt(value * (1 - value)) if name == "accuracy" else value
    return alone * math.sqrt(2 * (1 - (correlation or 0)))


def _effect(design_effect: float) -> float:
    if not design_effect > 0:
        raise ArgumentError("design_effect", design_effect, "expected a positive number; 1 without clusters.")
    return design_effect
