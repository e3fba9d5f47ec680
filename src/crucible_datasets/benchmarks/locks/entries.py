"""`LockedDataset`: the state of a dataset when it was locked, and what has changed since."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from crucible_datasets.benchmarks.samples.provenance import Provenance
from crucible_datasets.benchmarks.types.records import Record

Kind = Literal["benchmark", "dataset"]


class Move(NamedTuple):
    """A difference from the locked state."""

    what: str
    locked: object
    found: object

    def __str__(self) -> str:
        return f"{self.what} {_short(self.locked)} → {_short(self.found)}"


class LockedDataset(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The samples of a benchmark or the rows of a dataset: commit, number and hash."""

    name: str
    kind: Kind = "benchmark"
    config: str | None = None
    split: str | None = None
    synthetic: bool = False
    source: str | None = None
    revision: str | None = None
    rules: list[str] = msgspec.field(default_factory=list)
    rows: int
    sha256: str

    @property
    def key(self) -> tuple[str, str, str, str, bool]:
        """The identity of the entry, and its sort key in the file."""
        return (self.kind, self.name, self.config or "", self.split or "", self.synthetic)

    @property
    def title(self) -> str:
        """The name with configuration and split, as in `crucible lock`."""
        return ":".join([self.name, self.config or "", self.split or ""]).rstrip(":")

    def moved(self, found: Provenance, content: bool = True) -> list[Move]:
        """The differences from the locked state; for another source, such as a mirror, only those of the content."""
        moves = [Move("rules", self.rules, found.rules)]
        if self.revision is not None and found.source == self.source:
            moves.insert(0, Move("revision", self.revision, found.revision))
        if content:
            moves += [Move("rows", self.rows, found.num_rows), Move("content", self.sha256, found.content_hash)]
        return [move for move in moves if move.locked != move.found]


def _short(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    text = str(value)
    return text[:12] if len(text) in (40, 64) else text
