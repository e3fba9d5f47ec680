"""What stands between a prediction and the function that judges it, the same for every metric.

Answers are read out of texts by a rule; a pair without an answer is settled here and never judged; a pair
with several right answers is judged against each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from crucible_datasets.evaluation.outcome import MISSING, Outcome
from crucible_datasets.evaluation.rules.base import Reading, Rule
from crucible_datasets.exceptions import DatasetsError, PredictionsError

Judged = Callable[[list[Any], list[Any], list[Any]], list[Outcome]]
_NO_MAPPINGS = {str, int, float, bool, type(None)}
Read = tuple[Any, Reading]  # an answer, and how it was read


def blanks(predictions: Sequence[Any]) -> list[int]:
    """Where there is no prediction, or one of white space."""
    if {*map(type, predictions)} == {str} and "" not in predictions and True not in map(str.isspace, predictions):
        return []  # the usual case, told in a fraction of the time
    return [at for at, given in enumerate(predictions) if given is None or _is_blank(given)]


def _is_blank(value: Any) -> bool:
    return isinstance(value, str) and not value.strip()


def without_blanks(
    predictions: list[Any], targets: list[Any], samples: list[Any], blank: list[int], judge: Judged
) -> list[Outcome]:
    """Judge all pairs; what is not there is missing, and a blank answer where one was expected is empty."""
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


def absent_targets(targets: Sequence[Any], samples: Sequence[Any]) -> list[int]:
    """Where a sample has no target. Without a sample, the empty text is a target as any other."""
    pairs = enumerate(zip(targets, samples, strict=True))
    return [at for at, (target, sample) in pairs if target.__class__ is str and not target and sample is not None]


def not_right(outcomes: list[Outcome], places: list[int], higher_is_better: bool) -> list[Outcome]:
    """The outcomes, of which these are no better than wrong: an empty answer is not what nobody has stated."""
    for at in places:
        outcome = outcomes[at]
        if outcome.value is not None:
            worst = min(outcome.value, 0.0) if higher_is_better else None
            outcomes[at] = Outcome(worst, outcome.extracted, outcome.status, outcome.detail)
    return outcomes


def answers_of(predictions: list[Any], judge: str) -> list[Any]:
    """The predictions, of which the answer counts where they are mappings."""
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
    """The error for an answer that is a mapping without a text of a usual name."""
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
    """Judge what a rule has read out of each prediction; where it found nothing the status says why.

    The value of what could not be read is 0 with `zero`, else that of an empty answer: an edit rate of 0 would be
    perfect, and a corpus score needs the reference too.
    """
    asked = [at for at, (_, reading) in enumerate(readings) if reading.status == "ok" or not zero]
    answers = ["" if readings[at][0] is None else readings[at][0] for at in asked]
    golds = [_read_targets(rule, targets[at]) for at in asked]
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
    """Judge each pair against each of its targets; the best outcome of a pair is the pair's."""
    if {*map(type, targets)}.isdisjoint((list, tuple)):
        return judge(predictions, targets, samples)
    # A prediction that is a list itself is compared with the list of targets as one answer.
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
    """The first of the best; one that does not count is the worst."""
    best = outcomes[0]
    for other in outcomes:
        if other.value is not None and other is not best:
            better = best.value is None or (other.value > best.value) is higher_is_better
            best = other if better and other.value != best.value else best
    return best


def told(error: Exception) -> str:
    """The text that results keep of an error."""
    return f"{type(error).__name__}: {error}"


def read_or_error(rule: Rule, prediction: Any) -> Read:
    """As `read`, with the status error where the rule fails: a user's function may raise anything.

    It counts as what could not be read, since a rule fails on the answers that are not as they should be.
    """
    try:
        return read(rule, prediction)
    except Exception as error:
        # What this library raises about the call as a whole would be raised by every prediction.
        if isinstance(error, DatasetsError):
            raise
        return None, Reading(None, "error", told(error))


def read(rule: Rule, prediction: Any) -> Read:
    """The answer, and how it was read; of several texts, each is read and those without an answer are None."""
    if not isinstance(prediction, str):
        (prediction,) = answers_of([prediction], rule.key)
    if prediction is None:
        return None, Reading(None, "missing")
    if isinstance(prediction, list):
        # A verdict is no text, and neither is a completion that is not there.
        answers = [one if isinstance(one, bool | None) else rule.read(str(one)).text for one in prediction]
        return answers, Reading(None) if any(answer is not None for answer in answers) else Reading(None, "unparsed")
    reading = rule.read(prediction if isinstance(prediction, str) else str(prediction))
    return reading.text, reading


def _read_targets(rule: Rule, target: Any) -> Any:
    if isinstance(target, str):
        return rule.read_target(target)
    if isinstance(target, (list, tuple)):
        return [rule.read_target(gold) if isinstance(gold, str) else gold for gold in target]
    return target


def _expects_nothing(target: Any) -> bool:
    if isinstance(target, (list, tuple)):
        return not target or any(_expects_nothing(gold) for gold in target)
    return _is_blank(target)
