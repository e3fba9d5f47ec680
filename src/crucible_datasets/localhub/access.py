"""Permissions: tokens, private and gated repositories, and signed links that expire.

A token with the role `write` may change every repository whose files its user may read. Settings, the name and the
existence of a repository belong to its owners.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import time
from dataclasses import dataclass, field

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.repos import Repo

User = dict[str, str]
_LINK_SECONDS = 3600


@dataclass(frozen=True)
class Access:
    """The tokens of a server, each with its user and permissions."""

    tokens: dict[str, User] = field(repr=False)
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
        try:
            with open(path, encoding="utf-8") as file:
                sent = json.load(file).items()
            tokens = {token: {"name": "" + user["name"], "role": "" + user["role"]} for token, user in sent}
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            expected = '{"hf_…": {"name": "ann", "role": "read" or "write"}, …}'
            raise ArgumentError("folder", root, f"its tokens.json is not {expected}.") from error
        return cls(tokens)

    def user(self, authorization: str | None) -> User | None:
        """The user of an Authorization header; None without one."""
        if not authorization:
            return None
        given = authorization.removeprefix("Bearer ").encode()
        for token, user in self.tokens.items():
            if hmac.compare_digest(token.encode(), given):
                return user
        raise HubError(401, "Unauthorized", "Invalid credentials in Authorization header")

    def require_visible(self, repo: Repo, user: User | None) -> None:
        """Raise unless the user may see the repository."""
        if not repo.exists or (user is None and repo.settings["private"]):
            raise HubError(404 if user else 401, "RepoNotFound", f"Repository not found: {repo.id}")

    def require_contents(self, repo: Repo, user: User | None) -> None:
        """Raise unless the user may read the files of the repository."""
        self.require_visible(repo, user)
        if repo.settings["gated"] and (user is None or user["name"] not in {*repo.owners, *repo.settings["allowed"]}):
            raise HubError(401 if user is None else 403, "GatedRepo", f"Access to dataset {repo.id} is restricted.")

    def require_writer(self, user: User | None) -> User:
        """Raise unless the user may write at all."""
        if user is None:
            raise HubError(401, "Unauthorized", "A token is needed to write.")
        if user["role"] != "write":
            raise HubError(403, "Forbidden", "The token may only read.")
        return user

    def require_write(self, repo: Repo, user: User | None) -> User:
        """Raise unless the user may write to the repository."""
        writer = self.require_writer(user)
        self.require_contents(repo, user)
        return writer

    def require_owner(self, repo: Repo, user: User | None) -> User:
        """Raise unless the user owns the repository, as the only user of a hub owns them all."""
        writer = self.require_writer(user)
        self.require_visible(repo, user)
        if writer["name"] not in repo.owners and len({user["name"] for user in self.tokens.values()}) > 1:
            owners = " and ".join(sorted(repo.owners))
            raise HubError(403, "Forbidden", f"Only the owner of {repo.id} may do that: {owners}.")
        return writer

    def signed(self, *what: str) -> str:
        """The signed query of a link that gives access to `what` for an hour."""
        until = int(time.time()) + _LINK_SECONDS
        return f"until={until}&signature={self._signature(what, until)}"

    def require_signature(self, what: tuple[str, ...], until: str, signature: str) -> None:
        """Raise unless a link was signed here and has not expired."""
        if not re.fullmatch(r"[0-9]{1,12}", until) or int(until) < time.time():
            raise HubError(403, "Forbidden", "The link has expired.")
        if not hmac.compare_digest(self._signature(what, int(until)).encode(), signature.encode()):
            raise HubError(403, "Forbidden", "The signature of the link is not valid.")

    def _signature(self, what: tuple[str, ...], until: int) -> str:
        return hmac.new(self._secret, json.dumps([*what, until]).encode(), hashlib.sha256).hexdigest()
