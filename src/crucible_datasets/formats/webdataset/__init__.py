"""WebDataset: tar archives whose files with one key are one sample.

    parse, parse_shards      samples as a list          (shards; parallel: several at a time)
    stream, stream_shards    samples one after the other
    FORMAT                   what load_dataset reads    (rows, columns: Arrow tables)

Below them, each on the one before: window (bytes of a stream) · headers sparse (blocks of 512 bytes) · member
ordinary crowded members (the walk through it) · samples (members with one key) · kinds decoders contents columns
(what files hold). Beside them: ready (rows without Arrow) · index (where files lie) · tarbytes (how they are written).
"""

from __future__ import annotations

from crucible_datasets.formats.base import Format
from crucible_datasets.formats.webdataset.contents import MediaFile, Report
from crucible_datasets.formats.webdataset.rows import read
from crucible_datasets.formats.webdataset.shards import (
    Samples,
    SampleStream,
    parse,
    parse_shards,
    stream,
    stream_shards,
)

__all__ = [
    "FORMAT",
    "MediaFile",
    "Report",
    "SampleStream",
    "Samples",
    "parse",
    "parse_shards",
    "stream",
    "stream_shards",
]

FORMAT = Format("webdataset", (".tar",), read, reads_archives=True)
