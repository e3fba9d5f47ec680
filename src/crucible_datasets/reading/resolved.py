"""Stage 2 of 6: one configuration of a dataset, resolved but not yet read. Its files are downloaded when needed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError
from crucible_datasets.features import Features
from crucible_datasets.formats.base import Format
from crucible_datasets.formats.scan_options import require_no_effect
from crucible_datasets.info import DatasetInfo
from crucible_datasets.keywords import refuse_unknown_keywords
from crucible_datasets.logging import get_logger
from crucible_datasets.reading.discover import Splits
from crucible_datasets.reading.files import DataFile, identified
from crucible_datasets.reading.place import Place
from crucible_datasets.records import dataclass

logger = get_logger(__name__)

ANY_FORMAT = ("columns", "filters", "on_bad_files")  # options that work for every format


@dataclass(frozen=True)
class Resolved:
    """One configuration of a dataset: its files, format, options and description."""

    name: str
    config_name: str
    config_names: tuple[str, ...]
    base: str
    files: Splits
    format: Format
    options: Mapping[str, Any] = field(default_factory=dict)
    features: Features | None = None
    info: DatasetInfo = field(default_factory=DatasetInfo)
    is_format_given: bool = False
    places: tuple[Place, ...] = ()  # the remote ones

    def streamed_files(self, split: str) -> list[DataFile]:
        """The files of a split for streaming: remote ones are not downloaded where they can be read remotely."""
        found: list[DataFile] = []
        for path in self.files[split]:
            place = next((one for one in self.places if one.holds(path)), None)
            there = place.remote_file(path, self.format.reads_archives) if place else None
            if place and there is None:
                place.download([path])
            found += self._identified([path]) if there is None else [there]
        return found

    def download(self, paths: Sequence[str]) -> None:
        """Download those of these files that are remote."""
        for place in self.places:
            place.download([path for path in paths if place.holds(path)])

    def local_files(self, split: str) -> list[DataFile]:
        """The files of a split, downloaded; Parquet may still be downloading, and is waited for when it is read."""
        paths = self.files[split]
        if len(self.places) == 1 and self.format.name == "parquet":
            downloading = self.places[0].downloading(paths)
            if downloading is not None:
                return downloading
        self.download(paths)
        found = self._identified(paths)
        return [replace(file, identity=self._identity(file)) for file in found]

    def _identified(self, paths: Sequence[str]) -> list[DataFile]:
        return identified(paths, self.format.extensions, self.format.reads_archives)

    def _identity(self, file: DataFile) -> tuple[str | int, ...]:
        known = [place.identity(file.path) for place in self.places if file.inner is None and place.holds(file.path)]
        return next((one for one in known if one is not None), file.identity)


# Separators that are found in linear time: signs, classes of signs, and one of them repeated.
_SIGN = r"(?:[^\\.^$*+?{}\[\]|()]|\\.|\[\^?[^\^\[\]\\]+\])"
_LINEAR = re.compile(rf".|{_SIGN}*|{_SIGN}\+", re.DOTALL)


def with_options(found: Resolved, stated: Mapping[str, Any]) -> Resolved:
    """With the options, features and description that a card's configuration states; unknown options are ignored."""
    known = {name: value for name, value in stated.items() if name in (*found.format.options(), *ANY_FORMAT)}
    for name in ("sep", "delimiter"):
        if isinstance(known.get(name), str) and not _LINEAR.fullmatch(known[name]):
            raise ArgumentError(
                name, known[name], "a card may not state such a regular expression: pass it in the call."
            )
    features = stated.get("features") if found.info.features is None else None  # dataset_info comes first
    about = {name: stated[name] for name in ("version", "description") if name in stated}
    if not isinstance(about.get("version"), str | None):
        raise ArgumentTypeError("version", about["version"], "expected a text such as '1.0.0'.")
    if unknown := sorted(stated.keys() - known.keys() - about.keys() - {"features"}):
        logger.warning("Passed over what %s does not know: %s", found.format.name, ", ".join(unknown))
    return replace(
        found,
        options=known,
        features=None if features is None else Features._from_yaml_list(features),
        info=replace(found.info, **about),
    )


def checked(format: Format, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options; raises for one that the format does not have."""
    refuse_unknown_keywords(format.name, options, (*format.options(), *ANY_FORMAT))
    require_no_effect(options.get("fragment_scan_options"))
    return dict(options)
