"""Forwards: progress bars, logging and the rest of what Hugging Face calls utils."""

from crucible_datasets import logging as _logging
from crucible_datasets.download import DownloadConfig, DownloadManager, DownloadMode
from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.progress import (
    are_progress_bars_disabled,
    disable_progress_bar,
    disable_progress_bars,
    enable_progress_bar,
    enable_progress_bars,
    is_progress_bar_enabled,
    tqdm,
)
from crucible_datasets.reading.modes import VerificationMode
from crucible_datasets.stability import experimental
from crucible_datasets.version import Version

from .._sharing import forward

__all__ = [
    "DownloadConfig",
    "DownloadManager",
    "DownloadMode",
    "VerificationMode",
    "Version",
    "are_progress_bars_disabled",
    "disable_progress_bar",
    "disable_progress_bars",
    "enable_progress_bar",
    "enable_progress_bars",
    "experimental",
    "extract",
    "file_utils",
    "filelock",
    "hub",
    "info_utils",
    "is_progress_bar_enabled",
    "logging",
    "metadata",
    "py_utils",
    "tqdm",
    "typing",
    "version",
]

_LOCKS = {"filelock": "BaseFileLock FileLock SoftFileLock Timeout"}
_BARS = "disable_progress_bar enable_progress_bar is_progress_bar_enabled tqdm"
forward(
    __name__,
    {
        "_dill": {"utils.py_utils": "Pickler dump dumps"},
        "_filelock": _LOCKS,
        "experimental": {"stability": "experimental"},
        "filelock": _LOCKS,
        "hub": {"utils.file_utils": "hf_dataset_url"},
        "json": {"utils.py_utils": "ujson_dumps ujson_loads"},
        "logging": {"logging": " ".join(_logging.__all__), "progress": _BARS},
        "metadata": {"utils.info_utils": "MetadataConfigs"},
        "sharding": {
            "utils.py_utils": "_distribute_shards _merge_gen_kwargs _number_of_shards_in_gen_kwargs _split_gen_kwargs"
        },
        "tf_utils": {"utils.py_utils": "minimal_tf_collate_fn minimal_tf_collate_fn_with_renaming"},
        "tqdm": {"progress": f"{_BARS} are_progress_bars_disabled disable_progress_bars enable_progress_bars"},
        "typing": {"utils.py_utils": "ListLike NestedDataStructureLike PathLike T"},
        "version": {"version": "Version"},
    },
)
names_of_datasets(__name__)
