"""Samples of tar shards on any storage: `parse` returns a list, `stream` an iterator."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import islice
from os import PathLike
from typing import Any, BinaryIO

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.formats.streams import drain, name_of
from crucible_datasets.formats.webdataset.contents import Contents, Report, Sample
from crucible_datasets.formats.webdataset.members import entries
from crucible_datasets.formats.webdataset.parallel import in_turn
from crucible_datasets.formats.webdataset.samples import grouped
from crucible_datasets.records import dataclass

Place = str | PathLike[str]
Decoders = Mapping[str, Callable[[bytes], Any]]
Opened = tuple[str, Callable[[], AbstractContextManager[BinaryIO]]]  # the name of a shard, and a function that opens it


class Samples(list[Sample]):
    """A list of samples, and the `report` of reading them."""

    def __init__(self, samples: Iterable[Sample], report: Report) -> None:
        super().__init__(samples)
        self.report = report


class SampleStream(Iterator[Sample]):
    """An iterator of samples; `report` counts those taken so far, and what was skipped before them."""

    def __init__(self, samples: Generator[Sample], report: Report, most: int | None) -> None:
        self._samples, self.report = samples, report
        self._taken = samples if most is None else islice(samples, most)

    def __next__(self) -> Sample:
        try:
            sample = next(self._taken)
        except StopIteration:
            self.close()  # after `max_samples`, threads may still be reading ahead
            raise
        self.report.samples += 1
        return sample

    def close(self) -> None:
        """Close the files, and stop the threads that read ahead."""
        self._samples.close()


@dataclass(frozen=True)
class _Options:
    """How samples are read."""

    decode: bool
    extensions: Sequence[str] | None
    decoders: Decoders | None
    scattered: str
    allow_pickle: bool

    def samples(self, shard: Opened, report: Report) -> Iterator[Sample]:
        """The samples of one shard."""
        url, opened = shard
        contents = Contents(self.decode, self.decoders, self.allow_pickle, report)
        wanted = None if self.extensions is None else _names(self.extensions).__contains__
        with opened() as source:
            found = entries(source, url, 0, wanted and _lowered(wanted), report.skipped)
            for raw in grouped(found, url, self.scattered):
                sample = contents.sample(raw, url)
                if len(sample) > 2 or wanted is None:
                    yield sample
            drain(source)

    def in_turn(self, shards: Sequence[Opened], report: Report, num_threads: int) -> Generator[Sample]:
        """The samples of all shards, in order."""
        if num_threads < 1:
            raise ArgumentError("num_threads", num_threads, "at least one thread is needed.")
        if num_threads == 1 or len(shards) < 2:
            return (sample for shard in shards for sample in self.samples(shard, report))
        return in_turn((partial(self.samples, shard, report) for shard in shards), num_threads)


def stream(
    path: Place | BinaryIO,
    decode: bool = True,
    extensions: Sequence[str] | None = None,
    max_samples: int | None = None,
    *,
    decoders: Decoders | None = None,
    scattered: str = "error",
    allow_pickle: bool = False,
) -> SampleStream:
    """Iterate over the samples of one tar archive, or of several if `path` is a pattern."""
    shards = [path] if isinstance(path, (str, PathLike)) else path
    return stream_shards(
        shards, decode, extensions, max_samples, decoders=decoders, scattered=scattered, allow_pickle=allow_pickle
    )


def stream_shards(
    paths: Place | BinaryIO | Sequence[Place],
    decode: bool = True,
    extensions: Sequence[str] | None = None,
    max_samples: int | None = None,
    *,
    decoders: Decoders | None = None,
    scattered: str = "error",
    allow_pickle: bool = False,
    num_threads: int = 1,
) -> SampleStream:
    """Iterate over the samples of several archives, in order; `num_threads` archives are read concurrently."""
    if max_samples is not None and max_samples < 0:
        raise ArgumentError("max_samples", max_samples, "expected a number of samples, or None for all.")
    options, report = _Options(decode, extensions, decoders, scattered, allow_pickle), Report()
    return SampleStream(options.in_turn(_opened(paths), report, num_threads), report, max_samples)


def parse(
    path: Place | BinaryIO,
    decode: bool = True,
    extensions: Sequence[str] | None = None,
    max_samples: int | None = None,
    *,
    decoders: Decoders | None = None,
    scattered: str = "error",
    allow_pickle: bool = False,
) -> Samples:
    """All samples of one tar archive."""
    samples = stream(
        path, decode, extensions, max_samples, decoders=decoders, scattered=scattered, allow_pickle=allow_pickle
    )
    return Samples(samples, samples.report)


def parse_shards(
    paths: Place | Sequence[Place],
    decode: bool = True,
    extensions: Sequence[str] | None = None,
    max_samples: int | None = None,
    *,
    decoders: Decoders | None = None,
    scattered: str = "error",
    allow_pickle: bool = False,
    num_threads: int = 1,
) -> Samples:
    """All samples of several archives, in order."""
    options: dict[str, Any] = {"decoders": decoders, "scattered": scattered, "allow_pickle": allow_pickle}
    samples = stream_shards(paths, decode, extensions, max_samples, num_threads=num_threads, **options)
    return Samples(samples, samples.report)


def _names(extensions: Sequence[str]) -> frozenset[str]:
    several = [extensions] if isinstance(extensions, str) else extensions
    return frozenset(name.lower().lstrip(".") for name in several)


def _lowered(wanted: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda extension: wanted(extension.lower())


def _opened(paths: Any) -> list[Opened]:
    """The archives of an open file, a path, a pattern, or a list of these."""
    if hasattr(paths, "read"):
        return [(name_of(paths), lambda: nullcontext(paths))]
    # Names are resolved in a higher layer.
    from crucible_datasets.reading.tarshards import shard_files

    return shard_files(paths)
