"""Values of any column → fields of a sample."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from crucible_datasets.benchmarks.adapters.chat import conversation, picture
from crucible_datasets.benchmarks.adapters.preferences import Row, from_chosen_and_rejected
from crucible_datasets.benchmarks.rules.choices import digest
from crucible_datasets.benchmarks.samples.shuffling import position
from crucible_datasets.benchmarks.types import Comparison, LabeledComparison
from crucible_datasets.benchmarks.types.comparisons import Words
from crucible_datasets.benchmarks.types.messages import Message, Part
from crucible_datasets.exceptions import InvalidRecordError

_MOST_EXACT = 2.0**53  # larger integers are not exact as floats


def as_input(value: Any) -> str | list[Message]:
    """A text unchanged, a number as text, a chat of any common format as messages, an image as a message with it."""
    if isinstance(value, (int, float)) and value == value:
        return str(value)
    if value is None or value != value or not value:
        raise InvalidRecordError("Sample", "the input is empty")
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and {"bytes", "path"} == set(value):
        return [Message("user", [Part("image", image=picture(value))])]
    return conversation(value).messages


def as_target(value: Any) -> str | list[str]:
    """A text; a list of texts for a list; the empty text for None and NaN."""
    if isinstance(value, (list, tuple)):
        return [_text(item) for item in value if item is not None]
    return "" if value is None or value != value else _text(value)


def _text(value: Any) -> str:
    """A value as text; integral floats without decimal point, since integer columns with nulls are read as floats."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < _MOST_EXACT
    return str(int(value) if is_whole else value)


def as_choices(value: Any) -> list[str] | None:
    """A list of texts from a list, a text separated by commas or blanks, or a dict with a list under `text`."""
    if value is None or value != value:
        return None
    if type(value) is list:
        return ["" if item is None else str(item) for item in value]
    if isinstance(value, Mapping) and "text" in value:  # as in ai2_arc, next to the labels
        value = value["text"]
    if isinstance(value, (list, tuple)):
        return as_choices(list(value))
    if isinstance(value, str):
        pieces = value.split(",") if "," in value else value.split()
        return [piece.strip() for piece in pieces if piece.strip()]
    return [str(value)]


def without_gaps(choices: list[str] | None, target: str | list[str]) -> list[str] | None:
    """The choices without empty ones; raises if that would change the choice that the target names by position."""
    if choices is None or all(choices):
        return choices
    kept = [choice for choice in choices if choice]
    if kept == choices[: len(kept)] or not _is_positional(target, choices):
        return kept
    empty = choices.index("")
    raise InvalidRecordError("Sample", f"choice {empty} is empty, and without it the target would name another choice")


def _is_positional(target: str | list[str], choices: list[str]) -> bool:
    targets = [target] if isinstance(target, str) else target
    return any(position(one, choices) is not None for one in targets)


def as_id(value: Any) -> str | int:
    """A text or a whole number."""
    if value is None or value != value or value == "":
        raise InvalidRecordError("Sample", "the id is empty")
    if isinstance(value, float) and value.is_integer():
        return int(value)  # from an integer column with nulls
    return value if isinstance(value, (str, int)) and not isinstance(value, bool) else str(value)


def as_metadata(value: Any, name: str = "metadata") -> dict[str, Any]:
    """A dict, or one in a JSON text; another value of a column `level` becomes `{"level": value}`."""
    given = value
    if isinstance(value, str) and (name == "metadata" or value.lstrip().startswith("{")):
        value = json.loads(value) if value.strip() else None
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        if name != "metadata":
            return {name.rsplit(".", 1)[-1]: given}
        raise InvalidRecordError("Sample", f"the metadata is a dict or JSON of one, not {type(value).__name__}")
    return {str(key): item for key, item in value.items()}


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
    return [_last_text(comparison.response_a), _last_text(comparison.response_b)]


def _last_text(words: Words) -> str:
    return words if isinstance(words, str) else words[-1].text
