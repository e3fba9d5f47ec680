"""Formats of media folders: `imagefolder`, `audiofolder` and so on.

Here, a media file is one row. `reading.folders` makes rows of a whole folder, with labels and metadata; a format's
`folder` tells it the column, the feature and the extensions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.features.media import Media
from crucible_datasets.formats.base import Filters, Format
from crucible_datasets.formats.streams import name_of

METADATA = ("metadata.csv", "metadata.jsonl", "metadata.parquet")


@dataclass(frozen=True)
class MediaFolder:
    """The column of the media, their feature, and their file extensions, without dot, in lower case."""

    column: str
    feature: type[Media]
    endings: frozenset[str]

    def takes(self, name: str) -> bool:
        """Whether one of the extensions of a file is of this format, as in `scan.nii.gz`."""
        parts = name.lower().split(".")
        return parts[-1] in self.endings or not self.endings.isdisjoint(parts[1:])


def folder_format(column: str, feature: type[Media], extensions: str, also: str = "") -> Format:
    """The format of folders of such media.

    A folder is recognized as this format if most files have one of the `extensions`. Extensions in `also` do not
    count for that, but their files are read when this format is requested.
    """

    def read(
        stream: BinaryIO,
        *,
        columns: list[str] | None = None,
        filters: Filters = None,
        features: Any = None,
        drop_labels: bool | None = None,
        drop_metadata: bool | None = None,
        metadata_filenames: list[str] | str | None = None,
        decode_num_threads: int = 32,
    ) -> Iterator[pa.Table]:
        """Yield one row for the file."""
        row = {"bytes": stream.read(), "path": name_of(stream).rpartition("/")[2] or None}
        yield pa.table({column: pa.array([row], feature.pa_type)}, schema=Features({column: feature()}).arrow_schema)

    endings = frozenset(extension[1:] for extension in (extensions + " " + also).split())
    return Format(f"{column}folder", tuple(extensions.split()), read, folder=MediaFolder(column, feature, endings))
