"""Stage 2 of 6: kept footers of Parquet files that are not downloaded, because only rows of other files are needed.

    <datasets cache>/hub/footers/<hash of the content>

With them the same rows can be found again without the network. All of them can be deleted; they are read again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from crucible_datasets import config
from crucible_datasets.atomic import atomic_file

if TYPE_CHECKING:
    from crucible_datasets.tables.rowgroups import Identity, ParquetPart


def footer_path(identity: Identity) -> str:
    """Where the footer of a file is kept."""
    return os.path.join(config.HF_DATASETS_CACHE, "hub", "footers", str(identity[0]))


def has_footer(identity: Identity) -> bool:
    """Whether the footer of a file is kept."""
    return os.path.exists(footer_path(identity))


def keep_footers(parts: Iterable[ParquetPart]) -> None:
    """Keep the footers of those of these files that are not on this disk, whose identities are hashes."""
    from crucible_datasets.tables.footers import LatePart

    for part in parts:
        path = footer_path(part.identity)
        if not isinstance(part, LatePart) or os.path.exists(path):
            continue
        with suppress(OSError):  # a read-only cache
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with atomic_file(path, is_lasting=False) as temporary:
                part.metadata.write_metadata_file(temporary)
