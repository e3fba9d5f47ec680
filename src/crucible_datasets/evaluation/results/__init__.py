"""The store of runs: journals while a run is in progress, then one file, and queries.

store listing (`ResultStore`) · places journal openrun finishing (runs in progress) · runfile columns encoding stored
index filters (finished runs) · rescoring differences · sql/
"""

from crucible_datasets.lazy_imports import names as _names

_HOMES: dict[str, tuple[str, ...]] = {
    "differences": ("Difference", "Differences"),
    "openrun": ("OpenRun",),
    "rescoring": ("Move", "Rescored"),
    "runfile": ("StoredRun",),
    "sql.mirror": ("SqlMirror",),
    "store": ("ResultStore",),
}

__all__ = sorted(name for home in _HOMES.values() for name in home)
__getattr__ = _names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
