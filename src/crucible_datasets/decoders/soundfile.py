"""Audio by soundfile: wav, flac, ogg, opus, mp3 and other formats of libsndfile. PyAV reads the rest."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from crucible_datasets.decoders.base import Content, Decoder
from crucible_datasets.decoders.recording import AudioMetadata, Recording, Sound
from crucible_datasets.registry import need

_FRAMES_AT_ONCE = 1 << 20  # read at a time, since a header may state more samples than there are


def _recording(content: Content, feature: Any) -> Recording:
    soundfile = need("soundfile", extra="audio")
    if feature.stream_index not in (None, 0):
        return _by_pyav(content, feature)
    try:
        return Recording(_Track(content), feature)
    except soundfile.LibsndfileError as error:
        # Formats that libsndfile does not support, such as m4a.
        if importlib.util.find_spec("av") is None:
            raise
        try:
            return _by_pyav(content, feature)
        except (OSError, ValueError):
            raise error from None


def _by_pyav(content: Content, feature: Any) -> Recording:
    from crucible_datasets.decoders.pyav import recording

    return recording(content, feature)


class _Track:
    decoder = "soundfile"

    def __init__(self, content: Content) -> None:
        self.content = content
        with self._opened() as file:
            seconds = file.frames / file.samplerate
            self.metadata = AudioMetadata(file.samplerate, file.channels, seconds, file.subtype)

    def _opened(self) -> Any:
        content = self.content
        return need("soundfile", extra="audio").SoundFile(content.file if content.data is None else content.stream())

    def read(self, start: int = 0, stop: int | None = None) -> Sound:
        channels, blocks, at = self.metadata.num_channels, [], start
        with self._opened() as file:
            if start:
                file.seek(min(start, file.frames))
            while stop is None or at < stop:
                wanted = _FRAMES_AT_ONCE if stop is None else min(stop - at, _FRAMES_AT_ONCE)
                block = file.read(wanted, dtype="float32", always_2d=True)
                at += len(block)
                self.content.within((at - start) * channels * 4, "number of bytes of samples")
                blocks.append(block)
                if len(block) < wanted:
                    break
        if not blocks:
            return np.empty((channels, 0), np.float32)
        return np.ascontiguousarray((blocks[0] if len(blocks) == 1 else np.concatenate(blocks)).T)


DECODER = Decoder("soundfile", {"Audio": _recording})
