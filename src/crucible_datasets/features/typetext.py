"""The types of columns as short text for people."""

from __future__ import annotations

from typing import Any

from crucible_datasets.features.classlabel import ClassLabel
from crucible_datasets.features.types import LargeList, List, Value


def type_text(feature: Any) -> str:
    """The type of a column as short text.

    >>> from crucible_datasets import ClassLabel, Value
    >>> type_text([{"role": Value("string")}]), type_text(ClassLabel(names=["no", "yes"]))
    ('list of {role: string}', 'label: no, yes')
    """
    if isinstance(feature, Value):
        return str(feature.dtype)
    if isinstance(feature, ClassLabel):
        return f"label: {', '.join(feature.names)}"
    if isinstance(feature, dict):
        return "{" + ", ".join(f"{name}: {type_text(each)}" for name, each in feature.items()) + "}"
    if isinstance(feature, list):
        return f"list of {type_text(feature[0])}"
    if isinstance(feature, (List, LargeList)):
        return f"list of {type_text(feature.feature)}"
    return type(feature).__name__.lower()
