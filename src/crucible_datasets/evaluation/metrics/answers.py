"""What happens before the function of a metric is called, for all metrics.

A rule extracts answers from texts. A pair without answer gets its outcome here. A pair with several correct answers
is scored against each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

from crucible_datasets.evaluation.outcome import MISSING, Outcome
from crucible_datasets.evaluation.rules.base import Reading, Rule
from crucible_datasets.exceptions import DatasetsError, PredictionsError

Judged = Callable[[list[Any], list[Any], list[Any]], list[Outcome]]
_CUT: Final = object()
_NO_MAPPINGS = {str, int, float, bool, type(None)}
Read = tuple[Any, Reading]  # an answer, and the reading it comes from


def blanks(predictions: Sequence[Any]) -> list[int]:
    """The indices of predictions that are missing or blank."""
    if {*map(type, predictions)} == {str} and "" not in predictions and True not in map(str.isspace, predictions):
        return []  # the common case, found quickly
    return [at for at, given in enumerate(predictions) if given is None or _is_blank(given)]


def _is_blank(value: Any) -> bool:
    return isinstance(value, str) and not value.strip()


def without_blanks(
    predictions: list[Any], targets: list[Any], samples: list[Any], blank: list[int], judge: Judged
) -> list[Outcome]:
    """Score all pairs. Missing predictions get the status missing, blank ones empty, unless a blank is the target."""
    if not blank:
        return judge(predictions, targets, samples)
    there = [at for at, given in enumerate(predictions) if given is not None]
    judged = judge([predictions[at] for at in there], [targets[at] for at in there], [samples[at] for at in there])
    outcomes = [MISSING] * len(predictions)
    for at, outcome in zip(there, judged, strict=True):
        outcomes[at] = outcome
    for at in blank:
        if outcomes[at] is not MISSING and not _expects_nothing(targets[at]):
            outcomes[at] = Outcome(outcomes[at].value, status="empty", detail=outcomes[at].detail)
    return outcomes


def texts_read(rule: Rule, predictions: list[Any], samples: list[Any]) -> tuple[list[Any], list[int]]:
    """The predictions with their texts read by a rule, and the indices of those that were cut off, which are blank."""
    pairs = list(zip(predictions, samples, strict=True))
    answers = [_text_read(rule, *pair) for pair in pairs]
    cut = [at for at, answer in enumerate(answers) if answer is _CUT]
    return ["" if answer is _CUT else answer for answer in answers], cut


def _text_read(rule: Rule, prediction: Any, sample: Any) -> Any:
    """A text, or a list with its texts, read; anything else, such as a number or two rewards, as it is."""
    if isinstance(prediction, list):
        answers = [_text_read(rule, item, sample) for item in prediction]
        return ["" if answer is _CUT else answer for answer in answers]
    if not isinstance(prediction, str) or not prediction or prediction.isspace():
        return prediction
    reading = rule.read(prediction, sample)
    return _CUT if reading.status == "truncated" else reading.text or ""


def absent_targets(targets: Sequence[Any], samples: Sequence[Any]) -> list[int]:
    """The indices of samples without a target. Without samples, an empty text is a target."""
    pairs = enumerate(zip(targets, samples, strict=True))
    return [at for at, (target, sample) in pairs if target.__class__ is str and not target and sample is not None]


def counted_wrong(outcomes: list[Outcome], places: list[int], higher_is_better: bool) -> list[Outcome]:
    """The outcomes, with those at `places`, which have no target, set to wrong even if the answer is empty."""
    for at in places:
        outcome = outcomes[at]
        if outcome.value is not None:
            worst = min(outcome.value, 0.0) if higher_is_better else None
            outcomes[at] = Outcome(worst, outcome.extracted, outcome.status, outcome.detail)
    return outcomes


def answers_of(predictions: list[Any], judge: str) -> list[Any]:
    """The predictions, with mappings replaced by their answer."""
    if {*map(type, predictions)} <= _NO_MAPPINGS:
        return predictions
    return [
        [_answer_of(one, judge) for one in given] if isinstance(given, list) else _answer_of(given, judge)
        for given in predictions
    ]


def _answer_of(given: Any, judge: str) -> Any:
    if not isinstance(given, Mapping):
        return given
    if "answer" not in given:
        raise no_text_in(given, judge)
    return given["answer"]


def no_text_in(given: Mapping[Any, Any], judge: str) -> PredictionsError:
    """The error for a mapping without an answer under one of the usual names."""
    names = ", ".join(map(repr, given)) or "nothing"
    return PredictionsError(f"{judge} cannot judge a mapping of {names}: give the text, or call it 'text' or 'answer'.")


def extracted(
    rule: Rule,
    readings: list[Read],
    targets: list[Any],
    samples: list[Any],
    judge: Judged,
    zero: bool,
) -> list[Outcome]:
    """Score the answers that a rule has extracted; for predictions without one, the status says why.

    The value of an unreadable prediction is 0 with `zero`, else the score of an empty answer: an edit rate of 0 would
    be perfect, and a corpus score needs the reference too.
    """
    asked = [at for at, (_, reading) in enumerate(readings) if reading.status == "ok" or not zero]
    answers = ["" if readings[at][0] is None else readings[at][0] for at in asked]
    golds = [read_targets(rule, targets[at]) for at in asked]
    outcomes = [Outcome(0.0)] * len(readings)
    for at, outcome in zip(asked, judge(answers, golds, [samples[at] for at in asked]), strict=True):
        outcomes[at] = outcome
    return [_with_reading(outcome, reading) for outcome, (_, reading) in zip(outcomes, readings, strict=True)]


def _with_reading(outcome: Outcome, reading: Reading) -> Outcome:
    if reading.status == "missing":
        return MISSING
    status = outcome.status if reading.status == "ok" else reading.status
    name = "error" if reading.status == "error" else "note"
    detail = outcome.detail if reading.note is None else {name: reading.note, **(outcome.detail or {})}
    return Outcome(outcome.value, outcome.extracted or reading.text, status, detail)


def best_of(
    predictions: list[Any], targets: list[Any], samples: list[Any], higher_is_better: bool, judge: Judged
) -> list[Outcome]:
    """Score each pair against each of its targets, and keep the best outcome."""
    if {*map(type, targets)}.isdisjoint((list, tuple)):
        return judge(predictions, targets, samples)
    # A prediction that is a list is compared with the list of targets as one answer.
    pairs = zip(predictions, targets, strict=True)
    several = [target.__class__ in (list, tuple) and given.__class__ is not list for given, target in pairs]
    golds = [list(t) or [""] if many else [t] for t, many in zip(targets, several, strict=True)]
    outcomes = judge(
        [given for given, each in zip(predictions, golds, strict=True) for _ in each],
        [gold for each in golds for gold in each],
        [sample for sample, each in zip(samples, golds, strict=True) for _ in each],
    )
    ends = list(accumulate(map(len, golds)))
    starts = [0, *ends[:-1]]
    return [_best(outcomes[start:end], higher_is_better) for start, end in zip(starts, ends, strict=True)]


def _best(outcomes: list[Outcome], higher_is_better: bool) -> Outcome:
    """The first of the best outcomes; outcomes without a value are the worst."""
    best = outcomes[0]
    for other in outcomes:
        if other.value is not None and other is not best:
            better = best.value is None or (other.value > best.value) is higher_is_better
            best = other if better and other.value != best.value else best
    return best


def error_text(error: Exception) -> str:
    """An error as text, for results."""
    return f"{type(error).__name__}: {error}"


def read_or_error(rule: Rule, prediction: Any, sample: Any = None) -> Read:
    """Like `read`, but with the status error if the rule raises: a user's function may raise anything.

    It counts like an unreadable prediction, since rules usually fail on malformed answers.
    """
    try:
        return read(rule, prediction, sample)
    except Exception as error:
        # Errors of this library about the arguments would be raised for every prediction.
        if isinstance(error, DatasetsError):
            raise
        return None, Reading(None, "error", error_text(error))


def read(rule: Rule, prediction: Any, sample: Any = None) -> Read:
    """The answer and its reading. In a list, each text is read; those without an answer become None."""
    if not isinstance(prediction, str):
        (prediction,) = answers_of([prediction], rule.key)
    if prediction is None:
        return None, Reading(None, "missing")
    if isinstance(prediction, list):
        # Booleans and missing completions are not texts.
        answers = [one if isinstance(one, bool | None) else rule.read(str(one), sample).text for one in prediction]
        return answers, Reading(None) if any(answer is not None for answer in answers) else Reading(None, "unparsed")
    reading = rule.read(prediction if isinstance(prediction, str) else str(prediction), sample)
    return reading.text, reading


def read_targets(rule: Rule, target: Any) -> Any:
    """The target, or each of several, in the form of extracted answers."""
    if isinstance(target, str):
        return rule.read_target(target)
    if isinstance(target, (list, tuple)):
        return [rule.read_target(gold) if isinstance(gold, str) else gold for gold in target]
    return target


def _expects_nothing(target: Any) -> bool:
    if isinstance(target, (list, tuple)):
        return not target or any(_expects_nothing(gold) for gold in target)
    return _is_blank(target)
