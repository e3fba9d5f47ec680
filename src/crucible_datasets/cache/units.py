"""Sizes and ages with units, parsed and formatted: `10GB`, `30d`."""

from __future__ import annotations

import os
import re
import shutil

from crucible_datasets.exceptions import ArgumentError

_SIZES = {
    "": 1,
    "K": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "KI": 1 << 10,
    "MI": 1 << 20,
    "GI": 1 << 30,
    "TI": 1 << 40,
}
_AGES = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def byte_count(size: int | str, disk: str) -> int:
    """The bytes that a size means, such as `10GB`, `512MiB`, or `20%` of the disk that holds `disk`.

    >>> byte_count("1.5 kB", "/")
    1500
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:(%)|([KMGT]?I?)B?)\s*", str(size), re.IGNORECASE)
    if match is None or (match[3] or "").upper() not in _SIZES:
        raise ArgumentError("limit", size, "write a size as 10GB, 512MiB, or 20% of the disk.")
    number, percent, unit = float(match[1]), match[2], (match[3] or "").upper()
    while percent and not os.path.exists(disk) and disk != os.path.dirname(disk):
        disk = os.path.dirname(disk)  # nothing has been cached yet
    return int(number / 100 * shutil.disk_usage(disk).total if percent else number * _SIZES[unit])


def seconds(age: float | str) -> float:
    """The seconds that an age means, such as `30d` or `12h`; a number that is not text is in seconds.

    >>> seconds("2m")
    120.0
    """
    if not isinstance(age, str):
        return float(age)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*", age)
    if match is None:
        raise ArgumentError("older_than", age, "write an age with its unit, as 30d, 12h, 15m or 40s.")
    return float(match[1]) * _AGES[match[2]]


def shown_size(size: int) -> str:
    """Bytes with a unit.

    >>> shown_size(1_234_567)
    '1.2 MB'
    """
    number, unit = float(size), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if number < 999.5:
            break
        number, unit = number / 1000, larger
    return f"{number:.0f} {unit}" if unit == "B" or number >= 99.95 else f"{number:.1f} {unit}"


def shown_age(seconds: float) -> str:
    """An age in its largest unit.

    >>> shown_age(7300)
    '2 h'
    """
    unit = next((unit for unit in "dhm" if seconds >= _AGES[unit]), "s")
    return f"{max(0, int(seconds / _AGES[unit]))} {unit}"
