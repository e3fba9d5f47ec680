"""Media features: references to bytes or a path, stored as `struct<bytes, path>`.

`Image` (features.image) decodes to a picture. The other media give back their
reference `{"bytes", "path"}` as it is stored; their decoders are still to come.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, CastError, DecodingDisabledError
from crucible_datasets.features import dtypes
from crucible_datasets.features.types import Value

Reference = dict[str, Any]
Tokens = Mapping[str, Any] | None
_REFERENCE = pa.struct({"bytes": pa.binary(), "path": pa.string()})


class Media:
    """What all media share: the reference, and the ways in and out of it."""

    pa_type: ClassVar[Any] = _REFERENCE
    decode: bool

    def locate(self, path: str) -> str:
        """Where a file is that a value names. Media of foreign data (features.bounds) refuse most places."""
        return path

    def __call__(self) -> pa.DataType:
        return self.pa_type

    def encode_example(self, value: Any) -> Reference:
        """A path, bytes, or a dict with one of them, as a reference."""
        if isinstance(value, (bytes, bytearray)):
            return {"bytes": bytes(value), "path": None}
        if isinstance(value, (str, os.PathLike)):
            return {"bytes": None, "path": os.fspath(value)}
        return reference_of(value, type(self).__name__)

    def decode_example(self, value: Reference | None, token_per_repo_id: Tokens = None) -> Any:
        """The reference as it is stored."""
        if not self.decode:
            raise DecodingDisabledError(type(self).__name__)
        return value

    def flatten(self) -> Any:
        """The two columns of the reference, unless values are decoded."""
        return self if self.decode else {"bytes": Value("binary"), "path": Value("string")}

    def cast_storage(self, storage: pa.Array) -> pa.Array:
        """Strings are paths, binaries are bytes, structs give up their fields of these names."""
        empty = pa.nulls(len(storage))
        if pa.types.is_null(storage.type):
            return pa.nulls(len(storage), _REFERENCE)
        if dtypes.is_text(storage.type):
            return _references(empty, storage, storage.is_null())
        if dtypes.is_bytes(storage.type):
            return _references(storage, empty, storage.is_null())
        if not pa.types.is_struct(storage.type):
            raise CastError(None, str(storage.type), str(self))
        names = [each.name for each in storage.type]
        content, paths = (pc.struct_field(storage, name) if name in names else empty for name in ("bytes", "path"))
        return _references(content, paths, storage.is_null())

    def embed_storage(
        self, storage: pa.Array, token_per_repo_id: Tokens = None, local_files: bool = True, remote_files: bool = True
    ) -> pa.Array:
        """The same references with the files they point at read into them."""
        storage = self.cast_storage(storage)
        rows = storage.to_pylist()
        for row in rows:
            if row is not None and row["path"] is not None and (local_files if is_local(row["path"]) else remote_files):
                if row["bytes"] is None:
                    row["bytes"] = read_file(self.locate(row["path"]), token_per_repo_id)
                row["path"] = os.path.basename(row["path"])
        return pa.array(rows, _REFERENCE)


def reference_of(value: Any, kind: str) -> Reference:
    """The reference that a dict spells out."""
    reference = {"bytes": value.get("bytes"), "path": value.get("path")}
    if reference["bytes"] is None and reference["path"] is None:
        raise ArgumentError("value", value, f"one of 'path' and 'bytes' is needed for {kind}.")
    return reference


def _references(content: pa.Array, paths: pa.Array, missing: pa.Array) -> pa.Array:
    columns = [content.cast(pa.binary()), paths.cast(pa.string())]
    return pa.StructArray.from_arrays(columns, fields=list(_REFERENCE), mask=missing)


def is_local(path: str) -> bool:
    """Whether a path names a file of this machine."""
    return "://" not in path or path.startswith("file://")


def read_file(path: str, tokens: Tokens = None) -> bytes:
    """The content of a file, wherever it is."""
    if is_local(path):
        with open(path.removeprefix("file://"), "rb") as file:
            return file.read()
    import fsspec

    with fsspec.open(path, "rb", **_credentials(path, tokens)) as file:
        return bytes(file.read())


def _credentials(path: str, tokens: Tokens) -> dict[str, Any]:
    """The token of the repository that an `hf://datasets/owner/name@revision/file` path lies in."""
    if not tokens or not path.startswith("hf://datasets/"):
        return {}
    repository = "/".join(path.removeprefix("hf://datasets/").split("/")[:2]).split("@")[0]
    return {"token": tokens[repository]} if repository in tokens else {}


@dataclass
class Video(Media):
    """A film, by path or bytes."""

    decode: bool = True
    stream_index: int | None = None
    dimension_order: Literal["NCHW", "NHWC"] = "NCHW"
    num_ffmpeg_threads: int = 1
    device: Any = "cpu"
    seek_mode: Literal["exact", "approximate"] = "exact"
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "torchcodec.decoders.VideoDecoder"
    _type: str = field(init=False, repr=False, default="Video")

    def encode_example(self, value: Any) -> Reference:
        if not isinstance(value, (bytes, bytearray, str, os.PathLike, Mapping)):
            raise ArgumentTypeError("value", value, "expected a path, bytes or a dict with one of them.")
        return super().encode_example(value)


@dataclass
class Pdf(Media):
    """A PDF document, by path or bytes."""

    decode: bool = True
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "pdfplumber.pdf.PDF"
    _type: str = field(init=False, repr=False, default="Pdf")


class _NeedsReference(Media):
    """Media that name what they expect when given something else."""

    def encode_example(self, value: Any) -> Reference:
        if not isinstance(value, (bytes, bytearray, str, os.PathLike, Mapping)):
            raise ArgumentError("value", value, "expected a path, bytes or a dict with one of them.")
        return super().encode_example(value)


@dataclass
class Nifti(_NeedsReference):
    """A NIfTI volume, by path or bytes."""

    decode: bool = True
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "nibabel.nifti1.Nifti1Image"
    _type: str = field(init=False, repr=False, default="Nifti")


@dataclass
class Mesh(_NeedsReference):
    """A three-dimensional mesh, by path or bytes."""

    decode: bool = True
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "trimesh.Trimesh"
    _type: str = field(init=False, repr=False, default="Mesh")


@dataclass
class BioSequence(Media):
    """A biological sequence, by path or bytes."""

    format: str = "fasta"
    decode: bool = True
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "Bio.SeqRecord.SeqRecord"
    _type: str = field(init=False, repr=False, default="BioSequence")


@dataclass
class BioStructure(Media):
    """A molecular structure, by path or bytes."""

    format: str = "pdb"
    decode: bool = True
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "Bio.PDB.Structure.Structure"
    _type: str = field(init=False, repr=False, default="BioStructure")

    def __post_init__(self) -> None:
        if self.format not in ("mmcif", "pdb"):
            raise ArgumentError("format", self.format, "expected 'mmcif' or 'pdb'.")
