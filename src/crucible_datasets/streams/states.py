"""States of streams as `state_dict` returns them: sealed with the data and steps they belong to and a checksum."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import xxhash

from crucible_datasets.exceptions import ArgumentTypeError, DamagedStateError, ForeignStateError
from crucible_datasets.streams.base import Stage
from crucible_datasets.streams.identity import differences
from crucible_datasets.streams.stream import Stream

State = Mapping[str, Any]
_NEEDED = {"epoch", "place"}
_UNSUMMED = {"sum", "fingerprint"}  # a state without its fingerprint is one of an earlier version, and accepted


def steps_of(stage: Stage) -> list[str]:
    """The class names of a stage and of those below it."""
    return list(_steps(stage))


def _steps(stage: Stage) -> Iterator[str]:
    for below in stage.below():
        yield from _steps(below)
    yield type(stage).__name__


def sealed(state: dict[str, Any], stream: Stream) -> dict[str, Any]:
    """A state with the steps and data that it belongs to, and a checksum."""
    state["steps"] = steps_of(stream.stage)
    digest = _sum(state)
    state["fingerprint"] = {**stream.identity, "sum": _sum(stream.identity)}
    return state if digest is None else {**state, "sum": digest}


def opened(given: State | Sequence[State] | None, stream: Stream) -> list[State]:
    """The state of one reader, or those of all readers of a run; raises unless they belong to this stream.

    None, or an empty state, is that of a run that has not begun: what a checkpoint without a state gives.
    """
    if given is None or given == {}:
        return []
    states = [given] if isinstance(given, Mapping) else list(given)
    steps, identity = steps_of(stream.stage), None
    for state in states:
        if not isinstance(state, Mapping) or not state.keys() >= _NEEDED:
            raise ArgumentTypeError("state_dict", state, "expected what state_dict() gave, or a list of such states.")
        fingerprint = state.get("fingerprint")
        if ("sum" in state and state["sum"] != _sum(state)) or not _is_intact(fingerprint):
            raise DamagedStateError(dict(state))
        if state.get("steps", steps) != steps:
            raise ForeignStateError(state["steps"], steps)
        if fingerprint is not None:
            identity = identity or stream.identity_now()
            if reasons := differences(fingerprint, identity, stream.stage):
                raise ForeignStateError(steps, steps, reasons)
    return states


def _is_intact(fingerprint: Any) -> bool:
    return fingerprint is None or (isinstance(fingerprint, Mapping) and fingerprint.get("sum") == _sum(fingerprint))


def _sum(state: State) -> str | None:
    try:
        text = json.dumps({name: state[name] for name in state if name not in _UNSUMMED}, sort_keys=True)
    except (TypeError, ValueError):
        return None  # the state of a user's generator need not be JSON
    return str(xxhash.xxh3_64_hexdigest(text.encode()))
