"""`DownloadConfig`: how files are fetched and unpacked."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class DownloadConfig:
    """How files are fetched and unpacked. `cache_dir`, `force_extract` and `delete_extracted` act on local files."""

    cache_dir: str | Path | None = None
    force_download: bool = False
    resume_download: bool = False
    local_files_only: bool = False
    proxies: dict[str, Any] | None = field(default=None, repr=False)  # their addresses may hold a password
    user_agent: str | None = None
    extract_compressed_file: bool = False
    force_extract: bool = False
    delete_extracted: bool = False
    extract_on_the_fly: bool = False
    use_etag: bool = True
    num_proc: int | None = None
    max_retries: int = 1
    token: str | bool | None = field(default=None, repr=False)
    storage_options: dict[str, Any] = field(default_factory=dict, repr=False)
    download_desc: str | None = None
    disable_tqdm: bool = False

    def copy(self) -> DownloadConfig:
        """A deep copy."""
        return deepcopy(self)
