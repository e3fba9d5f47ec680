"""The result for one pair of answers."""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Judgement(Struct, frozen=True, gc=False):
    """Whether both are equal; `status` is ok, unparsed, timeout or error; `read` is the answer as it was understood.

    With the status error, `equal` is None if the fault is not the answer's: then the pair does not count.
    """

    equal: bool | None
    status: str = "ok"
    read: str | None = None
    note: str | None = None


EQUAL: Final = Judgement(True)
DIFFERENT: Final = Judgement(False)
