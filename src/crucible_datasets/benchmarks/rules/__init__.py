"""Named, versioned functions from the columns of a dataset to the fields of a sample.

A TOML file names them as `family/name@version`. Their results are part of every score, so a rule that must change
gets another version and keeps the old one.
"""

from crucible_datasets.later import names as _names

_HOMES: dict[str, tuple[str, ...]] = {
    "base": ("RULES", "Rule", "Unfit", "rule", "table_rule", "value_rule"),
}

__all__ = sorted(name for home in _HOMES.values() for name in home)
__getattr__ = _names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
