"""The errors of the server, in the format of the Hub, and checks of names."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]{0,94}[\w])?")


class HubError(Exception):
    """An error response: a status, the error code of the Hub, and a message."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.code, self.sentence = status, code, sentence


def is_name(part: str) -> bool:
    """Whether this is a valid name of an organization or a dataset."""
    return _NAME.fullmatch(part) is not None


def require_name(id: str) -> None:
    """Raise unless this is a valid name: names become paths."""
    org, _, name = id.rpartition("/")
    # A repository without an organization has folders of these names.
    is_taken = bool(org) and name in {"refs", "commits"}
    if is_taken or not all(map(is_name, [org, name] if org else [name])) or ".." in id or "--" in id:
        raise HubError(400, "BadRequest", f"{id!r} is not the name of a dataset.")
