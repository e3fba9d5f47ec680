"""Rules of whole tables: from the columns of all rows to the columns of other rows."""

from __future__ import annotations

from typing import Any

from crucible_datasets.benchmarks.rules.base import Unfit, table_rule

Table = dict[str, list[Any]]


@table_rule(
    "pairs/best_and_worst",
    columns={
        "prompt": "string",
        "best": "string",
        "worst": "string",
        "best_score": "float64",
        "worst_score": "float64",
    },
)
def best_and_worst(table: Table, *, prompt: str, response: str, score: str) -> Table:
    """One row for each prompt, with its best and its worst response by score; the first wins among equals.

    They are two different responses even if all scores are equal, which is a tie. A prompt with a single response has
    no worst one, and is an invalid row.

    >>> rows = {"p": ["x", "x", "y"], "r": ["a", "b", "c"], "s": [1, 4, 2]}
    >>> best_and_worst(rows, prompt="p", response="r", score="s")["best"]
    ['b', 'c']
    """
    scores = table[score]
    if None in scores:
        raise Unfit("score", "it is missing in a row")
    places: dict[str, list[int]] = {}
    for place, asked in enumerate(table[prompt]):
        places.setdefault(asked, []).append(place)
    best = [max(same, key=scores.__getitem__) for same in places.values()]
    others = [[place for place in same if place != one] for same, one in zip(places.values(), best, strict=True)]
    worst = [min(other, key=scores.__getitem__, default=None) for other in others]
    return {
        "prompt": list(places),
        "best": [table[response][place] for place in best],
        "worst": [None if place is None else table[response][place] for place in worst],
        "best_score": [float(scores[place]) for place in best],
        "worst_score": [None if place is None else float(scores[place]) for place in worst],
    }
