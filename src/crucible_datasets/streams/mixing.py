"""Functions from streams to a stream that change the order of rows: shuffle, divide, concatenate, interleave."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace

import numpy as np

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.features import Features
from crucible_datasets.features.bounds import together
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops.combine import aligned, beside_each_other
from crucible_datasets.ops.interleaving import STRATEGIES, chances_of, refuse_never_drawn
from crucible_datasets.outputs.base import PYTHON
from crucible_datasets.splits import NamedSplit
from crucible_datasets.streams.base import Stage
from crucible_datasets.streams.concatenated import Aligned, Beside, Concatenated
from crucible_datasets.streams.cursor import Cursor
from crucible_datasets.streams.interleaved import Interleaved
from crucible_datasets.streams.sharing import Node, Part, part_of
from crucible_datasets.streams.shuffled import Shuffled
from crucible_datasets.streams.stream import Stream

_ROWS_THAT_TELL = 5  # rows that Hugging Face reads to infer unknown types


def shuffle(
    stream: Stream, seed: int | None, generator: np.random.Generator | None, buffer_size: int, max_inputs: int
) -> Stream:
    """The rows shuffled: first the shards, then rows in a buffer."""
    # An empty buffer works like one of a single row: only shards are shuffled.
    for name, value, least in (("buffer_size", buffer_size, 0), ("max_buffer_input_shards", max_inputs, 1)):
        if value < least:
            raise ArgumentError(name, value, f"expected at least {least}.")
    drawn = deepcopy(generator) if generator is not None else np.random.default_rng(seed)
    is_seeded = generator is not None or seed is not None
    shuffled = Shuffled(stream.stage.reordered(drawn), drawn, max(buffer_size, 1), max_inputs, is_seeded=is_seeded)
    return replace(stream, stage=shuffled)


def with_workers(stream: Stream, deterministic: bool, block_size: int) -> Stream:
    """The rows divided among workers: dealt in blocks of one global order, or by shards."""
    node = stream.node or Node()
    return replace(stream, node=node.dealing(block_size if deterministic else None))


def of_node(stream: Stream, rank: int, world_size: int, strategy: str, block_size: int | None) -> Stream:
    """The rows for one of several machines."""
    return replace(stream, node=(stream.node or Node()).within(rank, world_size, strategy, block_size))


def concatenate(
    streams: Sequence[Stream], axis: int, info: DatasetInfo | None, split: NamedSplit | str | None
) -> Stream:
    """The rows of one stream after those of another (axis 0), or their columns in one row (axis 1)."""
    if axis not in (0, 1):
        raise ArgumentError("axis", axis, "expected 0 (rows) or 1 (columns).")
    node, stages = _parts(streams)
    if axis:
        found = [features_found(stream) or Features() for stream in streams]
        names = tuple(tuple(features) for features in found)
        made = _described(Beside(tuple(stages), names), beside_each_other(found), streams, info, split, node)
    else:
        stages, features = _alike(streams, stages)
        made = _described(Concatenated(tuple(stages)), features, streams, info, split, node)
    first = streams[0].format
    return replace(made, format=first) if all(stream.format == first for stream in streams) else made


def interleave(
    streams: Sequence[Stream],
    probabilities: Sequence[float] | None,
    seed: int | None,
    info: DatasetInfo | None,
    split: NamedSplit | str | None,
    strategy: str,
) -> Stream:
    """Rows of several streams in turn, or each from a stream drawn by probability."""
    if strategy not in STRATEGIES:
        raise ArgumentError("stopping_strategy", strategy, f"expected one of {', '.join(STRATEGIES)}.")
    chances = None if probabilities is None else _chances(len(streams), probabilities, strategy)
    node, stages = _parts(streams)
    stages, features = _alike(streams, stages)
    generator = None if chances is None else np.random.default_rng(seed)
    stage = Interleaved(tuple(stages), strategy, chances, generator, is_seeded=seed is not None)
    return _described(stage, features, streams, info, split, node)


def _chances(count: int, probabilities: Sequence[float], strategy: str) -> tuple[float, ...]:
    chances = chances_of(count, probabilities)
    refuse_never_drawn(chances, chances == 0, strategy)
    return tuple(chances.tolist())


def _parts(streams: Sequence[Stream]) -> tuple[Node | None, list[Stage]]:
    """The stages, and their common machine; if the machines differ, each stage is divided on its own."""
    nodes = {stream.node for stream in streams}
    if len(nodes) == 1:
        return nodes.pop(), [stream.stage for stream in streams]
    machines = [stream.node or Node() for stream in streams]
    return None, [
        part_of(stream.stage, node, Part(node.rank, node.world_size))
        for stream, node in zip(streams, machines, strict=True)
    ]


def features_found(stream: Stream) -> Features | None:
    """The features of a stream, or of its first rows; None if there are none."""
    if stream.features is not None:
        return stream.features
    first = Cursor(stream.stage).take(_ROWS_THAT_TELL)
    return None if first is None else first.typed().features


def _alike(streams: Sequence[Stream], stages: Sequence[Stage]) -> tuple[list[Stage], Features | None]:
    """The stages with the columns of all. Rows of unknown types keep their values as they are."""
    found = [features_found(stream) for stream in streams]
    known = [kinds for kinds in found if kinds is not None]
    if not known:
        return list(stages), None
    features = aligned(known)
    fitted = [
        stage
        if kinds is None or list(kinds.items()) == list(features.items())
        else Aligned(stage, features, stream.features is not None)
        for stream, stage, kinds in zip(streams, stages, found, strict=True)
    ]
    return fitted, features


def _described(
    stage: Stage,
    features: Features | None,
    streams: Sequence[Stream],
    info: DatasetInfo | None,
    split: NamedSplit | str | None,
    node: Node | None,
) -> Stream:
    if info is None:
        info = DatasetInfo.from_merge([stream.described() for stream in streams])
    roots = together([stream.media_roots for stream in streams])
    return replace(Stream.of(stage, features, info, split), format=PYTHON, node=node, media_roots=roots)
