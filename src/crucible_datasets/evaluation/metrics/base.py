"""`Metric`: a function that scores one pair, with everything that is the same for all metrics.

A metric has a name and a version, which are recorded in every result. Its function takes a prediction and a target,
and options by keyword; it returns a number, a bool or an Outcome. `Metric` handles the rest: the rule that extracts
the answer from the text (`extract=`), several correct answers (the best counts), missing and empty texts, pairs on
which the function fails, and the mean.

A corpus metric (BLEU, macro F1, calibration error) has a function `reduce`, which computes one number from all
outcomes. What it needs of each pair is in `detail`, so stored results can be reduced again.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, nan
from typing import Any, Final, NamedTuple, TypeVar

from crucible_datasets.evaluation.metrics.answers import (
    absent_targets,
    answers_of,
    best_of,
    blanks,
    counted_wrong,
    error_text,
    extracted,
    read,
    read_or_error,
    read_targets,
    texts_read,
    without_blanks,
)
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.rules.base import rule_of
from crucible_datasets.evaluation.versioned import Versions
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, DatasetsError, UnusablePairError
from crucible_datasets.executors.stateful import is_async
from crucible_datasets.forking import cached_property
from crucible_datasets.keywords import refuse_unknown_keywords
from crucible_datasets.logging import get_logger

_logger = get_logger(__name__)
Judge = Callable[..., Any]
F = TypeVar("F", bound=Judge)
_OUTER = ("extract", "samples", "sample")  # arguments of `score` itself


@dataclass(frozen=True)
class Metric:
    """A named, versioned measure of predictions."""

    name: str
    version: str
    function: Judge
    many: Callable[..., list[Outcome]] | None = None  # a faster function of lists of pairs
    reduce: Callable[..., float] | None = None  # instead of the mean
    of_sums: bool = False  # `reduce` of the summed `detail["counts"]` equals `reduce` of the outcomes
    signed: Callable[..., str] | None = None
    higher_is_better: bool = True
    binary: bool = False  # values are 0 or 1, so intervals are those of proportions
    all_targets: bool = False  # the function takes the list of targets itself
    keeps_unread: bool = False  # unreadable predictions are scored as empty answers, to have a `detail`
    several: bool = False  # the function takes all completions of a sample together
    numbers_are_one: bool = False  # a list of numbers is one answer (such as two rewards), not several
    mappings: bool = False  # an answer may be a mapping such as {"answer": …}; users' functions accept any
    numbers_by_name: bool = False  # so is a mapping of numbers, such as rewards or probabilities
    reads: str | None = None  # the default extraction rule
    extra: str | None = None  # the extra that installs the package it needs
    package: str | None = None  # the import name of that package
    aliases: tuple[str, ...] = ()
    spellings: tuple[tuple[str, str], ...] = ()  # aliases of options, as other libraries name them

    @property
    def key(self) -> str:
        """The key in results: name@version."""
        return f"{self.name}@{self.version}"

    @property
    def corpus(self) -> bool:
        """Whether this is a corpus metric, whose total is not the mean of the values."""
        return self.reduce is not None

    @property
    def needs_target(self) -> bool:
        """Whether a target is required; users' functions may ignore theirs."""
        return (
            self.is_built_in
            and inspect.signature(self.function).parameters["target"].default is inspect.Parameter.empty
        )

    @property
    def is_built_in(self) -> bool:
        """Whether the metric is one of this library."""
        return self.function.__module__.startswith("crucible_datasets.")

    @property
    def summary(self) -> str:
        """The first line of its documentation."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]

    @cached_property
    def options(self) -> dict[str, Any]:
        """The options that a call may set, with their defaults."""
        return self._judging.named | self._reducing.named

    @cached_property
    def _judging(self) -> _Taken:
        return _taken(self.function)

    @cached_property
    def _reducing(self) -> _Taken:
        return _taken(self.reduce)

    @cached_property
    def asks_sample(self) -> bool:
        """Whether the function has a parameter `sample`."""
        return "sample" in inspect.signature(self.function).parameters

    def score(
        self, prediction: Any, target: Any, *, extract: Any = None, sample: Any = None, **options: Any
    ) -> Outcome:
        """The outcome of one pair; errors of the function are raised."""
        options = self.spelt(options)
        pairs = [prediction], [target], [sample]
        return self._outcomes(*pairs, extract, options, self._one_by_one)[0]

    def score_many(
        self,
        predictions: Iterable[Any],
        targets: Iterable[Any],
        *,
        extract: Any = None,
        samples: Iterable[Any] | None = None,
        **options: Any,
    ) -> list[Outcome]:
        """The outcomes of many pairs, in order. A pair on which the function fails has the status error."""
        options = self.spelt(options)
        texts, golds = list(predictions), list(targets)
        whole = [None] * len(texts) if samples is None else list(samples)
        if not len(texts) == len(golds) == len(whole):
            sizes = f"{len(texts)} predictions, {len(golds)} targets, {len(whole)} samples: pass as many of each."
            raise ArgumentError("targets", f"[… {len(golds)}]", sizes)
        return self._outcomes(texts, golds, whole, extract, options, self._together)

    def aggregate(self, outcomes: Iterable[Outcome], **options: Any) -> float:
        """The total: the mean of the values that count, or the result of `reduce`."""
        counting = [outcome for outcome in outcomes if outcome.value is not None]
        options = self.spelt(options)
        if not counting:
            return nan  # 0 would be a perfect error rate
        if self.reduce is not None:
            return float(self.reduce(counting, **self._reducing.of(options)))
        return sum(outcome.value or 0.0 for outcome in counting) / len(counting)

    def signature(self, options: Mapping[str, Any], outcomes: Sequence[Outcome] = ()) -> str | None:
        """A line that describes exactly how it was computed, for metrics with such a convention (sacrebleu)."""
        return None if self.signed is None else self.signed(outcomes, **self._judging.of(self.spelt(options)))

    def spelt(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options with aliases replaced by the names of parameters; raises for unknown options."""
        others = dict(self.spellings)
        found = {others.get(name, name): value for name, value in options.items()}
        if not self._judging.any:
            refuse_unknown_keywords(self.name, found, self.options)
        return found

    def _outcomes(
        self,
        predictions: list[Any],
        targets: list[Any],
        samples: list[Any],
        extract: Any,
        options: dict[str, Any],
        judged: Callable[..., list[Outcome]],
    ) -> list[Outcome]:
        """Extract the answers, score them against each of their targets, and keep the best outcome of every pair."""
        taken = self._judging.of(options)
        rule = None if extract is None else rule_of(extract)
        if (rule is None or rule.texts_only) and not self.mappings and self.is_built_in:
            predictions = answers_of(predictions, self.name)

        def judge(texts: list[Any], golds: list[Any], whole: list[Any]) -> list[Outcome]:
            if self.all_targets:
                return judged(texts, golds, whole, taken)
            return best_of(texts, golds, whole, self.higher_is_better, lambda *flat: judged(*flat, taken))

        zero = self.higher_is_better and not self.corpus and not self.keeps_unread
        if rule is not None and rule.texts_only:
            predictions, cut = texts_read(rule, predictions, samples)
            targets = [read_targets(rule, target) for target in targets]
            outcomes = without_blanks(predictions, targets, samples, blanks(predictions), judge)
            for at in cut:
                outcomes[at] = Outcome(
                    0.0 if zero else outcomes[at].value, status="truncated", detail=outcomes[at].detail
                )
        elif rule is not None:
            reading = read if judged == self._one_by_one else read_or_error
            readings = [reading(rule, *pair) for pair in zip(predictions, samples, strict=True)]
            outcomes = extracted(rule, readings, targets, samples, judge, zero)
        else:
            outcomes = without_blanks(predictions, targets, samples, blanks(predictions), judge)
        # With `no_answer`, an empty text can be the target.
        absent = [] if options.get("no_answer") else absent_targets(targets, samples)
        return counted_wrong(outcomes, absent, self.higher_is_better) if absent and self.needs_target else outcomes

    def _one_by_one(
        self, predictions: list[Any], targets: list[Any], samples: list[Any], options: dict[str, Any]
    ) -> list[Outcome]:
        if self._is_async:
            return [_outcome_of(*each) for each in self._awaited(predictions, targets, samples, options)]
        if not self.asks_sample:
            return [as_outcome(self.function(p, t, **options)) for p, t in zip(predictions, targets, strict=True)]
        rows = zip(predictions, targets, samples, strict=True)
        return [as_outcome(self.function(p, t, sample=sample, **options)) for p, t, sample in rows]

    def _together(
        self, predictions: list[Any], targets: list[Any], samples: list[Any], options: dict[str, Any]
    ) -> list[Outcome]:
        if self.many is not None:
            given = {**options, "samples": samples} if "samples" in inspect.signature(self.many).parameters else options
            return self.many(predictions, targets, **given)
        if self._is_async:
            judged = self._awaited(predictions, targets, samples, options)
            return [_or_error(partial(_outcome_of, *each)) for each in judged]
        rows = zip(predictions, targets, samples, strict=True)
        return [_or_error(partial(self._one, *row, options)) for row in rows]

    def _one(self, prediction: Any, target: Any, sample: Any, options: dict[str, Any]) -> Outcome:
        return self._one_by_one([prediction], [target], [sample], options)[0]

    @cached_property
    def _is_async(self) -> bool:
        return is_async(self.function)

    def _awaited(
        self, predictions: list[Any], targets: list[Any], samples: list[Any], options: dict[str, Any]
    ) -> list[tuple[Any, BaseException | None]]:
        from crucible_datasets.evaluation.metrics.awaited import awaited

        def judge(prediction: Any, target: Any, sample: Any) -> Any:
            return self.function(prediction, target, **({"sample": sample} if self.asks_sample else {}), **options)

        return awaited(judge, zip(predictions, targets, samples, strict=True))


def _outcome_of(value: Any, error: BaseException | None) -> Outcome:
    if error is not None:
        raise error
    return as_outcome(value)


def _or_error(judged: Callable[[], Outcome]) -> Outcome:
    try:
        return judged()
    except Exception as error:  # a user's function may raise anything, and one pair must not end the run
        # Errors of this library about the arguments would be raised for every pair.
        if isinstance(error, DatasetsError) and not isinstance(error, UnusablePairError):
            raise
        return _failed(error_text(error))


def as_outcome(value: Any) -> Outcome:
    """The return value of a function as an outcome: a number, a bool, None for 'does not count', or an Outcome."""
    made = value if isinstance(value, Outcome) else Outcome(None if value is None else float(value))
    if made.value is not None and not isfinite(made.value):
        return _failed(f"the value is {made.value}, which makes no mean")
    return made


def _failed(reason: str) -> Outcome:
    return Outcome(None, status="error", detail={"error": reason})


class _Taken(NamedTuple):
    """The keyword options of a function with their defaults, and whether it has `**kwargs`."""

    named: dict[str, Any]
    any: bool

    def of(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options that the function accepts."""
        return {
            name: value for name, value in options.items() if name in self.named or (self.any and name not in _OUTER)
        }


def _taken(function: Judge | None) -> _Taken:
    if function is None:
        return _Taken({}, False)
    parameters = list(inspect.signature(function).parameters.values())
    named = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in _OUTER}
    return _Taken(named, any(p.kind is p.VAR_KEYWORD for p in parameters))


def _made(name: str, given: Any) -> Metric:
    return given if isinstance(given, Metric) else Metric(name, "1", given, all_targets=True)


METRICS: Final[Versions[Metric]] = Versions("metric", "crucible_datasets.evaluation.metrics", _made)


def metric(name: str = "", *, version: str | int = 1, **facts: Any) -> Callable[[F], F]:
    """Register a function of a prediction and a target as a metric; `facts` are the fields of Metric."""

    def register(function: F) -> F:
        METRICS.add(Metric(name or function.__name__, str(version), function, **facts))
        return function

    return register


def metric_of(asked: str | Metric | Judge) -> Metric:
    """A metric by name or key, or from any function of a prediction and a target, named by a digest of its code."""
    if isinstance(asked, Metric):
        return asked
    if isinstance(asked, str):
        return METRICS[asked]
    if not callable(asked):
        raise ArgumentTypeError("metric", asked, "pass the name of a metric, or a function of (prediction, target).")
    from crucible_datasets.hashing import Hasher, UnhashableError

    for entry in (*METRICS.entries.values(), *_of_this_process):
        if entry.function is asked:
            return entry
    own_name = getattr(asked, "__name__", type(asked).__name__)
    try:
        return Metric(own_name, Hasher.hash(asked)[:8], asked, all_targets=True)
    except UnhashableError as error:
        text = "%s So its scores can be compared within this process only. To say its version, put @metric(version=1) "
        _logger.warning(text + "above the function %s.", error, own_name)
    _of_this_process.append(Metric(own_name, os.urandom(4).hex(), asked, all_targets=True))
    return _of_this_process[-1]


_of_this_process: list[Metric] = []  # of functions that nothing identifies elsewhere, such as one that holds a client
