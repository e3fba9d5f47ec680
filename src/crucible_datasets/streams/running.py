"""Reading a stream: its stages for one epoch and one reader, and the position of that reader."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, field, replace
from typing import Any

import numpy as np

from crucible_datasets.exceptions import StreamStateError
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position, Stage
from crucible_datasets.streams.dealt import Origin, dealer_and_place, rest_of
from crucible_datasets.streams.output import Progress
from crucible_datasets.streams.prefetched import with_prefetch
from crucible_datasets.streams.sharing import Node, Part, part_here, part_of
from crucible_datasets.streams.states import State, opened, sealed
from crucible_datasets.streams.stream import Stream


def stage_for(stream: Stream, epoch: int) -> Stage:
    """The stage that this process reads in this epoch."""
    return begun(stream, epoch).stage


@dataclass
class Run(Progress):
    """One reader of a stream: its stage, and its progress."""

    stage: Stage = None  # type: ignore[assignment]
    epoch: int = 0
    part: Part = field(default_factory=Part)
    block_size: int | None = None
    origin: Origin | None = None

    def state(self) -> dict[str, Any]:
        """The state of the reader, as a JSON value."""
        state: dict[str, Any] = {"epoch": self.epoch, "place": self.place, "part": asdict(self.part)}
        if self.block_size is not None:
            state.update(block_size=self.block_size, origin=None if self.origin is None else asdict(self.origin))
        return state


def begun(stream: Stream, epoch: int, loaded: Sequence[State] = ()) -> Run:
    """The run of this process: from the start, or from the states that were loaded for this epoch."""
    node = stream.node or Node()
    stage, part = _of_epoch(stream.stage, epoch), part_here(node)
    stage = stage.by_rows() if stream.reads_rows else stage
    states = [state for state in loaded if state["epoch"] == epoch]
    own = next((state for state in states if _belongs(state, part, node.block_size)), None)
    origin, place = None, None
    if own is not None:
        # A state goes on with what was drawn: a program's own in a loader of one worker, and the other way round.
        part, origin, place = _part(own), _origin(own), own["place"]
    elif states:
        origin = _rest(stage, states, part, node)
    position, used = place or (None, 0)
    read = with_prefetch(part_of(stage, node, part, origin))
    return Run(position, used, read, epoch, part, node.block_size, origin)


def _of_epoch(stage: Stage, epoch: int) -> Stage:
    return stage.reordered(np.random.default_rng(epoch)).shifted(epoch) if epoch else stage


def _belongs(state: State, part: Part, block_size: int | None) -> bool:
    return replace(_part(state), is_worker=part.is_worker) == part and state.get("block_size") == block_size


def _part(state: State) -> Part:
    return Part(**state.get("part", {}))


def _origin(state: State) -> Origin | None:
    found = state.get("origin")
    if found is None:
        return None
    return Origin(found["place"], found["row"], tuple((start, stop) for start, stop in found["taken"]))


def _rest(stage: Stage, states: Sequence[State], part: Part, node: Node) -> Origin:
    """Where to start if the readers are not the ones that saved the states."""
    parts = [_part(state) for state in states]
    if node.block_size is None or any(state.get("block_size") is None for state in states):
        raise StreamStateError(asdict(part), [asdict(saved) for saved in parts], "rows are not dealt out in one order")
    if len({saved.index for saved in parts}) < parts[0].count:
        raise StreamStateError(asdict(part), [asdict(saved) for saved in parts], "states of some parts are missing")
    dealers: list[tuple[Any, Position]] = []
    for state, saved in zip(states, parts, strict=True):
        whole = part_of(stage, Node(block_size=state["block_size"]), saved, _origin(state))
        dealers.append(dealer_and_place(whole, state["place"]))
    return rest_of(dealers)


def state_of(run: Run | None, stream: Stream, epoch: int, loaded: Sequence[State]) -> dict[str, Any]:
    """The state of a run, or of the next one before it begins."""
    current = run if run is not None and run.epoch == epoch else begun(stream, epoch, loaded)
    return sealed(current.state(), stream)


def loaded(stream: Stream, given: State | Sequence[State] | None) -> list[State]:
    """States that were saved, checked against the stream."""
    return opened(given, stream)


def known_to_torch(kind: type) -> type:
    """The class, registered with torch's `IterableDataset` if torch is installed, so that `DataLoader` accepts it."""
    torch = sys.modules.get("torch.utils.data")
    if torch is not None and hasattr(torch, "IterableDataset") and not issubclass(kind, torch.IterableDataset):
        torch.IterableDataset.register(kind)
    return kind


def num_shards(stream: Stream) -> int:
    """The number of shards of a stream that this machine reads."""
    node, count = stream.node or Node(), stream.stage.num_shards
    if node.world_size > 1 and node.block_size is None and node.shares_shards(count):
        return len(range(node.rank, count, node.world_size))
    return count
