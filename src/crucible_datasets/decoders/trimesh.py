"""Meshes by trimesh: glb, gltf, obj, off, ply and stl, recognized by extension."""

from __future__ import annotations

from typing import Any

from crucible_datasets.decoders.base import Content, Decoder
from crucible_datasets.registry import need

_KINDS = (".glb", ".gltf", ".obj", ".off", ".ply", ".stl")
_MAGIC = {b"glTF": ".glb", b"ply\n": ".ply", b"ply\r": ".ply"}


def _mesh(content: Content, feature: Any) -> Any:
    trimesh = need("trimesh", extra="mesh")
    with content.stream() as stream:
        extension = content.extension or _MAGIC.get(stream.read(4), "")
        # trimesh also reads archives and lists of files, which are not allowed in a value.
        if extension not in _KINDS:
            raise ValueError(f"a mesh needs a 'path' whose extension says what it is: one of {', '.join(_KINDS)}")
        stream.seek(0)
        mesh = trimesh.load(stream, file_type=extension[1:], resolver=_resolver(content))
    if getattr(mesh, "is_empty", False):
        raise ValueError("there is no mesh in it")
    return mesh


def _resolver(content: Content) -> Any:
    """The resolver of files that a mesh refers to, such as textures: only those in its folder."""
    resolvers = need("trimesh.resolvers", extra="mesh")

    class Beside(resolvers.Resolver):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            pass

        def keys(self) -> list[str]:
            return []

        def get(self, name: str) -> bytes:
            if content.sibling is None:
                raise FileNotFoundError(name)
            return content.sibling(name)

        def namespaced(self, namespace: str) -> Any:
            return self

        def write(self, name: str, data: Any) -> None:
            raise PermissionError(name)

    return Beside()


DECODER = Decoder("trimesh", {"Mesh": _mesh})
