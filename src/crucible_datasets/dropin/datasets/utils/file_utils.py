"""Forwards to `crucible_datasets.storage` and the download manager: files anywhere, by their addresses."""

from __future__ import annotations

import os
import posixpath
from hashlib import sha256
from typing import IO, Any

from crucible_datasets import config, storage
from crucible_datasets.download import DownloadConfig, DownloadManager
from crucible_datasets.download.iterables import ArchiveMembers as ArchiveIterable
from crucible_datasets.download.iterables import FilesUnder as FilesIterable
from crucible_datasets.exceptions import FileNotFoundDatasetsError
from crucible_datasets.sources.base import scheme_of

from ._anywhere import (
    options_of,
    outermost,
    xet_parse,
    xgetsize,
    xgzip_open,
    xisdir,
    xisfile,
    xnumpy_load,
    xopen,
    xpandas_read_csv,
    xpandas_read_excel,
    xPath,
    xpyarrow_parquet_read_table,
    xrelpath,
    xsplit,
    xwalk,
)

__all__ = [
    "ArchiveIterable",
    "DownloadConfig",
    "FilesIterable",
    "cached_path",
    "estimate_dataset_size",
    "get_datasets_user_agent",
    "hash_url_to_filename",
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
    return storage.exists(urlpath, options_of(download_config))


def xglob(urlpath: Any, *, download_config: DownloadConfig | None = None, **how: Any) -> list[str]:
    """The files that match a pattern."""
    return storage.glob(urlpath, options_of(download_config))


def xlistdir(path: Any, download_config: DownloadConfig | None = None) -> list[str]:
    """The names in a folder."""
    return [posixpath.basename(name.rstrip("/")) for name in storage.listdir(path, options_of(download_config))]


def xjoin(a: Any, *p: str) -> str:
    """An address below another; in a chain, below its first part."""
    first, others = outermost(a)
    joined = os.path.join(first, *p) if is_local_path(first) else posixpath.join(first, *p)
    return "::".join([joined, *others])


def xdirname(a: Any) -> str:
    """The address above; in a chain, above its first part."""
    first, others = outermost(a)
    return "::".join([url_or_path_parent(first), *others])


def xbasename(a: Any) -> str:
    """The last name of an address."""
    first, _ = outermost(a)
    return os.path.basename(first) if is_local_path(first) else posixpath.basename(first)


def xsplitext(a: Any) -> tuple[str, str]:
    """An address without its extension, and that."""
    first, others = outermost(a)
    root, extension = os.path.splitext(first)
    return "::".join([root, *others]), extension
