"""WebDataset: tar archives whose files with one key are one sample.

    parse, parse_shards      samples as a list          (shards; parallel: several at a time)
    stream, stream_shards    samples as an iterator
    FORMAT                   what load_dataset reads    (rows, columns: Arrow tables)

Layers, from the bottom up: window (buffered reading) · headers sparse (tar headers) · member ordinary vectorized
members (iteration over members) · samples (members grouped by key) · kinds decoders contents columns (values of
files). Also: python_rows (rows without Arrow) · index (offsets of files) · tarbytes (writing).
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
