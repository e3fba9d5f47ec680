"""What `crucible cache` does: each action yields lines of text."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

from crucible_datasets import config
from crucible_datasets.cache.amounts import byte_count, seconds, shown_age, shown_size
from crucible_datasets.cache.manifest import Entry
from crucible_datasets.cache.store import Cache

Texts = Generator[str, None, int | None]


def ls(cache: Cache) -> Texts:
    """One line for each entry, the last used first."""
    now = time.time()
    entries = sorted(cache.entries(), key=lambda entry: -entry.last_used)
    rows = [
        (
            entry.key,
            _kind(entry),
            str(entry.facts.get("rows", "")),
            shown_size(entry.size),
            shown_age(now - entry.created),
            shown_age(now - entry.last_used),
        )
        for entry in entries
    ]
    yield from _table([("key", "kind", "rows", "size", "age", "last use"), *rows], texts=2)
    return None


def du(cache: Cache) -> Texts:
    """The room that entries take, by kind, and how much they may take."""
    sizes: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for entry in cache.entries():
        sizes[_kind(entry)] += entry.size
        counts[_kind(entry)] += 1
    rows = [(kind, str(counts[kind]), shown_size(size)) for kind, size in sizes.most_common()]
    total = ("total", str(counts.total()), shown_size(sizes.total()))
    yield from _table([("kind", "entries", "size"), *rows, total], texts=1)
    if counts:
        allowed = byte_count(config.CRUCIBLE_CACHE_LIMIT, cache.root)
        yield f"limit: {config.CRUCIBLE_CACHE_LIMIT}, {shown_size(allowed)}"
    return None


def clean(cache: Cache, limit: str | None = None, older_than: str | None = None, all: bool = False) -> Texts:
    """Remove entries that no running process uses."""
    age = None if older_than is None else seconds(older_than)
    removed = cache.clean(0 if all else limit, age)
    rest = list(cache.entries())
    yield f"removed {_amount(removed)}"
    yield f"kept    {_amount(rest)}" + (", which running processes use" if all and rest else "")
    return None


def verify(cache: Cache) -> Texts:
    """Read every byte; the exit code is 1 when files are damaged."""
    found = cache.verify()
    yield from (f"{_line(damage.path)}: {damage.reason}" for damage in found)
    checked = _amount([entry for entry in cache.entries() if entry.is_whole])
    yield f"{checked} read, {len(found)} damaged {'file' if len(found) == 1 else 'files'}"
    return 1 if found else 0


ACTIONS: dict[str, Callable[..., Texts]] = {action.__name__: action for action in (ls, du, clean, verify)}


def _kind(entry: Entry) -> str:
    kind = str(entry.facts.get("kind", "other"))
    return kind if entry.is_whole else f"{kind}, unfinished"


def _amount(entries: Sequence[Entry]) -> str:
    size = shown_size(sum(entry.size for entry in entries))
    return f"{len(entries)} {'entry' if len(entries) == 1 else 'entries'}, {size}"


def _table(rows: Iterable[Sequence[str]], texts: int) -> Iterator[str]:
    """Columns side by side: first so many texts, then amounts, which end below each other."""
    cells = [[_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = (
            f"{cell:<{width}}" if column < texts else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(padded).rstrip()


def _line(text: str) -> str:
    return text.replace("\n", "\\n")
