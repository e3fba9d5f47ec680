"""`Film`: a video whose frames are decoded on access.

It has the interface of torchcodec's video decoder, which Hugging Face `datasets` returns: `len(film)`, `film[3]`,
`film[10:20]`, `film.get_frames_at([0, 5])`. Frames are numpy arrays of uint8, or tensors of the format of the
dataset.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from crucible_datasets.decoders.base import decoding_errors
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, FrameIndexError

Pixels = npt.NDArray[np.uint8]  # height × width × 3
_OPTIONS = {"dimension_order": ("NCHW", "NHWC"), "seek_mode": ("exact", "approximate")}  # options of the feature


@dataclass(frozen=True)
class VideoMetadata:
    """Metadata from the header of a video."""

    width: int
    height: int
    codec: str
    average_fps: float | None
    duration_seconds: float | None
    num_frames: int | None  # None if the header does not have it
    stream_index: int = 0


class Reel(Protocol):
    """The interface of a reader of frames."""

    decoder: str
    metadata: VideoMetadata

    def times(self) -> list[float]:
        """The start time of each frame, in seconds."""

    def frames(self, places: Sequence[int]) -> Iterator[Pixels]:
        """The frames at these positions, which must ascend."""

    def within(self, num_frames: int) -> None:
        """Raise if that many decoded frames exceed the memory that the settings allow."""


@dataclass(frozen=True)
class Frame:
    """A frame with start time and duration."""

    data: Any
    pts_seconds: float
    duration_seconds: float

    def __iter__(self) -> Iterator[Any]:
        return iter((self.data, self.pts_seconds, self.duration_seconds))


@dataclass(frozen=True)
class FrameBatch:
    """Several frames as one array, with times."""

    data: Any
    pts_seconds: Any
    duration_seconds: Any

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Frame]:
        return map(Frame, self.data, self.pts_seconds, self.duration_seconds)

    def __getitem__(self, place: Any) -> FrameBatch:
        return FrameBatch(self.data[place], self.pts_seconds[place], self.duration_seconds[place])


class Film:
    """A video as a sequence of frames, channels first unless the feature says NHWC."""

    def __init__(self, reel: Reel, feature: Any, show: Callable[[Any], Any] | None = None) -> None:
        for name, known in _OPTIONS.items():
            if getattr(feature, name) not in known:
                raise ArgumentError(name, getattr(feature, name), f"expected one of {', '.join(known)}.")
        self._reel, self._feature, self._show = reel, feature, show
        self.reference: dict[str, Any] = {"bytes": None, "path": None}

    @property
    def metadata(self) -> VideoMetadata:
        return self._reel.metadata

    @property
    def stream_index(self) -> int:
        return self.metadata.stream_index

    @property
    def path(self) -> str | None:
        """The path in the data."""
        return self.reference["path"]

    def __len__(self) -> int:
        return len(self._begins())

    def __iter__(self) -> Iterator[Any]:
        return (self._shown(frame) for frame in self._frames(range(len(self))))

    def __getitem__(self, key: int | slice) -> Any:
        if isinstance(key, slice):
            return self._stacked(range(len(self))[key])
        if isinstance(key, (int, np.integer)):
            return self._shown(self._one(int(key)))
        raise ArgumentTypeError("key", key, "frames are named by an int or a slice; see get_frames_at.")

    def get_frame_at(self, index: int) -> Frame:
        """The frame at an index, with its time."""
        place = self._place(index)
        return Frame(self[place], *(float(times[0]) for times in self._times([place])))

    def get_frames_at(self, indices: Sequence[int]) -> FrameBatch:
        """The frames at these indices, in this order."""
        places = [self._place(int(index)) for index in indices]
        begins, lengths = self._times(places)
        return FrameBatch(self._stacked(places), begins, lengths)

    def get_frames_in_range(self, start: int, stop: int, step: int = 1) -> FrameBatch:
        """Every `step`-th frame from `start` to before `stop`."""
        return self.get_frames_at(range(len(self))[start:stop:step])

    def get_all_frames(self) -> FrameBatch:
        """All frames."""
        return self.get_frames_at(range(len(self)))

    def get_frame_played_at(self, seconds: float) -> Frame:
        """The frame that is shown at this time."""
        return self.get_frame_at(self._played_at(seconds))

    def get_frames_played_at(self, seconds: Sequence[float]) -> FrameBatch:
        """The frames that are shown at these times."""
        return self.get_frames_at([self._played_at(float(time)) for time in seconds])

    def get_frames_played_in_range(self, start_seconds: float, stop_seconds: float) -> FrameBatch:
        """The frames that are shown between two times, the second exclusive."""
        if stop_seconds < start_seconds:
            raise ArgumentError("stop_seconds", stop_seconds, f"expected a time from {start_seconds} on.")
        first = self._played_at(start_seconds)
        after = bisect_left(self._begins(), stop_seconds - 1e-9) if stop_seconds > start_seconds else first
        return self.get_frames_at(range(first, max(first, after)))

    def _begins(self) -> list[float]:
        with self._decoding_errors():
            return self._reel.times()

    def _frames(self, places: Sequence[int]) -> Iterator[Pixels]:
        with self._decoding_errors():
            yield from self._reel.frames(places)

    def _decoding_errors(self) -> AbstractContextManager[None]:
        return decoding_errors("Video", self._reel.decoder, self.path)

    def _played_at(self, seconds: float) -> int:
        times = self._begins()
        end = times[-1] + self._length_of(len(times) - 1) if times else 0.0
        if not times or not times[0] <= seconds < end:
            raise FrameIndexError(f"A frame at {seconds:g} s", f"{end:g} s")
        return bisect_right(times, seconds + 1e-9) - 1

    def _place(self, index: int) -> int:
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise FrameIndexError(f"Frame {index}", f"{len(self)} frames")
        return place

    def _one(self, index: int) -> Pixels:
        return next(self._frames([self._place(index)]))

    def _stacked(self, places: Sequence[int]) -> Any:
        with self._decoding_errors():
            self._reel.within(len(places))
        metadata = self.metadata
        pixels = np.empty((len(places), metadata.height, metadata.width, 3), np.uint8)
        order = np.argsort(np.asarray(places, np.int64), kind="stable").tolist()
        for place, frame in zip(order, self._frames([places[place] for place in order]), strict=True):
            pixels[place] = frame
        return self._shown(pixels)

    def _shown(self, pixels: Pixels) -> Any:
        if self._feature.dimension_order != "NHWC":
            pixels = np.ascontiguousarray(np.moveaxis(pixels, -1, -3))
        return pixels if self._show is None else self._show(pixels)

    def _times(self, places: Sequence[int]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        times = self._begins()
        return np.array([times[at] for at in places], float), np.array([self._length_of(at) for at in places], float)

    def _length_of(self, place: int) -> float:
        times = self._begins()
        if place + 1 < len(times):
            return times[place + 1] - times[place]
        fps = self.metadata.average_fps
        return 1 / fps if fps else 0.0

    def shown_as(self, show: Callable[[Any], Any]) -> Film:
        """The same video, with `show` applied to frames."""
        other = Film(self._reel, self._feature, show)
        other.reference = self.reference
        return other

    def __repr__(self) -> str:
        metadata = self.metadata
        return f"Film(path={self.path!r}, width={metadata.width}, height={metadata.height}, codec={metadata.codec!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return self._feature.decode_example, (self.reference,)
