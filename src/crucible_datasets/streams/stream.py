"""`Stream`: the stages that rows flow through, what is known of the rows, and how they are shown."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from crucible_datasets.exceptions import UnknownFeaturesError
from crucible_datasets.features import Features
from crucible_datasets.features.bounds import Roots
from crucible_datasets.info import DatasetInfo
from crucible_datasets.outputs.base import PYTHON, Format
from crucible_datasets.records import dataclass
from crucible_datasets.splits import NamedSplit
from crucible_datasets.streams.base import Stage


@dataclass(frozen=True, eq=False)
class Stream:
    """A stage, the features of its rows (None while nobody knows them), and how rows are shown.

    A stream is a value: operations make another one. `node` says which part of the rows a machine of several reads.
    """

    stage: Stage
    features: Features | None = None
    info: DatasetInfo = field(default_factory=DatasetInfo)
    split: NamedSplit | None = None
    format: Format = PYTHON
    node: Any = None
    media_roots: Roots | None = None  # the folders that media in the data of others may lead into

    @classmethod
    def of(
        cls,
        stage: Stage,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | NamedSplit | None = None,
    ) -> Stream:
        """A stream whose description and split are what the caller gave, if anything."""
        named = split if split is None or isinstance(split, NamedSplit) else NamedSplit(str(split))
        return cls(stage, features, info or DatasetInfo(), named)

    @property
    def column_names(self) -> list[str] | None:
        return None if self.features is None else list(self.features)

    @property
    def reads_rows(self) -> bool:
        """Whether Hugging Face `datasets` would read it row by row: it shows Python, and its types are unknown."""
        return self.features is None and self.format.type is None

    def known(self, operation: str) -> Features:
        """The features, for something that cannot do without."""
        if self.features is None:
            raise UnknownFeaturesError(operation)
        return self.features

    def described(self) -> DatasetInfo:
        """What is known about the dataset."""
        return replace(self.info, features=self.features)
