"""`Cache`: find an entry, make it, clean up.

    root/<name>/                  an entry: its files and manifest.json
    root/.work/<name>~<owner>.tmp an entry that is being made; .gone: that is being removed
    root/.work/<name>~<owner>.left finished parts of an entry, whose maker stopped (cache.partial)
    root/.work/…~<owner>.uses     the entries that a process uses
    root/.ledger                  how large all entries are (cache.ledger)

Readers take no lock. An entry appears and disappears by a single rename.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import xxhash

from crucible_datasets import config
from crucible_datasets.atomic import storage_errors
from crucible_datasets.atomic.files import make_durable, remove_abandoned, remove_tree
from crucible_datasets.atomic.owners import unfinished_name
from crucible_datasets.atomic.private import make_private, own_folder
from crucible_datasets.cache.claims import found_or_claimed
from crucible_datasets.cache.in_use import Uses
from crucible_datasets.cache.ledger import Ledger
from crucible_datasets.cache.manifest import MANIFEST, Damage, Entry, damages, read_manifest, write_manifest
from crucible_datasets.cache.partial import MADE_IN_PARTS, partial_entries, remove_partial, resumed, salvage_abandoned
from crucible_datasets.cache.parts import Parts
from crucible_datasets.cache.units import byte_count, seconds
from crucible_datasets.logging import get_logger

Make = Callable[[str], Mapping[str, Any] | None]
Begin = Callable[[str], AbstractContextManager[None]]

logger = get_logger(__name__)


class Cache:
    """Entries of a folder, each found by its key."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = os.path.abspath(root)
        self._work = os.path.join(self.root, ".work")
        self._uses = Uses(self._work)
        self._ledger = Ledger(self.root)
        self._is_tidy = False

    def find(self, key: str) -> str | None:
        """The folder of an undamaged entry, or None. The entry counts as in use as long as this process is alive."""
        self._tidy()
        name = _name(key)
        folder = os.path.join(self.root, name)
        with storage_errors(folder):
            entry = read_manifest(folder)
            if entry is None or entry.key != key:
                return None
            self._uses.note(name)
            found = damages(entry)
        if found:
            logger.warning("The cache is damaged, and %s is made again: %s, %s.", key, *found[0])
            return None
        with suppress(OSError):  # a read-only cache
            os.utime(os.path.join(entry.folder, MANIFEST))
        return entry.folder

    def made(self, key: str, make: Make, facts: Mapping[str, Any] | None = None) -> str:
        """The folder of an entry, which `make` creates if it does not exist yet.

        `make` gets an empty folder to write files into, and may return facts to store with the entry. When several
        processes want the same entry, one makes it and the others wait.
        """
        return self.find(key) or self._made(key, make, facts or {}, ".tmp", lambda folder: nullcontext())

    def facts(self, folder: str) -> Mapping[str, Any]:
        """The facts stored with an entry, given its folder."""
        entry = read_manifest(folder)
        return {} if entry is None else entry.facts

    def resumable(self, key: str, make: Make, facts: Mapping[str, Any] | None = None) -> str:
        """Like `made`, for entries that take long: `make` marks `Parts` of its folder as finished along the way.

        If it dies or fails, the next maker finds exactly the finished parts in its folder.
        """

        def begin(folder: str) -> AbstractContextManager[None]:
            return resumed(self._work, folder, key, facts or {})

        return self.find(key) or self._made(key, make, facts or {}, MADE_IN_PARTS, begin)

    def entries(self) -> Iterator[Entry]:
        """All entries, including the finished parts of abandoned ones (see `is_whole`)."""
        self._tidy()
        for name in self._names():
            entry = read_manifest(os.path.join(self.root, name))
            if entry is not None:
                yield entry
        yield from partial_entries(self._work)

    def size(self) -> int:
        """The bytes of all entries."""
        return sum(entry.size for entry in self.entries())

    def clean(self, limit: int | str | None = None, older_than: float | str | None = None) -> list[Entry]:
        """Remove the least recently used entries until the rest fits into the limit; the entries removed.

        The limit, such as "10GB" or a number of bytes, defaults to `config.CRUCIBLE_CACHE_LIMIT`. Entries not used for
        `older_than`, such as "30d" or a number of seconds, are always removed, entries in use never.
        """
        oldest = float("-inf") if older_than is None else time.time() - seconds(older_than)
        allowed = byte_count(config.CRUCIBLE_CACHE_LIMIT if limit is None else limit, self.root)
        if not os.path.isdir(self.root):
            return []
        self._remove_dead_work()
        entries = sorted(self.entries(), key=lambda entry: entry.last_used)
        size, in_use, removed = sum(entry.size for entry in entries), self._uses.live(), []
        for entry in entries:
            too_much = size > allowed or allowed == 0
            if (too_much or entry.last_used < oldest) and os.path.basename(entry.folder) not in in_use:
                self._discard(entry.folder)
                removed.append(entry)
                size -= entry.size
        with suppress(OSError):
            self._ledger.begin(size)
        return removed

    def remove(self, key: str) -> bool:
        """Remove an entry, in use or not; whether it existed. Open files stay readable."""
        left = remove_partial(self._work, key)
        return self._discard(os.path.join(self.root, _name(key))) or left

    def verify(self) -> list[Damage]:
        """Verify every byte of every entry; the files that are missing or changed.

        A damaged entry stays on disk, but is not found any more, and is made again when needed.
        """
        found = []
        for name in self._names():
            folder = os.path.join(self.root, name)
            entry = read_manifest(folder)
            if entry is not None:
                found += damages(entry, thorough=True)
            elif os.path.isdir(folder):
                found.append(Damage(os.path.join(folder, MANIFEST), "it is missing or unreadable"))
        return found

    def _made(self, key: str, make: Make, facts: Mapping[str, Any], suffix: str, begin: Begin) -> str:
        name = _name(key)
        folder = os.path.join(self.root, name)
        with storage_errors(folder):
            make_private(self._work)
            with found_or_claimed(self._work, name, lambda: self.find(key), suffix) as (found, temporary):
                if found:
                    return found
                with begin(temporary):
                    learned = make(temporary)
                    write_manifest(temporary, key, {**facts, **(learned or {})}, Parts(temporary).known())
                    self._place(temporary, folder, key)
        self._uses.note(name)
        with suppress(OSError):
            remove_partial(self._work, key)
            self._keep_within_limit(folder)
        return folder

    def _keep_within_limit(self, added: str) -> None:
        entry = read_manifest(added)
        size = self._ledger.add(entry.size) if entry else None
        if size is None or size > byte_count(config.CRUCIBLE_CACHE_LIMIT, self.root):
            self.clean()

    def _names(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self.root) if not name.startswith("."))
        except FileNotFoundError:
            return []

    def _place(self, temporary: str, folder: str, key: str) -> None:
        """Rename a finished entry into place, unless another process was first."""
        while True:
            try:
                os.rename(temporary, folder)
                break
            except OSError as error:
                if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}:
                    raise
            if self.find(key):
                return
            self._discard(folder)
        try:
            make_durable(self.root)
        except OSError:
            remove_tree(folder)
            raise

    def _discard(self, folder: str) -> bool:
        """Rename an entry out of the way, then remove it; whether it existed."""
        if not os.path.lexists(folder):
            return False
        aside = os.path.join(self._work, unfinished_name(os.path.basename(folder), ".gone"))
        try:
            make_private(self._work)
            os.rename(folder, aside)
        except FileNotFoundError:
            return False
        remove_tree(aside)
        return True

    def _tidy(self) -> None:
        """Remove what dead processes left, when this process first uses the cache."""
        if not self._is_tidy:
            self._is_tidy = True
            self._remove_dead_work()

    def _remove_dead_work(self) -> None:
        for suffix in (".tmp", ".gone", ".uses"):
            remove_abandoned(self._work, suffix=suffix)
        salvage_abandoned(self._work)


def default_cache(folder: str | os.PathLike[str] | None = None) -> Cache:
    """The cache inside `folder`, or inside `config.HF_DATASETS_CACHE`."""
    root = own_folder(os.path.join(os.path.abspath(folder or config.HF_DATASETS_CACHE), "crucible"))
    return _caches.setdefault(root, Cache(root))


_caches: dict[str, Cache] = {}


def _name(key: str) -> str:
    """The name of an entry's folder: its key, or a hash of a key that is no valid file name."""
    fits = re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.=+-]{0,39}", key)
    return key if fits else f"_{xxhash.xxh3_64_hexdigest(key.encode())}"
