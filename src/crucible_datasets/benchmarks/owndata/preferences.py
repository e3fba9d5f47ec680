"""Rows of `chosen` and `rejected` as samples: two choices, and the letter of the better one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crucible_datasets.benchmarks.adapters.preferences import Row, from_chosen_and_rejected
from crucible_datasets.benchmarks.rules.choices import digest
from crucible_datasets.benchmarks.types import Comparison, LabeledComparison
from crucible_datasets.benchmarks.types.comparisons import Words


def is_judged(columns: Iterable[str]) -> bool:
    """Whether rows have a chosen and a rejected response."""
    return {"chosen", "rejected"} <= set(columns)


def prompt_of(row: Row) -> Any:
    """The prompt of both responses."""
    return _judged(row).comparison.prompt


def responses_of(row: Row) -> list[str]:
    """The texts of both responses, ordered by digest, so that the first is not always the better one."""
    return _responses(_judged(row).comparison)


def better_of(row: Row) -> str:
    """The letter of the chosen response."""
    return _judged(row).preferred.upper()


def _judged(row: Row) -> LabeledComparison:
    found = from_chosen_and_rejected(row)
    first, second = map(digest, _responses(found.comparison))
    return found if first <= second else found.swapped()


def _responses(comparison: Comparison) -> list[str]:
    return [_text(comparison.response_a), _text(comparison.response_b)]


def _text(words: Words) -> str:
    return words if isinstance(words, str) else words[-1].text
