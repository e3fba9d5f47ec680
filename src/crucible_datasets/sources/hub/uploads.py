"""Single files that go to a dataset or a bucket of the Hub: written here first, and sent when they are whole.

To a dataset each is a commit. Buckets take files by Xet alone, which huggingface_hub speaks.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from crucible_datasets.exceptions import DataFilesNotFoundError
from crucible_datasets.sources.base import Options
from crucible_datasets.sources.hub.addresses import located
from crucible_datasets.sources.hub.repo import HubRepo
from crucible_datasets.sources.refusals import told


@contextmanager
def sent(url: str, options: Options) -> Iterator[BinaryIO]:
    """A stream whose bytes are sent to an address when the block ends well, and never otherwise."""
    place, name = located(url, options)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        with open(path, "wb") as stream:
            yield stream
        with told(url, options, writing=True):
            if isinstance(place, HubRepo):
                _api(place).upload_file(
                    path_or_fileobj=path, path_in_repo=name, commit_message=f"Write {name}", **_repo(place)
                )
            else:
                _api(place).batch_bucket_files(place.id, add=[(path, name)])


def removed(url: str, options: Options) -> None:
    """Remove a file."""
    place, name = located(url, options)
    with told(url, options, writing=True):
        if isinstance(place, HubRepo):
            _api(place).delete_file(name, commit_message=f"Remove {name}", **_repo(place))
        elif place.listed(name):
            _api(place).batch_bucket_files(place.id, delete=[name])
        else:
            raise DataFilesNotFoundError(url)


def _api(place: Any) -> Any:
    from huggingface_hub import HfApi

    return HfApi(endpoint=place.endpoint, token=place.token)


def _repo(place: HubRepo) -> dict[str, str]:
    return {"repo_id": place.id, "repo_type": "dataset", "revision": place.revision}
