"""Forwards to the formats: which extensions they have, and the builder of each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, ClassVar

from crucible_datasets.builder import files_of
from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.load import FilesBuilder, load_dataset_builder
from crucible_datasets.reading import format_choice

from ._sharing import forward

__path__: list[str] = []

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


class _FormatBuilder(FilesBuilder):
    """A dataset made of files of one format."""

    format: ClassVar[str]

    def __init__(
        self,
        cache_dir: str | None = None,
        *,
        config_name: str | None = None,
        base_path: str | None = None,
        features: Any = None,
        data_files: Any = None,
        data_dir: str | None = None,
        **config_kwargs: Any,
    ) -> None:
        found = load_dataset_builder(
            self.format,
            config_name,
            data_dir=data_dir,
            data_files=files_of(data_files, base_path) if base_path and data_files else data_files,
            cache_dir=cache_dir,
            features=features,
            **config_kwargs,
        )
        super().__init__(found._reader)


class Arrow(_FormatBuilder):
    """`load_dataset_builder("arrow", …)`."""

    format = "arrow"


class Csv(_FormatBuilder):
    """`load_dataset_builder("csv", …)`."""

    format = "csv"


class Json(_FormatBuilder):
    """`load_dataset_builder("json", …)`."""

    format = "json"


class Parquet(_FormatBuilder):
    """`load_dataset_builder("parquet", …)`."""

    format = "parquet"


class Text(_FormatBuilder):
    """`load_dataset_builder("text", …)`."""

    format = "text"


for _builder in (Arrow, Csv, Json, Parquet, Text):
    forward(__name__, {_builder.format: {}})
    forward(f"{__name__}.{_builder.format}", {_builder.format: {"packaged_modules": _builder.__name__}})

names_of_datasets(__name__)
