"""The `Nifti` feature: files in, volumes of nibabel in and out."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

from crucible_datasets.features.media import Media, Reference
from crucible_datasets.records import dataclass


@dataclass
class Nifti(Media):
    """A NIfTI volume: path, bytes or image of nibabel in, image out."""

    decode: bool = True
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "nibabel.nifti1.Nifti1Image"
    _type: str = field(init=False, repr=False, default="Nifti")

    def encode_example(self, value: Any) -> Reference:
        """A volume as a reference: the file it was read from, or its bytes."""
        if not (hasattr(value, "get_filename") and hasattr(value, "to_bytes")):
            return super().encode_example(value)
        path = value.get_filename()
        return {"bytes": None, "path": str(path)} if path else {"bytes": value.to_bytes(), "path": None}
