"""States of streams as `state_dict` returns them: sealed with the steps they belong to and a checksum, and checked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import xxhash

from crucible_datasets.exceptions import ArgumentTypeError, DamagedStateError, ForeignStateError
from crucible_datasets.streams.base import Stage

State = Mapping[str, Any]
_NEEDED = {"epoch", "place"}


def steps_of(stage: Stage) -> list[str]:
    """The class names of a stage and of those below it."""
    return list(_steps(stage))


def _steps(stage: Stage) -> Iterator[str]:
    for below in stage.below():
        yield from _steps(below)
    yield type(stage).__name__


def sealed(state: dict[str, Any], stage: Stage) -> dict[str, Any]:
    """A state with the steps that it belongs to, and a checksum."""
    state["steps"] = steps_of(stage)
    found = _sum(state)
    return state if found is None else {**state, "sum": found}


def opened(given: State | Sequence[State] | None, stage: Stage) -> list[State]:
    """The state of one reader, or those of all readers of a run; raises unless they belong to these steps.

    None, or an empty state, is that of a run that has not begun: what a checkpoint without a state gives.
    """
    if given is None or given == {}:
        return []
    states = [given] if isinstance(given, Mapping) else list(given)
    for state in states:
        if not isinstance(state, Mapping) or not state.keys() >= _NEEDED:
            raise ArgumentTypeError("state_dict", state, "expected what state_dict() gave, or a list of such states.")
        if "sum" in state and state["sum"] != _sum({name: state[name] for name in state if name != "sum"}):
            raise DamagedStateError(dict(state))
        if state.get("steps", steps_of(stage)) != steps_of(stage):
            raise ForeignStateError(state["steps"], steps_of(stage))
    return states


def _sum(state: State) -> str | None:
    try:
        text = json.dumps(state, sort_keys=True)
    except (TypeError, ValueError):
        return None  # the state of a user's generator need not be JSON
    return str(xxhash.xxh3_64_hexdigest(text.encode()))
