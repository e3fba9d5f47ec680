"""One bucket of the Hub: files without history, which may change between two requests.

A bucket states the Xet hash of each file. It identifies the content, and downloads are verified with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from crucible_datasets.exceptions import ContentMismatchError, DatasetNotFoundError
from crucible_datasets.forking import cached_property
from crucible_datasets.records import dataclass
from crucible_datasets.sources.base import SourceFile
from crucible_datasets.sources.downloads import downloaded
from crucible_datasets.sources.fetching import Expected
from crucible_datasets.sources.hub.api import HubApi
from crucible_datasets.sources.hub.files import safe_path

_XET_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class BucketFile:
    """A file of a bucket, as it was when it was listed."""

    path: str
    size: int
    hash: str


@dataclass(frozen=True)
class HubBucket(HubApi):
    """One bucket."""

    kind = "buckets"

    @cached_property
    def address(self) -> str:
        return f"hf://buckets/{self.id}"

    def listed(self, base: str) -> list[BucketFile]:
        """The file at a path, or all files below it."""
        looks = [self._named, self._inside]
        if "." not in base.rpartition("/")[2]:  # more likely a folder
            looks.reverse()
        return next((found for look in looks if (found := look(base))), [])

    def _named(self, path: str) -> list[BucketFile]:
        if not path:
            return []
        return self.get_json(f"{self.api}/paths-info", _stated, payload={"paths": [path]})[1]

    def _inside(self, folder: str) -> list[BucketFile]:
        inside = f"/{quote(folder, safe='')}" if folder else ""
        try:
            return list(self.pages(f"{self.api}/tree{inside}?recursive=true", _stated))
        except DatasetNotFoundError as error:
            if folder and getattr(error.__cause__, "code", "") == "EntryNotFound":
                return []
            raise

    def body(self, file: BucketFile, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """The bytes of a file; an error if it has changed since it was listed."""

        def require_same(headers: Any) -> None:
            if (now := headers.get("X-Xet-Hash", file.hash)) != file.hash:
                raise ContentMismatchError(f"{self.address}/{file.path}", f"xet hash {file.hash}", now)

        url = f"{self.endpoint}/buckets/{self.id}/resolve/{quote(file.path)}"
        return replace(self.web, check=require_same).body(url, start, stop)

    def fetched(self, files: Sequence[SourceFile]) -> list[str]:
        """Download files; their local paths."""

        def body(file: SourceFile, start: int) -> Iterator[bytes]:
            return self.body(file.known[1], start)

        return downloaded(
            files, body, f"Downloading {self.id}", lambda file: Expected(file.size, xet_hash=file.known[1].hash)
        )


def _stated(response: Any) -> list[BucketFile]:
    return [
        BucketFile(safe_path(one["path"]), int(one["size"]), _hash(one["xetHash"]))
        for one in response
        if one["type"] == "file"
    ]


def _hash(stated: Any) -> str:
    if not _XET_HASH.fullmatch(stated):
        raise ValueError(stated)
    return str(stated)
