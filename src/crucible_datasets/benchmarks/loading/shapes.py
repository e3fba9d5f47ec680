"""The types of the columns of samples, from the declarations of rules and the types of the dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crucible_datasets.benchmarks.catalog.entry import BenchmarkEntry
from crucible_datasets.benchmarks.loading.converting import REASON, ROW
from crucible_datasets.benchmarks.rules.base import Rule
from crucible_datasets.benchmarks.types.schemas import sample_features
from crucible_datasets.features import ClassLabel, Features, Json, List, Value


def features_of(entry: BenchmarkEntry, rule: Rule, raw: Features | None) -> Features:
    """The features of the samples of a dataset with these features, which a stream of JSON may not know."""
    kept = {column: _kept(column, raw) for column in entry.metadata}
    declared_types = {name: declared(kind) for name, kind in rule.metadata.items()}
    fields = sample_features(
        messages=rule.input == "messages",
        parts=rule.input == "pictures",
        targets=rule.target == "texts",
        metadata={**kept, **declared_types},
    )
    return Features({ROW: Value("int64"), **fields, REASON: Value("string")})


def _kept(column: str, raw: Features | None) -> Any:
    kind = raw.get(column) if raw else None
    if kind is None:
        return Json()
    return Value("int64") if isinstance(kind, ClassLabel) else kind


def declared(kind: Any) -> Any:
    """The feature of a short form: the name of a type, a list or dict of short forms, or a feature."""
    if isinstance(kind, Mapping):
        return {name: declared(one) for name, one in kind.items()}
    if isinstance(kind, list):
        return List(declared(kind[0]))
    if not isinstance(kind, str):
        return kind
    return Json() if kind == "json" else Value(kind)
