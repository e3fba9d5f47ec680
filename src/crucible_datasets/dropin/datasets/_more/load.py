"""More of `datasets.load`."""

from ..packaged_modules import (
    _EXTENSION_TO_MODULE,
    _MODULE_TO_EXTENSIONS,
    _PACKAGED_DATASETS_MODULES,
)

__all__ = ["_EXTENSION_TO_MODULE", "_MODULE_TO_EXTENSIONS", "_PACKAGED_DATASETS_MODULES", "init_dynamic_modules"]


def init_dynamic_modules(name: str = "datasets_modules", hf_modules_cache: str | None = None) -> str:
    """Where modules of the Hub would be kept; no program of a dataset is run."""
    from crucible_datasets import config

    return str(hf_modules_cache or config.HF_MODULES_CACHE)
