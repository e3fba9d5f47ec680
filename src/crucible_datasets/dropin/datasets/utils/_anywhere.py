"""Functions of `os.path`, `pathlib` and of readers that take addresses: files anywhere, as `xopen` opens them."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from crucible_datasets import storage
from crucible_datasets.download import DownloadConfig
from crucible_datasets.sources.base import scheme_of


def options_of(download_config: DownloadConfig | None) -> dict[str, Any]:
    """What a store is opened with."""
    return dict(download_config.storage_options or {}) if download_config else {}


def outermost(path: Any) -> tuple[str, list[str]]:
    """Of `zip://inside::address` the first part, and the others."""
    first, *others = str(path).split("::")
    return first, others


def xopen(
    file: Any, mode: str = "r", *args: Any, download_config: DownloadConfig | None = None, **kwargs: Any
) -> IO[Any]:
    """Open a file anywhere."""
    if not scheme_of(str(file)):
        return open(file, mode, *args, **kwargs)
    taken = {name: value for name, value in kwargs.items() if name in ("encoding", "newline") and value is not None}
    return storage.open(str(file), mode, storage_options=options_of(download_config), **taken)


def _place(path: Any, download_config: DownloadConfig | None) -> tuple[Any, str]:
    import fsspec

    return fsspec.url_to_fs(str(path), **options_of(download_config))


def xisfile(path: Any, download_config: DownloadConfig | None = None) -> bool:
    """Whether an address is that of a file."""
    store, inside = _place(path, download_config)
    return bool(store.isfile(inside))


def xisdir(path: Any, download_config: DownloadConfig | None = None) -> bool:
    """Whether an address is that of a folder."""
    store, inside = _place(path, download_config)
    return bool(store.isdir(inside.rstrip("/") or inside))


def xgetsize(path: Any, download_config: DownloadConfig | None = None) -> int:
    """The bytes of a file."""
    store, inside = _place(path, download_config)
    return int(store.size(inside))


def xwalk(
    urlpath: Any, download_config: DownloadConfig | None = None, **kwargs: Any
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Every folder under an address, with the names of folders and of files in it."""
    if not scheme_of(str(urlpath)):
        yield from os.walk(urlpath, **kwargs)
        return
    store, inside = _place(urlpath, download_config)
    for folder, folders, files in store.walk(inside, **kwargs):
        yield store.unstrip_protocol(folder), folders, files


def xrelpath(path: Any, start: Any = None) -> str:
    """A path as seen from another."""
    first, others = outermost(path)
    if not scheme_of(first):
        return os.path.relpath(first, start=start)
    return "::".join([posixpath.relpath(first, start=outermost(start)[0] if start else None), *others])


def xsplit(a: Any) -> tuple[str, str]:
    """The address above, and the last name."""
    first, others = outermost(a)
    head, name = (posixpath if scheme_of(first) else os.path).split(first)
    return "::".join([head, *others]), name


class xPath(Path):  # noqa: N801 - the name it has at Hugging Face
    """A path of this machine, or an address kept as one."""

    _flavour = type(Path())._flavour  # type: ignore[attr-defined]

    def __str__(self) -> str:
        # A path has one slash where an address has two after its scheme.
        scheme, colon, rest = super().__str__().partition(":/")
        return f"{scheme}://{rest.lstrip('/')}" if colon and len(scheme) > 1 and scheme.isalnum() else super().__str__()

    def exists(self, download_config: DownloadConfig | None = None) -> bool:
        """Whether it is there."""
        return storage.exists(str(self), options_of(download_config))

    def is_file(self, download_config: DownloadConfig | None = None) -> bool:
        """Whether it is a file."""
        return xisfile(self, download_config)

    def is_dir(self, download_config: DownloadConfig | None = None) -> bool:
        """Whether it is a folder."""
        return xisdir(self, download_config)

    def open(self, *args: Any, **kwargs: Any) -> Any:
        """Open it, wherever it is."""
        return xopen(str(self), *args, **kwargs)


def _opened(given: Any, download_config: DownloadConfig | None) -> Any:
    return given if hasattr(given, "read") else xopen(given, "rb", download_config=download_config)


def xpandas_read_csv(filepath_or_buffer: Any, download_config: DownloadConfig | None = None, **kwargs: Any) -> Any:
    """`pandas.read_csv` of a file anywhere."""
    import pandas as pd

    inferred = {} if hasattr(filepath_or_buffer, "read") else {"compression": _compression(filepath_or_buffer)}
    return pd.read_csv(_opened(filepath_or_buffer, download_config), **{**inferred, **kwargs})


def _compression(path: Any) -> str | None:
    known = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip", ".zst": "zstd"}
    return known.get(os.path.splitext(str(path))[1])


def xpandas_read_excel(filepath_or_buffer: Any, download_config: DownloadConfig | None = None, **kwargs: Any) -> Any:
    """`pandas.read_excel` of a file anywhere."""
    import pandas as pd

    return pd.read_excel(_opened(filepath_or_buffer, download_config), **kwargs)


def xpyarrow_parquet_read_table(
    filepath_or_buffer: Any, download_config: DownloadConfig | None = None, **kwargs: Any
) -> Any:
    """`pyarrow.parquet.read_table` of a file anywhere."""
    import pyarrow.parquet as pq

    return pq.read_table(_opened(filepath_or_buffer, download_config), **kwargs)


def xnumpy_load(
    filepath_or_buffer: Any, *args: Any, download_config: DownloadConfig | None = None, **kwargs: Any
) -> Any:
    """`numpy.load` of a file anywhere."""
    import numpy as np

    return np.load(_opened(filepath_or_buffer, download_config), *args, **kwargs)


def xgzip_open(
    filepath_or_buffer: Any, *args: Any, download_config: DownloadConfig | None = None, **kwargs: Any
) -> Any:
    """`gzip.open` of a file anywhere."""
    import gzip

    return gzip.open(_opened(filepath_or_buffer, download_config), *args, **kwargs)


def xet_parse(source: Any, parser: Any = None, download_config: DownloadConfig | None = None) -> Any:
    """`xml.etree.ElementTree.parse` of a file anywhere."""
    from xml.etree import ElementTree

    with _opened(source, download_config) as file:
        return ElementTree.parse(file, parser=parser)  # noqa: S314 - the function of the standard library, by its name
