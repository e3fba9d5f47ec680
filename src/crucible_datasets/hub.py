"""`delete_from_hub`: removes configurations from datasets on the Hub."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import ConfigNotFoundError
from crucible_datasets.ops.pushing.card import card_without
from crucible_datasets.reading.card import CardConfig, card_of
from crucible_datasets.sources.hub import HubRepo
from crucible_datasets.sources.hub.addresses import named
from crucible_datasets.sources.hub.writer import Writer


def delete_from_hub(
    repo_id: str, config_name: str, revision: str | None = None, token: bool | str | None = None
) -> Any:
    """Open a pull request that removes a configuration: from the card, with the files that no other one lists."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    repo = HubRepo(repo_id, revision or config.HUB_DEFAULT_VERSION, token)
    (path,) = repo.fetched([config.REPOCARD_FILENAME])
    configs = card_of(repo.folder).configs
    if config_name not in configs:
        raise ConfigNotFoundError(repo_id, config_name, list(configs))
    used = [name for other, stated in configs.items() if other != config_name for name in _files(repo, stated)]
    gone = sorted(set(_files(repo, configs[config_name])).difference(used))
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    card = CommitOperationAdd(
        path_in_repo=config.REPOCARD_FILENAME, path_or_fileobj=card_without(text, config_name).encode()
    )
    operations = [*(CommitOperationDelete(path_in_repo=path) for path in gone), card]
    words = f"Delete {config_name!r} config"
    facts = {"commit_message": words, "commit_description": f"{words}.", "repo_type": "dataset", "revision": revision}
    writer = Writer(repo_id, repo.endpoint, token)
    return writer.with_retries(
        lambda api: api.create_commit(repo_id, operations, create_pr=True, **facts), is_pull=True
    )


def _files(repo: HubRepo, stated: CardConfig) -> list[str]:
    return list(dict.fromkeys(name for pattern in _patterns(stated) for name in named(pattern, repo.files)))


def _patterns(stated: CardConfig) -> Iterator[str]:
    """The patterns of a configuration's files: those in the card, or all in its folder."""
    folder = (stated.data_dir or "").strip("/")
    named = [path for paths in (stated.data_files or {}).values() for path in paths]
    for path in named or ([""] if folder else []):
        yield f"{folder}/{path.removeprefix('./')}".strip("/")
