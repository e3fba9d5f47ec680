"""Where a store keeps what: finished runs, runs under way, the index; and what runs are called.

runs/<run id>.parquet   a finished run, never changed
open/<run id>/          a run under way: info.json, one journal per writer, sealed.json once it was finished
index.jsonl             facts and summaries of the finished runs, made again from them whenever it lags
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
        self.runs = os.path.join(self.root, "runs")
        self.open = os.path.join(self.root, "open")
        self.index = os.path.join(self.root, "index.jsonl")
        self.mirror = os.path.join(self.root, "mirror.sqlite")

    def run(self, run_id: str) -> str:
        """The file of a finished run."""
        return os.path.join(self.runs, checked(run_id) + _ENDING)

    def journals(self, run_id: str) -> str:
        """The folder of a run under way."""
        return os.path.join(self.open, checked(run_id))


def run_id_of(file: str) -> str | None:
    """The run that a file of `runs` holds, or None when it is something else, as unfinished work is."""
    name = file.removesuffix(_ENDING)
    return name if file.endswith(_ENDING) and _RUN_ID.fullmatch(name) else None


def checked(run_id: str) -> str:
    """A run id, which becomes the name of a file and nothing else."""
    if not isinstance(run_id, str) or not _RUN_ID.fullmatch(run_id) or run_id.endswith("."):
        raise ArgumentError("run_id", run_id, "must be 1 to 150 letters, digits or . _ + -, the first no sign.")
    return run_id


def new_run_id(model: str, dataset: str) -> str:
    """A name that no other run has, and that sorts by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{_plain(model)}-{_plain(dataset)}-{os.urandom(4).hex()}"


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", name.rpartition("/")[2])[:40].strip("-.") or "x"


def now() -> str:
    """This moment as runs record it: UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
