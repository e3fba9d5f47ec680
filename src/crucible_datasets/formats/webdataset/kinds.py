"""The kind of a file by the last part of its extension, case-insensitive."""

from __future__ import annotations

from functools import cache
from typing import Any

# As in Hugging Face `datasets`, except `h5`, `hdf` and `mpg`, which it treats as images.
_IMAGES = (
    "apng blp bmp bufr bw cur dcx dds dib emf eps fit fits flc fli ftc ftu gbr gif grib icb icns ico iim im j2c j2k "
    "jfif jp2 jpc jpe jpeg jpf jpg jpx msp pbm pcd pcx pgm png pnm ppm ps psd pxr ras rgb rgba sgi tga tif tiff vda "
    "vst webp wmf xbm xpm"
)
_AUDIO = (
    "aiff au avr caf flac htk ircam mat4 mat5 mp3 mpc2k nist ogg opus paf pvf raw rf64 sd2 sds svx voc w64 wav wavex "
    "wve xi"
)
_VIDEO = "avi mkv mov mp4 mpeg"
_MESHES = "glb ply stl"
_MEDIA = {"Image": _IMAGES, "Audio": _AUDIO, "Video": _VIDEO, "Mesh": _MESHES}
_KIND_OF = {extension: kind for kind, several in _MEDIA.items() for extension in several.split()}

TEXTS = frozenset({"txt", "text", "transcript"})
INTEGERS = frozenset({"cls", "cls2", "index", "inx", "id"})


def last_part(extension: str) -> str:
    """The last part of an extension, in lower case.

    >>> last_part("seg.PNG")
    'png'
    """
    return extension.rpartition(".")[2].lower()


@cache
def media_of(extension: str) -> Any:
    """The feature of an image, audio, video or mesh extension; None for others."""
    kind = _KIND_OF.get(last_part(extension))
    if kind is None:
        return None
    from crucible_datasets import features

    return getattr(features, kind)()
