"""The input files of a builder, and whether they have changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from crucible_datasets.fingerprint import version_of
from crucible_datasets.reading.data_files import patterns_of
from crucible_datasets.reading.patterns import matched


def files_of(data_files: Any, base: str | None) -> dict[str, list[str]]:
    """The files of each split that patterns name."""
    place = os.path.abspath(os.path.expanduser(base or ""))
    return {
        split: [path for one in several for path in matched(one, place)]
        for split, several in patterns_of(data_files).items()
    }


def state_of(path: str) -> list[int]:
    """The identity of a file, which changes when it is modified; empty if there is none."""
    try:
        return [*version_of(os.stat(path))]
    except OSError:
        return []


def unchanged(inputs: Mapping[str, list[int]]) -> bool:
    """Whether no file has changed."""
    return all(state_of(path) == state for path, state in inputs.items())
