"""Where the rows of a benchmark come from: the Hub, a folder, what `save_to_disk` wrote, or the miniature."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Protocol

from crucible_datasets import config as settings
from crucible_datasets.benchmarks.catalog.entry import BenchmarkEntry
from crucible_datasets.benchmarks.catalog.registry import is_bundled
from crucible_datasets.exceptions import ConfigNotFoundError, DatasetNotFoundError, PinNotFoundError, UnknownEntryError
from crucible_datasets.forking import cached_property
from crucible_datasets.logging import get_logger

_logger = get_logger(__name__)


class Origin(Protocol):
    """One configuration of a dataset."""

    @property
    def revision(self) -> str | None: ...
    def table(self, split: str) -> Any: ...
    def stream(self, split: str) -> Any: ...


@dataclass(frozen=True)
class Loaded:
    """Files, wherever they are."""

    source: str
    config: str
    asked: str | None
    options: dict[str, Any] = field(default_factory=dict)
    pinned_by: str = ""  # the benchmark whose file asks for that revision

    @cached_property
    def _builder(self) -> Any:
        try:
            return self._opened()
        except DatasetNotFoundError as error:
            if not self.pinned_by or getattr(error.__cause__, "code", "") != "RevisionNotFound":
                raise
            raise PinNotFoundError(self.pinned_by, self.source, self.asked, settings.HF_ENDPOINT) from error

    def _opened(self) -> Any:
        from crucible_datasets.load import load_dataset_builder

        try:
            return load_dataset_builder(self.source, self.config or None, revision=self.asked, **self.options)
        except ConfigNotFoundError as error:
            # Files of one's own have no configurations to choose from.
            if error.available != ["default"] or not os.path.exists(self.source):
                raise
            return load_dataset_builder(self.source, revision=self.asked, **self.options)

    @property
    def revision(self) -> str | None:
        """The commit of a repository on the Hub; nobody knows that of a folder."""
        found: str | None = self._builder.revision
        return found

    def table(self, split: str) -> Any:
        return self._builder.as_dataset(self._named(split))

    def stream(self, split: str) -> Any:
        return self._builder.as_streaming_dataset(self._named(split))

    def _named(self, split: str) -> str:
        """One file is the split that is asked for, whatever it is called."""
        return next(iter(self._builder.config.data_files)) if os.path.isfile(self.source) else split


@dataclass(frozen=True)
class Saved:
    """What `save_to_disk` wrote."""

    folder: str
    revision: str | None = None

    @cached_property
    def _splits(self) -> Any:
        from crucible_datasets.load import load_from_disk

        return load_from_disk(self.folder)

    def table(self, split: str) -> Any:
        found = self._splits
        return found[split] if isinstance(found, dict) else found

    def stream(self, split: str) -> Any:
        return self.table(split).to_iterable_dataset()


@dataclass(frozen=True)
class Miniature:
    """Rows made by this package, of the same columns."""

    entry: BenchmarkEntry
    config: str

    @property
    def revision(self) -> str:
        from crucible_datasets.benchmarks.miniatures.base import VERSION

        return f"miniature@{VERSION}"

    def table(self, split: str) -> Any:
        from crucible_datasets.benchmarks.miniatures.base import miniature

        splits = self.entry.splits_of(self.config)
        if split not in splits:
            raise UnknownEntryError(f"split of {self.entry.name}", split, splits)
        return miniature(self.entry, self.config, split)

    def stream(self, split: str) -> Any:
        return self.table(split).to_iterable_dataset()


def origin_of(
    entry: BenchmarkEntry, config: str, *, synthetic: bool, source: str | None, revision: str | None, **options: Any
) -> Origin:
    """The place that a benchmark is loaded from."""
    if synthetic:
        return Miniature(entry, config)
    asked = source or entry.source
    if os.path.isdir(asked) and any(
        os.path.exists(os.path.join(asked, name)) for name in ("dataset_dict.json", "state.json")
    ):
        return Saved(asked)
    # A pin is one of the repository in the file, and says nothing of another place.
    pin = entry.revision if source is None and not revision and settings.CRUCIBLE_PINS else ""
    wanted = revision or pin
    if not wanted and source is None and is_bundled(entry) and settings.CRUCIBLE_PINS:
        _logger.warning(
            "%s is pinned to no commit: this is the newest one of %s, and tomorrow there may be another. "
            "`crucible lock %s` keeps it, and revision='latest' says that it is meant.",
            entry.name,
            entry.source,
            entry.name,
        )
    return Loaded(asked, config, None if wanted in ("", "latest") else wanted, options, entry.name if pin else "")
