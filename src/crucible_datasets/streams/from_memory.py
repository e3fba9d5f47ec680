"""Streams of objects in memory: rows, columns, data frames, generators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.features.frames import arrow_of_polars
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops import build, columns
from crucible_datasets.outputs.base import Format
from crucible_datasets.records import dataclass
from crucible_datasets.splits import NamedSplit
from crucible_datasets.streams import from_generator, from_view
from crucible_datasets.streams.base import Position, Stage
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.columns import Cast
from crucible_datasets.streams.examples import Examples, stage_of
from crucible_datasets.streams.source import Shard, Source
from crucible_datasets.streams.stream import Stream
from crucible_datasets.tables.view import View


def stream_over(
    made: Stage | Stream | Examples,
    info: DatasetInfo | None = None,
    split: NamedSplit | None = None,
    format: Any = None,
    node: Any = None,
) -> Stream:
    """A stream over a stage, or the stream that was given."""
    if isinstance(made, Stream):
        return made
    features = info.features if info is not None else None
    shown = format if isinstance(format, Format) else Format(getattr(format, "format_type", None))
    return replace(Stream.of(stage_of(made, features), features, info, split), format=shown, node=node)


def of_view(view: View, num_shards: int | None = 1) -> Stream:
    """The rows of a view, in shards: of all columns, or of those that its format shows."""
    if view.format.columns is not None and not view.format.output_all_columns:
        view = columns.select(view, [name for name in view.column_names if name in view.format.columns])
    format = replace(view.format, columns=None, output_all_columns=False)
    return Stream(
        from_view.source_of(view, num_shards),
        view.readable,
        view.info,
        view.split,
        format,
        media_roots=view.media_roots,
    )


def of_generator(
    generator: Callable[..., Iterable[Any]],
    features: Mapping[str, Any] | None,
    gen_kwargs: Mapping[str, Any] | None,
    split: str | NamedSplit | None,
) -> Stream:
    """The rows that a function yields."""
    stage: Stage = from_generator.source_of(generator, gen_kwargs)
    kinds = None if features is None else Features(features)
    info = DatasetInfo(builder_name="generator", dataset_name="generator", config_name="default", version="0.0.0")
    return Stream.of(stage if kinds is None else Cast(stage, kinds), kinds, info, split)


def of_spark(frame: Any, features: Mapping[str, Any] | None, split: str | NamedSplit | None) -> Stream:
    """The rows of a Spark data frame, partition by partition."""

    def rows() -> Iterator[dict[str, Any]]:
        return (row.asDict(recursive=True) for row in frame.toLocalIterator())

    return of_generator(rows, features, None, split)


def of_batches(
    make: Callable[..., Iterable[tuple[pa.Table, Features]]],
    gen_kwargs: Mapping[str, Any],
    info: DatasetInfo,
    split: str,
) -> Stream:
    """The rows of a function that yields tables with their features, as builders do."""
    shards = tuple(from_generator.TablesShard(make, part) for part in from_generator.shared_arguments(gen_kwargs))
    return Stream.of(Source(shards, info.features, is_stated=info.features is not None), info.features, info, split)


@dataclass(frozen=True, eq=False)
class LazyFrameShard(Shard):
    """The rows of a polars `LazyFrame`, computed in batches. A position is the number of the next row."""

    frame: Any

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        given = at or 0
        frame = self.frame.slice(given) if given else self.frame
        for piece in frame.collect_batches(maintain_order=True):
            batch = Batch.of_arrow(arrow_of_polars(piece))
            if len(batch):
                yield given, batch
            given += len(batch)


def of_polars(
    frame: Any, features: Mapping[str, Any] | None, info: DatasetInfo | None, split: str | NamedSplit | None
) -> Stream:
    """The rows of a polars frame; a lazy one stays lazy."""
    if not hasattr(frame, "collect_schema") or not hasattr(frame, "collect"):
        return of_view(build.from_polars(frame, features, info, split))
    found = Batch.of_arrow(arrow_of_polars(frame.limit(0).collect())).features
    wanted = build.agreed_features(features, info)
    return Stream.of(Source((LazyFrameShard(frame),), wanted or found, is_stated=True), wanted or found, info, split)
