"""Forwards to `crucible_datasets.load`: looking into datasets without loading them."""

from crucible_datasets.load import (
    get_dataset_config_info,
    get_dataset_config_names,
    get_dataset_default_config_name,
    get_dataset_infos,
    get_dataset_split_names,
)

__all__ = [
    "SplitsNotFoundError",
    "get_dataset_config_info",
    "get_dataset_config_names",
    "get_dataset_default_config_name",
    "get_dataset_infos",
    "get_dataset_split_names",
]

# What is raised where a dataset does not tell its splits: the errors of loading it.
SplitsNotFoundError = ValueError
