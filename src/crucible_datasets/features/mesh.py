"""The `Mesh` feature: files in, meshes and scenes of trimesh in and out."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

from crucible_datasets.features.media import Media, Reference
from crucible_datasets.records import dataclass


@dataclass
class Mesh(Media):
    """A three-dimensional mesh: path, bytes, mesh or scene in, mesh or scene out."""

    decode: bool = True
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "trimesh.Trimesh"
    _type: str = field(init=False, repr=False, default="Mesh")

    def encode_example(self, value: Any) -> Reference:
        """A mesh as a reference: a binary glTF file."""
        if callable(export := getattr(value, "export", None)):
            return {"bytes": bytes(export(file_type="glb")), "path": "mesh.glb"}
        return super().encode_example(value)
