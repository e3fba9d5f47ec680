"""Taking configurations away from datasets on the Hub."""

from __future__ import annotations

from fnmatch import fnmatch
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import ConfigNotFoundError
from crucible_datasets.ops.pushcard import card_without


def delete_from_hub(
    repo_id: str, config_name: str, revision: str | None = None, token: bool | str | None = None
) -> Any:
    """Open a pull request that removes a configuration: its files, and what the card says about it."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, DatasetCard, HfApi

    api = HfApi(endpoint=config.HF_ENDPOINT, token=token)
    readme = api.hf_hub_download(repo_id, config.REPOCARD_FILENAME, repo_type="dataset", revision=revision)
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    stated: Any = DatasetCard(text, ignore_metadata_errors=True).data.get(config.METADATA_CONFIGS_FIELD) or []
    configs = {one["config_name"]: one for one in stated}
    if config_name not in configs:
        raise ConfigNotFoundError(repo_id, config_name, list(configs))
    patterns = [one["path"] for one in configs[config_name].get("data_files") or []]
    files = api.list_repo_files(repo_id, repo_type="dataset", revision=revision)
    gone = [path for path in files if any(fnmatch(path, pattern) for pattern in patterns)]
    card = CommitOperationAdd(
        path_in_repo=config.REPOCARD_FILENAME, path_or_fileobj=card_without(text, config_name).encode()
    )
    return api.create_commit(
        repo_id,
        [*(CommitOperationDelete(path_in_repo=path) for path in gone), card],
        commit_message=f"Delete '{config_name}' config",
        repo_type="dataset",
        revision=revision,
        create_pr=True,
    )
