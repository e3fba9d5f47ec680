"""Forwards to the formats: which files are recognised, and as what."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.reading import format_choice

_EXTENSION_TO_MODULE: dict[str, tuple[str, dict[str, Any]]] = {
    extension: (name, {}) for extension, name in format_choice.extensions().items()
}
_ALL_EXTENSIONS = [*_EXTENSION_TO_MODULE, ".zip"]
_ALL_ALLOWED_EXTENSIONS = set(_ALL_EXTENSIONS)
_MODULE_TO_EXTENSIONS: dict[str, list[str]] = {}
for _extension, (_name, _) in _EXTENSION_TO_MODULE.items():
    _MODULE_TO_EXTENSIONS.setdefault(_name, []).append(_extension)
# There are no modules behind these names: a format is one file in `crucible_datasets.formats`.
_PACKAGED_DATASETS_MODULES = {name: (f"crucible_datasets.formats.{name}", name) for name in _MODULE_TO_EXTENSIONS}


def _hash_python_lines(lines: Iterable[str]) -> str:
    """A digest of a program without its comments and empty lines."""
    shown = [text for line in lines if (text := re.sub(r"#.*", "", line))]
    return sha256("\n".join(shown).encode()).hexdigest()


names_of_datasets(__name__)
