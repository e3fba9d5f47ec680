"""The errors of the server, in the format of the Hub."""

from __future__ import annotations


class HubError(Exception):
    """An error response: a status, the error code of the Hub, and a message."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.code, self.sentence = status, code, sentence
