"""The `Pdf` feature: files in, documents of pdfplumber in and out."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

from crucible_datasets.features.media import Media, Reference
from crucible_datasets.records import dataclass


@dataclass
class Pdf(Media):
    """A PDF document: path, bytes or document in, document out."""

    decode: bool = True
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "pdfplumber.pdf.PDF"
    _type: str = field(init=False, repr=False, default="Pdf")

    def encode_example(self, value: Any) -> Reference:
        """A document as a reference: the file it was opened from, or its bytes."""
        stream = getattr(value, "stream", None)
        if stream is None:
            return super().encode_example(value)
        if getattr(value, "path", None) is not None:
            return {"bytes": None, "path": str(value.path)}
        stream.seek(0)
        return {"bytes": stream.read(), "path": None}
