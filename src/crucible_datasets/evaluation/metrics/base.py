"""What a metric is: one function that judges one pair, and what surrounds it.

A metric has a name and a version, and both stand in every result. Its function takes a prediction and a
target, and options by keyword; it returns a number, a bool or an Outcome. Everything else is the same for
all: the rule that reads the answer out of the text (`extract=`), several right answers (the best counts),
texts that are missing or empty, pairs on which the function fails, and the mean.

A metric that is more than a mean over pairs (BLEU, macro F1, calibration error) has a `reduce` that makes one
number of all outcomes. What it needs of each pair stands in `detail`, so stored results can be reduced again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, Final, NamedTuple, TypeVar

from crucible_datasets.evaluation.metrics.answers import (
    absent_targets,
    answers_of,
    best_of,
    blanks,
    extracted,
    not_right,
    read,
    read_or_error,
    told,
    without_blanks,
)
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.rules.base import rule_of
from crucible_datasets.evaluation.versioned import Versions
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, DatasetsError, UnusablePairError
from crucible_datasets.forking import cached_property

Judge = Callable[..., Any]
F = TypeVar("F", bound=Judge)
_OUTER = ("extract", "samples", "sample")  # what `score` takes itself


@dataclass(frozen=True)
class Metric:
    """A named, versioned measure of predictions."""

    name: str
    version: str
    function: Judge
    many: Callable[..., list[Outcome]] | None = None  # the same for lists of pairs, faster
    reduce: Callable[..., float] | None = None  # instead of the mean
    of_sums: bool = False  # `reduce` makes the same of the sums of all `detail["counts"]` as of the outcomes
    signed: Callable[..., str] | None = None
    higher_is_better: bool = True
    binary: bool = False  # values are 0 or 1, so intervals are those of proportions
    all_targets: bool = False  # the function itself takes several targets
    keeps_unread: bool = False  # what could not be read is judged as an empty answer, so that `detail` is there
    several: bool = False  # the function judges all completions of a sample together
    numbers_are_one: bool = False  # a list of numbers is one answer, as two rewards are, and not several
    mappings: bool = False  # an answer may be a mapping, as {"answer": …}; functions of others take any
    reads: str | None = None  # the rule that reads its answers where neither the call nor the benchmark names one
    extra: str | None = None  # the extra of the package that it needs
    package: str | None = None  # that package, as it is imported
    aliases: tuple[str, ...] = ()
    spellings: tuple[tuple[str, str], ...] = ()  # other names of options, as other libraries call them

    @property
    def key(self) -> str:
        """What results are recorded under: name@version."""
        return f"{self.name}@{self.version}"

    @property
    def corpus(self) -> bool:
        """Whether the total is more than the mean of the values."""
        return self.reduce is not None

    @property
    def needs_target(self) -> bool:
        """Whether nothing can be judged without a target; functions of others may do without, whatever they take."""
        return self._is_own and inspect.signature(self.function).parameters["target"].default is inspect.Parameter.empty

    @property
    def _is_own(self) -> bool:
        return self.function.__module__.startswith("crucible_datasets.")

    @property
    def summary(self) -> str:
        """What it measures, in one line."""
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
        """Whether the function wants the whole sample too."""
        return "sample" in inspect.signature(self.function).parameters

    def score(
        self, prediction: Any, target: Any, *, extract: Any = None, sample: Any = None, **options: Any
    ) -> Outcome:
        """The outcome of one pair; what the function raises is raised."""
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
        """One number for all: the mean of the values that count, or what `reduce` makes of the outcomes."""
        counting = [outcome for outcome in outcomes if outcome.value is not None]
        if not counting:
            return nan  # an error of 0 would be perfect
        if self.reduce is not None:
            return float(self.reduce(counting, **self._reducing.of(self.spelt(options))))
        return sum(outcome.value or 0.0 for outcome in counting) / len(counting)

    def signature(self, options: Mapping[str, Any], outcomes: Sequence[Outcome] = ()) -> str | None:
        """The line that says exactly how it was computed, where the field has a custom for it."""
        return None if self.signed is None else self.signed(outcomes, **self._judging.of(self.spelt(options)))

    def spelt(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options under the names that the function has for them; an error for those that the metric does not have."""
        others = dict(self.spellings)
        found = {others.get(name, name): value for name, value in options.items()}
        for name in found:
            if name not in self.options and not self._judging.any:
                known = ", ".join(self.options) or "none"
                raise ArgumentError(name, found[name], f"{self.name} has no such option; it has: {known}.")
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
        """Read the answers, judge them against each of their targets, and give every pair its best."""
        taken = self._judging.of(options)
        if extract is None and not self.mappings and self._is_own:
            predictions = answers_of(predictions, self.name)

        def judge(texts: list[Any], golds: list[Any], whole: list[Any]) -> list[Outcome]:
            if self.all_targets:
                return judged(texts, golds, whole, taken)
            return best_of(texts, golds, whole, self.higher_is_better, lambda *flat: judged(*flat, taken))

        if extract is not None:
            rule, zero = rule_of(extract), self.higher_is_better and not self.corpus and not self.keeps_unread
            reading = read if judged == self._one_by_one else read_or_error
            readings = [reading(rule, prediction) for prediction in predictions]
            outcomes = extracted(rule, readings, targets, samples, judge, zero)
        else:
            outcomes = without_blanks(predictions, targets, samples, blanks(predictions), judge)
        # `no_answer` says that the empty text is the right answer where it is the target.
        absent = [] if options.get("no_answer") else absent_targets(targets, samples)
        return not_right(outcomes, absent, self.higher_is_better) if absent and self.needs_target else outcomes

    def _one_by_one(
        self, predictions: list[Any], targets: list[Any], samples: list[Any], options: dict[str, Any]
    ) -> list[Outcome]:
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
        rows = zip(predictions, targets, samples, strict=True)
        return [self._or_error(prediction, target, sample, options) for prediction, target, sample in rows]

    def _or_error(self, prediction: Any, target: Any, sample: Any, options: dict[str, Any]) -> Outcome:
        try:
            return self._one_by_one([prediction], [target], [sample], options)[0]
        except Exception as error:  # a user's function may raise anything; one pair is not the run
            # What this library raises about the call as a whole would be raised by every pair.
            if isinstance(error, DatasetsError) and not isinstance(error, UnusablePairError):
                raise
            return _failed(told(error))


def as_outcome(value: Any) -> Outcome:
    """What a function returned as an outcome: a number, a bool, None for 'does not count', or an Outcome."""
    made = value if isinstance(value, Outcome) else Outcome(None if value is None else float(value))
    if made.value is not None and not isfinite(made.value):
        return _failed(f"the value is {made.value}, which makes no mean")
    return made


def _failed(reason: str) -> Outcome:
    return Outcome(None, status="error", detail={"error": reason})


class _Taken(NamedTuple):
    """Which keyword options a function takes: those with a name, with their defaults, and perhaps any."""

    named: dict[str, Any]
    any: bool

    def of(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the options that the function takes."""
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
    """A metric by name or key, or any function of a prediction and a target, under the digest of what it does."""
    if isinstance(asked, Metric):
        return asked
    if isinstance(asked, str):
        return METRICS[asked]
    if not callable(asked):
        raise ArgumentTypeError("metric", asked, "pass the name of a metric, or a function of (prediction, target).")
    from crucible_datasets.hashing import Hasher

    registered = [entry for entry in METRICS.entries.values() if entry.function is asked]
    own_name = getattr(asked, "__name__", type(asked).__name__)
    return registered[0] if registered else Metric(own_name, Hasher.hash(asked)[:8], asked, all_targets=True)
