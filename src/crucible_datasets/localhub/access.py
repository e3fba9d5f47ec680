"""Permissions: tokens, private and gated repositories, and signed links that expire."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.repos import Repo

_LINK_SECONDS = 3600


@dataclass(frozen=True)
class Access:
    """The tokens of a server, each with its user and permissions."""

    tokens: dict[str, dict[str, str]] = field(repr=False)
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @classmethod
    def of(cls, root: str) -> Access:
        """The tokens in `tokens.json` of a hub folder; a new folder gets one with write access."""
        path = os.path.join(root, "tokens.json")
        if not os.path.exists(path):
            os.makedirs(root, exist_ok=True)
            made = {f"hf_{secrets.token_hex(17)}": {"name": "local", "role": "write"}}
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                json.dump(made, file, indent=1)
        with open(path, encoding="utf-8") as file:
            return cls(json.load(file))

    def user(self, authorization: str | None) -> dict[str, str] | None:
        """The user of an Authorization header; None without one."""
        if not authorization:
            return None
        given = authorization.removeprefix("Bearer ").encode()
        for token, user in self.tokens.items():
            if hmac.compare_digest(token.encode(), given):
                return user
        raise HubError(401, "Unauthorized", "Invalid credentials in Authorization header")

    def require_read(self, repo: Repo, user: dict[str, Any] | None, contents: bool = False) -> None:
        """Raise unless the user may see the repository, or its contents."""
        if not repo.exists or (repo.settings["private"] and user is None):
            status = 404 if user else 401
            raise HubError(status, "RepoNotFound", f"Repository not found: {repo.id}")
        settings = repo.settings
        allowed = {repo.id.partition("/")[0], *settings.get("allowed", ())}  # the owner always has access
        if contents and settings["gated"] and (user is None or user["name"] not in allowed):
            raise HubError(401 if user is None else 403, "GatedRepo", f"Access to dataset {repo.id} is restricted.")

    def require_write(self, user: dict[str, Any] | None) -> dict[str, Any]:
        """Raise unless the user may write."""
        if user is None:
            raise HubError(401, "Unauthorized", "A token is needed to write.")
        if user["role"] != "write":
            raise HubError(403, "Forbidden", "The token may only read.")
        return user

    def signed(self, what: str) -> str:
        """The signed query of a link that gives access to `what` for an hour."""
        until = int(time.time()) + _LINK_SECONDS
        return f"until={until}&signature={self._signature(what, until)}"

    def require_signature(self, what: str, until: str, signature: str) -> None:
        """Raise unless a link was signed here and has not expired."""
        if not until.isdigit() or int(until) < time.time():
            raise HubError(403, "Forbidden", "The link has expired.")
        if not hmac.compare_digest(self._signature(what, int(until)), signature):
            raise HubError(403, "Forbidden", "The signature of the link is not valid.")

    def _signature(self, what: str, until: int) -> str:
        return hmac.new(self._secret, f"{what}|{until}".encode(), hashlib.sha256).hexdigest()
