"""Samples → Python rows without Arrow, for files whose values are exactly of the features.

Arrow would return the same rows in twice the time. This is the common case of a stream whose types are known. In all
other cases (numbers to widen, different keys, media, broken files) the result is None, and Arrow is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any

from crucible_datasets.features import Features
from crucible_datasets.features.media import Media
from crucible_datasets.features.types import List, Value, any_leaf
from crucible_datasets.formats.webdataset import decoders
from crucible_datasets.formats.webdataset.columns import Contents, ending_of, fixed_feature
from crucible_datasets.formats.webdataset.kinds import INTEGERS, TEXTS
from crucible_datasets.formats.webdataset.members import Wanted
from crucible_datasets.formats.webdataset.samples import KEY, URL, RawSample

_CLASSES = {"string": str, "int64": int, "float64": float, "bool": bool, "binary": bytes}
_INT64 = range(-(1 << 63), 1 << 63)


def python_rows(
    block: Sequence[RawSample], path: str, features: Features, wanted: Wanted | None, only_those: bool = False
) -> list[dict[str, Any]] | None:
    """The samples as rows of these features; None if Arrow might give other rows.

    `only_those` drops fields that `features` does not name; without it, such fields are left to Arrow.
    """
    keys = [sample.key for sample in block]
    known: dict[str, list[Any]] = {KEY: keys, URL: [path] * len(keys)}
    kinds = dict.fromkeys(map(tuple, map(itemgetter(2), block)))
    names = [name for name in dict.fromkeys(chain.from_iterable(kinds)) if wanted is None or wanted(name)]
    if only_those:
        names = [name for name in names if name in features]
    elif not features.keys() >= {*names, *known}:
        return None
    if not known.keys().isdisjoint(names) or any_leaf(dict(features), (Media,)):
        return None
    files = [sample.files for sample in block]
    read = itemgetter if len(kinds) == 1 else _of_some
    for name in names:
        found = _column(name, list(map(read(name), files)), features[name])
        if found is None:
            return None
        known[name] = found
    columns = [known[name] if name in known else [None] * len(keys) for name in features]
    make = partial(zip, list(features))
    return list(map(dict, map(make, zip(*columns, strict=True))))


def _of_some(name: str) -> Any:
    """Like `itemgetter`, but None for samples without the file."""
    return lambda files: files.get(name)


def _column(extension: str, contents: Contents, feature: Any) -> list[Any] | None:
    """The values of the files of an extension, if they are exactly of this feature."""
    fixed, (ending, is_packed) = fixed_feature(extension), ending_of(extension)
    if is_packed:
        return None
    if ending in ("json", "jsn"):
        decode: Any = decoders.fast_json()
    elif fixed != feature:
        return None
    elif fixed == Value("binary"):
        return list(contents)
    elif ending in TEXTS:
        decode = bytes.decode
    elif ending in INTEGERS:
        decode = int
    else:
        return None
    try:
        values = [None if content is None else decode(content) for content in contents]
    except decoders.FAILURES:
        return None
    return values if _is_exactly(values, feature) else None


def _is_exactly(values: list[Any], feature: Any) -> bool:
    """Whether an Arrow column of this feature would return exactly these values."""
    classes = set(map(type, values))
    if type(None) in classes:
        classes.remove(type(None))
        values = [value for value in values if value is not None]
    if not values:
        return True
    if isinstance(feature, dict):
        return classes == {dict} and _are_structs(values, feature)
    if isinstance(feature, List):
        return classes == {list} and feature.length < 0 and _is_exactly([*chain.from_iterable(values)], feature.feature)
    if type(feature) is not Value or classes != {_CLASSES.get(feature.dtype)}:
        return False
    return feature.dtype != "int64" or (min(values) in _INT64 and max(values) in _INT64)


def _are_structs(values: list[Any], feature: dict[str, Any]) -> bool:
    names = tuple(feature)
    if set(map(tuple, values)) != {names}:
        return False
    return all(_is_exactly(list(map(itemgetter(name), values)), kind) for name, kind in feature.items())
