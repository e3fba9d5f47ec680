"""Power analysis: detectable differences and required sample sizes.

The standard deviation of the difference on one sample comes from an expected `accuracy` or the `sd` of scores, and,
if both models answer the same samples, the `correlation` of their scores; or, from an earlier run, `sd_difference`,
the standard deviation of the differences themselves.
"""

from __future__ import annotations

import math

from crucible_datasets.evaluation.statistics.student import critical, normal_quantile, normal_tail
from crucible_datasets.exceptions import ArgumentError


def minimum_detectable_effect(
    n: int,
    *,
    accuracy: float | None = None,
    sd: float | None = None,
    correlation: float | None = None,
    sd_difference: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> float:
    """The smallest true difference that is detected with `n` samples with probability `power`.

    With `correlation` or `sd_difference` both models answer the same samples; without, `n` samples each.
    `design_effect` is the factor by which clusters increase the variance.

    >>> round(minimum_detectable_effect(1319, accuracy=0.8), 4)
    0.0436
    >>> round(minimum_detectable_effect(1319, accuracy=0.8, correlation=0.5), 4)
    0.0309
    """
    if not n >= 1:
        raise ArgumentError("n", n, "at least one sample is needed.")
    spread = _spread(accuracy, sd, correlation, sd_difference)
    return _distance(power, level) * spread * math.sqrt(_effect(design_effect) / n)


def required_sample_size(
    effect: float,
    *,
    accuracy: float | None = None,
    sd: float | None = None,
    correlation: float | None = None,
    sd_difference: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> int:
    """The number of samples (per model, if not paired) that detect a true difference `effect` with probability `power`.

    >>> required_sample_size(0.02, accuracy=0.8, correlation=0.5)
    3140
    """
    if not effect or not math.isfinite(effect):
        raise ArgumentError("effect", effect, "expected a finite difference, and no number of samples shows one of 0.")
    spread = _spread(accuracy, sd, correlation, sd_difference)
    return max(1, math.ceil((_distance(power, level) * spread / effect) ** 2 * _effect(design_effect)))


def power_of(
    effect: float,
    n: int,
    *,
    accuracy: float | None = None,
    sd: float | None = None,
    correlation: float | None = None,
    sd_difference: float | None = None,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> float:
    """The probability that `n` samples detect a true difference of `effect`."""
    if not n >= 1:
        raise ArgumentError("n", n, "at least one sample is needed.")
    stderr = _spread(accuracy, sd, correlation, sd_difference) * math.sqrt(_effect(design_effect) / n)
    if not stderr:
        return float(effect != 0)
    z = critical(level)
    return normal_tail(z - effect / stderr) + normal_tail(z + effect / stderr)


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
