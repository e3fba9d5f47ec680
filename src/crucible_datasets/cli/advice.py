"""Hints on doubtful scores: unparsed answers, and correct answers that count as wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crucible_datasets.evaluation.runs.record import EvaluationResult

_MANY = 0.05  # share of the answers
_LOOKED_AT = 1000  # wrong answers of a run that are checked


def advice(results: Sequence[EvaluationResult], stored: bool) -> list[str]:
    """A line on models with many unparsed answers, and one on models whose correct answers are inside sentences."""
    return [*_unread(results, stored), *_in_sentences(results)]


def _unread(results: Iterable[EvaluationResult], stored: bool) -> Iterable[str]:
    found = [one for one in results if max(score.unparsed_rate for score in one.summary.values()) >= _MANY]
    if found:
        shown = f"`crucible results show {found[0].info.run_id} --samples unparsed` shows them. " if stored else ""
        yield (
            f"{_models(found)}: some answers could not be read, and count as wrong. {shown}"
            "--extract names another rule; `crucible metrics rules` lists them."
        )


def _in_sentences(results: Iterable[EvaluationResult]) -> Iterable[str]:
    judged = (one for one in results if "exact_match@2" in one.summary and _reads_nothing(one))
    found = [(one, hidden) for one in judged if (hidden := _hidden(one))]
    if found:
        models = _models(one for one, _ in found)
        is_read = any(_is_stated(hidden) for _, hidden in found)
        reads = "--extract answer/stated reads the answer out of a sentence, " if is_read else ""
        yield (
            f"{models}: some wrong answers contain the target among other words. exact_match compares whole "
            f"texts; {reads}--metrics contains accepts it anywhere."
        )


def _reads_nothing(result: EvaluationResult) -> bool:
    """Whether no rule looks for the answer in the text: the default only removes thinking."""
    return all(rule.startswith("strip_thinking@") and "|" not in rule for rule in result.info.rules)


def _hidden(result: EvaluationResult) -> list[tuple[str, Any]]:
    """The wrong answers that contain their targets, with these, if they are many."""
    from crucible_datasets.evaluation.metrics import METRICS

    wrong = (one for one in result.samples if one.outcomes["exact_match@2"].value == 0 and one.target)
    pairs = [(one.prediction, one.target) for one in islice(wrong, _LOOKED_AT) if isinstance(one.prediction, str)]
    if not pairs:
        return []
    outcomes = METRICS["contains"].score_many(*map(list, zip(*pairs, strict=True)), whole_words=True)
    hidden = [pair for pair, outcome in zip(pairs, outcomes, strict=True) if outcome.value == 1]
    return hidden if len(hidden) >= 2 * _MANY * len(pairs) else []


def _is_stated(hidden: Sequence[tuple[str, Any]]) -> bool:
    """Whether the rule for sentences reads the target in any of these answers, so that it is worth trying."""
    from crucible_datasets.evaluation.metrics import METRICS

    outcomes = METRICS["exact_match"].score_many(*map(list, zip(*hidden, strict=True)), extract="answer/stated")
    return any(outcome.value == 1 for outcome in outcomes)


def _models(results: Iterable[EvaluationResult]) -> str:
    return ", ".join(result.info.model for result in results)
