"""The media feature for an object of another library, recognised without importing that library."""

from __future__ import annotations

from typing import Any

from crucible_datasets.features.audio import Audio
from crucible_datasets.features.image import Image, is_picture
from crucible_datasets.features.media import Media
from crucible_datasets.features.mesh import Mesh
from crucible_datasets.features.nifti import Nifti
from crucible_datasets.features.pdf import Pdf
from crucible_datasets.features.video import Video

_KINDS: dict[tuple[str, str], type[Media]] = {
    ("crucible_datasets", "Recording"): Audio,
    ("crucible_datasets", "Film"): Video,
    ("torchcodec", "AudioDecoder"): Audio,
    ("torchcodec", "VideoDecoder"): Video,
    ("pdfplumber", "PDF"): Pdf,
    ("nibabel", "Nifti1Image"): Nifti,
    ("nibabel", "Nifti2Image"): Nifti,
    ("trimesh", "Trimesh"): Mesh,
    ("trimesh", "Scene"): Mesh,
}


def media_of(value: Any) -> Media | None:
    """The feature that stores an object, if it is an image, a recording or other decoded media."""
    if is_picture(value):
        return Image()
    kind = type(value)
    found = _KINDS.get((kind.__module__.partition(".")[0], kind.__name__))
    return None if found is None else found()
