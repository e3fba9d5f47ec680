"""The samples of a page, with the answers of all runs over the same benchmark side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import json

from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.report.choosing import chosen
from crucible_datasets.evaluation.report.texts import plain
from crucible_datasets.evaluation.runs.record import EvaluationResult, SampleResult
from crucible_datasets.evaluation.runs.shown import data_name

_LONGEST_EXTRACT = 2000


class Limits(NamedTuple):
    """Limits of the samples of a page."""

    samples: int = 2000
    bytes: int = 16 << 20


class Shown(NamedTuple):
    """The samples of a page, and a note on those left out."""

    rows: list[dict[str, Any]]
    note: str


def samples_of(results: Sequence[EvaluationResult], groups: Sequence[Sequence[int]], limits: Limits) -> Shown:
    """The samples of runs; `groups` are lists of indices of runs over the same samples."""
    tables = [_Side(results, group) for group in groups]
    total = sum(len(table.ids) for table in tables)
    rows: list[dict[str, Any]] = []
    for table in tables:
        share = max(1, limits.samples * len(table.ids) // max(total, 1))
        rows.extend(_within(table.rows(share), limits.bytes // len(tables)))
    return Shown(rows, _note(len(rows), total))


def _note(shown: int, total: int) -> str:
    how = "A click on a row opens it; the arrow keys go on from there."
    if shown == total:
        return how
    some = f"{shown:,} of {total:,} samples are in this page, first those on which models differ; scores are over all."
    return f"{some} {how}"


def _within(rows: Iterator[dict[str, Any]], most: int) -> Iterator[dict[str, Any]]:
    """The first rows whose size is within the limit."""
    for row in rows:
        most -= len(json.encode(row, enc_hook=str))
        if most < 0:
            return
        yield row


class _Side:
    """Runs over the same samples, side by side."""

    def __init__(self, results: Sequence[EvaluationResult], runs: Sequence[int]) -> None:
        self.results, self.runs = results, runs
        # Of several answers to a sample, the first is shown.
        self.places = [_first_places(results[run].samples.ids()) for run in runs]
        self.ids = list(dict.fromkeys(one for places in self.places for one in places))

    def rows(self, most: int) -> Iterator[dict[str, Any]]:
        """The most informative samples, at most `most`."""
        for at in chosen(self._values(), most).tolist():
            yield self._row(self.ids[at])

    def _values(self) -> Any:
        """The value of each sample in each run, under the first metric of the run."""
        import numpy as np

        values = np.full((len(self.ids), len(self.runs)), np.nan)
        for column, run in enumerate(self.runs):
            result = self.results[run]
            if result.summary:
                known = dict(zip(result.ids, result.values().tolist(), strict=True))
                values[:, column] = [known.get(one, np.nan) for one in self.ids]
        return values

    def _row(self, sample: str) -> dict[str, Any]:
        found = [
            (run, self.results[run].samples[places[sample]])
            for run, places in zip(self.runs, self.places, strict=True)
            if sample in places
        ]
        first = found[0][1]
        return {
            "id": plain(first.id),
            "dataset": plain(data_name(self.results[self.runs[0]].info)),
            "input": plain(first.input),
            "target": plain(first.target),
            "choices": plain(first.choices),
            "metadata": plain(first.metadata),
            "answers": [_answer(run, one) for run, one in found],
        }


def _answer(run: int, sample: SampleResult) -> dict[str, Any]:
    outcomes = {plain(key): _outcome(one) for key, one in sample.outcomes.items()}
    return {"run": run, "prediction": plain(sample.prediction), "outcomes": outcomes}


def _outcome(one: Outcome) -> list[Any]:
    return [one.value, plain(one.status), plain(one.extracted, _LONGEST_EXTRACT)]


def _first_places(ids: Sequence[str]) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, one in enumerate(ids):
        places.setdefault(one, place)
    return places
