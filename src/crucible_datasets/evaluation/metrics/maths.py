"""Maths: whether an answer equals the target as mathematics, under one of three named rules."""

from __future__ import annotations

from typing import Any

from crucible_datasets.evaluation.maths.judgement import Judgement
from crucible_datasets.evaluation.metrics.base import metric
from crucible_datasets.evaluation.outcome import RIGHT, WRONG, Outcome


def math_many_1(
    predictions: list[Any], targets: list[Any], *, timeout: float = 1.5, num_workers: int | None = None
) -> list[Outcome]:
    """`math@1` of many pairs."""
    from crucible_datasets.evaluation.maths.equivalence import VERIFY_1

    return [_outcome(said) for said in VERIFY_1.judge_many(_pairs(predictions, targets), timeout, num_workers)]


_NAMES = ("maths", "math/verify", "math_verify", "math_equivalence")


@metric("math", version=1, binary=True, extra="eval", package="math_verify", many=math_many_1, aliases=_NAMES)
def math_verify_1(prediction: Any, target: Any, *, timeout: float = 1.5, num_workers: int | None = None) -> Outcome:
    """1 when both are equal as mathematics; letters and layout in LaTeX are read as math-verify reads them."""
    return math_many_1([prediction], [target], timeout=timeout)[0]


def math_many(
    predictions: list[Any], targets: list[Any], *, timeout: float = 1.5, num_workers: int | None = None
) -> list[Outcome]:
    """`math` of many pairs: each distinct pair once, formulas by as many workers as there are CPUs."""
    from crucible_datasets.evaluation.maths.equivalence import VERIFY

    return [_outcome(said) for said in VERIFY.judge_many(_pairs(predictions, targets), timeout, num_workers)]


@metric(
    "math",
    version=2,
    binary=True,
    extra="eval",
    package="math_verify",
    many=math_many,
    aliases=_NAMES,
)
def math_verify(prediction: Any, target: Any, *, timeout: float = 1.5, num_workers: int | None = None) -> Outcome:
    r"""1 when both are equal as mathematics: 1/2 and 0.5, (x+1)^2 and x^2+2x+1, \sqrt8 and 2\sqrt2.

    Numbers and words are compared directly; everything else by math-verify, in a process limited to `timeout` seconds
    and half a gigabyte. The prediction is an answer, or a text with the answer in a box or between dollars.
    """
    return math_many([prediction], [target], timeout=timeout)[0]


@metric("math/hendrycks", version=1, binary=True)
def math_hendrycks(prediction: Any, target: Any) -> Outcome:
    """1 when both are one text after the clean-up of the MATH benchmark's authors."""
    from crucible_datasets.evaluation.maths.equivalence import HENDRYCKS

    return _outcome(HENDRYCKS.judge(str(target), str(prediction)))


def math_minerva_many(
    predictions: list[Any], targets: list[Any], *, timeout: float = 1.5, num_workers: int | None = None
) -> list[Outcome]:
    """`math/minerva` of many pairs."""
    from crucible_datasets.evaluation.maths.equivalence import MINERVA

    return [_outcome(said) for said in MINERVA.judge_many(_pairs(predictions, targets), timeout, num_workers)]


@metric("math/minerva", version=1, binary=True, extra="eval", package="math_verify", many=math_minerva_many)
def math_minerva(prediction: Any, target: Any, *, timeout: float = 1.5, num_workers: int | None = None) -> Outcome:
    """1 when both are one text after Minerva's clean-up, or their difference simplifies to nothing."""
    return math_minerva_many([prediction], [target], timeout=timeout)[0]


def _pairs(predictions: list[Any], targets: list[Any]) -> list[tuple[str, str]]:
    return [(str(target), str(prediction)) for prediction, target in zip(predictions, targets, strict=True)]


def _outcome(said: Judgement) -> Outcome:
    """The outcome of a judgement; a timeout or an error counts as not equal, so that no answer profits from it."""
    if said.status == "ok" and said.read is None and said.note is None:
        return RIGHT if said.equal else WRONG
    value = None if said.equal is None else float(said.equal)
    return Outcome(value, said.read, said.status, None if said.note is None else {"note": said.note})
