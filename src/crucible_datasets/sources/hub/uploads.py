"""Uploads of single files to a dataset or a bucket of the Hub: written to a temporary file first, sent when complete.

In a dataset each upload is a commit. Buckets accept files by Xet only, which huggingface_hub implements.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from crucible_datasets import config
from crucible_datasets.atomic.files import scratch_folder
from crucible_datasets.exceptions import DataFilesNotFoundError, OfflineError, UploadError
from crucible_datasets.sources.append_copy import copy_before_append
from crucible_datasets.sources.base import Options, source_of
from crucible_datasets.sources.hub.addresses import located
from crucible_datasets.sources.hub.appends import Append
from crucible_datasets.sources.hub.bars import bars_as_ours
from crucible_datasets.sources.hub.bucket import HubBucket
from crucible_datasets.sources.hub.repo import HubRepo
from crucible_datasets.sources.hub.timeouts import with_timeouts
from crucible_datasets.sources.hub.writer import Writer
from crucible_datasets.sources.store_errors import store_errors

_NO_BUCKET = re.compile(r"\(404 Not Found\).*/xet-write-token")  # hf_xet states no number


@contextmanager
def sent(url: str, options: Options, after: bytes | None = None) -> Iterator[BinaryIO]:
    """A stream whose bytes are uploaded to a URL if the block succeeds, and not otherwise.

    They replace the file, or are appended to it, `after` the bytes that it should end with.
    """
    place, name = located(url, options)
    append = Append(place, name, after) if isinstance(place, HubRepo) and after is not None else None
    with scratch_folder("crucible-upload") as folder:
        path = os.path.join(folder, "file")
        with open(path, "wb") as stream:
            if append is not None:
                start = append.begin(stream)
            elif after is not None:
                _begin(url, options, stream, after)
            yield stream
        if append is not None:
            append.commit(_writer(append.repo), path, start)
        elif isinstance(place, HubRepo):
            facts = {"path_in_repo": name, "commit_message": f"Write {name}", **_repo(place)}
            _writer(place).send(path, lambda api, content: api.upload_file(path_or_fileobj=content, **facts))
        else:
            _changed(place, url, options, add=[(path, name)])


def _begin(url: str, options: Options, stream: BinaryIO, end: bytes) -> None:
    """Copy a bucket's file to a stream. Concurrent appends cannot be noticed: a bucket has no history."""
    source = source_of(url)
    with suppress(FileNotFoundError), source.opened(source.listed(url, options)[0], options) as before:
        copy_before_append(before, stream, end)


def removed(url: str, options: Options) -> None:
    """Delete an existing file."""
    place, name = located(url, options)
    if isinstance(place, HubRepo):
        facts = {"commit_message": f"Remove {name}", **_repo(place)}
        _writer(place).with_retries(
            lambda api: api.delete_file(name, **facts),
            again=lambda api: api.file_exists(filename=name, **_repo(place)) and api.delete_file(name, **facts),
        )
        return
    _changed(place, url, options, delete=[name])


def _writer(place: HubRepo) -> Writer:
    return Writer(place.id, place.endpoint, place.token)


def _changed(bucket: HubBucket, url: str, options: Options, **changes: Any) -> None:
    from huggingface_hub import HfApi

    if config.is_offline():
        raise OfflineError.when_writing(url)
    try:
        with store_errors(url, options, writing=True), with_timeouts(), bars_as_ours():
            HfApi(endpoint=bucket.endpoint, token=bucket.token).batch_bucket_files(bucket.id, **changes)
    except UploadError as error:
        if not _NO_BUCKET.search(str(error)):
            raise
        reason = f"there is no bucket {bucket.id}. Create it first: HfApi().create_bucket({bucket.id!r})."
        raise DataFilesNotFoundError(url, reason) from error


def _repo(place: HubRepo) -> dict[str, str]:
    return {"repo_id": place.id, "repo_type": "dataset", "revision": place.revision}
