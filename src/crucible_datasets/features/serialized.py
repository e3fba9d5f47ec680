"""Features ↔ their JSON form, in which `_type` names the feature type."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import LimitExceededError, UnknownTypeError
from crucible_datasets.features.arrays import Array2D, Array3D, Array4D, Array5D
from crucible_datasets.features.audio import Audio
from crucible_datasets.features.classlabel import ClassLabel
from crucible_datasets.features.image import Image
from crucible_datasets.features.media import BioSequence, BioStructure
from crucible_datasets.features.mesh import Mesh
from crucible_datasets.features.nifti import Nifti
from crucible_datasets.features.pdf import Pdf
from crucible_datasets.features.translation import Translation, TranslationVariableLanguages
from crucible_datasets.features.types import Json, LargeList, List, Sequence, Value
from crucible_datasets.features.video import Video

FEATURE_TYPES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Value,
        ClassLabel,
        List,
        LargeList,
        Array2D,
        Array3D,
        Array4D,
        Array5D,
        Json,
        Translation,
        TranslationVariableLanguages,
        Image,
        Audio,
        Video,
        Pdf,
        Nifti,
        Mesh,
        BioSequence,
        BioStructure,
    )
}


def register_feature(feature_cls: Any, feature_type: str) -> None:
    """Make a feature type of your own readable from schema metadata."""
    FEATURE_TYPES[feature_type] = feature_cls


def tagged(feature: Any) -> Any:
    """A feature as plain values: a dataclass becomes a dict of the fields that differ from their defaults."""
    if isinstance(feature, dict):
        return {name: tagged(value) for name, value in feature.items()}
    if isinstance(feature, (list, tuple)):
        return type(feature)(map(tagged, feature))
    if not is_dataclass(feature) or isinstance(feature, type):
        return feature
    changed = {}
    for item in fields(feature):
        value = getattr(feature, item.name)
        if item.name != "_type" and value != item.default and value is not None:
            changed[item.name] = tagged(value)
    return {**changed, "_type": getattr(feature, "_type", type(feature).__name__)}


def from_tagged(stored: Any) -> Any:
    """The inverse of `tagged`."""
    if isinstance(stored, (list, tuple)):
        return List(from_tagged(stored[0]))
    if not isinstance(stored, dict):
        raise UnknownTypeError(stored, "expected a feature in its dict form.")
    kind = stored.get("_type")
    if not isinstance(kind, str):
        return {name: from_tagged(value) for name, value in stored.items()}
    given = {name: value for name, value in stored.items() if name != "_type"}
    if "feature" in given:
        given["feature"] = from_tagged(given["feature"])
    if kind == "Sequence":  # as older files spell it
        return Sequence(given["feature"], length=given.get("length", -1))
    make = FEATURE_TYPES.get(kind)
    if make is None:
        raise UnknownTypeError(kind, f"known feature types are {', '.join(sorted(FEATURE_TYPES))}.")
    _refuse_many_classes(given.get("num_classes") if kind == "ClassLabel" else None)
    known = {item.name for item in fields(make)} | ({"num_classes", "names_file"} if kind == "ClassLabel" else set())
    return make(**{name: value for name, value in given.items() if name in known})


def _refuse_many_classes(number: Any) -> None:
    """Raise for too many classes: data may state a huge number in a few bytes, and every class gets a name."""
    if isinstance(number, int) and number > config.MAX_CARD_VALUES:
        what = f"the number of classes of a ClassLabel, {number:,},"
        raise LimitExceededError("features", what, config.MAX_CARD_VALUES, "config.MAX_CARD_VALUES")
