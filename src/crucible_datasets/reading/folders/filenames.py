"""Columns of metadata that name files → columns of media.

`file_name` becomes the column of the media (`image`), `left_file_name` becomes `left`, and `file_names` and
`left_file_names` are lists. Such fields may be nested in structs and lists. Names are relative to the folder of the
metadata and must stay in it, since metadata is untrusted.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import MediaFolderError
from crucible_datasets.features import Features, LargeList, List, Value
from crucible_datasets.features.storage import children, rebuilt, storage_type
from crucible_datasets.formats.folders import MediaFolder
from crucible_datasets.logging import get_logger
from crucible_datasets.reading.archivenames import chain_of

logger = get_logger(__name__)

_TEXT = (Value("string"), Value("large_string"))
# Empty parts, dots, backslashes, URL schemes and null bytes are refused.
_ODD = r"(^|/)\.{0,2}(/|$)|\\|://|\x00"
_NEEDED = "Add one with text: file_name or *_file_name, or with lists of text: file_names or *_file_names."


@dataclass
class FileNames:
    """Replaces file names in the metadata at `path` by media."""

    path: str
    folder: MediaFolder
    named: list[pa.Array] = field(default_factory=list)  # the paths of the files so far
    are_named: bool = False  # whether any column has file names

    def columns(self, table: pa.Table, features: Features) -> tuple[pa.Table, Features]:
        """The table with media instead of names."""
        if not table.num_rows:
            return pa.table({}), Features()  # columns without values have no type
        arrays = [table.column(name).combine_chunks() for name in features]
        arrays = [array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array for array in arrays]
        made = dict(self._fields(list(features.items()), arrays))
        if not self.are_named:
            raise MediaFolderError(self.path, f"no column names files. It has: {', '.join(features)}.", _NEEDED)
        columns = {name: array for name, (_, array) in made.items()}
        return pa.table(columns), Features({name: kind for name, (kind, _) in made.items()})

    def _fields(self, kinds: list[tuple[str, Any]], arrays: list[pa.Array]) -> Iterator[tuple[str, tuple[Any, Any]]]:
        """Fields with their new names. An existing field of that name takes precedence, then the first."""
        taken = {name for name, kind in kinds if self._media_name(name, kind) is None}
        for (name, kind), array in zip(kinds, arrays, strict=True):
            new = self._media_name(name, kind)
            self.are_named |= new is not None
            if new is None:
                yield name, self._within(kind, array)
            elif new in taken:
                logger.warning("%s: column %r is left out, because there is a column %r.", self.path, name, new)
            else:
                taken.add(new)
                yield new, self._media(kind, array)

    def _media_name(self, name: str, kind: Any) -> str | None:
        for ending, several in (("file_name", False), ("file_names", True)):
            is_text = isinstance(kind, (List, LargeList)) and kind.feature in _TEXT if several else kind in _TEXT
            if is_text and name == ending:
                return self.folder.column + "s" * several
            if is_text and name.endswith(f"_{ending}"):
                return name.removesuffix(f"_{ending}")
        return None

    def _within(self, kind: Any, array: pa.Array) -> tuple[Any, pa.Array]:
        """A struct or list with nested file names replaced."""
        if isinstance(kind, dict) and kind:
            made = dict(self._fields(list(kind.items()), children(array)))
            kinds = {name: one for name, (one, _) in made.items()}
            return kinds, rebuilt(array, [kid for _, kid in made.values()], storage_type(kinds))
        if isinstance(kind, (List, LargeList)):
            item, kid = self._within(kind.feature, children(array)[0])
            whole = List(item, kind.length) if isinstance(kind, List) else LargeList(item)
            return whole, rebuilt(array, [kid], storage_type(whole))
        return kind, array

    def _media(self, kind: Any, array: pa.Array) -> tuple[Any, pa.Array]:
        if kind in _TEXT:
            paths = self._paths(array)
            self.named.append(paths)
            return self.folder.feature(), self.folder.feature().cast_storage(paths)
        item, kid = self._media(kind.feature, children(array)[0])
        whole = List(item) if isinstance(kind, List) else LargeList(item)
        return whole, rebuilt(array, [kid], storage_type(whole))

    def _paths(self, names: pa.Array) -> pa.Array:
        """The paths of the files, in the folder or archive of the metadata."""
        archive, member = chain_of(self.path)
        own = self.path if member is None else member
        above = own.rpartition("/")[0]
        start = f"{above}/" if above or own.startswith("/") else ""
        if member is not None:
            start, end = f"{self.path.partition('://')[0]}://{start}", f"::{archive}"
        else:
            end = ""
        inside = _as_text(self._inside(_as_text(names)))
        return pc.binary_join_element_wise(pa.scalar(start), inside, pa.scalar(end), "")

    def _inside(self, names: pa.Array) -> pa.Array:
        odd = pc.fill_null(pc.match_substring_regex(names, _ODD), False)
        if not pc.any(odd).as_py():
            return names
        rows = pc.indices_nonzero(odd).to_pylist()
        replaced = pa.array([self._checked(names[row].as_py(), row) for row in rows], pa.string())
        return pc.replace_with_mask(names, odd, replaced)

    def _checked(self, name: str, row: int) -> str | None:
        if not name:
            return None
        plain = posixpath.normpath(name.replace("\\", "/"))
        if "://" in name or "\0" in name or plain.startswith(("/", "../")) or plain == "..":
            raise MediaFolderError(
                self.path,
                f"{name!r} leads out of its folder.",
                "File names are relative to the folder of the metadata: no absolute paths, no '..', no addresses.",
                row,
            )
        return plain


def _as_text(names: pa.Array) -> pa.Array:
    return names.cast(pa.string())
