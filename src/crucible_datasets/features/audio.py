"""The `Audio` feature: files or samples in, recordings out (see decoders.recording)."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.features.media import Media, Reference
from crucible_datasets.records import dataclass
from crucible_datasets.registry import need


@dataclass
class Audio(Media):
    """Audio: path, bytes or `{"array", "sampling_rate"}` in; a recording with these keys out, at the requested rate."""

    sampling_rate: int | None = None
    decode: bool = True
    num_channels: int | None = None
    stream_index: int | None = None
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "dict"
    _type: str = field(init=False, repr=False, default="Audio")

    def encode_example(self, value: Any) -> Reference:
        """A recording as a reference; samples become a wav file."""
        if isinstance(value, Mapping) and not hasattr(value, "reference") and value.get("array") is not None:
            return {"bytes": _wav(value["array"], value.get("sampling_rate")), "path": None}
        return super().encode_example(value)

    def flatten(self) -> Any:
        if self.decode:
            raise ArgumentError("decode", True, "decoded audio has no columns to flatten into.")
        return super().flatten()

    def cast_storage(self, storage: pa.Array) -> pa.Array:
        """As for all media; structs of samples become wav files."""
        if pa.types.is_struct(storage.type) and storage.type.get_field_index("array") >= 0:
            rows = [None if row is None else self.encode_example(row) for row in storage.to_pylist()]
            return pa.array(rows, self.pa_type)
        return super().cast_storage(storage)


def _wav(samples: Any, sampling_rate: int | None) -> bytes:
    if sampling_rate is None:
        raise ArgumentError("sampling_rate", None, "samples need one.")
    buffer = io.BytesIO()
    # Samples come channel first; wav files hold them frame by frame.
    need("soundfile", extra="audio").write(buffer, np.asarray(samples).T, sampling_rate, format="wav")
    return buffer.getvalue()
