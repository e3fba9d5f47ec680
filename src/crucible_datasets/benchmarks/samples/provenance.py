"""The source of samples, and the hash of their content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec

from crucible_datasets.benchmarks.types import Sample
from crucible_datasets.benchmarks.types.messages import Record

_encoded = msgspec.json.Encoder(order="sorted").encode_lines
_AT_ONCE = 256


class Provenance(Record, frozen=True):
    """Everything that identifies the samples of a score."""

    source: str | None = None
    revision: str | None = None
    config: str | None = None
    split: str | None = None
    rules: list[str] = msgspec.field(default_factory=list)
    num_rows: int | None = None
    content_hash: str | None = None
    skipped: int = 0


def content_hash(blocks: Iterable[list[Sample]]) -> str:
    """The SHA-256 of samples in order, each as one line of canonical JSON.

    It depends on the samples only, not on their storage.
    """
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(_encoded(block))
    return digest.hexdigest()
