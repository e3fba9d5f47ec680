"""Single files that go to a dataset or a bucket of the Hub: written here first, and sent when they are whole.

To a dataset each is a commit. Buckets take files by Xet alone, which huggingface_hub speaks.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from crucible_datasets import config
from crucible_datasets.exceptions import OfflineError
from crucible_datasets.sources.base import Options
from crucible_datasets.sources.hub.addresses import located
from crucible_datasets.sources.hub.bucket import HubBucket
from crucible_datasets.sources.hub.repo import HubRepo
from crucible_datasets.sources.hub.silence import bounded
from crucible_datasets.sources.hub.writing import Writer
from crucible_datasets.sources.refusals import told


@contextmanager
def sent(url: str, options: Options) -> Iterator[BinaryIO]:
    """A stream whose bytes are sent to an address when the block ends well, and never otherwise."""
    place, name = located(url, options)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        with open(path, "wb") as stream:
            yield stream
        if isinstance(place, HubRepo):
            facts = {"path_in_repo": name, "commit_message": f"Write {name}", **_repo(place)}
            _writer(place).send(path, lambda api, content: api.upload_file(path_or_fileobj=content, **facts))
            return
        _changed(place, url, options, add=[(path, name)])


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
