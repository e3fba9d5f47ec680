"""Forwards to what unpacks archives and compressed files."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, ClassVar

from crucible_datasets.download import DownloadConfig, DownloadManager
from crucible_datasets.reading.archives import archive_kind
from crucible_datasets.reading.compression import MAGIC_LENGTH, compression_of
from crucible_datasets.reading.unpack import unpack

__all__ = [
    "BaseExtractor",
    "Bzip2Extractor",
    "ExtractManager",
    "Extractor",
    "GzipExtractor",
    "Lz4Extractor",
    "SevenZipExtractor",
    "TarExtractor",
    "XzExtractor",
    "ZipExtractor",
    "ZstdExtractor",
]

_NAMES = {"gz": "gzip", "zst": "zstd"}


class ExtractManager:
    """Unpacks archives into the cache."""

    def __init__(self, cache_dir: str | None = None) -> None:
        self._cache_dir = cache_dir

    def extract(self, input_path: str, force_extract: bool = False) -> str:
        """Where the content of an archive lies; a file that is none is itself."""
        how = DownloadConfig(cache_dir=self._cache_dir, force_extract=force_extract)
        return str(DownloadManager(download_config=how).extract(input_path))


def _kind(path: Any, start: bytes = b"") -> str | None:
    if not start:
        with open(path, "rb") as source:
            start = source.read(MAGIC_LENGTH)
    compression = compression_of(start)
    kind = archive_kind(os.fspath(path)) or compression
    return None if kind is None else _NAMES.get(kind, kind)


class BaseExtractor:
    """Unpacks files of one kind, told by their first bytes."""

    kind: ClassVar[str | None] = None

    @classmethod
    def is_extractable(cls, path: Any, magic_number: bytes = b"") -> bool:
        """Whether a file is of that kind; its first bytes are read unless they are given."""
        return _kind(path, magic_number) == cls.kind

    @staticmethod
    def extract(input_path: Any, output_path: Any) -> None:
        """Put what is in a file at a path: the file that was compressed, or a folder of those that were packed."""
        source = os.path.abspath(input_path)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(output_path))) as folder:
            found = os.path.join(folder, unpack(folder, source)["top"])
            if os.path.isdir(found):
                shutil.copytree(found, output_path, dirs_exist_ok=True)
            else:
                os.replace(found, output_path)


class TarExtractor(BaseExtractor):
    """tar, compressed or not."""

    kind = "tar"


class ZipExtractor(BaseExtractor):
    """zip."""

    kind = "zip"


class SevenZipExtractor(BaseExtractor):
    """7z."""

    kind = "7z"


class GzipExtractor(BaseExtractor):
    """gzip."""

    kind = "gzip"


class Bzip2Extractor(BaseExtractor):
    """bzip2."""

    kind = "bz2"


class XzExtractor(BaseExtractor):
    """xz."""

    kind = "xz"


class ZstdExtractor(BaseExtractor):
    """Zstandard."""

    kind = "zstd"


class Lz4Extractor(BaseExtractor):
    """LZ4."""

    kind = "lz4"


class Extractor:
    """Unpacks files of all kinds."""

    extractors: ClassVar[dict[str, type[BaseExtractor]]] = {
        str(each.kind): each
        for each in (
            TarExtractor,
            GzipExtractor,
            ZipExtractor,
            XzExtractor,
            ZstdExtractor,
            Bzip2Extractor,
            SevenZipExtractor,
            Lz4Extractor,
        )
    }

    @classmethod
    def infer_extractor_format(cls, path: Any) -> str | None:
        """The kind of a packed file; None for others."""
        kind = _kind(path)
        return kind if kind in cls.extractors else None

    @classmethod
    def is_extractable(cls, path: Any, return_extractor: bool = False) -> Any:
        """Whether a file is packed, and by what."""
        kind = cls.infer_extractor_format(path)
        return (kind is not None, cls.extractors.get(kind or "")) if return_extractor else kind is not None

    @classmethod
    def extract(cls, input_path: Any, output_path: Any, extractor_format: str) -> None:
        """Put what is in a file at a path."""
        cls.extractors[extractor_format].extract(input_path, output_path)
