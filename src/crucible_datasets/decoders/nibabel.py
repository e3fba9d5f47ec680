"""NIfTI volumes by nibabel. Voxels of a file are read on access."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from crucible_datasets import config
from crucible_datasets.decoders.base import Content, Decoder, TooLargeError
from crucible_datasets.registry import need

_GZIP = b"\x1f\x8b"
_HEADER_OF_NIFTI_2 = 540


def _volume(content: Content, feature: Any) -> Any:
    nibabel = need("nibabel", extra="nifti")
    if content.data is None and str(content.file).lower().endswith((".nii", ".nii.gz")):
        # Other names may be of file pairs, of which nibabel would open the second.
        volume = nibabel.load(content.file)
    else:
        data = content.read()
        data = _unpacked(data) if data[:2] == _GZIP else data
        newer = _HEADER_OF_NIFTI_2 in (int.from_bytes(data[:4], order) for order in ("little", "big"))
        volume = (nibabel.Nifti2Image if newer else nibabel.Nifti1Image).from_bytes(data)
    content.within(np.prod(volume.shape, dtype=float) * volume.get_data_dtype().itemsize, "number of bytes of voxels")
    return volume


def _unpacked(data: bytes) -> bytes:
    """The decompressed content; raises if it is too large for its compressed size."""
    most = max(config.MAX_UNPACKED_BYTES_AT_ANY_RATIO, len(data) * config.MAX_UNPACKED_RATIO)
    unpacker = zlib.decompressobj(wbits=31)
    unpacked = unpacker.decompress(data, most + 1)
    if len(unpacked) > most:
        raise TooLargeError("size after unpacking", most, "MAX_UNPACKED_RATIO")
    if not unpacker.eof:
        raise EOFError("the gzip data is cut off")
    return unpacked


DECODER = Decoder("nibabel", {"Nifti": _volume})
