"""Functions of features and pictures that Hugging Face's `features.features` and `features.image` have."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa

from crucible_datasets.features import Image
from crucible_datasets.features.arrays import ArrayXD as _ArrayXD
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.dtypes import arrow_of as string_to_arrow
from crucible_datasets.features.dtypes import name_of as _arrow_to_datasets_dtype
from crucible_datasets.features.encode import encode
from crucible_datasets.features.extension import (
    Array2DExtensionType,
    Array3DExtensionType,
    Array4DExtensionType,
    Array5DExtensionType,
    ArrayExtensionArray,
)
from crucible_datasets.features.image import encoded as image_to_bytes
from crucible_datasets.features.infer import translate
from crucible_datasets.features.serialized import FEATURE_TYPES as _FEATURE_TYPES
from crucible_datasets.features.storage import arrow_type as get_nested_type
from crucible_datasets.features.storage import feature_of
from crucible_datasets.features.types import LargeList, List

__all__ = [
    "_FEATURE_TYPES",
    "Array2DExtensionType",
    "Array3DExtensionType",
    "Array4DExtensionType",
    "Array5DExtensionType",
    "ArrayExtensionArray",
    "FeatureType",
    "_ArrayXD",
    "_arrow_to_datasets_dtype",
    "cast_to_python_objects",
    "decode_nested_example",
    "encode_nested_example",
    "encode_np_array",
    "encode_pil_image",
    "generate_from_arrow_type",
    "generate_from_dict",
    "get_nested_type",
    "image_to_bytes",
    "list_image_compression_formats",
    "objects_to_list_of_image_dicts",
    "require_decoding",
    "require_storage_cast",
    "require_storage_embed",
    "string_to_arrow",
]

FeatureType = Any


def encode_nested_example(schema: Any, obj: Any, level: int = 0) -> Any:
    """A value as it is stored."""
    return encode(schema, obj)


def decode_nested_example(schema: Any, obj: Any, token_per_repo_id: dict[str, Any] | None = None) -> Any:
    """A stored value as it is shown."""
    decode = decoder(schema, token_per_repo_id)
    return obj if decode is None else decode(obj)


def generate_from_arrow_type(pa_type: pa.DataType) -> Any:
    """The feature that an Arrow type stands for."""
    return feature_of(pa_type)


def generate_from_dict(obj: Any) -> Any:
    """Features of the dicts that describe them."""
    from crucible_datasets.features import Features

    return Features.from_dict({"described": obj})["described"]


def cast_to_python_objects(obj: Any, only_1d_for_numpy: bool = False, optimize_list_casting: bool = True) -> Any:
    """A value in terms that Arrow reads."""
    return translate(obj)


def require_storage_cast(feature: Any) -> bool:
    """Whether casting a feature takes more than Arrow."""
    return _any_has(feature, "cast_storage")


def require_storage_embed(feature: Any) -> bool:
    """Whether a feature may refer to files."""
    return _any_has(feature, "embed_storage")


def require_decoding(feature: Any, ignore_decode_attribute: bool = False) -> bool:
    """Whether a feature is shown otherwise than it is stored."""
    return _any_has(feature, "decode_example") if ignore_decode_attribute else decoder(feature) is not None


def _any_has(feature: Any, method: str) -> bool:
    if isinstance(feature, dict):
        return any(_any_has(each, method) for each in feature.values())
    if isinstance(feature, (List, LargeList)):
        return _any_has(feature.feature, method)
    return hasattr(feature, method)


def _check_non_null_non_empty_recursive(obj: Any, schema: Any = None) -> bool:
    """Whether a value is there, and the first of a list too."""
    if obj is None:
        return False
    if not isinstance(obj, (list, tuple)):
        return True
    return len(obj) > 0 and _check_non_null_non_empty_recursive(obj[0])


def encode_pil_image(image: Any) -> dict[str, Any]:
    """A picture of Pillow as it is stored."""
    return dict(Image().encode_example(image))


def encode_np_array(array: Any) -> dict[str, Any]:
    """A picture in an array as it is stored."""
    return dict(Image().encode_example(array))


def objects_to_list_of_image_dicts(objs: list[Any]) -> list[Any]:
    """Paths, pictures or arrays as they are stored."""
    return [value if value is None or isinstance(value, dict) else Image().encode_example(value) for value in objs]


@cache
def list_image_compression_formats() -> list[str]:
    """The formats that Pillow reads and writes."""
    import PIL.Image

    PIL.Image.init()
    return sorted(set(PIL.Image.OPEN) & set(PIL.Image.SAVE))
