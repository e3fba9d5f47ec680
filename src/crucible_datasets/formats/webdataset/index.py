"""Where the files of every sample are in an archive: found in one pass, and stored as a small Arrow table.

A row is a sample. `key` is its key; `offset:jpg` and `size:jpg` are offset and size of its `.jpg`, -1 if it has none.
`gaps:jpg` exists if some files are sparse: it holds, as JSON, the size of the file and the positions of its stored
runs of bytes.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.features.storage import one_array
from crucible_datasets.forking import cached_property
from crucible_datasets.formats.webdataset.member import Entry, Runs
from crucible_datasets.formats.webdataset.samples import KEY, URL, in_the_place_of
from crucible_datasets.records import dataclass

Longs = npt.NDArray[np.int64]
_FEATURES = b"features"


@dataclass(frozen=True)
class Files:
    """The files of one extension: offset and size for each sample, -1 if it has none."""

    offsets: Longs
    sizes: Longs
    gaps: pa.Array | None = None

    def runs(self, row: int) -> tuple[int, Runs] | None:
        """Of a sparse file: its size, and the positions of the stored runs of bytes."""
        text = None if self.gaps is None else self.gaps[row].as_py()
        if text is None:
            return None
        size, runs = json.loads(text)
        return size, tuple((start, length) for start, length in runs)


@dataclass(frozen=True, eq=False)
class Index:
    """The samples of an archive; `features` are those of extensions whose type depends on the contents."""

    table: pa.Table
    features: Features
    is_complete: bool = True  # whether these are all samples of the archive; only then it is stored

    @property
    def num_rows(self) -> int:
        return self.table.num_rows

    @cached_property
    def keys(self) -> pa.Array:
        return one_array(self.table["key"])

    @cached_property
    def extensions(self) -> tuple[str, ...]:
        """Every extension, in the order in which they first appear."""
        names = self.table.column_names
        return tuple(name.removeprefix("size:") for name in names if name.startswith("size:"))

    @cached_property
    def files(self) -> dict[str, Files]:
        """The files by extension."""
        return {name: self._files(name) for name in self.extensions}

    def _files(self, extension: str) -> Files:
        offsets, sizes = (_numbers(self.table[f"{what}:{extension}"]) for what in ("offset", "size"))
        has_gaps = f"gaps:{extension}" in self.table.column_names
        return Files(offsets, sizes, one_array(self.table[f"gaps:{extension}"]) if has_gaps else None)

    @cached_property
    def end(self) -> int:
        """The offset behind all files."""
        ends = [files.offsets + files.sizes for files in self.files.values()]
        return max((int(end.max()) for end in ends if len(end)), default=0)

    def span(self, rows: range) -> tuple[int, int]:
        """The byte range of the files of some samples."""
        ends = (rows[0], rows[-1])
        places = [(each.offsets[row], each.sizes[row]) for each in self.files.values() for row in ends]
        there = [(int(offset), int(offset + size)) for offset, size in places if size >= 0]
        return min(start for start, _ in there), max(stop for _, stop in there)

    def stored(self) -> pa.Table:
        """The index as an Arrow table."""
        return self.table.replace_schema_metadata({_FEATURES: json.dumps(self.features.to_dict())})

    @classmethod
    def of(cls, table: pa.Table) -> Index:
        """The index from a table that `stored` returned."""
        features = Features.from_dict(json.loads((table.schema.metadata or {}).get(_FEATURES, b"{}")))
        return cls(table.replace_schema_metadata(None), features)


def _numbers(column: pa.ChunkedArray) -> Longs:
    values = one_array(column)
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    return np.frombuffer(values.buffers()[1], np.int64, len(values), 8 * values.offset)


@dataclass
class _Found:
    """The files of one extension found so far."""

    rows: array[int] = field(default_factory=lambda: array("q"))
    offsets: array[int] = field(default_factory=lambda: array("q"))
    sizes: array[int] = field(default_factory=lambda: array("q"))
    gaps: dict[int, str] = field(default_factory=dict)  # of sparse files, by row

    def add(self, row: int, offset: int, size: int, runs: Runs | None) -> None:
        self.rows.append(row)
        self.offsets.append(offset)
        self.sizes.append(size if runs is None else sum(length for _, length in runs))
        if runs is not None:
            self.gaps[row] = json.dumps([size, runs])

    def columns(self, extension: str, num_rows: int) -> Iterator[tuple[str, pa.Array]]:
        for what, found in (("offset", self.offsets), ("size", self.sizes)):
            whole = np.full(num_rows, -1 if what == "size" else 0, dtype=np.int64)
            rows = np.frombuffer(self.rows, np.int64)
            is_kept = rows < num_rows
            whole[rows[is_kept]] = np.frombuffer(found, np.int64)[is_kept]
            yield f"{what}:{extension}", pa.Array.from_buffers(pa.int64(), num_rows, [None, pa.py_buffer(whole)])
        if self.gaps:
            yield f"gaps:{extension}", pa.array([self.gaps.get(row) for row in range(num_rows)], pa.string())


class Indexing:
    """Builds an index from members that pass through it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._keys: list[str] = []
        self._found: dict[str, _Found] = {}

    def noted(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The same members, after recording them; another key than the last one begins another sample."""
        last: str | None = None
        for entry in entries:
            key, extension, _, at, offset, size, runs = entry
            if key != last:
                self._keys.append(last := key)
            if (found := self._found.get(extension)) is None:
                if extension in (KEY, URL):
                    raise in_the_place_of(extension, f"{key}.{extension}", self._path, at)
                found = self._found[extension] = _Found()
            found.add(len(self._keys) - 1, offset, size, runs)
            yield entry

    def index(self, num_rows: int, features: Mapping[str, Any], is_complete: bool = True) -> Index:
        """The index of the first `num_rows` samples, which are known to be good."""
        columns: dict[str, pa.Array] = {"key": pa.array(self._keys[:num_rows], pa.string())}
        for extension, found in self._found.items():
            if found.rows[0] < num_rows:
                columns |= found.columns(extension, num_rows)
        return Index(pa.table(columns), Features(dict(features)), is_complete)
