"""Names of id columns."""

from __future__ import annotations

import re

_LIKE_ID = re.compile(
    r"(?:.*[^a-z])?(?:q|u|uu|gu|doc|sample|item|question|problem|prompt|instance|record|row|example|task)?"
    r"(?:id|idx|index)"
)


def is_like_id(column: object) -> bool:
    """Whether a name is that of an id column: qid, doc_id, exampleId, idx."""
    return isinstance(column, str) and _LIKE_ID.fullmatch(column.lower()) is not None
