"""`Recording`: audio that is decoded on access.

It has the interfaces of a dict (`recording["array"]`) and of torchcodec's audio decoder
(`recording.get_all_samples()`), which Hugging Face `datasets` returns. Samples are numpy arrays of float32, or
tensors of the format of the dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from crucible_datasets.decoders.base import decoding_errors
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.forking import cached_property
from crucible_datasets.registry import need

Sound = npt.NDArray[np.float32]  # channels × samples
_HALF_POWER = np.float32(0.5**0.5)


@dataclass(frozen=True)
class AudioMetadata:
    """Metadata from the header of a recording."""

    sample_rate: int
    num_channels: int
    duration_seconds: float | None
    codec: str
    stream_index: int = 0

    @property
    def duration_seconds_from_header(self) -> float | None:
        return self.duration_seconds

    @property
    def begin_stream_seconds(self) -> float:
        return 0.0


class Track(Protocol):
    """The interface of a reader of samples."""

    decoder: str
    metadata: AudioMetadata

    def read(self, start: int = 0, stop: int | None = None) -> Sound:
        """The stored samples from `start` to before `stop`."""


@dataclass(frozen=True)
class AudioSamples:
    """Samples (channels × samples) with start time, duration and sample rate."""

    data: Any
    pts_seconds: float
    duration_seconds: float
    sample_rate: int

    def __iter__(self) -> Iterator[Any]:
        return iter((self.data, self.pts_seconds, self.duration_seconds, self.sample_rate))


class Recording(Mapping[str, Any]):
    """Audio in the sampling rate and number of channels of the feature."""

    def __init__(self, track: Track, feature: Any, show: Callable[[Any], Any] | None = None) -> None:
        self._track, self._feature, self._show = track, feature, show
        self.reference: dict[str, Any] = {"bytes": None, "path": None}

    @property
    def metadata(self) -> AudioMetadata:
        return self._track.metadata

    @property
    def stream_index(self) -> int:
        return self.metadata.stream_index

    @property
    def sampling_rate(self) -> int:
        """Samples per second."""
        return self._feature.sampling_rate or self.metadata.sample_rate

    @property
    def path(self) -> str | None:
        """The path in the data."""
        return self.reference["path"]

    @cached_property
    def array(self) -> Any:
        """All samples in one dimension: the mean of the channels."""
        return self._shown(self._samples[0] if len(self._samples) == 1 else self._samples.mean(axis=0))

    @cached_property
    def _samples(self) -> Sound:
        return self._read()

    def get_all_samples(self) -> AudioSamples:
        """All samples of all channels."""
        return self._audio_samples(self._samples, 0)

    def get_samples_played_in_range(
        self, start_seconds: float = 0.0, stop_seconds: float | None = None
    ) -> AudioSamples:
        """The samples between two times, the second exclusive."""
        if start_seconds < 0 or (stop_seconds is not None and stop_seconds < start_seconds):
            raise ArgumentError("stop_seconds", stop_seconds, f"expected a time from {start_seconds} on, not below 0.")
        rate = self.sampling_rate
        start, stop = round(start_seconds * rate), None if stop_seconds is None else round(stop_seconds * rate)
        if "_samples" in self.__dict__ or rate != self.metadata.sample_rate:
            return self._audio_samples(self._samples[:, start:stop], start)
        return self._audio_samples(self._read(start, stop), start)

    def _read(self, start: int = 0, stop: int | None = None) -> Sound:
        with decoding_errors("Audio", self._track.decoder, self.path):
            return self._converted(self._track.read(start, stop))

    def _audio_samples(self, samples: Sound, start: int) -> AudioSamples:
        rate = self.sampling_rate
        return AudioSamples(self._shown(samples), start / rate, samples.shape[1] / rate, rate)

    def _shown(self, samples: Any) -> Any:
        return samples if self._show is None else self._show(samples)

    def _converted(self, samples: Sound) -> Sound:
        mixed = _mixed(samples, self._feature.num_channels or len(samples))
        if self.sampling_rate == self.metadata.sample_rate:
            return mixed
        resample = need("soxr", extra="audio").resample
        return np.ascontiguousarray(resample(mixed.T, self.metadata.sample_rate, self.sampling_rate).T)

    def shown_as(self, show: Callable[[Any], Any]) -> Recording:
        """The same recording, with `show` applied to samples."""
        other = Recording(self._track, self._feature, show)
        other.reference = self.reference
        return other

    def __getitem__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(_FIELDS)

    def __len__(self) -> int:
        return len(_FIELDS)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        metadata = self.metadata
        return (
            f"Recording(path={self.path!r}, sampling_rate={self.sampling_rate}, num_channels={metadata.num_channels})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return self._feature.decode_example, (self.reference,)


_FIELDS = ("path", "array", "sampling_rate")


def _mixed(samples: Sound, num_channels: int) -> Sound:
    """The samples in `num_channels` channels; mono and stereo are converted at half the power, as by FFmpeg."""
    if num_channels == len(samples):
        return samples
    if num_channels == 1:
        return samples.sum(axis=0, keepdims=True) * (_HALF_POWER if len(samples) == 2 else 1 / len(samples))
    if len(samples) == 1:
        return np.repeat(samples * (_HALF_POWER if num_channels == 2 else 1), num_channels, axis=0)
    raise ArgumentError("num_channels", num_channels, f"cannot be made of {len(samples)} channels.")
