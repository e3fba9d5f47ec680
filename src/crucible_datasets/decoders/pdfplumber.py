"""PDF documents by pdfplumber."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from crucible_datasets.decoders.base import Content, Decoder
from crucible_datasets.registry import need


def _document(content: Content, feature: Any) -> Any:
    # Pages are parsed on access, from memory, so that no file stays open.
    document = need("pdfplumber", extra="pdf").open(io.BytesIO(content.read()))
    document.path = None if content.data is not None else Path(str(content.file))
    return document


DECODER = Decoder("pdfplumber", {"Pdf": _document})
