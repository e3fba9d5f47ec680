"""Where the Hub's cache is and who the user is, as huggingface_hub finds it out, without importing that.

Its import takes longer than everything that a cached dataset needs. Where it is imported already, it is asked.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from crucible_datasets.sources.client import is_client_loaded


def hub_cache() -> str:
    """The folder that all tools of the Hub keep files in."""
    if known := sys.modules.get("huggingface_hub.constants"):
        return str(known.HF_HUB_CACHE)
    stated = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    return _expanded(stated or os.path.join(_home(), "hub"))


def token() -> str | None:
    """The token of the user: a variable, or what `hf auth login` has left."""
    if is_client_loaded() or "google.colab" in sys.modules:  # notebooks of Colab keep it in a place of their own
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
