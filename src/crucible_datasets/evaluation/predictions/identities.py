"""The id column of a table of predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crucible_datasets.benchmarks.samples.making import is_like_id
from crucible_datasets.exceptions import PredictionsError

# A line of a batch file has its own id besides the custom id.
IDS = ("custom_id", "id", "sample_id", "task_id", "question_id", "example_id")


def id_column_in(columns: Mapping[str, Sequence[Any]], predicted: str | None, ids: Sequence[str]) -> str | None:
    """The id column: one of a usual name, else one that contains the ids of the samples.

    Raises for other ids: by position, rows would be scored against wrong samples.
    """
    usual = next((name for name in IDS if name in columns and name != predicted), None)
    if usual is not None:
        return usual
    alike, known = [name for name in columns if name != predicted and is_like_id(name)], set(ids)
    fitting = next((name for name in alike if all(str(one) in known for one in columns[name])), None)
    doubtful = [name for name in alike if _may_be_ids(columns[name])]
    if fitting is None and doubtful:
        raise PredictionsError(
            f"No column has a usual name for ids ({', '.join(IDS)}), and {doubtful[0]!r} does not hold those of the "
            f"samples. Pass id_column=, or fields={{'id': {doubtful[0]!r}}} if the data has that column too, or the "
            "predictions alone if they are in the order of the samples."
        )
    return fitting


def _may_be_ids(values: Sequence[Any]) -> bool:
    """Whether values could be ids: not all equal, as a model id, and not just row numbers."""
    given = list(values)
    counted = any(given == list(range(first, first + len(given))) for first in (0, 1))
    return len(given) > 1 and not counted and any(one != given[0] for one in given)
