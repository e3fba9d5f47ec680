"""The Hub's cache folder and the user's token, found as huggingface_hub does, but without importing it.

The import takes longer than loading a cached dataset. If it has been imported already, its own settings are used.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from crucible_datasets.sources.client import is_client_loaded


def hub_cache() -> str:
    """The cache folder of huggingface_hub."""
    if known := sys.modules.get("huggingface_hub.constants"):
        return str(known.HF_HUB_CACHE)
    stated = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    return _expanded(stated or os.path.join(_home(), "hub"))


def token() -> str | None:
    """The user's token: from the environment, or stored by `hf auth login`."""
    if is_client_loaded() or "google.colab" in sys.modules:  # Colab stores it among its secrets
        from huggingface_hub import get_token

        return get_token()
    if stated := _clean(os.environ.get("HF_TOKEN") or os.environ.get("HUGGING_FACE_HUB_TOKEN")):
        return stated
    with suppress(OSError), open(_expanded(os.environ.get("HF_TOKEN_PATH") or os.path.join(_home(), "token"))) as file:
        return _clean(file.read())
    return None


def _home() -> str:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return _expanded(os.environ.get("HF_HOME") or os.path.join(cache, "huggingface"))


def _expanded(path: str) -> str:
    return os.path.expandvars(os.path.expanduser(path))


def _clean(text: str | None) -> str | None:
    return (text or "").replace("\r", "").replace("\n", "").strip() or None
