"""Samples of runs: lists by kind, and one sample with all its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crucible_datasets.evaluation import EvaluationResult
from crucible_datasets.evaluation.report.texts import plain
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.viewer.errors import NotFoundHereError
from crucible_datasets.viewer.results.judging import KINDS, judged

_GLANCE = 240


def refuse_unknown(kind: str) -> None:
    """Raise for an unknown kind."""
    if kind not in KINDS:
        raise ArgumentError("kind", kind, f"expected one of {', '.join(KINDS)}.")


def listed(runs: Sequence[EvaluationResult], kind: str, metric: str | None, places: range) -> dict[str, Any]:
    """Some of the samples of one kind."""
    refuse_unknown(kind)
    found = [one for one, kinds in judged(runs, metric) if kind in kinds]
    where = [_places(run) for run in runs]
    rows = [_line(one, runs, where, metric) for one in found[places.start : places.stop]]
    return {"kind": kind, "total": len(found), "offset": places.start, "samples": rows}


def _line(
    one: str, runs: Sequence[EvaluationResult], where: Sequence[dict[str, int]], metric: str | None
) -> dict[str, Any]:
    answers = [
        None if one not in places else _glance(run, places[one], metric)
        for run, places in zip(runs, where, strict=True)
    ]
    first = next(run.samples[places[one]] for run, places in zip(runs, where, strict=True) if one in places)
    return {"id": one, "input": plain(first.input, _GLANCE), "target": plain(first.target, _GLANCE), "answers": answers}


def _glance(run: EvaluationResult, place: int, metric: str | None) -> dict[str, Any]:
    sample = run.samples[place]
    outcome = sample.outcomes[run.key(metric)]
    return {"value": outcome.value, "status": outcome.status, "extracted": plain(outcome.extracted, _GLANCE)}


def whole(runs: Sequence[EvaluationResult], one: str, kind: str, metric: str | None) -> dict[str, Any]:
    """One sample: input, target, and the answers of each run with their outcomes."""
    refuse_unknown(kind)
    answers, first = [], None
    for run in runs:
        for place, found in enumerate(run.samples.ids()):
            if found == one:
                sample = run.samples[place]
                first = first or sample
                answers.append({"run": run.info.run_id, "model": run.info.model, **_answer(sample)})
    if first is None:
        raise NotFoundHereError(f"There is no sample {one!r} in these runs.")
    return {
        "id": one,
        "input": plain(first.input),
        "target": plain(first.target),
        "choices": plain(first.choices),
        "metadata": plain(first.metadata),
        "answers": answers,
        **_neighbours(one, [each for each, kinds in judged(runs, metric) if kind in kinds]),
    }


def _neighbours(one: str, found: Sequence[str]) -> dict[str, Any]:
    """The previous and the next sample of the same kind."""
    place = found.index(one) if one in found else None
    return {
        "place": place,
        "total": len(found),
        "previous": found[place - 1] if place else None,
        "next": found[place + 1] if place is not None and place + 1 < len(found) else None,
    }


def _answer(sample: Any) -> dict[str, Any]:
    outcomes = {
        key: {"value": one.value, "status": one.status, "extracted": plain(one.extracted), "detail": plain(one.detail)}
        for key, one in sample.outcomes.items()
    }
    extracts = [one.extracted for one in sample.outcomes.values() if isinstance(one.extracted, str)]
    return {
        "epoch": sample.epoch,
        "prediction": plain(sample.prediction),
        "marks": _marks(sample.prediction, extracts),
        "outcomes": outcomes,
    }


def _marks(prediction: Any, extracts: Sequence[str]) -> list[list[int]]:
    """The positions of the extracted answers in the prediction: the last occurrence of each."""
    if not isinstance(prediction, str):
        return []
    found = {(at, at + len(each)) for each in extracts if each and (at := prediction.rfind(each)) >= 0}
    return [list(pair) for pair in sorted(found)]


def _places(run: EvaluationResult) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, one in enumerate(run.samples.ids()):
        places.setdefault(one, place)
    return places
