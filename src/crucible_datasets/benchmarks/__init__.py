"""Named datasets of the field as typed samples, in one schema.

Names are loaded when they are first used; `__init__.pyi` tells them to type checkers.
"""

from crucible_datasets.later import names as _names

_HOMES: dict[str, tuple[str, ...]] = {}

__all__ = sorted(name for home in _HOMES.values() for name in home)
__getattr__ = _names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
