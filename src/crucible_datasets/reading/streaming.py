"""Stage 3 of 6, for streams: the files of a split → a stream that reads them. Nothing is converted or copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from crucible_datasets.exceptions import ArgumentTypeError, StreamedSplitError
from crucible_datasets.features import Features, Value
from crucible_datasets.features.bounds import within
from crucible_datasets.formats.base import FORMATS
from crucible_datasets.info import DatasetInfo
from crucible_datasets.reading import csvshards, lineshards, tarshards
from crucible_datasets.reading.files import DataFile, folders_of, identified, is_compressed
from crucible_datasets.reading.fileshards import ArrowShard, FileShard, ParquetShard
from crucible_datasets.reading.missing_columns import known_columns, require_stated
from crucible_datasets.reading.reader import SplitReader
from crucible_datasets.reading.request import Request
from crucible_datasets.reading.resolve import resolve
from crucible_datasets.splits import NamedSplit
from crucible_datasets.streams import mixing
from crucible_datasets.streams.source import Source
from crucible_datasets.streams.stream import Stream

# Formats whose types are taken from the first rows: only for these does Hugging Face `datasets` know the features.
_TYPED = ("parquet", "arrow", "json", "hdf5", "lance", "webdataset")
_IN_PLACE = ("parquet", "arrow")  # need a path; compressed or archived files are read sequentially


def shard_of(file: DataFile, request: Request) -> FileShard:
    """A file as a shard, read in the best way for its format."""
    return _kind_of_shard(file, request)(file, request)


def _kind_of_shard(file: DataFile, request: Request) -> type[FileShard]:
    if request.format.name in _IN_PLACE and _is_packed(file, request):
        return FileShard
    match request.format.name:
        case "parquet":
            return ParquetShard
        case "arrow":
            return ArrowShard if file.elsewhere is None else FileShard
        case "json" | "text":
            return lineshards.LineShard
        case "csv":
            return csvshards.CsvShard
        case "webdataset":
            return tarshards.TarShard
    return FileShard


def _is_packed(file: DataFile, request: Request) -> bool:
    if file.inner is not None:
        return True
    # What a file elsewhere is called will do: a look at each of a thousand would take minutes.
    is_called_plain = file.elsewhere is not None and file.path.endswith(request.format.extensions)
    return not is_called_plain and is_compressed(file)


def stream_of(files: Sequence[DataFile], request: Request, info: DatasetInfo, split: str | None) -> Stream:
    """The rows of files as a stream."""
    if request.format.name == "json":
        # Arrow's threads need twice the CPU time of a single one, and another thread makes rows meanwhile.
        request = replace(request, options={"use_threads": False, **request.options})
    shards = tuple(shard_of(file, request) for file in files)
    known = None
    if request.columns is not None or request.filters is not None:
        known = known_columns([shard.looked_at for shard in shards], request.columns, request.filters)
        shards = tuple(shard.knowing(known) for shard in shards)
    stated = request.final
    if stated is not None and known is None and request.needs_stated:
        as_they_are = replace(request, features=None)
        require_stated([shard_of(file, as_they_are).looked_at for file in files], stated)
    features = stated if stated is not None else _found(shards, request)
    if stated is None and features is not None and known is not None:
        features = _with_known(features, request.columns, known)
    roots = folders_of(files)
    if stated is None and request.format.name == "csv":
        shards = csvshards.with_types(shards)
    shards = tuple(shard.expecting(features) for shard in shards)
    first = shards[0] if features is None and shards and request.format.name != "text" else None
    source = Source(shards, features, stated is not None, roots, first)
    shown = None if features is None else within(features, roots)
    return replace(Stream.of(source, shown, replace(info, features=features), split), media_roots=roots)


def _found(shards: Sequence[FileShard], request: Request) -> Features | None:
    """The features of the first readable file, if the format has types."""
    if request.format.name not in _TYPED or not all(shard.tells_features for shard in shards[:1]):
        return None
    for shard in (shard.quiet for shard in shards):
        if isinstance(shard, ParquetShard) and shard.part is not None:
            return shard.features
        if isinstance(shard, ArrowShard) and shard.features is not None:
            return shard.features
        for _, batch in shard.batches():
            return batch.features
    return None


def _with_known(found: Features, columns: Sequence[str] | None, known: Features) -> Features:
    """The features of the first rows, with columns that only other files have, and their types."""
    null = Value("null")
    available = list(dict.fromkeys([*found, *known]))
    names = available if columns is None else [name for name in columns if name in available]
    kinds = {name: found.get(name, null) for name in names}
    return Features({name: known.get(name, null) if kind == null else kind for name, kind in kinds.items()})


def split_stream(reader: SplitReader, split: str) -> Stream:
    """One split of a dataset as a stream."""
    if split not in reader.resolved.files:
        raise StreamedSplitError(split, reader.names)
    if (folder := reader.folder_stream(split)) is not None:
        return folder
    files = reader.resolved.streamed_files(split)
    return stream_of(files, reader.request, reader.info, split)


def named_splits(reader: SplitReader, spec: str) -> Stream:
    """The split that a spec names, or several concatenated: `train+test`, `all`."""
    parts = [part.strip() for part in spec.split("+")]
    streams = [split_stream(reader, name) for name in (reader.names if spec == "all" else parts)]
    return streams[0] if len(streams) == 1 else mixing.concatenate(streams, 0, None, NamedSplit("+".join(parts)))


def one_split(
    format: str,
    paths: Any,
    split: str | NamedSplit | None = None,
    features: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Stream:
    """The rows of all files as one split, `train` unless named otherwise."""
    if isinstance(paths, Mapping) and split is None:
        raise ArgumentTypeError("path_or_paths", paths, "a dict of splits is for load_dataset, or name the split.")
    name = str(split or "train")
    found = resolve(format, data_files=paths if isinstance(paths, Mapping) else {name: paths}, options=options)
    return split_stream(SplitReader(found, None if features is None else Features(features)), name)


def arrow_file(path: str) -> Stream:
    """One Arrow file as a stream."""
    files, request = identified([path]), Request(FORMATS["arrow"])
    return stream_of(files, request, DatasetInfo(), None)
