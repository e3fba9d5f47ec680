"""Samples of tar shards, wherever these are: `parse` gives a list, `stream` one sample after the other."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import islice
from os import PathLike
from typing import Any, BinaryIO

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.formats.streams import name_of
from crucible_datasets.formats.webdataset.contents import Contents, Report, Sample
from crucible_datasets.formats.webdataset.members import entries
from crucible_datasets.formats.webdataset.parallel import in_turn
from crucible_datasets.formats.webdataset.samples import grouped
from crucible_datasets.records import dataclass

Place = str | PathLike[str]
Decoders = Mapping[str, Callable[[bytes], Any]]
Opened = tuple[str, Callable[[], AbstractContextManager[BinaryIO]]]  # what to call a shard, and how its bytes are had


class Samples(list[Sample]):
    """Samples, and the `report` of what was met while they were read."""

    def __init__(self, samples: Iterable[Sample], report: Report) -> None:
        super().__init__(samples)
        self.report = report


class SampleStream(Iterator[Sample]):
    """Samples that are read while they are taken. `report` counts those, and what was met on the way to them."""

    def __init__(self, samples: Generator[Sample], report: Report, most: int | None) -> None:
        self._samples, self.report = samples, report
        self._taken = samples if most is None else islice(samples, most)

    def __next__(self) -> Sample:
        try:
            sample = next(self._taken)
        except StopIteration:
            self.close()  # where no more were asked for, others may wait
            raise
        self.report.samples += 1
        return sample

    def close(self) -> None:
        """Close the files, and end the threads that read ahead."""
        self._samples.close()


@dataclass(frozen=True)
class _Asked:
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
    """The samples of one tar archive, each as soon as it is whole; a pattern names several."""
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
    """The samples of several archives, in order; with `num_threads` the next ones are read meanwhile."""
    if max_samples is not None and max_samples < 0:
        raise ArgumentError("max_samples", max_samples, "expected a number of samples, or None for all.")
    asked, report = _Asked(decode, extensions, decoders, scattered, allow_pickle), Report()
    return SampleStream(asked.in_turn(_opened(paths), report, num_threads), report, max_samples)


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
    asked: dict[str, Any] = {"decoders": decoders, "scattered": scattered, "allow_pickle": allow_pickle}
    samples = stream_shards(paths, decode, extensions, max_samples, num_threads=num_threads, **asked)
    return Samples(samples, samples.report)


def _names(extensions: Sequence[str]) -> frozenset[str]:
    several = [extensions] if isinstance(extensions, str) else extensions
    return frozenset(name.lower().lstrip(".") for name in several)


def _lowered(wanted: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda extension: wanted(extension.lower())


def _opened(paths: Any) -> list[Opened]:
    """The archives that are meant: an open file, a path, a pattern, or several of them."""
    if hasattr(paths, "read"):
        return [(name_of(paths), lambda: nullcontext(paths))]
    # Names lead to files above this layer, and only there.
    from crucible_datasets.reading.tarshards import shard_files

    return shard_files(paths)
