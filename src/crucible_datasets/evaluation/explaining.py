"""What each rule reads in a text, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import NamedTuple

from crucible_datasets.evaluation.metrics.base import METRICS
from crucible_datasets.evaluation.rules.base import RULES, Rule, rule_of
from crucible_datasets.evaluation.rules.choice import Letters
from crucible_datasets.evaluation.rules.final_answer import TEXT
from crucible_datasets.evaluation.rules.formula import FORMULA
from crucible_datasets.evaluation.rules.gsm8k import SOLUTION
from crucible_datasets.evaluation.rules.statements import reason
from crucible_datasets.exceptions import DatasetsError

_KINDS = {"answer/stated@2": TEXT, "gsm8k/stated@1": SOLUTION, "math/stated@1": FORMULA}
_SKIPPED = ("humaneval", "code/")  # rules for programs


class Explained(NamedTuple):
    """What one rule reads: the answer, the status, whether it is the target, and why."""

    rule: str
    reads: str | None
    status: str
    right: bool | None
    why: str


def explained(prediction: str, target: str, choices: Sequence[str], rules: Iterable[str]) -> Iterator[Explained]:
    """What rules read in a prediction, behind the removal of thinking; by default the newest of each name."""
    sample = SimpleNamespace(choices=list(choices), metadata={})
    names = list(rules) or [name for name in RULES.names() if not name.startswith(_SKIPPED)]
    thinking = rule_of("strip_thinking")
    answer = thinking.read(prediction)
    for rule in map(rule_of, names):
        reading = answer if answer.text is None else rule.read(answer.text, sample)
        yield Explained(
            rule.key,
            reading.text,
            reading.status,
            None if reading.text is None else _agrees(rule, reading.text, target, choices),
            reading.note or _why(rule, answer.text, choices),
        )


def _agrees(rule: Rule, answer: str, target: str, choices: Sequence[str]) -> bool:
    metric = METRICS["multiple_choice" if choices else "exact_match"]
    options = {"choices": list(choices)} if choices else {}
    try:
        return metric.score(answer, rule.read_target(target), **options).value == 1.0
    except DatasetsError:  # such as a target that names no option
        return False


def _why(rule: Rule, text: str | None, choices: Sequence[str]) -> str:
    if text is None:
        return "it ends within its thinking"
    kind = Letters(choices).kind() if rule.key == "choice/letter@2" else _KINDS.get(rule.key)
    return rule.summary if kind is None else reason(text, kind)
