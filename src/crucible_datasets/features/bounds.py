"""What media in the data of others may open: files below the folders of that data, and nothing else.

A path or an address in a column is data. Whoever wrote a file could name any file of the machine that reads it, or
any server. What a caller puts into a dataset himself has no bounds.
"""

from __future__ import annotations

import copy
import os
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import OutOfBoundsError
from crucible_datasets.features.cast import any_leaf
from crucible_datasets.features.features import Features
from crucible_datasets.features.media import Media
from crucible_datasets.features.types import LargeList, List

Roots = tuple[str, ...]


def within(features: Features, roots: Roots | None) -> Features:
    """The same features, whose media open nothing outside of these folders; None sets no bounds."""
    if roots is None or not any_leaf(dict(features), (Media,)):
        return features
    return Features({name: _bounded(kind, roots) for name, kind in features.items()})


def together(bounds: list[Roots | None]) -> Roots | None:
    """The bounds of data that was put together: all folders of those that have bounds."""
    stated = [roots for roots in bounds if roots is not None]
    return tuple(dict.fromkeys(root for roots in stated for root in roots)) if stated else None


def _bounded(feature: Any, roots: Roots) -> Any:
    if isinstance(feature, dict):
        return {name: _bounded(kind, roots) for name, kind in feature.items()}
    if isinstance(feature, (List, LargeList)):
        made: Any = copy.copy(feature)
        made.feature = _bounded(feature.feature, roots)
        return made
    if not isinstance(feature, Media):
        return feature
    made = copy.copy(feature)
    made.locate = Bounds(roots).locate
    return made


class Bounds:
    """The folders that paths may lead into."""

    def __init__(self, roots: Roots) -> None:
        self.roots = roots

    def locate(self, path: str) -> str:
        """Where a file is that data names; an error when that is outside of the folders."""
        allowed = [*self.roots, *config.CRUCIBLE_MEDIA_ROOTS.split(os.pathsep)]
        if "*" in allowed:
            return path
        if "://" in path or "::" in path or "\0" in path:
            raise OutOfBoundsError(path, self.roots)
        for root in filter(None, allowed):
            folder, place = os.path.realpath(root), os.path.realpath(os.path.join(root, path))
            if place.startswith(f"{folder.rstrip(os.sep)}{os.sep}") and os.path.exists(place):
                return place
        raise OutOfBoundsError(path, self.roots)
