"""Small media, made when they are needed."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np


def jpeg(size: tuple[int, int] = (12, 8), color: Any = (200, 100, 50), **options: Any) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", size, color).save(buffer, "JPEG", **options)
    return buffer.getvalue()


def sound(
    seconds: float = 0.25, rate: int = 8000, channels: int = 1, format: str = "WAV", amplitude: float = 0.5
) -> bytes:
    import soundfile

    time = np.arange(int(seconds * rate)) / rate
    samples = np.stack([amplitude * np.sin(2 * np.pi * 220 * (each + 1) * time) for each in range(channels)], axis=1)
    buffer = io.BytesIO()
    soundfile.write(buffer, samples.astype("float32"), rate, format=format)
    return buffer.getvalue()


def film(num_frames: int = 12, size: tuple[int, int] = (32, 16), fps: int = 10, format: str = "mp4") -> bytes:
    """Each frame is brighter than the one before."""
    import av

    buffer = io.BytesIO()
    with av.open(buffer, "w", format=format) as container:
        stream = container.add_stream("mpeg2video" if format == "mpegts" else "mpeg4", rate=fps, options={"g": "5"})
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        for index in range(num_frames):
            pixels = np.full((size[1], size[0], 3), min(16 * index, 255), "uint8")
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    return buffer.getvalue()


def m4a(rate: int = 8000) -> bytes:
    """Sound that libsndfile does not read."""
    import av

    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("aac", rate=rate)
        samples = np.sin(np.arange(rate, dtype="float32") / 6)[np.newaxis] * np.float32(0.5)
        frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="mono")
        frame.sample_rate = rate
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return buffer.getvalue()


def document(num_pages: int = 2) -> bytes:
    from PIL import Image

    pages, buffer = [Image.new("L", (40, 60), 20 * index) for index in range(num_pages)], io.BytesIO()
    pages[0].save(buffer, "PDF", save_all=True, append_images=pages[1:])
    return buffer.getvalue()


def volume(packed: bool = False) -> bytes:
    import nibabel

    voxels = nibabel.Nifti1Image(np.arange(24, dtype="int16").reshape(2, 3, 4), np.eye(4))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("volume.nii.gz" if packed else "volume.nii")
        nibabel.save(voxels, path)
        return path.read_bytes()


def mesh(kind: str = "stl") -> bytes:
    import trimesh

    made = trimesh.creation.box().export(file_type=kind)
    return made.encode() if isinstance(made, str) else bytes(made)
