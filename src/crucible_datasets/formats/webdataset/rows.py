"""Samples → Arrow tables, one row per sample: a column per extension, `__key__` and `__url__`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO, TypeVar

import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError, DatasetsError, FileFormatError
from crucible_datasets.features import Features
from crucible_datasets.features.storage import to_extension
from crucible_datasets.features.types import Value
from crucible_datasets.formats.base import Filters, columns_of
from crucible_datasets.formats.streams import drain, name_of
from crucible_datasets.formats.webdataset.columns import MemberNames, column
from crucible_datasets.formats.webdataset.members import Wanted, entries
from crucible_datasets.formats.webdataset.samples import KEY, URL, RawSample, grouped, in_the_place_of

_FIRST, _MOST = 100, 1000
_BYTES = 8 << 20

Made = TypeVar("Made")


def read(
    stream: BinaryIO,
    *,
    columns: list[str] | None = None,
    filters: Filters = None,
    features: Any = None,
    scattered: str = "error",
    on_mixed_types: str | None = "use_json",
    download: bool = True,
) -> Iterator[pa.Table]:
    """Yield tables of whole samples, about 8 MB each.

    `on_mixed_types` is also used by the code that combines tables; `download` only by the code that resolves files.
    """
    path = name_of(stream)
    wanted = wanted_of(columns, filters, features)
    is_single, samples = with_single(grouped(entries(stream, path, 0, wanted), path, scattered))
    block: list[RawSample] | None = None
    for block in blocks(samples):
        table, fault = up_to_fault(block, lambda part: table_of(part, path, wanted, is_single, on_mixed_types))
        if table is not None:
            yield table
        if fault is not None:
            raise fault
    if block is None:
        yield table_of([], path)
    drain(stream)


def wanted_of(columns: list[str] | None, filters: Filters, features: Any) -> Wanted | None:
    """Which extensions must be read."""
    names = columns if columns is not None else list(features) if features else None
    if names is None:
        return None
    wanted = frozenset(names)
    # Expressions do not list their fields, but their text contains them.
    return lambda extension: extension in wanted or bool(columns_of(filters, [extension]))


def with_single(samples: Iterator[RawSample]) -> tuple[bool, Iterator[RawSample]]:
    """Whether there is only one sample, and an iterator of all samples."""
    first = list(islice(samples, 1))
    try:
        second = list(islice(samples, 1))
    except DatasetsError as error:
        return False, chain(first, _raising(error))
    return bool(first) and not second, chain(first, second, samples)


def _raising(error: Exception) -> Iterator[RawSample]:
    yield from ()
    raise error


def blocks(samples: Iterable[RawSample]) -> Iterator[list[RawSample]]:
    """Samples in lists of limited size; the first lists are short, so that the first rows come early.

    The complete samples before an error come first.
    """
    block: list[RawSample] = []
    most, full = _FIRST, 0  # `full` is the offset in the archive at which a block may have reached its size
    fault: FileFormatError | None = None
    try:
        for sample in samples:
            if sample.begin >= full:
                room = _BYTES - size_of(block)
                if block and room <= 0:
                    yield block
                    block, most, room = [], _MOST, _BYTES
                full = sample.begin + room
            block.append(sample)
            if len(block) >= most:
                yield block
                block, most, full = [], _MOST, 0
    except FileFormatError as error:
        fault = error
    if block:
        yield block
    if fault is not None:
        raise fault


def up_to_fault(
    block: Sequence[RawSample], make: Callable[[Sequence[RawSample]], Made]
) -> tuple[Made | None, FileFormatError | None]:
    """What `make` makes of the samples before the first with damaged content, if any; and what is wrong with that."""
    try:
        return make(block), None
    except FileFormatError as error:
        fault = error
    good, bad = 0, len(block)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            make(block[:middle])
            good = middle
        except FileFormatError as error:
            bad, fault = middle, error
    return make(block[:good]) if good else None, fault


def size_of(block: Iterable[RawSample]) -> int:
    """The size of all files that were read."""
    return sum(len(content) for sample in block for content in sample.files.values() if content)


def table_of(
    block: Sequence[RawSample],
    path: str,
    wanted: Wanted | None = None,
    is_single: bool = False,
    on_mixed_types: str | None = "use_json",
) -> pa.Table:
    """A table of some samples. If there is only one sample, the key comes first, as in Hugging Face `datasets`."""
    if on_mixed_types not in (None, "use_json"):
        raise ArgumentError("on_mixed_types", on_mixed_types, "expected 'use_json' or None.")
    # Most samples have the same extensions, so names are computed once per set of extensions.
    names = dict.fromkeys(chain.from_iterable(dict.fromkeys(tuple(sample.files) for sample in block)))
    for name in {KEY, URL}.intersection(names):
        sample = next(sample for sample in block if name in sample.files)
        raise in_the_place_of(name, f"{sample.key}.{name}", path, sample.begin)
    made: dict[str, Any] = {}
    keys = [sample.key for sample in block]
    for name in names:
        if wanted is None or wanted(name):
            contents = [sample.files.get(name) for sample in block]
            made[name] = column(name, contents, MemberNames(keys, name), path, on_mixed_types)
    urls = pa.DictionaryArray.from_arrays(pa.array([0] * len(keys), pa.int32()), pa.array([path])).cast(pa.string())
    about = {KEY: (pa.array(keys, pa.string()), Value("string")), URL: (urls, Value("string"))}
    return _with_features({**about, **made} if is_single else {**made, **about})


def _with_features(columns: dict[str, tuple[Any, Any]]) -> pa.Table:
    """The columns as a table whose schema has the features of media in its metadata."""
    schema = Features({name: feature for name, (_, feature) in columns.items()}).arrow_schema
    return pa.table([to_extension(values, feature) for values, feature in columns.values()], schema=schema)
