"""The types of the columns of samples, from those of the columns they are read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crucible_datasets.benchmarks.owndata.fields import FieldMapping, metadata_sources
from crucible_datasets.benchmarks.owndata.paths import feature_at
from crucible_datasets.benchmarks.types.schemas import message_features, sample_features
from crucible_datasets.features import ClassLabel, Features, Image, Json, LargeList, List, Value

_TEXTS = ("string", "large_string", "string_view")


def features_known(mapping: FieldMapping, features: Mapping[str, Any] | None, auto_id: bool) -> Features | None:
    """The types of all five columns; None if a function, or a column without fixed type, leaves one open."""
    if features is None or mapping.transforms:
        return None
    kinds = {
        "id": _id_type(mapping.id, features, auto_id),
        "input": _input_type(mapping.input, features),
        "target": _target_type(mapping.target, features),
        "metadata": _metadata_type(mapping, features),
    }
    if any(kind is None for kind in kinds.values()):
        return None
    return Features({**sample_features(), **kinds})


def _at(source: Any, features: Mapping[str, Any]) -> Any:
    return feature_at(source, features) if isinstance(source, str) else None


def _is_text(kind: Any) -> bool:
    return isinstance(kind, Value) and kind.dtype in _TEXTS


def _id_type(source: Any, features: Mapping[str, Any], auto_id: bool) -> Any:
    if auto_id or source is None:
        return Value("int64")
    kind = _at(source, features)
    whole = isinstance(kind, Value) and kind.dtype.startswith(("int", "uint"))
    return Value("int64") if whole else Value("string") if _is_text(kind) else None


def _input_type(source: Any, features: Mapping[str, Any]) -> Any:
    kind = _at(source, features)
    if isinstance(kind, (Value, ClassLabel)):
        return Value("string")
    if isinstance(kind, Image):
        return List(message_features(parts=True))
    said = kind.feature if isinstance(kind, (List, LargeList)) else None
    if not isinstance(said, dict) or set(said) not in ({"role", "content"}, {"from", "value"}):
        return None
    in_parts = isinstance(said.get("content"), (List, LargeList))
    known = in_parts or all(map(_is_text, said.values()))
    return List(message_features(parts=in_parts)) if known else None


def _target_type(source: Any, features: Mapping[str, Any]) -> Any:
    if source is None:
        return Value("string")
    kind = _at(source, features)
    if isinstance(kind, (List, LargeList)):
        return List(Value("string"))
    return Value("string") if isinstance(kind, (Value, ClassLabel)) else None


def _metadata_type(mapping: FieldMapping, features: Mapping[str, Any]) -> Any:
    named = metadata_sources(mapping, list(features))
    if named is None:
        kind = None if mapping.metadata is None else _at(mapping.metadata, features)
        return kind if isinstance(kind, dict) and kind else Json()
    kinds = {name: _at(source, features) for name, source in named.items()}
    return None if any(kind is None for kind in kinds.values()) else kinds or Json()


def undecoded(rows: Any) -> Any:
    """The rows with undecoded media: decoding and encoding would change them."""
    for name, kind in (rows.features or {}).items():
        if isinstance(kind, Image) and kind.decode:
            rows = rows.cast_column(name, replace(kind, decode=False))
    return rows
