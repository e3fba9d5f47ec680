"""Functions from stream to stream: what the methods of `IterableDataset` do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from crucible_datasets.exceptions import ArgumentError, ColumnNamesError, ColumnNotFoundError, ShardIndexError
from crucible_datasets.executors.base import Executor
from crucible_datasets.features import Features, List
from crucible_datasets.features.bounds import within
from crucible_datasets.features.features import normal
from crucible_datasets.features.names import require_name
from crucible_datasets.features.types import with_leaves
from crucible_datasets.outputs.base import PYTHON, Format
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Stage
from crucible_datasets.streams.calls import Call
from crucible_datasets.streams.columns import Cast, Removed, Renamed, Selected
from crucible_datasets.streams.decoded import Decoded
from crucible_datasets.streams.filtered import Filtered
from crucible_datasets.streams.inputs import Shown
from crucible_datasets.streams.mapped import Mapped, MappedBatches
from crucible_datasets.streams.parallel import below_spread, chosen, spread
from crucible_datasets.streams.rebatched import Grouped, Runs
from crucible_datasets.streams.repeated import Repeated
from crucible_datasets.streams.stream import Stream
from crucible_datasets.streams.taken import Skipped, Taken

Names = str | Sequence[str]


def _listed(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _opened(stream: Stream, executor: str | Executor | None = None) -> Stage:
    """The stage as a step that takes rows reads it: if types are unknown, row by row from the source on."""
    stage = below_spread(stream.stage, executor)
    return stage.by_rows() if stream.reads_rows else stage


def map_rows(
    stream: Stream,
    function: Callable[..., Any] | None,
    with_indices: bool,
    input_columns: Names | None,
    batched: bool,
    batch_size: int | None,
    drop_last_batch: bool,
    remove_columns: Names | None,
    features: Mapping[str, Any] | None,
    fn_kwargs: Mapping[str, Any] | None,
    executor: str | Executor | None = None,
) -> Stream:
    """The rows with a function applied; their features are unknown unless given."""
    call = Call.of(_nothing if function is None else function, with_indices, input_columns, fn_kwargs)
    shown, removed = Shown(stream.format), _listed(remove_columns or ())
    executor = chosen(executor, stream.stage, call, batched)
    below = _opened(stream, executor)
    if call.input_columns is not None and stream.features is not None and set(removed) <= stream.features.keys():
        below = below.only([name for name in stream.features if name in call.input_columns or name not in removed])
    stage: Stage = Mapped(below, call, shown, removed)
    if batched:
        stage = MappedBatches(below, call, shown, removed, batch_size, drop_last_batch)
    kinds = None if features is None else within(Features(features), stream.media_roots)
    return replace(stream, stage=spread(stage, executor), features=kinds)


def _nothing(*_: Any, **__: Any) -> dict[str, Any]:
    return {}


def filter_rows(
    stream: Stream,
    function: Callable[..., Any] | None,
    with_indices: bool,
    input_columns: Names | None,
    batched: bool,
    batch_size: int | None,
    fn_kwargs: Mapping[str, Any] | None,
    executor: str | Executor | None = None,
) -> Stream:
    """The rows for which a function returns true."""
    call = Call.of(function, with_indices, input_columns, fn_kwargs)
    executor = chosen(executor, stream.stage, call, batched)
    stage = Filtered(_opened(stream, executor), call, Shown(stream.format), batched, batch_size)
    return replace(stream, stage=spread(stage, executor))


def take(stream: Stream, n: int) -> Stream:
    """The first `n` rows."""
    return replace(stream, stage=Taken(stream.stage, max(n, 0), stream.node is None))


def skip(stream: Stream, n: int) -> Stream:
    """All rows but the first `n`."""
    return replace(stream, stage=Skipped(stream.stage, max(n, 0), stream.node is None))


def repeat(stream: Stream, num_times: int | None) -> Stream:
    """All rows `num_times` times, or endlessly."""
    return replace(stream, stage=Repeated(stream.stage, num_times))


def batch(
    stream: Stream, batch_size: int | None = None, by_column: Names | None = None, drop_last_batch: bool = False
) -> Stream:
    """Rows of lists: of `batch_size` values each, or of consecutive rows with equal values in a column."""
    if batch_size is None and by_column is None:
        raise ArgumentError("batch_size", None, "pass batch_size or by_column.")
    features = stream.features and Features({name: List(kind) for name, kind in stream.features.items()})
    if by_column is not None:
        names = _listed(by_column)
        _require(stream, names)
        return replace(stream, stage=Runs(_opened(stream), names, drop_last_batch), features=features)
    return replace(stream, stage=Grouped(_opened(stream), batch_size or 0, drop_last_batch), features=features)


def _require(stream: Stream, names: Iterable[str]) -> None:
    for name in names:
        if stream.features is not None and name not in stream.features:
            raise ColumnNotFoundError(name, stream.features)


def select_columns(stream: Stream, names: Names) -> Stream:
    """Only these columns, in this order."""
    kept = _listed(names)
    _require(stream, kept)
    if len(set(kept)) < len(kept):
        raise ColumnNamesError(kept, stream.column_names or (), "a column can be selected only once")
    features = stream.features
    chosen = None if features is None else Features({name: features[name] for name in kept})
    return replace(stream, stage=Selected(stream.stage.only(kept), kept), features=chosen)


def remove_columns(stream: Stream, names: Names) -> Stream:
    """All columns but these; unknown names are ignored."""
    gone, features = _listed(names), stream.features
    left = None if features is None else Features({name: kind for name, kind in features.items() if name not in gone})
    return replace(stream, stage=Removed(_opened(stream).only(list(left or ())), gone), features=left)


def rename_columns(stream: Stream, names: Mapping[str, str]) -> Stream:
    """The same columns under other names."""
    _require(stream, names)
    features = stream.features
    if features is None:
        return replace(stream, stage=Renamed(_opened(stream), dict(names)))
    new = [names.get(name, name) for name in features]
    if len(set(new)) < len(new):
        raise ColumnNamesError(names.values(), features, "two columns would have one name")
    renamed = Features(zip(new, features.values(), strict=True))
    return replace(stream, stage=Renamed(_opened(stream), dict(names), tuple(renamed)), features=renamed)


@dataclass(frozen=True)
class _Added:
    """Gives each row the value of its number."""

    name: str
    column: Any

    def __call__(self, row: Mapping[str, Any], index: int) -> dict[str, Any]:
        if self.name in row:
            raise ColumnNamesError([self.name], row, "a column of this name is already there")
        return {self.name: self.column[index]}


def add_column(stream: Stream, name: str, column: Any) -> Stream:
    """One more column, whose values come in the order of the rows."""
    if stream.features is not None and name in stream.features:
        raise ColumnNamesError([name], stream.features, "a column of this name is already there")
    require_name(name)
    shown = Shown(stream.format)
    call = Call(_Added(name, column), with_indices=True)
    stage = Mapped(_opened(stream), call, Shown(PYTHON) if shown.is_frame else shown)
    return replace(stream, stage=stage, features=None)


def cast(stream: Stream, features: Mapping[str, Any]) -> Stream:
    """The rows as these features."""
    kinds = within(Features(features), stream.media_roots)
    return replace(stream, stage=Cast(stream.stage, kinds), features=kinds)


def cast_column(stream: Stream, column: str, feature: Any) -> Stream:
    """One column as another feature."""
    return cast(stream, {**stream.known("cast_column"), column: normal(feature)})


def decode(stream: Stream, enable: bool = True, num_threads: int | None = None) -> Stream:
    """Media decoded by several threads, or left as stored."""
    known = stream.known("decode")

    def decoding(feature: Any) -> Any:
        return replace(feature, decode=enable) if hasattr(feature, "decode") else feature

    made = cast(stream, with_leaves(dict(known), decoding))
    return replace(made, stage=Decoded(made.stage, num_threads)) if enable and num_threads else made


def with_format(stream: Stream, type: str | None) -> Stream:
    """The same rows, shown by another library."""
    return replace(stream, format=Format.of(type, None, False, {}, []))


def shard(stream: Stream, num_shards: int, index: int, contiguous: bool = True) -> Stream:
    """One part of the shards: contiguous ones, or every `num_shards`-th."""
    available = min(num_shards, stream.stage.num_shards)
    if not 0 <= index < available:
        raise ShardIndexError(index, available)
    return replace(stream, stage=stream.stage.shard(num_shards, index, contiguous))


def reshard(stream: Stream) -> Stream:
    """The same rows in as many shards as their files can be split into, such as row groups of Parquet."""
    return replace(stream, stage=stream.stage.resharded())
