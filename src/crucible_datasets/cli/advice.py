"""Hints on doubtful scores: unparsed answers, and correct answers that count as wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

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
    found = [one for one in results if "exact_match@2" in one.summary and _reads_nothing(one) and _hides_targets(one)]
    if found:
        yield (
            f"{_models(found)}: some wrong answers contain the target among other words. exact_match compares whole "
            "texts; --extract answer/stated reads the answer out of a sentence, --metrics contains accepts it anywhere."
        )


def _reads_nothing(result: EvaluationResult) -> bool:
    """Whether no rule looks for the answer in the text: the default only removes thinking."""
    return all(rule.startswith("strip_thinking@") and "|" not in rule for rule in result.info.rules)


def _hides_targets(result: EvaluationResult) -> bool:
    """Whether many of the wrong answers contain their targets."""
    from crucible_datasets.evaluation.metrics import METRICS

    wrong = (one for one in result.samples if one.outcomes["exact_match@2"].value == 0 and one.target)
    pairs = [(one.prediction, one.target) for one in islice(wrong, _LOOKED_AT) if isinstance(one.prediction, str)]
    if not pairs:
        return False
    outcomes = METRICS["contains"].score_many(*map(list, zip(*pairs, strict=True)), whole_words=True)
    return sum(outcome.value == 1 for outcome in outcomes) >= 2 * _MANY * len(pairs)


def _models(results: Iterable[EvaluationResult]) -> str:
    return ", ".join(result.info.model for result in results)
