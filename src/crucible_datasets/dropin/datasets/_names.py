"""Names that modules of this library have at Hugging Face and not here, by the module in which they are defined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .utils import file_utils

Example = dict[str, Any]
Batch = dict[str, list[Any]]
InvalidConfigName = ValueError
MAX_TABLE_NBYTES_FOR_PICKLING = 4 << 30
MODULE_NAME_FOR_DYNAMIC_MODULES = "datasets_modules"
SLEEP_TIME_ON_THREADS_SHUTDOWN = 5


@dataclass(frozen=True)
class Key:
    """The position of a table among those of a builder: the number of its shard, and of the table in it."""

    original_shard_idx: int
    item_or_batch_idx: int


class MissingCachedSizesConfigError(Exception):
    """The sizes of a configuration are unknown."""


class NonMatchingCachedSizesError(Exception):
    """Sizes differ from those that were expected."""


def init_dynamic_modules(name: str = "datasets_modules", hf_modules_cache: str | None = None) -> str:
    """Where modules of the Hub would be stored; no program of a dataset is run."""
    from crucible_datasets import config

    return str(hf_modules_cache or config.HF_MODULES_CACHE)


_BARS = "disable_progress_bar enable_progress_bar is_progress_bar_enabled tqdm"
_LISTED = {
    "arrow_dataset": {"_names": "Batch Example"},
    "builder": {"_names": "InvalidConfigName Key", "naming": "INVALID_WINDOWS_CHARACTERS_IN_PATH"},
    "config": {
        "_names": "MAX_TABLE_NBYTES_FOR_PICKLING MODULE_NAME_FOR_DYNAMIC_MODULES SLEEP_TIME_ON_THREADS_SHUTDOWN"
    },
    "download.streaming_download_manager": {"utils.file_utils": " ".join(file_utils.__all__)},
    "features.features": {
        "_features": (
            "Array2DExtensionType Array3DExtensionType Array4DExtensionType Array5DExtensionType "
            "ArrayExtensionArray FeatureType _ArrayXD _FEATURE_TYPES _arrow_to_datasets_dtype "
            "_check_non_null_non_empty_recursive cast_to_python_objects decode_nested_example "
            "encode_nested_example generate_from_arrow_type generate_from_dict get_nested_type "
            "require_decoding require_storage_cast require_storage_embed string_to_arrow"
        ),
    },
    "features.image": {
        "_features": (
            "encode_np_array encode_pil_image image_to_bytes list_image_compression_formats "
            "objects_to_list_of_image_dicts"
        ),
    },
    "fingerprint": {
        "_fingerprint": (
            "Hasher _CACHING_ENABLED fingerprint_warnings format_kwargs_for_fingerprint "
            "format_transform_for_fingerprint generate_fingerprint generate_random_fingerprint "
            "get_temporary_cache_files_directory update_fingerprint validate_fingerprint"
        ),
        "naming": "INVALID_WINDOWS_CHARACTERS_IN_PATH",
    },
    "info": {"_names": "MissingCachedSizesConfigError NonMatchingCachedSizesError"},
    "iterable_dataset": {
        "_examples": (
            "DistributedConfig ExamplesIterable FormattingConfig _BaseExamplesIterable _batch_to_examples "
            "_examples_to_batch"
        ),
    },
    "load": {
        "_names": "init_dynamic_modules",
        "packaged_modules": "_EXTENSION_TO_MODULE _MODULE_TO_EXTENSIONS _PACKAGED_DATASETS_MODULES",
    },
    "logging": {"progress": _BARS},
}
ORIGINS = {
    module: {name: origin for origin, names in origins.items() for name in names.split()}
    for module, origins in _LISTED.items()
}
