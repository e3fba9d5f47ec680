"""Fields of samples by dotted path: `target`, `metadata.subject`, or `subject` for short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crucible_datasets.exceptions import ColumnNotFoundError
from crucible_datasets.exceptions.base import closest

if TYPE_CHECKING:
    from crucible_datasets.benchmarks.samples.table import Samples
    from crucible_datasets.evaluation.runs.record import SampleResult, SampleRows


def at_path(sample: SampleResult, path: str) -> Any:
    """The value of a sample at a dotted path: of a field, else of its metadata; None if there is none."""
    field, rest = place_of(path)
    return inside(getattr(sample, field), rest)


def place_of(path: str) -> tuple[str, str]:
    """The field that a path begins with and the rest of the path; other names are in `metadata`."""
    first, _, rest = path.partition(".")
    return (first, rest) if first in OWN_FIELDS else ("metadata", path)


def inside(place: Any, path: str) -> Any:
    """The value at a path of nested mappings; keys that contain dots come first."""
    for name in [path] if isinstance(place, Mapping) and path in place else path.split(".") if path else []:
        place = place.get(name) if isinstance(place, Mapping) else None
    return place


def refuse_unknown(samples: SampleRows | Samples, path: str, found: Sequence[Any]) -> None:
    """Raise if no sample has the field, since a misspelt name must not become a group."""
    field, rest = place_of(path)
    if not rest or not found or any(one is not None for one in found):
        return
    looked_at = samples[:_LOOKED_AT]
    if not any(_is_there(getattr(sample, field), rest) for sample in looked_at):
        named = dict.fromkeys(name for sample in looked_at for name in sample.metadata or {})
        error = ColumnNotFoundError(path, [*(f"metadata.{name}" for name in named), *sorted(OWN_FIELDS)])
        if near := closest(path.removeprefix("metadata."), named):
            error.add_note(near.strip())
        if not named:
            column = path.removeprefix("metadata.")
            error.add_note(f"A column of your data is kept if it is named: fields={{'metadata': '{column}'}}.")
        raise error


def _is_there(place: Any, path: str) -> bool:
    """Whether a mapping has a value, possibly None, at a path."""
    outer, _, last = path.rpartition(".")
    within = inside(place, outer)
    return any(isinstance(one, Mapping) and name in one for one, name in ((place, path), (within, last)))


_LOOKED_AT = 100  # samples from which the error lists fields
OWN_FIELDS = frozenset({"id", "prediction", "target", "input", "choices", "metadata", "epoch"})
