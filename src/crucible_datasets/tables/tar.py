"""`TarTable`: a tar archive of samples read in place. Reading a row reads only its own files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets import config
from crucible_datasets.exceptions import LimitExceededError
from crucible_datasets.features import Features, Json, Value
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.encode import column_of
from crucible_datasets.features.media import Media
from crucible_datasets.features.storage import chunked, storage_type
from crucible_datasets.features.types import any_leaf
from crucible_datasets.forking import cached_property
from crucible_datasets.formats.webdataset.columns import column, fixed_feature, is_stored_unchanged, values
from crucible_datasets.formats.webdataset.index import Files, Index
from crucible_datasets.formats.webdataset.samples import KEY, URL
from crucible_datasets.formats.webdataset.sparse import filled
from crucible_datasets.records import dataclass
from crucible_datasets.tables.memory import packed
from crucible_datasets.tables.rows import Rows, as_array, as_arrow
from crucible_datasets.tables.tarcells import UnsureError, cell_maker
from crucible_datasets.tables.tarfiles import Archive

Names = tuple[str, ...]
Longs = npt.NDArray[np.int64]
_MOST_AT_ONCE = 1 << 29  # bytes, which 32-bit offsets hold with room to spare
_TEXT = Value("string")


def features_of(index: Index) -> Features:
    """The features of an archive. As in Hugging Face `datasets`, a single sample begins with its key."""
    about = {KEY: _TEXT, URL: _TEXT}
    found = {
        name: fixed_feature(name) or index.features.get(name, Value("null"))
        for name in index.extensions
        if name not in about
    }
    return Features({**about, **found} if index.num_rows == 1 and index.is_complete else {**found, **about})


@dataclass(frozen=True, eq=False)
class TarTable:
    """Some columns of an archive, possibly renamed. Those that the archive lacks are null."""

    archive: Archive
    index: Index
    known: Features  # of all columns, as named in the archive
    names: Names  # as named in the archive
    shown: Names

    @classmethod
    def of(cls, archive: Archive, index: Index, features: Features) -> TarTable:
        """All columns of an archive, of these features."""
        return cls(archive, index, features, tuple(features), tuple(features))

    def __reduce__(self) -> tuple[Any, ...]:
        return TarTable, (self.archive, self.index, self.known, self.names, self.shown)

    @cached_property
    def features(self) -> Features:
        """The features of the columns."""
        return Features({shown: self.known[name] for shown, name in zip(self.shown, self.names, strict=True)})

    @cached_property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, storage_type(feature)) for name, feature in self.features.items()])

    @property
    def num_rows(self) -> int:
        return self.index.num_rows

    @cached_property
    def nbytes(self) -> int:
        """The bytes of the files, and of the keys."""
        found = [self.index.files[name].sizes for name in self.names if name in self.index.files]
        return sum(int(np.maximum(sizes, 0).sum()) for sizes in found) + self.index.keys.nbytes

    @property
    def files(self) -> tuple[str, ...]:
        return () if self.archive.path is None else (self.archive.path,)

    @property
    def table(self) -> pa.Table:
        """All rows, as an Arrow table."""
        return self.read(range(self.num_rows))

    def read(self, rows: Rows, columns: Sequence[str] | None = None) -> pa.Table:
        shown = self.shown if columns is None else tuple(columns)
        names = self._in_archive(shown)
        schema = pa.schema([self.schema.field(name) for name in shown])
        if not names:
            return pa.table({"": pa.nulls(len(rows))}).select([])
        if not len(rows):
            return schema.empty_table()
        parts = [[self._column(name, part) for name in names] for part in self._cut(as_array(rows), names)]
        if isinstance(rows, range) and len(rows) > 1:
            self.archive.let_go(*self.index.span(rows))
        return pa.Table.from_arrays(
            [pa.chunked_array(_chunks(each)) for each in zip(*parts, strict=True)], schema=schema
        )

    def row(self, index: int, columns: Sequence[str] | None = None) -> dict[str, Any]:
        shown, names = (self.shown, self.names) if columns is None else (columns, self._in_archive(columns))
        return {name: self._cell(own, index) for name, own in zip(shown, names, strict=True)}

    def select(self, columns: Sequence[str]) -> TarTable:
        return TarTable(self.archive, self.index, self.known, self._in_archive(columns), tuple(columns))

    def renamed(self, columns: Sequence[str]) -> TarTable:
        return TarTable(self.archive, self.index, self.known, self.names, tuple(columns))

    @cached_property
    def _places(self) -> dict[str, str]:
        return dict(zip(self.shown, self.names, strict=True))

    def _in_archive(self, shown: Sequence[str]) -> Names:
        return tuple(self._places[name] for name in shown)

    @cached_property
    def _as_they_are(self) -> frozenset[str]:
        """The columns that hold the bytes of files as they are."""
        files = self.index.files.items()
        alike = [name for name, each in files if each.gaps is None and is_stored_unchanged(name) and name in self.known]
        return frozenset(name for name in alike if self.known[name] == fixed_feature(name))

    def _cut(self, rows: Longs, names: Names) -> Iterator[Longs]:
        """The rows in parts, so that no column exceeds its offsets."""
        found = [self.index.files[name].sizes[rows] for name in names if name in self.index.files]
        if not found:
            yield rows
            return
        until = np.cumsum(np.maximum(np.maximum.reduce(found), 0))
        start = 0
        while start < len(rows):
            before = int(until[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(until, before + _MOST_AT_ONCE, side="right")))
            yield rows[start:stop]
            start = stop

    def _column(self, name: str, rows: Longs) -> pa.Array | pa.ChunkedArray:
        files = self.index.files.get(name)
        if name == KEY:
            return self.index.keys.take(as_arrow(rows))
        if name == URL:
            return pa.repeat(pa.scalar(self.archive.name), len(rows))
        if files is None:
            return pa.nulls(len(rows), storage_type(self.known[name]))
        if name in self._as_they_are:
            return self._stored(name, files, rows)
        return self._decoded(name, self._contents(name, files, rows), self._paths(name, rows).to_pylist())

    def _stored(self, name: str, files: Files, rows: Longs) -> pa.Array:
        """Media and bytes, which need no decoding."""
        sizes, is_there = self._sizes(name, files, rows)
        data = self.archive.pieces(files.offsets[rows], sizes)
        offsets = np.zeros(len(rows) + 1, dtype=np.int32)
        np.cumsum(sizes, out=offsets[1:])
        valid = None if is_there.all() else packed(is_there)
        held = pa.Array.from_buffers(pa.binary(), len(rows), [valid, pa.py_buffer(offsets), data])
        if not isinstance(self.known[name], Media):
            return held
        paths = self._paths(name, rows)
        paths = paths if valid is None else pc.if_else(held.is_valid(), paths, pa.nulls(1, pa.string())[0])
        return pa.Array.from_buffers(storage_type(self.known[name]), len(rows), [valid], children=[held, paths])

    def _decoded(self, name: str, contents: Sequence[bytes | None], paths: Sequence[str | None]) -> pa.ChunkedArray:
        """The decoded content of files, as the column's feature."""
        feature, place = self.known[name], self.archive.name
        found, kind = column(name, contents, paths, place)
        if kind == feature:
            return found
        # A cast to Json would parse the text, but a string in a JSON file is already parsed.
        if any_leaf(feature, (Json,)) and fixed_feature(name) is None:
            return column_of(values(name, contents, paths, place), feature, name)
        return cast_column(chunked(found), feature, name)

    def _sizes(self, name: str, files: Files, rows: Longs) -> tuple[Longs, npt.NDArray[np.bool_]]:
        """The lengths of the files, 0 where there is none, and whether each exists."""
        sizes = files.sizes[rows]
        self._require_short(name, int(sizes.max(initial=0)))
        return np.maximum(sizes, 0), sizes >= 0

    def _require_short(self, name: str, size: int) -> None:
        limit = config.MAX_MEMBER_BYTES
        if size > limit:
            raise LimitExceededError(self.archive.name, f"a member .{name}", limit, "config.MAX_MEMBER_BYTES")

    def _contents(self, name: str, files: Files, rows: Longs) -> list[bytes | None]:
        """The content of each file, None where there is none."""
        sizes, is_there = self._sizes(name, files, rows)
        data = self.archive.pieces(files.offsets[rows], sizes).to_pybytes()
        stops = np.cumsum(sizes)
        places = zip((stops - sizes).tolist(), stops.tolist(), is_there.tolist(), strict=True)
        found = [data[start:stop] if there else None for start, stop, there in places]
        if files.gaps is None:
            return found
        pairs = zip(rows.tolist(), found, strict=True)
        return [None if stored is None else self._filled(name, files, row, stored) for row, stored in pairs]

    def _filled(self, name: str, files: Files, row: int, stored: bytes) -> bytes:
        """The content of a sparse file with its gaps filled."""
        gaps = files.runs(row)
        if gaps is None:
            return stored
        self._require_short(name, gaps[0])
        return filled(stored, gaps[1], gaps[0])

    def _paths(self, name: str, rows: Longs) -> pa.Array:
        """The names of the files in the archive."""
        return pc.binary_join_element_wise(self.index.keys.take(as_arrow(rows)), name, ".")

    @cached_property
    def _makers(self) -> dict[str, Callable[[bytes], Any] | None]:
        files = self.index.files.items()
        return {name: cell_maker(name, self.known[name]) if each.gaps is None else None for name, each in files}

    def _cell(self, name: str, row: int) -> Any:
        """One value, as it is stored."""
        files = self.index.files.get(name)
        if name in (KEY, URL):
            return self.index.keys[row].as_py() if name == KEY else self.archive.name
        size = -1 if files is None else int(files.sizes[row])
        if files is None or size < 0:
            return None
        self._require_short(name, size)
        content, is_media = self.archive.piece(int(files.offsets[row]), size), isinstance(self.known[name], Media)
        if name in self._as_they_are:
            return {"bytes": content, "path": self._path(name, row)} if is_media else content
        with suppress(UnsureError):
            if (make := self._makers[name]) is not None:
                return make(content)
        return self._decoded(name, [self._filled(name, files, row, content)], [self._path(name, row)])[0].as_py()

    def _path(self, name: str, row: int) -> str:
        return f"{self.index.keys[row].as_py()}.{name}"


def _chunks(parts: Sequence[pa.Array | pa.ChunkedArray]) -> list[pa.Array]:
    return [chunk for part in parts for chunk in (part.chunks if isinstance(part, pa.ChunkedArray) else [part])]
