"""Stage 3 of 6: files that are read in place although some are damaged: a copy in the cache holds their good rows.

How far a file can be read shows only when it is read to its end. If damaged files are no errors, that is done when they
are first loaded; the cache keeps the result under the identities of the files and all options.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.features import Features
from crucible_datasets.formats.arrow import batches as arrow_batches
from crucible_datasets.formats.arrow import features_in, mapped, schema_in
from crucible_datasets.reading.files import DataFile, identified
from crucible_datasets.reading.kept_footers import parquet_part
from crucible_datasets.reading.request import Request
from crucible_datasets.tables.table import ArrowTable


def good_rows(
    files: Sequence[DataFile],
    request: Request,
    cache_dir: str | os.PathLike[str] | None,
    key: str,
    fresh: bool = False,
) -> tuple[list[DataFile], list[str]]:
    """The files, with a copy of its good rows in the place of each damaged one; and what is wrong with those.

    A file of which not even the columns are known is left out.
    """
    from crucible_datasets.cache import default_cache

    cache = default_cache(cache_dir)
    if fresh:
        cache.remove(key)
    facts = {"format": request.format.name, "files": [file.name for file in files]}
    folder = cache.made(key, partial(_copy, files, request), facts)
    faults: dict[str, str] = cache.facts(folder)["faults"]
    copies = {int(index): _path(folder, index, request) for index in faults}
    kept = [
        identified([copies[index]])[0] if index in copies else file
        for index, file in enumerate(files)
        if index not in copies or os.path.exists(copies[index])
    ]
    return kept, list(faults.values())


def _path(folder: str, index: int | str, request: Request) -> str:
    return os.path.join(folder, f"{index}{request.format.extensions[0]}")


def _copy(files: Sequence[DataFile], request: Request, folder: str) -> dict[str, Any]:
    """Write the good rows of damaged files; what is wrong with them, by their indices."""
    faults: dict[str, str] = {}
    for index, file in enumerate(files):
        count = 0
        try:
            for _ in _batches(file, request)[1]:
                count += 1
        except FileFormatError as error:
            faults[str(index)] = str(error)
            with suppress(FileFormatError):
                _write(_path(folder, index, request), *_batches(file, request), count, request)
    return {"faults": faults}


def _write(path: str, features: Features, batches: Iterator[pa.RecordBatch], count: int, request: Request) -> None:
    tables = (ArrowTable.of(pa.Table.from_batches([batch])).table for batch in islice(batches, count))
    assert request.format.write is not None
    with open(path, "wb") as sink:
        request.format.write(tables, features, sink)


def _batches(file: DataFile, request: Request) -> tuple[Features, Iterator[pa.RecordBatch]]:
    """The features of the columns that are needed, and the rows up to a fault, as a stream of the file gives them."""
    if request.format.name == "arrow":
        source = mapped(file.path)
        return features_in(file.path, schema_in(source, file.path)), arrow_batches(source, file.path)
    part = parquet_part(file)
    names = request.needed(list(part.features))
    size = request.options.get("batch_size")
    groups = range(part.metadata.num_row_groups)
    features = Features({name: part.features[name] for name in names})
    return features, (batch for group in groups for batch in part.batches(group, names, size))
