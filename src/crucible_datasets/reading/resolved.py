"""Stage 2 of 6: one configuration of a dataset, found but not yet read; its files come here when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from crucible_datasets.exceptions import ArgumentTypeError
from crucible_datasets.features import Features
from crucible_datasets.formats.base import Format
from crucible_datasets.formats.scan_options import refuse_what_decides_on_rows
from crucible_datasets.info import DatasetInfo
from crucible_datasets.logging import get_logger
from crucible_datasets.reading.discover import Splits
from crucible_datasets.reading.files import DataFile, identified
from crucible_datasets.reading.place import Place
from crucible_datasets.records import dataclass

logger = get_logger(__name__)

ANY_FORMAT = ("columns", "filters", "on_bad_files")  # options that work for every format


@dataclass(frozen=True)
class Resolved:
    """One configuration of a dataset, found but not yet read."""

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
    places: tuple[Place, ...] = ()  # those whose files are elsewhere until they are read

    def flowing(self, split: str) -> list[DataFile]:
        """The files of a split; those that are elsewhere are read there."""
        found: list[DataFile] = []
        for path in self.files[split]:
            place = next((one for one in self.places if one.holds(path)), None)
            there = place.flowing(path, self.format.reads_archives) if place else None
            if place and there is None:
                place.bring([path])
            found += self._identified([path]) if there is None else [there]
        return found

    def bring(self, paths: Sequence[str]) -> None:
        """Have those of these files on this disk that are elsewhere."""
        for place in self.places:
            place.bring([path for path in paths if place.holds(path)])

    def brought(self, split: str) -> list[DataFile]:
        """The files of a split, on this disk; Parquet may still be on its way, and is waited for where it is read."""
        paths = self.files[split]
        if len(self.places) == 1 and self.format.name == "parquet":
            coming = self.places[0].coming(paths)
            if coming is not None:
                return coming
        self.bring(paths)
        found = self._identified(paths)
        return [replace(file, identity=self._identity(file)) for file in found]

    def _identified(self, paths: Sequence[str]) -> list[DataFile]:
        return identified(paths, self.format.extensions, self.format.reads_archives)

    def _identity(self, file: DataFile) -> tuple[str | int, ...]:
        known = [place.identity(file.path) for place in self.places if file.inner is None and place.holds(file.path)]
        return next((one for one in known if one is not None), file.identity)


def with_options(found: Resolved, stated: Mapping[str, Any]) -> Resolved:
    """What a card's configuration says beside its files; what no format knows is passed over."""
    known = {name: value for name, value in stated.items() if name in (*found.format.options(), *ANY_FORMAT)}
    features = stated.get("features")
    about = {name: stated[name] for name in ("version", "description") if name in stated}
    if unknown := sorted(stated.keys() - known.keys() - about.keys() - {"features"}):
        logger.warning("Passed over what %s does not know: %s", found.format.name, ", ".join(unknown))
    return replace(
        found,
        options=known,
        features=None if features is None else Features._from_yaml_list(features),
        info=replace(found.info, **about),
    )


def checked(format: Format, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options, once the format is known to take them."""
    available = (*format.options(), *ANY_FORMAT)
    for name, value in options.items():
        if name not in available:
            takes = f"{format.name} takes {', '.join(dict.fromkeys(available))}."
            raise ArgumentTypeError(name, value, takes, available)
    refuse_what_decides_on_rows(options.get("fragment_scan_options"))
    return dict(options)
