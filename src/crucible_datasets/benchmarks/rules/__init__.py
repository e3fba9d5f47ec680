"""Named, versioned functions from the columns of a dataset to the fields of a sample.

TOML files refer to them as `family/name@version`. They affect scores, so a changed rule gets a new version, and the
old version stays available.

base         `Rule` and the registry
questions    free answers, targets extracted from a text, images, functions of all rows at once
choices      multiple choice
preferences  conversations, whose last answer is the target; two responses, one of them better
code         coding problems with tests
"""

from crucible_datasets.lazy_imports import names as _names

_HOMES: dict[str, tuple[str, ...]] = {
    "base": ("RULES", "Rule", "Unfit", "rule", "table_rule", "value_rule"),
}

__all__ = sorted(name for home in _HOMES.values() for name in home)
__getattr__ = _names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
