"""`crucible cache`: inspect and clean the cache."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crucible_datasets.cli import exit_codes
from crucible_datasets.cli.command import Command
from crucible_datasets.cli.output import Column, Message, Outputs, Sections, Table, amount
from crucible_datasets.exceptions import ArgumentError

if TYPE_CHECKING:
    from crucible_datasets.cache import Cache
    from crucible_datasets.cache.manifest import Entry


def ls() -> Outputs:
    """List the entries, most recently used first."""
    from crucible_datasets.cache.units import shown_age, shown_size

    now = time.time()
    rows = [
        {
            "key": entry.key,
            "kind": _kind(entry),
            "rows": entry.facts.get("rows"),
            "size": entry.size,
            "age": now - entry.created,
            "last_use": now - entry.last_used,
        }
        for entry in sorted(_cache().entries(), key=lambda entry: -entry.last_used)
    ]
    columns = (
        Column("key", keep=True),
        Column("kind"),
        amount("rows", spare=True),
        amount("size", shown=shown_size),
        amount("age", shown=shown_age),
        amount("last_use", shown=shown_age),
    )
    yield Table(columns, rows, "the cache is empty")
    return None


def du() -> Outputs:
    """Show how much space each kind takes, and the limit."""
    from crucible_datasets import config
    from crucible_datasets.cache.units import byte_count, shown_size

    cache = _cache()
    sizes: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for entry in cache.entries():
        sizes[_kind(entry)] += entry.size
        counts[_kind(entry)] += 1
    rows = [{"kind": kind, "entries": counts[kind], "size": size} for kind, size in sizes.most_common()]
    rows.append({"kind": "total", "entries": counts.total(), "size": sizes.total()})
    allowed = byte_count(config.CRUCIBLE_CACHE_LIMIT, cache.root)
    limit = Message(f"limit: {config.CRUCIBLE_CACHE_LIMIT}, {shown_size(allowed)}", allowed)
    columns = (Column("kind"), amount("entries"), amount("size", shown=shown_size))
    yield Sections({"kinds": Table(columns, rows), "limit": limit})
    return None


def clean(limit: str | None = None, older_than: str | None = None, all: bool = False) -> Outputs:
    """Remove the least recently used entries."""
    _require_unit(limit)
    cache = _cache()
    removed = cache.clean(0 if all else limit, older_than)
    rest = list(cache.entries())
    in_use = ", which running processes use" if all and rest else ""
    yield Message(
        f"removed {_amount(removed)}\nkept    {_amount(rest)}{in_use}",
        {"removed": [entry.key for entry in removed], "kept": [entry.key for entry in rest]},
    )
    return None


def verify() -> Outputs:
    """Read every byte and name damaged files; exit code 1 if there are any."""
    cache = _cache()
    found = cache.verify()
    whole = [entry for entry in cache.entries() if entry.is_whole]
    damaged = [{"path": str(damage.path), "reason": damage.reason} for damage in found]
    lines = [f"{damage['path']}: {damage['reason']}".replace("\n", "\\n") for damage in damaged]
    lines.append(f"{_amount(whole)} read, {len(found)} damaged {'file' if len(found) == 1 else 'files'}")
    yield Message("\n".join(lines), {"entries": len(whole), "damaged": damaged})
    return exit_codes.CHECK_FAILED if found else exit_codes.OK


def _require_unit(limit: str | None) -> None:
    """Raise for a size without a unit: 10 would be 10 bytes, and remove almost everything."""
    if limit is not None and limit.strip().replace(".", "", 1).isdecimal() and float(limit):
        raise ArgumentError("limit", limit, "write a size with its unit, as 10GB, 512MiB, or 20% of the disk.")


def _cache() -> Cache:
    from crucible_datasets.cache import default_cache

    return default_cache()


def _kind(entry: Entry) -> str:
    """What created it: `map`, or the format of the converted files."""
    kind = str(entry.facts.get("kind") or entry.facts.get("format", "other"))
    return kind if entry.is_whole else f"{kind}, unfinished"


def _amount(entries: Sequence[Entry]) -> str:
    from crucible_datasets.cache.units import shown_size

    size = shown_size(sum(entry.size for entry in entries))
    return f"{len(entries)} {'entry' if len(entries) == 1 else 'entries'}, {size}"


def _clean_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", metavar="SIZE", help="remove until the rest fits: 10GB, or 5%% of the disk")
    parser.add_argument("--older-than", metavar="AGE", help="also remove entries not used for this long: 30d, 12h")
    parser.add_argument("--all", action="store_true", help="remove everything that no running process uses")


COMMANDS = (
    Command.group(
        "cache",
        "List, measure, clean up or check the cache.",
        Command.of(ls),
        Command.of(du),
        Command.of(clean, _clean_arguments),
        Command.of(verify),
    ),
)
