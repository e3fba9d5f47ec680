"""Media features: references to bytes or a path, stored as `struct<bytes, path>` and decoded when a value is read.

They are decoded by `decoders`. Types without a decoder return the reference.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from functools import partial
from typing import Any, ClassVar

import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.decoders.base import Content, decoder_of, decoding_errors
from crucible_datasets.exceptions import (
    ArgumentError,
    CastError,
    DecodingDisabledError,
    OutOfBoundsError,
    ValueTypeError,
)
from crucible_datasets.features import dtypes
from crucible_datasets.features.members import base_name, member_of
from crucible_datasets.features.types import Value
from crucible_datasets.records import dataclass

Reference = dict[str, Any]
Tokens = Mapping[str, Any] | None
_REFERENCE = pa.struct({"bytes": pa.binary(), "path": pa.string()})


class Media:
    """The base of media features: the reference, and conversion to and from it."""

    pa_type: ClassVar[Any] = _REFERENCE
    decode: bool
    _type: str

    def locate(self, path: str) -> str:
        """The path of the file that a value names. Restricted media (features.bounds) refuse most paths."""
        return path

    def __call__(self) -> pa.DataType:
        return self.pa_type

    def encode_example(self, value: Any) -> Reference:
        """A path, bytes, an open file, a dict with bytes or path, or a decoded value, as a reference."""
        if isinstance(value, (bytes, bytearray)):
            return {"bytes": bytes(value), "path": None}
        if isinstance(value, str):
            return {"bytes": None, "path": value}
        if isinstance(value, os.PathLike):
            return {"bytes": None, "path": os.path.join(os.getcwd(), os.fsdecode(value))}
        if isinstance(found := getattr(value, "reference", getattr(value, "_hf_encoded", None)), Mapping):
            return {"bytes": found["bytes"], "path": found["path"]}
        if callable(getattr(value, "read", None)):
            name = getattr(value, "name", None)
            return {"bytes": value.read(), "path": os.path.basename(name) if isinstance(name, str) else None}
        return reference_of(value, type(self).__name__)

    def decode_example(self, value: Reference | str | None, token_per_repo_id: Tokens = None) -> Any:
        """The decoded value of a reference."""
        if not self.decode:
            raise DecodingDisabledError(type(self).__name__)
        decoder = decoder_of(self._type)
        if value is None or decoder is None:
            return value
        reference = {"bytes": None, "path": value} if isinstance(value, str) else value
        with decoding_errors(self._type, decoder.name, reference["path"]):
            made = decoder.opens[self._type](content_of(self, reference, token_per_repo_id), self)
        if hasattr(made, "reference"):
            made.reference = reference
        return made

    def flatten(self) -> Any:
        """The two columns of the reference, unless values are decoded."""
        return self if self.decode else {"bytes": Value("binary"), "path": Value("string")}

    def cast_storage(self, storage: pa.Array) -> pa.Array:
        """Strings are paths, binaries are bytes, structs have fields of these names."""
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
        """The same references with the content of their files embedded."""
        storage = self.cast_storage(storage)
        rows = storage.to_pylist()
        for row in rows:
            if row is not None and row["path"] is not None and (local_files if _is_here(row["path"]) else remote_files):
                if row["bytes"] is None:
                    with decoding_errors(self._type, "embedding", row["path"]):
                        row["bytes"] = read_file(self.locate(row["path"]), token_per_repo_id)
                row["path"] = base_name(row["path"])
        return pa.array(rows, _REFERENCE)


def content_of(feature: Media, reference: Reference, tokens: Tokens = None) -> Content:
    """The input of a decoder for a reference."""
    data, path = reference["bytes"], reference["path"]
    if data is not None:
        return Content(data, None, path and base_name(path))
    if path is None:
        raise ArgumentError("value", reference, f"one of 'path' and 'bytes' is needed to decode {feature._type}.")
    place = feature.locate(path)
    if not is_local(place):
        return Content(read_file(place, tokens), None, base_name(path))
    file = place.removeprefix("file://")
    if place is path and not os.path.exists(file):  # its existence was checked when the path was resolved
        raise FileNotFoundError(file)
    return Content(None, file, base_name(path), partial(_beside, file))


def _beside(file: str, name: str) -> bytes:
    """The content of another file in or below the folder of a file."""
    folder = os.path.realpath(os.path.dirname(file))
    place = os.path.realpath(os.path.join(folder, name))
    if not place.startswith(f"{folder.rstrip(os.sep)}{os.sep}"):
        raise OutOfBoundsError(name, (folder,))
    return read_file(place)


def reference_of(value: Any, kind: str) -> Reference:
    """The reference in a dict."""
    if not isinstance(value, Mapping):
        expected = f"expected a path, bytes, a dict with one of them, or what {kind} holds."
        raise ValueTypeError(None, None, f"{value!r:.80}", kind, expected)
    reference = {"bytes": value.get("bytes"), "path": value.get("path")}
    if reference["bytes"] is None and reference["path"] is None:
        raise ArgumentError("value", value, f"one of 'path' and 'bytes' is needed for {kind}.")
    return reference


def _references(content: pa.Array, paths: pa.Array, missing: pa.Array) -> pa.Array:
    columns = [content.cast(pa.binary()), paths.cast(pa.string())]
    return pa.StructArray.from_arrays(columns, fields=list(_REFERENCE), mask=missing)


def is_local(path: str) -> bool:
    """Whether a path names a local file."""
    return "://" not in path or path.startswith("file://")


def _is_here(path: str) -> bool:
    """Whether a path names a local file, or a member of a local archive."""
    return is_local(path) or member_of(path) is not None


def stored_name(path: str) -> str:
    """What is kept of a path beside the content of its file: the name alone, unless it is remote."""
    return base_name(path) if _is_here(path) else path


def read_file(path: str, tokens: Tokens = None) -> bytes:
    """The content of a local or remote file."""
    if (member := member_of(path)) is not None:
        from crucible_datasets.features.zipped import read_member

        return read_member(*member)
    if is_local(path):
        with open(path.removeprefix("file://"), "rb") as file:
            return file.read()
    import fsspec

    with fsspec.open(path, "rb", **_credentials(path, tokens)) as file:
        return bytes(file.read())


def _credentials(path: str, tokens: Tokens) -> dict[str, Any]:
    """The token for the repository of an `hf://datasets/owner/name@revision/file` path."""
    if not tokens or not path.startswith("hf://datasets/"):
        return {}
    repository = "/".join(path.removeprefix("hf://datasets/").split("/")[:2]).split("@")[0]
    return {"token": tokens[repository]} if repository in tokens else {}


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
