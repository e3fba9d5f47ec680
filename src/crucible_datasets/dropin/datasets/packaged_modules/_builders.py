"""The builders of formats, as `load_dataset_builder` gives them."""

from __future__ import annotations

from typing import Any, ClassVar

from crucible_datasets.builder.inputs import files_of
from crucible_datasets.load import FilesBuilder, load_dataset_builder


class OfFormat(FilesBuilder):
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
