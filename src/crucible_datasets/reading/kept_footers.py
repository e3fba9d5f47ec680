"""Stage 2 of 6: kept footers of Parquet files that are not downloaded, because only rows of other files are needed.

    <datasets cache>/hub/footers/<hash of the content>      a digest, and the footer

With them the same rows can be found again without the network. All of them can be deleted; they are read again, as are
damaged ones: a wrong number of rows would lead to wrong rows.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

import xxhash

from crucible_datasets import config
from crucible_datasets.atomic import atomic_file
from crucible_datasets.atomic.private import make_private, open_own

if TYPE_CHECKING:
    from crucible_datasets.reading.files import DataFile
    from crucible_datasets.tables.rowgroups import Identity, ParquetPart

_DIGEST_BYTES = 16


def _path(identity: Identity) -> str:
    return os.path.join(config.HF_DATASETS_CACHE, "hub", "footers", str(identity[0]))


def _digest(identity: Identity, footer: bytes) -> bytes:
    return xxhash.xxh3_128_digest(str(identity[0]).encode() + footer)


def kept_footer(identity: Identity) -> BinaryIO | None:
    """The footer of a file, if it is kept and undamaged."""
    try:
        with open_own(_path(identity), "rb") as file:
            digest, footer = file.read(_DIGEST_BYTES), file.read()
    except OSError:
        return None
    return io.BytesIO(footer) if digest == _digest(identity, footer) else None


def parquet_part(file: DataFile) -> ParquetPart:
    """A Parquet file with its footer, wherever it is."""
    from crucible_datasets.tables.footers import part_elsewhere, part_of, pending_part

    if file.elsewhere is None:
        return part_of(os.path.abspath(file.path))
    if file.pending is None:
        return part_elsewhere(file.elsewhere.open, file.name, file.identity)
    kept = kept_footer(file.identity)
    return pending_part(file.path, file.identity, file.elsewhere.open, file.pending.wait, kept)


def keep_footers(parts: Iterable[ParquetPart]) -> None:
    """Keep the footers of those of these files that are not on this disk, whose identities are hashes."""
    from crucible_datasets.tables.footers import LatePart

    for part in parts:
        if not isinstance(part, LatePart) or kept_footer(part.identity) is not None:
            continue
        footer = io.BytesIO()
        part.metadata.write_metadata_file(footer)
        with suppress(OSError):  # a read-only cache
            make_private(os.path.dirname(_path(part.identity)))
            with atomic_file(_path(part.identity), is_lasting=False) as temporary, open(temporary, "wb") as file:
                file.write(_digest(part.identity, footer.getvalue()) + footer.getvalue())
