"""The last part of a call: its result, assembled from the parts before it, which are then removed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crucible_datasets.cache.parts import Parts

KEPT = "kept.npy"  # the numbers of rows that are kept
_RESULT = "result.json"
_PART = "result"


def assembled(make: Callable[[str], None], folder: str) -> dict[str, int]:
    """Write the result by `make`, unless an earlier run already has; the number of rows."""
    parts = Parts(folder)
    if parts.found(_PART) is None:
        make(folder)
    # Only now: without a complete result, a run that dies would have to compute the other parts again.
    parts.keep_only(_PART)
    return {"rows": result_in(folder)["num_rows"]}


def write_result(folder: str, facts: Mapping[str, Any], files: Sequence[str]) -> None:
    """Write the facts about a result, and record the files that belong to it."""
    with open(os.path.join(folder, _RESULT), "w", encoding="utf-8") as file:
        json.dump(dict(facts), file)
    Parts(folder).finish(_PART, [_RESULT, *files], {})


def result_in(folder: str) -> dict[str, Any]:
    """The facts about a result."""
    with open(os.path.join(folder, _RESULT), encoding="utf-8") as file:
        return dict(json.load(file))
