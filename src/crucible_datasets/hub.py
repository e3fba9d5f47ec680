"""Taking configurations away from datasets on the Hub."""

from __future__ import annotations

from fnmatch import fnmatch
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import ConfigNotFoundError
from crucible_datasets.ops.pushcard import card_without
from crucible_datasets.sources.hub import HubRepo
from crucible_datasets.sources.hub.writing import Writer


def delete_from_hub(
    repo_id: str, config_name: str, revision: str | None = None, token: bool | str | None = None
) -> Any:
    """Open a pull request that removes a configuration: its files, and what the card says about it."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, DatasetCard

    repo = HubRepo(repo_id, revision or config.HUB_DEFAULT_VERSION, token)
    with open(repo.fetched([config.REPOCARD_FILENAME])[0], encoding="utf-8") as file:
        text = file.read()
    stated: Any = DatasetCard(text, ignore_metadata_errors=True).data.get(config.METADATA_CONFIGS_FIELD) or []
    configs = {one["config_name"]: one for one in stated}
    if config_name not in configs:
        raise ConfigNotFoundError(repo_id, config_name, list(configs))
    patterns = [one["path"] for one in configs[config_name].get("data_files") or []]
    gone = [path for path in repo.files if any(fnmatch(path, pattern) for pattern in patterns)]
    card = CommitOperationAdd(
        path_in_repo=config.REPOCARD_FILENAME, path_or_fileobj=card_without(text, config_name).encode()
    )
    operations = [*(CommitOperationDelete(path_in_repo=path) for path in gone), card]
    facts = {"commit_message": f"Delete {config_name!r} config", "repo_type": "dataset", "revision": revision}
    writer = Writer(repo_id, repo.endpoint, token)
    return writer.patiently(lambda api: api.create_commit(repo_id, operations, create_pr=True, **facts))
