"""`Features`: the columns of a dataset by name, each with its type."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import (
    ArgumentError,
    ColumnNamesError,
    FeaturesMismatchError,
    UnknownTypeError,
    content_errors,
)
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.encode import encode
from crucible_datasets.features.names import require_name
from crucible_datasets.features.serialized import from_tagged, tagged
from crucible_datasets.features.serialized import register_feature as register_feature  # where Hugging Face has it
from crucible_datasets.features.storage import arrow_type, feature_of, plain
from crucible_datasets.features.types import LargeList, List, with_item
from crucible_datasets.features.yaml import from_yaml, to_yaml
from crucible_datasets.lazy_imports import names_of_datasets

METADATA_KEY = b"huggingface"


class Features(dict[str, Any]):
    """A dict of column name → feature.

    >>> from crucible_datasets import Value
    >>> Features({"text": Value("string"), "tags": [Value("string")]})
    {'text': Value('string'), 'tags': List(Value('string'))}
    """

    def __init__(*args: Any, **kwargs: Any) -> None:
        if len(args) < 1:
            raise TypeError("Features needs a mapping or keyword arguments.")
        self, *rest = args
        super(Features, self).__init__(*rest, **kwargs)
        for name, value in super(Features, self).items():
            require_name(name)
            super(Features, self).__setitem__(name, normal(value))

    def __setitem__(self, name: str, feature: Any) -> None:
        require_name(name)
        super().__setitem__(name, normal(feature))

    def update(self, *args: Any, **kwargs: Any) -> None:
        for name, feature in dict(*args, **kwargs).items():
            self[name] = feature

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def __reduce__(self) -> tuple[Any, ...]:
        return Features, (dict(self),)

    @property
    def type(self) -> pa.StructType:
        """All columns as one Arrow struct type."""
        return arrow_type(dict(self))

    @property
    def arrow_schema(self) -> pa.Schema:
        """The Arrow schema, with the features as `huggingface` metadata."""
        return pa.schema(list(self.type)).with_metadata(self.metadata())

    def metadata(self) -> dict[bytes, bytes]:
        """The schema metadata that carries these features in Arrow and Parquet files."""
        return {METADATA_KEY: json.dumps({"info": {"features": self.to_dict()}}).encode()}

    @classmethod
    def from_arrow_schema(cls, pa_schema: pa.Schema) -> Features:
        """The features of a schema: from its metadata where they match the types, else from the types."""
        metadata = pa_schema.metadata or {}
        with content_errors(UnknownTypeError, "what the schema says of features"):
            stated = cls._stated(metadata)
            return cls({field.name: _understood(field, stated.get(field.name)) for field in pa_schema})

    @classmethod
    def _stated(cls, metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
        if METADATA_KEY not in metadata:
            return {}
        info = json.loads(metadata[METADATA_KEY]).get("info") or {}
        return cls.from_dict(info["features"]) if info.get("features") else {}

    @classmethod
    def from_dict(cls, dic: Mapping[str, Any]) -> Features:
        """The inverse of `to_dict`."""
        if not isinstance(dic, Mapping):
            raise UnknownTypeError(dic, "expected the dict form of features.")
        with content_errors(UnknownTypeError, "a description of features"):
            return cls({name: from_tagged(value) for name, value in dic.items()})

    def to_dict(self) -> dict[str, Any]:
        """A JSON-able form, each type tagged with `_type`."""
        return {name: tagged(value) for name, value in self.items()}

    def _to_yaml_list(self) -> list[dict[str, Any]]:
        return to_yaml(json.loads(json.dumps(self.to_dict())))  # as files keep it: YAML has lists and no tuples

    @classmethod
    def _from_yaml_list(cls, yaml_data: list[dict[str, Any]]) -> Features:
        return cls.from_dict(from_yaml(yaml_data))

    def encode_example(self, example: Mapping[str, Any]) -> dict[str, Any]:
        """One row in the form that Arrow stores."""
        return {name: encode(kind, example.get(name)) for name, kind in self.items()}

    def encode_column(self, column: Iterable[Any], column_name: str) -> list[Any]:
        """One column in the form that Arrow stores."""
        return [encode(self[column_name], value) for value in column]

    def encode_batch(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Columns in the form that Arrow stores."""
        if set(batch) != set(self):
            raise FeaturesMismatchError(self, batch)
        return {name: self.encode_column(column, name) for name, column in batch.items()}

    def decode_example(self, example: Mapping[str, Any], token_per_repo_id: Any = None) -> dict[str, Any]:
        """One stored row as the user sees it."""
        return {name: _decoded([value], self[name], token_per_repo_id)[0] for name, value in example.items()}

    def decode_column(self, column: list[Any], column_name: str, token_per_repo_id: Any = None) -> list[Any]:
        """One stored column as the user sees it."""
        return _decoded(column, self[column_name], token_per_repo_id)

    def decode_batch(self, batch: Mapping[str, Any], token_per_repo_id: Any = None) -> dict[str, list[Any]]:
        """Stored columns as the user sees them."""
        return {name: _decoded(column, self[name], token_per_repo_id) for name, column in batch.items()}

    def copy(self) -> Features:
        """A deep copy."""
        return copy.deepcopy(self)

    def reorder_fields_as(self, other: Features) -> Features:
        """The same features with columns and struct fields in the order of `other`."""
        return Features(_reordered(dict(self), dict(other), ""))

    def flatten(self, max_depth: int = 16) -> Features:
        """Struct fields as separate columns named `struct.field`."""
        flat = dict(self)
        for _ in range(1, max_depth):
            parts = [(key, part) for name, feature in flat.items() for key, part in _parts(name, feature).items()]
            flat = dict(parts)
            if len(flat) < len(parts):
                repeated = [key for key, times in Counter(key for key, _ in parts).items() if times > 1]
                raise ColumnNamesError(repeated, self, "two columns would have the same name; rename one first")
        return Features(flat)


def normal(feature: Any) -> Any:
    """A feature with shorthands expanded: `[x]` is `List(x)`. Descriptions in the form of `asdict` stay."""
    if isinstance(feature, dict):
        stays = type(feature) is Features or isinstance(feature.get("_type"), str)
        for name in feature:
            require_name(name)
        return feature if stays else {name: normal(value) for name, value in feature.items()}
    if isinstance(feature, (list, tuple)):
        if len(feature) != 1:
            raise ArgumentError("feature", feature, "a list of one feature is expected, as in [Value('string')].")
        return List(normal(feature[0]))
    if isinstance(feature, List):
        return List(normal(feature.feature), length=feature.length, id=feature.id)
    if isinstance(feature, LargeList):
        return LargeList(normal(feature.feature), id=feature.id)
    return feature


def _understood(field: pa.Field, stated: Any) -> Any:
    try:
        if stated is not None and plain(arrow_type(stated)) == plain(field.type):
            return stated
        return feature_of(field.type, field.metadata)
    except UnknownTypeError as error:
        raise UnknownTypeError(f"Column {field.name!r}: {error.name}", error.reason) from None


def _decoded(column: Iterable[Any], feature: Any, tokens: Any) -> list[Any]:
    decode = decoder(feature, tokens)
    return [decode(value) for value in column] if decode else list(column)


def _reordered(mine: Any, other: Any, place: str) -> Any:
    if isinstance(mine, dict):
        if not isinstance(other, dict) or set(mine) != set(other):
            raise FeaturesMismatchError(other if isinstance(other, dict) else [], mine, f"The fields{place} differ")
        return {name: _reordered(mine[name], other[name], f"{place}.{name}") for name in other}
    if isinstance(mine, (List, LargeList)):
        if type(mine) is not type(other):
            raise ArgumentError("other", str(other), f"{mine}{place} is of another kind.")
        return with_item(mine, _reordered(mine.feature, other.feature, place + ".<list>"))
    return mine


def _parts(name: str, feature: Any) -> dict[str, Any]:
    """The columns that a feature is flattened into: those of a struct, or itself."""
    parts = feature.flatten() if hasattr(feature, "flatten") else feature
    return {f"{name}.{key}": part for key, part in parts.items()} if isinstance(parts, dict) else {name: feature}


names_of_datasets(__name__)
