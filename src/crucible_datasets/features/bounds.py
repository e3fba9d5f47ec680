"""What media in the data of others may open: files below the folders of that data, and nothing else.

A path or an address in a column is data. Whoever wrote a file could name any file of the machine that reads it, or
any server. What a caller puts into a dataset himself has no bounds.
"""

from __future__ import annotations

import copy
import os
from functools import lru_cache
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import OutOfBoundsError
from crucible_datasets.features.cast import any_leaf
from crucible_datasets.features.features import Features
from crucible_datasets.features.media import Media
from crucible_datasets.features.members import member_of
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
        if (member := member_of(path)) is not None:
            return f"zip://{member[1]}::{self.locate(member[0])}"
        if "://" in path or "::" in path or "\0" in path:
            raise OutOfBoundsError(path, self.roots)
        for root in filter(None, allowed):
            folder, place = _real(root), _real(os.path.join(root, path))
            if place.startswith(f"{folder.rstrip(os.sep)}{os.sep}") and os.path.exists(place):
                return place
        raise OutOfBoundsError(path, self.roots)


def _real(path: str) -> str:
    """As `os.path.realpath`, which asks about every folder above a file: a tenth of decoding a small picture."""
    folder, name = os.path.split(path)
    try:
        facts = os.stat(folder)
    except OSError:
        return os.path.realpath(path)
    if name in ("", ".", "..") or os.path.islink(path):
        return os.path.realpath(path)
    return os.path.join(_real_folder(folder, facts.st_dev, facts.st_ino), name)


@lru_cache(4096)
def _real_folder(path: str, device: int, number: int) -> str:
    """A folder that is another one now, by a link that was changed, has another number."""
    return os.path.realpath(path)
