"""Named, versioned functions from the columns of a dataset to the fields of a sample.

TOML files refer to them as `family/name@version`. They affect scores, so a changed rule gets a new version, and the
old version stays available.

base         `Rule` and the registry
questions    free answers
answers      extraction of the target from a text
choices      multiple choice
chats        conversations; the last answer is the target
preferences  two responses, one of them better
code         coding problems with tests
pictures     image classification
tables       functions of all rows at once
"""

from crucible_datasets.lazy_imports import names as _names

_HOMES: dict[str, tuple[str, ...]] = {
    "base": ("RULES", "Rule", "Unfit", "rule", "table_rule", "value_rule"),
}

__all__ = sorted(name for home in _HOMES.values() for name in home)
__getattr__ = _names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
