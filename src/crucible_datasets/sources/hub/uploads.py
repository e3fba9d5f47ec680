"""Single files that go to a dataset or a bucket of the Hub: written here first, and sent when they are whole.

To a dataset each is a commit. Buckets take files by Xet alone, which huggingface_hub speaks.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from crucible_datasets import config
from crucible_datasets.exceptions import OfflineError
from crucible_datasets.sources.base import Options, source_of
from crucible_datasets.sources.continued import continued
from crucible_datasets.sources.hub.addresses import located
from crucible_datasets.sources.hub.appends import Append
from crucible_datasets.sources.hub.bucket import HubBucket
from crucible_datasets.sources.hub.repo import HubRepo
from crucible_datasets.sources.hub.silence import bounded
from crucible_datasets.sources.hub.writing import Writer
from crucible_datasets.sources.refusals import told


@contextmanager
def sent(url: str, options: Options, after: bytes | None = None) -> Iterator[BinaryIO]:
    """A stream whose bytes are sent to an address when the block ends well, and never otherwise.

    They come instead of those that are there, or behind them and `after` what these should end with.
    """
    place, name = located(url, options)
    append = Append(place, name, after) if isinstance(place, HubRepo) and after is not None else None
    with tempfile.TemporaryDirectory() as folder:
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
    """Write what is in a bucket to a stream; who else appends to it meanwhile is not noticed: it has no history."""
    source = source_of(url)
    with suppress(FileNotFoundError), source.opened(source.listed(url, options)[0], options) as before:
        continued(before, stream, end)


def removed(url: str, options: Options) -> None:
    """Remove a file that is there."""
    place, name = located(url, options)
    if isinstance(place, HubRepo):
        facts = {"commit_message": f"Remove {name}", **_repo(place)}
        _writer(place).patiently(
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
    with told(url, options, writing=True), bounded():
        HfApi(endpoint=bucket.endpoint, token=bucket.token).batch_bucket_files(bucket.id, **changes)


def _repo(place: HubRepo) -> dict[str, str]:
    return {"repo_id": place.id, "repo_type": "dataset", "revision": place.revision}
