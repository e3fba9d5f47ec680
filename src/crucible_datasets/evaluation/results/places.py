"""The paths of a store, and run ids.

runs/<run id>.parquet   a finished run; replaced only when samples that failed are asked again
open/<run id>/          a run in progress: info.json, one journal per writer, sealed.json when it is finished
index.jsonl             infos and summaries of the finished runs, rebuilt from them when outdated
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime

from crucible_datasets import config
from crucible_datasets.exceptions import ArgumentError

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,149}")
_ENDING = ".parquet"


class Places:
    """The paths of one store."""

    def __init__(self, root: str | os.PathLike[str] | None) -> None:
        self.root = os.path.abspath(os.path.expanduser(root if root is not None else config.CRUCIBLE_RESULTS_DIR))
        if os.path.isfile(self.root):
            raise ArgumentError("store", self.root, "it is a file; runs are stored in a folder.")
        self.runs = os.path.join(self.root, "runs")
        self.open = os.path.join(self.root, "open")
        self.index = os.path.join(self.root, "index.jsonl")
        self.mirror = os.path.join(self.root, "mirror.sqlite")

    def run(self, run_id: str) -> str:
        """The file of a finished run."""
        return os.path.join(self.runs, checked(run_id) + _ENDING)

    def journals(self, run_id: str) -> str:
        """The folder of a run in progress."""
        return os.path.join(self.open, checked(run_id))


def run_id_of(file: str) -> str | None:
    """The run id of a file in `runs`; None for other files, such as temporary ones."""
    name = file.removesuffix(_ENDING)
    return name if file.endswith(_ENDING) and _RUN_ID.fullmatch(name) else None


def checked(run_id: str) -> str:
    """The run id, checked to be a safe file name."""
    if not isinstance(run_id, str) or not _RUN_ID.fullmatch(run_id) or run_id.endswith("."):
        raise ArgumentError("run_id", run_id, "must be 1 to 150 letters, digits or . _ + -, the first no sign.")
    return run_id


def new_run_id(model: str, dataset: str) -> str:
    """A unique run id that sorts by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{_plain(model)}-{_plain(dataset)}-{os.urandom(4).hex()}"


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", name.rpartition("/")[2])[:40].strip("-.") or "x"


def now() -> str:
    """The current time in the format of runs: UTC, in microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
