"""Whether a file system is another machine's."""

from __future__ import annotations

from typing import Any

__all__ = ["is_remote_filesystem"]


def is_remote_filesystem(fs: Any) -> bool:
    """Whether an fsspec file system is not the disk of this machine."""
    protocols = (fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol
    return "file" not in protocols
