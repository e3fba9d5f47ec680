"""Two runs on the same samples, sample by sample."""

from __future__ import annotations

from dataclasses import dataclass, field

from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.runs.record import EvaluationResult, SampleResult
from crucible_datasets.exceptions import ArgumentError, IncomparableRunsError

KINDS = ("fixed", "broken", "both_right", "both_wrong", "uncounted", "only_first", "only_second")


@dataclass(frozen=True)
class Difference:
    """One sample in two runs."""

    id: str
    epoch: int
    kind: str
    first: SampleResult | None
    second: SampleResult | None


@dataclass(frozen=True)
class Differences:
    """The changes of every sample from the first run to the second."""

    first: EvaluationResult
    second: EvaluationResult
    metric: str
    rows: list[Difference] = field(repr=False)

    def of(self, kind: str) -> list[Difference]:
        """The samples of one of the KINDS. Samples without a value in one of the runs are uncounted, not wrong."""
        if kind not in KINDS:
            raise ArgumentError("kind", kind, f"expected one of {', '.join(KINDS)}.")
        return [row for row in self.rows if row.kind == kind]

    @property
    def fixed(self) -> list[str]:
        """The ids of samples that were wrong and are correct now."""
        return [row.id for row in self.of("fixed")]

    @property
    def broken(self) -> list[str]:
        """The ids of samples that were correct and are wrong now."""
        return [row.id for row in self.of("broken")]

    @property
    def both_wrong(self) -> list[str]:
        """The ids of samples that are wrong in both."""
        return [row.id for row in self.of("both_wrong")]

    @property
    def both_right(self) -> list[str]:
        """The ids of samples that are correct in both."""
        return [row.id for row in self.of("both_right")]

    @property
    def counts(self) -> dict[str, int]:
        """The number of samples of each kind."""
        return {kind: len(self.of(kind)) for kind in KINDS}

    def __str__(self) -> str:
        names = f"{self.first.info.model} → {self.second.info.model}, {self.metric}"
        return (
            names
            + ": "
            + ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in self.counts.items() if number)
        )


def difference(
    first: EvaluationResult, second: EvaluationResult, metric: str | None = None, right_from: float | None = None
) -> Differences:
    """Compare two runs sample by sample. `right_from` or better is correct; default 1, or 0 for error rates."""
    hashes = first.info.dataset_hash, second.info.dataset_hash
    if None not in hashes and hashes[0] != hashes[1]:
        sizes = len(set(first.ids)), len(set(second.ids))
        raise IncomparableRunsError("dataset hash", first.info.run_id, hashes[0], second.info.run_id, hashes[1], sizes)
    key = first.key(metric)
    other_key = key if key in second.summary else second.key(key.rpartition("@")[0])
    higher = first.summary[key].higher_is_better
    bound = float(higher) if right_from is None else right_from
    ours, theirs = _by_place(first), _by_place(second)
    rows = []
    for place in dict.fromkeys([*ours, *theirs]):
        one, other = ours.get(place), theirs.get(place)
        before = None if one is None else one.outcomes[key]
        after = None if other is None else other.outcomes[other_key]
        rows.append(Difference(*place, _kind(before, after, bound, higher), one, other))
    return Differences(first, second, key, rows)


def _by_place(result: EvaluationResult) -> dict[tuple[str, int], SampleResult]:
    return {(sample.id, sample.epoch): sample for sample in result.samples}


def _kind(before: Outcome | None, after: Outcome | None, right_from: float, higher: bool) -> str:
    if before is None or after is None:
        return "only_second" if before is None else "only_first"
    if before.value is None or after.value is None:
        return "uncounted"
    was, now = (_right(value, right_from, higher) for value in (before.value, after.value))
    if was == now:
        return "both_right" if now else "both_wrong"
    return "fixed" if now else "broken"


def _right(value: float, right_from: float, higher: bool) -> bool:
    return value >= right_from if higher else value <= right_from
