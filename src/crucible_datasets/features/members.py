"""Names of media in zip archives: `zip://folder/a.jpg::/data/pictures.zip`.

Only local archives are supported. `features.zipped` reads from them.
"""

from __future__ import annotations

import os
import re

_CHAIN = re.compile(r"zip://(?P<member>.+?)::(?:file://)?(?P<archive>/.+)", re.DOTALL)


def member_of(path: str) -> tuple[str, str] | None:
    """The archive and the member that a path names; None for any other path.

    >>> member_of("zip://a/b.jpg::/data/c.zip"), member_of("/data/c.zip")
    (('/data/c.zip', 'a/b.jpg'), None)
    """
    chain = _CHAIN.fullmatch(path) if path.startswith("zip://") else None
    return (chain["archive"], chain["member"]) if chain and "://" not in chain["archive"] else None


def base_name(path: str) -> str:
    """The name of a file without its folders, also of one in an archive."""
    member = member_of(path)
    return os.path.basename(member[1] if member else path)
