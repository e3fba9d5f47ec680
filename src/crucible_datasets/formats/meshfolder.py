"""Folders of three-dimensional meshes."""

from crucible_datasets.features import Mesh
from crucible_datasets.formats.folders import folder_format

FORMAT = folder_format("mesh", Mesh, ".glb .gltf .ply .stl")
