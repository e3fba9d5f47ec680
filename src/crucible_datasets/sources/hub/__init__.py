"""Datasets and buckets of the Hugging Face Hub. Datasets are stored in the cache of huggingface_hub.

    <hub cache>/datasets--org--name/blobs/<hash>             contents
    <hub cache>/datasets--org--name/snapshots/<commit>/<path>   links to them

The listing of a commit is requested once. Hashes are verified after a download, and again whenever the identity of the
local file has changed. A file that is streamed from start to end is verified at its end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, BinaryIO

from crucible_datasets.exceptions import DataFilesNotFoundError
from crucible_datasets.sources.base import Options, Source, SourceFile
from crucible_datasets.sources.hub.addresses import below, located, matching
from crucible_datasets.sources.hub.bucket import HubBucket
from crucible_datasets.sources.hub.repo import HubRepo
from crucible_datasets.sources.ranged import Verified, ranged
from crucible_datasets.sources.wildcards import readings

__all__ = ["SOURCE", "HubBucket", "HubRepo"]


def listed(url: str, options: Options) -> list[SourceFile]:
    """The files at or below a URL of a dataset or a bucket, or those that match a pattern."""
    place, path = located(url, options)
    for base, is_pattern in readings(path):
        if found := _found(place, base, matching(path, is_pattern)):
            return [_seen_from(base, file) for file in sorted(found, key=lambda file: file.path)]
    raise DataFilesNotFoundError(url)


def _found(place: HubRepo | HubBucket, base: str, names: re.Pattern[str]) -> list[SourceFile]:
    if isinstance(place, HubRepo):
        return [place.elsewhere(name).file for name in place.files if names.fullmatch(name)]
    return [
        SourceFile(f"{place.address}/{file.path}", file.path, file.size, (file.hash, file.size), (place, file))
        for file in place.listed(base)
        if names.fullmatch(file.path)
    ]


def _seen_from(base: str, file: SourceFile) -> SourceFile:
    return SourceFile(
        file.url, below(base, file.path), file.size, file.identity, file.known, is_below=file.path != base
    )


def opened(file: SourceFile, options: Options) -> BinaryIO:
    """The local file if it has been downloaded, else a stream that fetches bytes as they are read."""
    place, path = _known(file, options)
    if isinstance(place, HubBucket):
        return ranged(partial(place.body, path), path.size, file.url)
    stated = place.file(path)
    found = place.found(stated)
    if found is not None:
        return open(found, "rb")
    ranges = Verified(partial(place.body, path), stated.expected, f"{place.id}/{path}")
    return ranged(ranges, stated.size, file.url)


def fetched(files: Sequence[SourceFile], options: Options) -> list[str]:
    """Download files, those of datasets to the Hub's cache; their local paths."""
    whole = [file if file.known else listed(file.url, options)[0] for file in files]
    found: dict[str, str] = {}
    for place in dict.fromkeys(file.known[0] for file in whole):
        its = [file for file in whole if file.known[0] == place]
        wanted = its if isinstance(place, HubBucket) else [file.known[1] for file in its]
        found |= zip((file.url for file in its), place.fetched(wanted), strict=True)
    return [found[file.url] for file in whole]


def _known(file: SourceFile, options: Options) -> tuple[HubRepo | HubBucket, Any]:
    found: tuple[HubRepo | HubBucket, Any] = file.known or listed(file.url, options)[0].known
    return found


SOURCE = Source("hub", ("hf",), listed, opened, fetched)
