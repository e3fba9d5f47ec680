"""`push_to_hub` to a bucket: files and card are uploaded together, when all files are written.

A bucket has no history, so there is no commit to return, and nothing shows whether rows were appended before.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from crucible_datasets import config
from crucible_datasets.atomic.files import scratch_folder
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.features import Features
from crucible_datasets.ops.pushing.card import known_info
from crucible_datasets.ops.pushing.commit import Before, Sent, Where, operations_on
from crucible_datasets.ops.pushing.files import Tables, write
from crucible_datasets.sources.hub.bucket import HubBucket
from crucible_datasets.sources.hub.writer import Writer
from crucible_datasets.splits import SplitInfo

_NAME = re.compile(r"buckets/(?P<id>[^/]+/[^/]+)(?:/(?P<inside>.+?))?/?")


def push_to_bucket(shards: Mapping[str, Iterator[Tables]], kinds: Features, where: Where) -> None:
    """Push splits to `buckets/org/name`, or to a folder in it."""
    from huggingface_hub import CommitOperationAdd

    id, inside = _checked(where)
    hub = Writer(id, config.HF_ENDPOINT, where.token, kind="buckets")
    hub.with_retries(lambda api: api.create_bucket(id, private=where.private, exist_ok=True))
    before = _before(HubBucket(id, token=where.token, endpoint=hub.endpoint), inside, where)
    before.require_same(where, kinds, shards)
    with scratch_folder("crucible-push") as folder:
        sent = {split: _written(os.path.join(folder, split), tables, kinds) for split, tables in shards.items()}
        operations = operations_on(where, before, sent, kinds)
        added = [one for one in operations if isinstance(one, CommitOperationAdd)]
        files = [(one.path_or_fileobj, f"{inside}{one.path_in_repo}") for one in added]
        gone = [f"{inside}{one.path_in_repo}" for one in operations if one not in added]
        hub.with_retries(lambda api: api.batch_bucket_files(id, add=files, delete=gone))


def _checked(where: Where) -> tuple[str, str]:
    """The id of the bucket, and what the names of its files begin with."""
    parts = _NAME.fullmatch(where.repo_id)
    if parts is None:
        raise ArgumentError("repo_id", where.repo_id, "expected buckets/org/name, or buckets/org/name/folder.")
    for name in ("append", "revision", "create_pr"):
        if getattr(where, name):
            raise ArgumentError(name, getattr(where, name), "a bucket has no history.")
    return parts["id"], f"{parts['inside']}/" if parts["inside"] else ""


def _before(bucket: HubBucket, inside: str, where: Where) -> Before:
    files = {file.path.removeprefix(inside): file for file in bucket.listed("") if file.path.startswith(inside)}
    card = files.get(config.REPOCARD_FILENAME)
    readme = None if card is None else b"".join(bucket.body(card)).decode("utf-8")
    return Before(
        "", {name: file.size for name, file in files.items()}, {}, readme, known_info(readme, where.config_name)
    )


def _written(prefix: str, shards: Iterator[Tables], kinds: Features) -> Sent:
    """Write the files of a split, to be uploaded later."""
    from huggingface_hub import CommitOperationAdd

    sent = Sent(SplitInfo(os.path.basename(prefix), num_bytes=0, num_examples=0))
    for number, tables in enumerate(shards):
        path = f"{prefix}-{number}"
        write(tables, kinds, path, sent.info)
        sent.operations.append(CommitOperationAdd(path_in_repo=str(number), path_or_fileobj=path))
        sent.size += os.path.getsize(path)
    return sent
