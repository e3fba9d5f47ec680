"""Scores of predictions. `datasets` has none, so its side uses other libraries.

For exact match and F1 that is inspect_ai, whose scorers are called once per sample; for ROUGE it is rouge-score.
There are as many pairs of short answers as the data has rows, and a hundredth as many summaries. Answers have no
hyphens, at which inspect_ai splits words and SQuAD does not.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.cases import Setup, State, case
from benchmarks.data import read_table

WORDS = (
    *("the", "a", "Paris", "London", "cat", "dog", "blue", "green", "river", "Dr.", "it's", "of", "and", "New", "York"),
    *("1975", "42", "Rome", "sea", "king"),
)
Texts = tuple[list[str], list[str]]


def text(draw: random.Random, fewest: int, most: int) -> str:
    """Some words and a full stop, or none."""
    return " ".join(draw.choices(WORDS, k=draw.randint(fewest, most))) + draw.choice(["", "."])


def answers(rows: int) -> Texts:
    """Predictions, of which some are correct, some differ in case, and some are wrong; and the targets."""
    draw = random.Random(0)
    right = [text(draw, 1, 4) for _ in range(rows)]
    ways: list[Callable[[str], str]] = [str, str.upper, lambda _: text(draw, 1, 4)]
    return [draw.choice(ways)(answer) for answer in right], right


def summaries(rows: int) -> Texts:
    draw = random.Random(0)
    some, others = ([text(draw, 60, 120) for _ in range(rows // 100)] for _ in range(2))
    return some, others


def pairs(made: Callable[[int], Texts]) -> Setup:
    """The texts, in the form that each side needs."""

    def setup(module: Any, path: Path) -> State:
        predictions, targets = made(len(read_table(path)))
        if module.__name__ == "crucible_datasets" or made is summaries:
            return State(module, None, (predictions, targets))
        return State(module, None, for_inspect(predictions, targets))

    return setup


def for_inspect(predictions: list[str], targets: list[str]) -> list[tuple[Any, Any]]:
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Target
    from inspect_ai.solver import TaskState

    outputs = [ModelOutput.from_content("model", prediction) for prediction in predictions]
    states = [TaskState("model", at, 1, "question", [], output=output) for at, output in enumerate(outputs)]
    return list(zip(states, map(Target, targets), strict=True))


async def one_by_one(scorer: Any, samples: list[tuple[Any, Any]]) -> list[float]:
    values = []
    for state, target in samples:
        found = (await scorer(state, target)).value
        values.append({"C": 1.0, "I": 0.0}[found] if isinstance(found, str) else float(found))
    return values


def mean(state: State, metric: str, theirs: Callable[[], Any], digits: int) -> float:
    """The mean over all pairs, rounded to the precision of both sides."""
    if state.module.__name__ == "crucible_datasets":
        from crucible_datasets.evaluation import METRICS

        values = [outcome.value for outcome in METRICS[metric].score_many(*state.given)]
    else:
        values = asyncio.run(one_by_one(theirs(), state.given))
    return round(sum(values) / len(values), digits)


@case("exact match of short answers", setup=pairs(answers), needs=("inspect_ai",), flat=10)
def exact_match(state: State) -> float:
    def scorer() -> Any:
        from inspect_ai.scorer import exact

        return exact()

    return mean(state, "exact_match", scorer, 1)


@case("F1 of short answers", setup=pairs(answers), needs=("inspect_ai",), flat=10)
def f1(state: State) -> float:
    def scorer() -> Any:
        from inspect_ai.scorer import f1

        return f1()

    return mean(state, "f1", scorer, 1)  # inspect_ai rounds every value to two digits


@case("ROUGE-L of summaries", setup=pairs(summaries), needs=("rouge_score",), flat=10)
def rouge_l(state: State) -> float:
    predictions, targets = state.given
    if state.module.__name__ == "crucible_datasets":
        from crucible_datasets.evaluation import METRICS

        values = [outcome.value for outcome in METRICS["rougeL"].score_many(predictions, targets)]
    else:
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(["rougeL"])
        values = [scorer.score(*pair)["rougeL"].fmeasure for pair in zip(targets, predictions, strict=True)]
    return round(sum(values) / len(values), 9)
