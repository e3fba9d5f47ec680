"""Named, versioned functions from the columns of a dataset to the fields of a sample.

A TOML file names them as `family/name@version`. Their results are part of every score, so a rule that must change
gets another version and keeps the old one.

base         what a rule is, and the registry of all
questions    free answers
answers      the answer in the text that a dataset keeps it in
choices      questions with options
chats        conversations; the last answer is the target
preferences  two responses, one of them better
code         programs, with their tests
pictures     pictures and their classes
tables       rules of all rows at once
"""

from crucible_datasets.lazy_imports import names as _names

_HOMES: dict[str, tuple[str, ...]] = {
    "base": ("RULES", "Rule", "Unfit", "rule", "table_rule", "value_rule"),
}

__all__ = sorted(name for home in _HOMES.values() for name in home)
__getattr__ = _names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
