"""Forwards to `crucible_datasets.storage` and the download manager: functions of `os.path`, `pathlib` and of readers
that take URLs as well as paths.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from huggingface_hub import hf_hub_url

from crucible_datasets import config, storage
from crucible_datasets.download import DownloadConfig, DownloadManager
from crucible_datasets.download.download_manager import ArchiveMembers as ArchiveIterable
from crucible_datasets.download.download_manager import FilesUnder as FilesIterable
from crucible_datasets.exceptions import FileNotFoundDatasetsError
from crucible_datasets.sources.base import scheme_of

__all__ = [
    "ArchiveIterable",
    "DownloadConfig",
    "FilesIterable",
    "cached_path",
    "estimate_dataset_size",
    "get_datasets_user_agent",
    "hash_url_to_filename",
    "hf_dataset_url",
    "is_local_path",
    "is_relative_path",
    "is_remote_url",
    "readline",
    "relative_to_absolute_path",
    "url_or_path_join",
    "url_or_path_parent",
    "xPath",
    "xbasename",
    "xdirname",
    "xet_parse",
    "xexists",
    "xgetsize",
    "xglob",
    "xgzip_open",
    "xisdir",
    "xisfile",
    "xjoin",
    "xlistdir",
    "xnumpy_load",
    "xopen",
    "xpandas_read_csv",
    "xpandas_read_excel",
    "xpyarrow_parquet_read_table",
    "xrelpath",
    "xsplit",
    "xsplitext",
    "xwalk",
]


hf_dataset_url = partial(hf_hub_url, repo_type="dataset")


def is_remote_url(url_or_filename: str) -> bool:
    """Whether an address has a scheme."""
    return bool(scheme_of(str(url_or_filename)))


def is_local_path(url_or_filename: str) -> bool:
    """Whether an address is a path of this machine."""
    return not is_remote_url(url_or_filename)


def is_relative_path(url_or_filename: str) -> bool:
    """Whether an address is a path that depends on the current folder."""
    return is_local_path(url_or_filename) and not os.path.isabs(url_or_filename)


def relative_to_absolute_path(path: str) -> str:
    """A path as seen from the root."""
    return os.path.abspath(os.path.expanduser(path))


def url_or_path_join(base_name: str, *pathnames: str) -> str:
    """An address below another."""
    if is_remote_url(base_name):
        return posixpath.join(base_name, *(name.replace(os.sep, "/").lstrip("/") for name in pathnames))
    return os.path.join(base_name, *pathnames)


def url_or_path_parent(url_or_path: str) -> str:
    """The address above."""
    return (posixpath if is_remote_url(url_or_path) else os.path).dirname(url_or_path)


def hash_url_to_filename(url: str, etag: str | None = None) -> str:
    """The name that a download of an address is kept under."""
    digests = [sha256(text.encode()).hexdigest() for text in (url, etag) if text]
    return ".".join(digests) + (".py" if url.endswith(".py") else "")


def get_datasets_user_agent(user_agent: str | dict[str, str] | None = None) -> str:
    """How this library introduces itself to servers."""
    from crucible_datasets import __version__

    parts = [f"crucible-datasets/{__version__}", f"python/{config.PY_VERSION}", f"pyarrow/{config.PYARROW_VERSION}"]
    if isinstance(user_agent, dict):
        parts += [f"{name}/{version}" for name, version in user_agent.items()]
    elif user_agent:
        parts.append(user_agent)
    return "; ".join(parts)


def cached_path(url_or_filename: str, download_config: DownloadConfig | None = None, **download_kwargs: Any) -> str:
    """Where a file lies on this disk, after it was fetched."""
    chosen = download_config or DownloadConfig(**download_kwargs)
    if is_local_path(url_or_filename) and not os.path.exists(url_or_filename):
        raise FileNotFoundDatasetsError(url_or_filename)
    found = DownloadManager(download_config=chosen).download(str(url_or_filename))
    return str(DownloadManager(download_config=chosen).extract(found)) if chosen.extract_compressed_file else str(found)


def estimate_dataset_size(paths: list[Any]) -> int:
    """The bytes of files together."""
    return sum(os.path.getsize(path) for path in paths)


def readline(f: IO[bytes]) -> bytes:
    """The next line of a file."""
    return f.readline()


def xexists(urlpath: Any, download_config: DownloadConfig | None = None) -> bool:
    """Whether a file is there."""
    return storage.exists(urlpath, _options(download_config))


def xglob(urlpath: Any, *, recursive: bool = False, download_config: DownloadConfig | None = None) -> list[str]:
    """The files that match a pattern; on this disk, `**` crosses folders only if `recursive`."""
    if not recursive and is_local_path(urlpath):
        urlpath = os.fspath(urlpath).replace("**", "*")
    return storage.glob(urlpath, _options(download_config))


def xlistdir(path: Any, download_config: DownloadConfig | None = None) -> list[str]:
    """The names in a folder."""
    return [posixpath.basename(name.rstrip("/")) for name in storage.listdir(path, _options(download_config))]


def xjoin(a: Any, *p: str) -> str:
    """An address below another; in a chain, below its first part."""
    first, others = _first_link(a)
    joined = os.path.join(first, *p) if is_local_path(first) else posixpath.join(first, *p)
    return "::".join([joined, *others])


def xdirname(a: Any) -> str:
    """The address above; in a chain, above its first part."""
    first, others = _first_link(a)
    return "::".join([url_or_path_parent(first), *others])


def xbasename(a: Any) -> str:
    """The last name of an address."""
    first, _ = _first_link(a)
    return os.path.basename(first) if is_local_path(first) else posixpath.basename(first)


def xsplitext(a: Any) -> tuple[str, str]:
    """An address without its extension, and that."""
    first, others = _first_link(a)
    root, extension = os.path.splitext(first)
    return "::".join([root, *others]), extension


def _options(download_config: DownloadConfig | None) -> dict[str, Any]:
    """What a store is opened with."""
    return dict(download_config.storage_options or {}) if download_config else {}


def _first_link(path: Any) -> tuple[str, list[str]]:
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
    return storage.open(str(file), mode, storage_options=_options(download_config), **taken)


def _filesystem(path: Any, download_config: DownloadConfig | None) -> tuple[Any, str]:
    import fsspec

    return fsspec.url_to_fs(str(path), **_options(download_config))


def xisfile(path: Any, download_config: DownloadConfig | None = None) -> bool:
    """Whether an address is that of a file."""
    store, inside = _filesystem(path, download_config)
    return bool(store.isfile(inside))


def xisdir(path: Any, download_config: DownloadConfig | None = None) -> bool:
    """Whether an address is that of a folder."""
    store, inside = _filesystem(path, download_config)
    return bool(store.isdir(inside.rstrip("/") or inside))


def xgetsize(path: Any, download_config: DownloadConfig | None = None) -> int:
    """The bytes of a file."""
    store, inside = _filesystem(path, download_config)
    return int(store.size(inside))


def xwalk(
    urlpath: Any, download_config: DownloadConfig | None = None, **kwargs: Any
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Every folder under an address, with the names of folders and of files in it."""
    if not scheme_of(str(urlpath)):
        yield from os.walk(urlpath, **kwargs)
        return
    store, inside = _filesystem(urlpath, download_config)
    for folder, folders, files in store.walk(inside, **kwargs):
        yield store.unstrip_protocol(folder), folders, files


def xrelpath(path: Any, start: Any = None) -> str:
    """A path as seen from another."""
    first, others = _first_link(path)
    if not scheme_of(first):
        return os.path.relpath(first, start=start)
    return "::".join([posixpath.relpath(first, start=_first_link(start)[0] if start else None), *others])


def xsplit(a: Any) -> tuple[str, str]:
    """The address above, and the last name."""
    first, others = _first_link(a)
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
        return storage.exists(str(self), _options(download_config))

    def is_file(self, download_config: DownloadConfig | None = None) -> bool:
        """Whether it is a file."""
        return xisfile(self, download_config)

    def is_dir(self, download_config: DownloadConfig | None = None) -> bool:
        """Whether it is a folder."""
        return xisdir(self, download_config)

    def open(self, *args: Any, **kwargs: Any) -> Any:
        """Open it, wherever it is."""
        return xopen(str(self), *args, **kwargs)


def _reader(given: Any, download_config: DownloadConfig | None) -> Any:
    return given if hasattr(given, "read") else xopen(given, "rb", download_config=download_config)


def xpandas_read_csv(filepath_or_buffer: Any, download_config: DownloadConfig | None = None, **kwargs: Any) -> Any:
    """`pandas.read_csv` of a file anywhere."""
    import pandas as pd

    inferred = {} if hasattr(filepath_or_buffer, "read") else {"compression": _compression(filepath_or_buffer)}
    return pd.read_csv(_reader(filepath_or_buffer, download_config), **{**inferred, **kwargs})


def _compression(path: Any) -> str | None:
    known = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip", ".zst": "zstd"}
    return known.get(os.path.splitext(str(path))[1])


def xpandas_read_excel(filepath_or_buffer: Any, download_config: DownloadConfig | None = None, **kwargs: Any) -> Any:
    """`pandas.read_excel` of a file anywhere."""
    import pandas as pd

    return pd.read_excel(_reader(filepath_or_buffer, download_config), **kwargs)


def xpyarrow_parquet_read_table(
    filepath_or_buffer: Any, download_config: DownloadConfig | None = None, **kwargs: Any
) -> Any:
    """`pyarrow.parquet.read_table` of a file anywhere."""
    import pyarrow.parquet as pq

    return pq.read_table(_reader(filepath_or_buffer, download_config), **kwargs)


def xnumpy_load(
    filepath_or_buffer: Any, *args: Any, download_config: DownloadConfig | None = None, **kwargs: Any
) -> Any:
    """`numpy.load` of a file anywhere."""
    import numpy as np

    return np.load(_reader(filepath_or_buffer, download_config), *args, **kwargs)


def xgzip_open(
    filepath_or_buffer: Any, *args: Any, download_config: DownloadConfig | None = None, **kwargs: Any
) -> Any:
    """`gzip.open` of a file anywhere."""
    import gzip

    return gzip.open(_reader(filepath_or_buffer, download_config), *args, **kwargs)


def xet_parse(source: Any, parser: Any = None, download_config: DownloadConfig | None = None) -> Any:
    """`xml.etree.ElementTree.parse` of a file anywhere."""
    from xml.etree import ElementTree

    with _reader(source, download_config) as file:
        return ElementTree.parse(file, parser=parser)  # noqa: S314 - the function of the standard library, by its name
