"""The `Video` feature: files in, frames out (see decoders.film)."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar, Literal

from crucible_datasets.features.media import Media
from crucible_datasets.records import dataclass


@dataclass
class Video(Media):
    """A video: path or bytes in, a sequence of frames out."""

    decode: bool = True
    stream_index: int | None = None
    dimension_order: Literal["NCHW", "NHWC"] = "NCHW"
    num_ffmpeg_threads: int = 1
    device: Any = "cpu"
    seek_mode: Literal["exact", "approximate"] = "exact"
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "torchcodec.decoders.VideoDecoder"
    _type: str = field(init=False, repr=False, default="Video")
