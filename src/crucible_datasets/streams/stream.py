"""`Stream`: the stages that rows pass through, their features and description, and their format."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from crucible_datasets.exceptions import UnknownFeaturesError
from crucible_datasets.features import Features
from crucible_datasets.features.bounds import Roots
from crucible_datasets.forking import cached_property
from crucible_datasets.info import DatasetInfo
from crucible_datasets.outputs.base import PYTHON, Format
from crucible_datasets.records import dataclass
from crucible_datasets.splits import NamedSplit
from crucible_datasets.streams.base import Stage


@dataclass(frozen=True, eq=False)
class Stream:
    """A stage, the features of its rows (None if unknown), and the format in which rows are shown.

    A stream is a value: operations return another one. `node` says which of several machines reads it.
    """

    stage: Stage
    features: Features | None = None
    info: DatasetInfo = field(default_factory=DatasetInfo)
    split: NamedSplit | None = None
    format: Format = PYTHON
    node: Any = None
    media_roots: Roots | None = None  # the folders that media paths in the data may point into

    @classmethod
    def of(
        cls,
        stage: Stage,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | NamedSplit | None = None,
    ) -> Stream:
        """A stream with the given description and split."""
        named = split if split is None or isinstance(split, NamedSplit) else NamedSplit(str(split))
        return cls(stage, features, info or DatasetInfo(), named)

    @property
    def column_names(self) -> list[str] | None:
        return None if self.features is None else list(self.features)

    @property
    def reads_rows(self) -> bool:
        """Whether Hugging Face `datasets` would read it row by row: the format is Python, and the types are unknown."""
        return self.features is None and self.format.type is None

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What a state of the stream belongs to, as a JSON value."""
        return self.identity_now()

    def identity_now(self) -> dict[str, Any]:
        """The same, from files as they are now."""
        from crucible_datasets.streams.identity import VERSION, facts_of_steps  # imports what computes hashes

        strategy = None if self.node is None else self.node.strategy
        facts = {"version": VERSION, "is_formatted": not self.reads_rows, "strategy": strategy}
        return {**facts, "steps": facts_of_steps(self.stage)}

    def known(self, operation: str) -> Features:
        """The features; raises if they are unknown."""
        if self.features is None:
            raise UnknownFeaturesError(operation)
        return self.features

    def described(self) -> DatasetInfo:
        """What is known about the dataset."""
        return replace(self.info, features=self.features)
