"""Downloaded files, one per URL and identity.

    <downloads>/<key>/<name>    a file
    <downloads>/notes/<key>     its digest, and its local identity when the digest was last verified

A file whose local identity has changed is hashed again, and downloaded again if its digest has changed.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import xxhash

from crucible_datasets import config, progress
from crucible_datasets.atomic import atomic_file, storage_errors
from crucible_datasets.atomic.files import remove_abandoned
from crucible_datasets.atomic.owners import unfinished_name
from crucible_datasets.atomic.private import make_private, open_own
from crucible_datasets.cache.claims import found_or_claimed
from crucible_datasets.cache.manifest import identity_of
from crucible_datasets.exceptions import OfflineError, without_secrets
from crucible_datasets.logging import get_logger
from crucible_datasets.sources.base import SourceFile
from crucible_datasets.sources.fetching import Advance, Expected, fetch

logger = get_logger(__name__)

Body = Callable[[SourceFile, int], Iterator[bytes]]  # the bytes of a file from an offset
_AT_ONCE = 8


def _expected_size(file: SourceFile) -> Expected:
    return Expected(file.size)


def downloaded(
    files: Sequence[SourceFile],
    body: Body,
    desc: str = "Downloading",
    expected: Callable[[SourceFile], Expected] = _expected_size,
) -> list[str]:
    """Download missing files, several at a time; the local paths of all."""
    paths = [_place(file) for file in files]
    missing = [(file, path) for file, path in zip(files, paths, strict=True) if not _is_there(file, path)]
    if missing:
        remove_abandoned(_work())
        total = sum(file.size or 0 for file, _ in missing)
        with (
            progress.Transfer(desc, total, len(missing)) as shown,
            ThreadPoolExecutor(min(_AT_ONCE, len(missing))) as pool,
        ):
            for _ in pool.map(lambda pair: _fetch(pair[0], pair[1], body, expected(pair[0]), shown.update), missing):
                shown.file_done()
    return paths


def already_downloaded(files: Sequence[SourceFile]) -> list[str]:
    """The local paths of files; an error names those that were never downloaded."""
    paths = [_place(file) for file in files]
    missing = [file for file, path in zip(files, paths, strict=True) if not _is_there(file, path)]
    if missing:
        more = f" and {len(missing) - 3} more files" if len(missing) > 3 else ""
        raise OfflineError(", ".join(without_secrets(file.url) for file in missing[:3]) + more)
    return paths


def is_downloaded(file: SourceFile) -> bool:
    """Whether a file has been downloaded."""
    return _is_there(file, _place(file))


def _fetch(file: SourceFile, path: str, body: Body, expected: Expected, advance: Advance) -> None:
    work, name = _work(), os.path.basename(os.path.dirname(path))
    with storage_errors(path):
        make_private(work)
        with found_or_claimed(work, name, lambda: path if _is_there(file, path) else None) as (found, _):
            if found:
                advance(file.size or 0)
            else:
                fetch(lambda start: body(file, start), path, without_secrets(file.url), expected, advance)
                _note(path, _digest(path))


def _work() -> str:
    return os.path.join(config.DOWNLOADED_DATASETS_PATH, ".work")


def _place(file: SourceFile) -> str:
    """The local path: a folder per URL and identity, so that versions do not mix, and the file's own name."""
    key = xxhash.xxh3_128_hexdigest(repr((file.url, file.identity)).encode())
    return os.path.join(config.DOWNLOADED_DATASETS_PATH, key, os.path.basename(file.path) or "data")


def _is_there(file: SourceFile, path: str) -> bool:
    """Whether the file has been downloaded and not changed since."""
    try:
        with open_own(_note_of(path), encoding="utf-8") as note:
            identity, digest = json.load(note)
        if file.size not in {None, os.path.getsize(path)}:
            return False
        if identity != identity_of(path):
            if digest != _digest(path):
                logger.warning("%s has changed since it was downloaded. Downloading it again.", path)
                return False
            _note(path, digest)
    except (OSError, ValueError):
        return False
    return True


def _note(path: str, digest: str) -> None:
    note = _note_of(path)
    make_private(os.path.dirname(note))
    with atomic_file(note, is_lasting=False) as temporary, open(temporary, "w", encoding="utf-8") as file:
        json.dump([identity_of(path), digest], file)


def _note_of(path: str) -> str:
    return os.path.join(config.DOWNLOADED_DATASETS_PATH, "notes", os.path.basename(os.path.dirname(path)))


def _digest(path: str) -> str:
    digest = xxhash.xxh3_128()
    with open(path, "rb", buffering=0) as file:
        while block := file.read(4 << 20):
            digest.update(block)
    return digest.hexdigest()


def folder_of(url: str, files: Sequence[SourceFile]) -> str:
    """The folder that shows the files below a URL under their own names; a new one when any file changes."""
    facts = [url, *(f"{file.path} {file.identity}" for file in files)]
    key = xxhash.xxh3_128_hexdigest("\n".join(facts).encode())
    return os.path.join(config.DOWNLOADED_DATASETS_PATH, "folders", key)


def linked(folder: str, names: Sequence[str], paths: Sequence[str]) -> None:
    """Link local files into a folder, under these names."""
    for name, path in zip(names, paths, strict=True):
        link = os.path.join(folder, *name.split("/"))
        if os.path.realpath(link) == os.path.realpath(path):
            continue
        os.makedirs(os.path.dirname(link), exist_ok=True)
        # Renamed into place, so that the link never disappears for a process that links the same file.
        remove_abandoned(os.path.dirname(link), ".link")
        temporary = os.path.join(os.path.dirname(link), unfinished_name(".link"))
        try:
            os.symlink(os.path.relpath(path, os.path.realpath(os.path.dirname(link))), temporary)
            os.replace(temporary, link)
        except OSError:
            with atomic_file(link) as temporary:
                shutil.copyfile(path, temporary)
