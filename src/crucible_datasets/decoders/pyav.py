"""Video, and audio of any container, by PyAV.

FFmpeg supports playlist formats, which refer to other files and URLs that it would open. So it reads from a file
object, must not open anything itself, and only self-contained formats are allowed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np

from crucible_datasets.decoders.base import Content, Decoder
from crucible_datasets.decoders.film import Film, Pixels, VideoMetadata
from crucible_datasets.decoders.recording import AudioMetadata, Recording, Sound
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.forking import cached_property
from crucible_datasets.registry import need

_CONTAINERS = (
    "aac,ac3,aiff,amr,ape,asf,au,avi,caf,dv,eac3,flac,flv,gif,h264,hevc,ivf,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,"
    "mp3,mpc,mpc8,mpeg,mpegts,mpegvideo,mxf,nut,obu,ogg,rm,tta,w64,wav,wv"
)
_OPTIONS = {"protocol_whitelist": "none", "format_whitelist": _CONTAINERS}


@contextmanager
def _opened(content: Content) -> Iterator[Any]:
    av = need("av", extra="video")
    with content.stream() as stream, av.open(stream, options=_OPTIONS, metadata_errors="replace") as container:
        yield container


def _stream_of(container: Any, kind: str, index: int | None) -> Any:
    fitting = getattr(container.streams, kind)
    if index is not None:
        fitting = [stream for stream in fitting if stream.index == index]
    if not fitting:
        wanted = f"{kind} stream" if index is None else f"{kind} stream with the index {index}"
        raise ValueError(f"there is no {wanted}")
    return fitting[0]


def recording(content: Content, feature: Any) -> Recording:
    """The audio in a container."""
    return Recording(_Track(content, feature.stream_index), feature)


class _Track:
    decoder = "pyav"

    def __init__(self, content: Content, index: int | None) -> None:
        self.content, self.index = content, index
        with _opened(content) as container:
            stream = _stream_of(container, "audio", index)
            seconds = None if stream.duration is None else float(stream.duration * stream.time_base)
            codec = stream.codec_context
            self.metadata = AudioMetadata(codec.sample_rate, codec.channels, seconds, codec.name, stream.index)

    def read(self, start: int = 0, stop: int | None = None) -> Sound:
        metadata, blocks, total = self.metadata, [], 0
        resampler = need("av", extra="video").AudioResampler("fltp", rate=metadata.sample_rate)
        with _opened(self.content) as container:
            for frame in container.decode(_stream_of(container, "audio", self.index)):
                for part in resampler.resample(frame):
                    blocks.append(part.to_ndarray())
                    total += blocks[-1].shape[1]
                    self.content.within(total * metadata.num_channels * 4, "number of bytes of samples")
                if stop is not None and total >= stop:
                    break
        samples = np.concatenate(blocks, axis=1) if blocks else np.empty((metadata.num_channels, 0), np.float32)
        return np.ascontiguousarray(samples[:, start:stop], np.float32)


def _film(content: Content, feature: Any) -> Film:
    device = "cpu" if feature.device is None else str(feature.device)
    if device.partition(":")[0] != "cpu":
        reason = "PyAV decodes on the processor: pass 'cpu', or have another decoder by CRUCIBLE_MEDIA_DECODERS."
        raise ArgumentError("device", device, reason)
    return Film(_Reel(content, feature), feature)


class _Reel:
    decoder = "pyav"

    def __init__(self, content: Content, feature: Any) -> None:
        self.content, self.index, self.threads = content, feature.stream_index, feature.num_ffmpeg_threads
        with _opened(content) as container:
            stream = _stream_of(container, "video", self.index)
            self.metadata = _video_metadata(stream)
        self.within(1)

    def within(self, num_frames: int) -> None:
        size = self.metadata.width * self.metadata.height * 3
        self.content.within(num_frames * size, "number of bytes of frames")

    @cached_property
    def _index(self) -> list[int]:
        """The time of every frame in the time base of the stream, without decoding."""
        with _opened(self.content) as container:
            stream = _stream_of(container, "video", self.index)
            self._unit = stream.time_base
            # Packets contain the data of frames; only their times are kept.
            shown = (packet for packet in container.demux(stream) if packet.size and not packet.is_discard)
            times = [(_time(packet), packet.is_keyframe) for packet in shown]
        self._keys = sorted(time for time, is_key in times if is_key)
        return sorted(time for time, _ in times)

    def times(self) -> list[float]:
        return self._seconds

    @cached_property
    def _seconds(self) -> list[float]:
        return [float(time * self._unit) for time in self._index]

    def frames(self, places: Sequence[int]) -> Iterator[Pixels]:
        wanted = [self._index[place] for place in places]
        key = bisect_right(self._keys, wanted[0]) - 1 if wanted else 0
        if key > 0:
            with _opened(self.content) as container:
                decoded = self._decoded(container)
                container.seek(self._keys[key], stream=_stream_of(container, "video", self.index))
                first = next(decoded, None)
                if first is not None and first.pts is not None and first.pts <= self._keys[key]:
                    yield from _at(wanted, chain([first], decoded))
                    return
        # Some containers cannot seek, and decoding from the middle of a group of pictures gives damaged frames.
        with _opened(self.content) as container:
            yield from _at(wanted, self._decoded(container))

    def _decoded(self, container: Any) -> Iterator[Any]:
        stream = _stream_of(container, "video", self.index)
        stream.codec_context.thread_count = self.threads or 0
        return iter(container.decode(stream))


def _time(packet: Any) -> int:
    return int(packet.dts if packet.pts is None else packet.pts)


def _at(wanted: Sequence[int], frames: Iterator[Any]) -> Iterator[Pixels]:
    """The frames at these times, which ascend; a time may be repeated."""
    frame, pixels = None, None
    for time in wanted:
        while frame is None or frame.pts is None or frame.pts < time:
            frame, pixels = next(frames, None), None
            if frame is None:
                raise ValueError("the film ends before a frame that its index tells of")
        pixels = frame.to_ndarray(format="rgb24") if pixels is None else pixels
        yield pixels


def _video_metadata(stream: Any) -> VideoMetadata:
    seconds = None if stream.duration is None else float(stream.duration * stream.time_base)
    fps = None if stream.average_rate is None else float(stream.average_rate)
    codec = stream.codec_context
    return VideoMetadata(codec.width, codec.height, codec.name, fps, seconds, stream.frames or None, stream.index)


DECODER = Decoder("pyav", {"Video": _film, "Audio": recording}, aliases=("av", "ffmpeg"))
