"""The last part of a call: its result, put together from the parts before it, which then go."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crucible_datasets.cache.parts import Parts

KEPT = "kept.npy"  # the numbers of rows that are kept
_RESULT = "result.json"
_PART = "result"


def put_together(work_out: Callable[[str], None], folder: str) -> dict[str, int]:
    """Have `work_out` write the result, unless an earlier run died right after that; how many rows it has."""
    parts = Parts(folder)
    if parts.found(_PART) is None:
        work_out(folder)
    # Only now, because until the result is whole a run that dies would have to do the other parts again.
    parts.keep_only(_PART)
    return {"rows": result_in(folder)["num_rows"]}


def write_result(folder: str, facts: Mapping[str, Any], files: Sequence[str]) -> None:
    """Note what there is to know of a result, and the files that belong to it."""
    with open(os.path.join(folder, _RESULT), "w", encoding="utf-8") as file:
        json.dump(dict(facts), file)
    Parts(folder).finish(_PART, [_RESULT, *files], {})


def result_in(folder: str) -> dict[str, Any]:
    """What was noted of a result."""
    with open(os.path.join(folder, _RESULT), encoding="utf-8") as file:
        return dict(json.load(file))
