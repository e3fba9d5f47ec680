"""Folders of media: what `imagefolder`, `audiofolder` and their like share.

A file of media is one row here. What makes rows of a whole folder, with labels and metadata,
is `reading.folders`; it finds in a format's `folder` what the files are called and hold.
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
    """The column that holds the media, their feature, and the endings of their files, without dot, in small letters."""

    column: str
    feature: type[Media]
    endings: frozenset[str]

    def takes(self, name: str) -> bool:
        """Whether a file is of this kind; any of its extensions may say so, as in `scan.nii.gz`."""
        parts = name.lower().split(".")
        return parts[-1] in self.endings or not self.endings.isdisjoint(parts[1:])


def folder_format(column: str, feature: type[Media], extensions: str, also: str = "") -> Format:
    """The format of folders of such media.

    A folder without a stated format has this one when most files end in `extensions`; `also` are endings
    that count for another format then, and are taken when this one is asked for.
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
        """Yield the one row of a file."""
        row = {"bytes": stream.read(), "path": name_of(stream).rpartition("/")[2] or None}
        yield pa.table({column: pa.array([row], feature.pa_type)}, schema=Features({column: feature()}).arrow_schema)

    endings = frozenset(extension[1:] for extension in (extensions + " " + also).split())
    return Format(f"{column}folder", tuple(extensions.split()), read, folder=MediaFolder(column, feature, endings))
