"""Which column of predictions says what sample a row is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crucible_datasets.benchmarks.samples.idnames import is_like_id
from crucible_datasets.exceptions import PredictionsError

# A line of a batch has an id of its own beside the one that was given to it.
IDS = ("custom_id", "id", "sample_id", "task_id", "question_id", "example_id")


def id_column_in(columns: Mapping[str, Sequence[Any]], predicted: str | None, ids: Sequence[str]) -> str | None:
    """The column of ids: one of a usual name, else one that holds the ids of the samples.

    Rows that name samples in another way are refused: taken in their order, they would be scored against samples
    that they are not about.
    """
    usual = next((name for name in IDS if name in columns and name != predicted), None)
    if usual is not None:
        return usual
    alike, known = [name for name in columns if name != predicted and is_like_id(name)], set(ids)
    fitting = next((name for name in alike if all(str(one) in known for one in columns[name])), None)
    doubtful = [name for name in alike if _tells_rows_apart(columns[name])]
    if fitting is None and doubtful:
        raise PredictionsError(
            f"No column has a usual name for ids ({', '.join(IDS)}), and {doubtful[0]!r} does not hold those of the "
            f"samples. Pass id_column=, or fields={{'id': {doubtful[0]!r}}} if the data has that column too, or the "
            "predictions alone if they are in the order of the samples."
        )
    return fitting


def _tells_rows_apart(values: Sequence[Any]) -> bool:
    """Whether values could be ids: not all the same, as the id of a model, and not just the numbers of the rows."""
    given = list(values)
    counted = any(given == list(range(first, first + len(given))) for first in (0, 1))
    return len(given) > 1 and not counted and any(one != given[0] for one in given)
