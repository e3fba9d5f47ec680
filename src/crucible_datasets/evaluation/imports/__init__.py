"""Import of runs of other programs.

reading foreign (shared) · inspect_logs lm_eval
"""

from crucible_datasets.lazy_imports import names as _names

_HOMES: dict[str, tuple[str, ...]] = {
    "inspect_logs": ("from_inspect_log",),
    "lm_eval": ("from_lm_eval_samples",),
    "reading": ("read_log",),
}

__all__ = sorted(name for home in _HOMES.values() for name in home)
__getattr__ = _names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
