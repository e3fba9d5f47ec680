"""Exports of runs, one module per format.

base exporting rows tables escaping (shared) · csv jsonl parquet markdown html every_eval_ever
"""

from crucible_datasets.lazy_imports import names as _names

_HOMES: dict[str, tuple[str, ...]] = {"base": ("EXPORTS", "Export"), "exporting": ("export",)}

__all__ = sorted(name for home in _HOMES.values() for name in home)
__getattr__ = _names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
