"""Arrow files that somebody else's program reads by itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.combine import concatenate_datasets
from crucible_datasets.info import DatasetInfo
from crucible_datasets.splits import FileInstructions, NamedSplit, ReadInstruction

__all__ = ["ArrowReader", "FileInstructions", "ReadInstruction"]


class ArrowReader:
    """Reads Arrow files of a folder."""

    def __init__(self, path: str, info: DatasetInfo | None) -> None:
        self._path, self._info = path, info

    def read_files(
        self,
        files: Sequence[dict[str, Any]],
        original_instructions: str | ReadInstruction | NamedSplit | None = None,
        in_memory: bool = False,
    ) -> dict[str, Any]:
        """What `Dataset(**…)` is made of: the rows of files, given by `filename` and perhaps `skip` and `take`."""
        parts = [self._part(file, in_memory) for file in files]
        split = None if original_instructions is None else NamedSplit(str(original_instructions))
        return {"arrow_table": concatenate_datasets(parts).data, "info": self._info, "split": split}

    def _part(self, file: dict[str, Any], in_memory: bool) -> Dataset:
        whole = Dataset.from_file(os.path.join(self._path, file["filename"]), in_memory=in_memory)
        skip = file.get("skip") or 0
        stop = len(whole) if file.get("take") in (None, -1) else skip + file["take"]
        return whole if (skip, stop) == (0, len(whole)) else whole.select(range(skip, stop)).flatten_indices()
