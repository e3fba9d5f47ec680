"""Stage 2 of 6: what a name and its arguments stand for: files per split, their format, what is known of them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import (
    ArgumentError,
    ArgumentTypeError,
    CardError,
    ConfigNotFoundError,
    DataFilesNotFoundError,
    DatasetNotFoundError,
    DatasetScriptError,
    DownloadError,
    EmptyDatasetError,
    UnknownEntryError,
)
from crucible_datasets.features import Features
from crucible_datasets.formats.base import Format
from crucible_datasets.info import DatasetInfo
from crucible_datasets.logging import get_logger
from crucible_datasets.reading.asked import Patterns, patterns_of
from crucible_datasets.reading.card import Card, CardConfig, card_of
from crucible_datasets.reading.choice import extensions, format_of, named, of_format
from crucible_datasets.reading.discover import Splits, splits_of
from crucible_datasets.reading.files import DataFile, identified
from crucible_datasets.reading.patterns import is_pattern
from crucible_datasets.reading.place import Place, of_address, of_export, of_repo
from crucible_datasets.sources.base import scheme_of

logger = get_logger(__name__)

ANY_FORMAT = ("columns", "filters", "on_bad_files")  # options that work for every format
_REPOSITORY = re.compile(r"[\w][\w.-]*(?:/[\w][\w.-]*)?")
_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


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
            there = place.flowing(path) if place else None
            if place and there is None:
                place.bring([path])
            found += identified([path], self.format.extensions) if there is None else [there]
        return found

    def brought(self, split: str) -> list[DataFile]:
        """The files of a split, on this disk; Parquet may still be on its way, and is waited for where it is read."""
        paths = self.files[split]
        if len(self.places) == 1 and self.format.name == "parquet":
            coming = self.places[0].coming(paths)
            if coming is not None:
                return coming
        for place in self.places:
            place.bring([path for path in paths if place.holds(path)])
        found = identified(paths, self.format.extensions)
        return [replace(file, identity=self._identity(file)) for file in found]

    def _identity(self, file: DataFile) -> tuple[str | int, ...]:
        known = [place.identity(file.path) for place in self.places if file.inner is None and place.holds(file.path)]
        return next((one for one in known if one is not None), file.identity)


@dataclass(frozen=True)
class Access:
    """What it takes to reach a dataset that is elsewhere."""

    revision: str | None = None
    token: str | bool | None = field(default=None, repr=False)
    storage_options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, revision: Any, token: str | bool | None, storage_options: Any, download_config: Any) -> Access:
        """What a caller said, with what its `DownloadConfig` says where it said nothing."""
        stated = {**(getattr(download_config, "storage_options", None) or {}), **(storage_options or {})}
        token = token if token is not None else getattr(download_config, "token", None)
        return cls(None if revision is None else str(revision), token, stated)

    def place(self, asked: str) -> Place:
        """The place that an address or a repository's name stands for."""
        if scheme_of(asked):
            options = (
                {"token": self.token, **self.storage_options} if asked.startswith("hf://") else self.storage_options
            )
            return of_address(asked.rstrip("/"), options)
        return of_repo(asked, self.revision, self.token)


def resolve(
    path: str | os.PathLike[str],
    name: str | None = None,
    data_dir: str | None = None,
    data_files: Any = None,
    options: Mapping[str, Any] | None = None,
    access: Access | None = None,
) -> Resolved:
    """The dataset of a format's name, a folder, a file, an address or a repository; `options` are the format's."""
    asked, access = os.fspath(path), access or Access()
    patterns = None if data_files is None else patterns_of(data_files)
    place = os.path.abspath(os.path.expanduser(asked.removeprefix("file://")))
    if format := _packaged(asked):
        found = _of_format(format, name, data_dir, patterns, access)
    elif os.path.isdir(place):
        found = _of_folder(Place(place), name, data_dir, patterns)
    elif os.path.isfile(place):
        found = _of_file(place, name)
    elif scheme_of(asked):
        found = _of_remote(asked, name, data_dir, patterns, access)
    elif _REPOSITORY.fullmatch(asked):
        found = _of_repository(asked, name, data_dir, patterns, access)
    else:
        raise DatasetNotFoundError(
            asked, f"it is no format, no repository's name, and there is neither a folder nor a file {place}."
        )
    return replace(found, options={**found.options, **_checked(found.format, options or {})})


def _of_repository(
    asked: str, name: str | None, data_dir: str | None, patterns: Patterns | None, access: Access
) -> Resolved:
    try:
        return _of_remote(asked, name, data_dir, patterns, access)
    except (DownloadError, DatasetNotFoundError) as error:
        if format := extensions().get(f".{asked}"):
            raise DatasetNotFoundError(asked, f"it is no format; did you mean {format!r}? The Hub: {error}") from error
        if os.path.splitext(asked)[1] in extensions():
            raise DatasetNotFoundError(asked, f"there is no such file here. The Hub: {error}") from error
        raise


def _of_remote(
    asked: str, name: str | None, data_dir: str | None, patterns: Patterns | None, access: Access
) -> Resolved:
    place = access.place(asked)
    if not scheme_of(asked) and place.has(f"{asked.rpartition('/')[2]}.py"):
        exported = of_export(asked, access.token)
        if exported is None:
            raise DatasetScriptError(f"{asked}/{asked.rpartition('/')[2]}.py")
        logger.warning(
            "%s is a program, which is never run. What the Hub made of it, as Parquet, is read instead.", asked
        )
        return replace(_of_folder(exported, name, data_dir, patterns or _exported(exported, name)), places=(exported,))
    if scheme_of(asked) and place.listed() == [asked.rpartition("/")[2]]:
        file = os.path.join(place.folder, place.listed()[0])
        return replace(_of_file(file, name), places=(place,))
    place.bring_description()
    return replace(_of_folder(place, name, data_dir, patterns), name=_snake(asked.rpartition("/")[2]), places=(place,))


def config_names(
    path: str | os.PathLike[str], data_files: Any = None, access: Access | None = None
) -> tuple[list[str], str | None]:
    """The configurations that can be asked for, and the one that is meant when none is named."""
    asked = os.fspath(path)
    place = os.path.abspath(os.path.expanduser(asked))
    if os.path.isdir(place) and not _packaged(asked):
        configs = card_of(place).configs
    elif _REPOSITORY.fullmatch(asked) and not _packaged(asked) and not os.path.exists(place):
        repo = (access or Access()).place(asked)
        repo.bring_description()
        configs = card_of(repo.folder).configs
    else:
        configs = {}
    if configs:
        return list(configs), _default(configs)
    return list(resolve(path, data_files=data_files, access=access).config_names), "default"


def _packaged(asked: str) -> Format | None:
    if not asked.isidentifier():
        return None
    try:
        return named(asked, asked)
    except UnknownEntryError:
        return None


def _of_format(
    format: Format, name: str | None, data_dir: str | None, patterns: Patterns | None, access: Access
) -> Resolved:
    is_remote = scheme_of(data_dir or "") not in ("", "file")
    place = access.place(str(data_dir)) if is_remote else Place(os.path.abspath(os.path.expanduser(data_dir or "")))
    places = [place] if is_remote else []
    if patterns is None:
        found = _conventional(place)
        fitting = {split: of_format(files, format) for split, files in found.items()}
        files = fitting if all(fitting.values()) else found
    else:
        files = _matched(patterns, place, access, places)
    config_name = name or "default"
    return Resolved(
        format.name,
        config_name,
        (config_name,),
        place.folder,
        files,
        format,
        is_format_given=True,
        places=tuple(places),
    )


def _of_file(path: str, name: str | None) -> Resolved:
    if path.endswith(".py"):
        raise DatasetScriptError(path)
    files = {"train": [path]}
    _require_config(path, name, ["default"])
    stem = os.path.basename(path).split(".")[0]
    return Resolved(_snake(stem), "default", ("default",), os.path.dirname(path), files, format_of(files, path))


def _of_folder(place: Place, name: str | None, data_dir: str | None, patterns: Patterns | None) -> Resolved:
    folder = place.folder
    script = os.path.join(folder, f"{os.path.basename(folder)}.py")
    if os.path.exists(script):
        raise DatasetScriptError(script)
    if place.has(config.DATASET_STATE_JSON_FILENAME):
        raise ArgumentError("path", folder, "it was written by save_to_disk: open it with load_from_disk.")
    card = card_of(folder)
    chosen = _chosen(card, name, place.name)
    own = patterns is None and data_dir is None
    if own:
        patterns, data_dir = chosen.data_files, chosen.data_dir if chosen.data_files is None else None
        _require_inside(folder, [*(one for several in (patterns or {}).values() for one in several), data_dir or ""])
    base = _inside(folder, data_dir)
    within = place.below(base)
    files = _conventional(within) if patterns is None else _matched(patterns, within)
    if archives := [path for paths in files.values() for path in paths if path.endswith(".zip")]:
        place.bring(archives[: config.ARCHIVES_MAX_NUMBER_FOR_MODULE_INFERENCE])  # their members tell the format
    format = format_of(files, base)
    found = Resolved(
        _snake(os.path.basename(folder)),
        chosen.name,
        tuple(card.configs) or (chosen.name,),
        folder,
        _fitting(files, format, patterns),
        format,
        # What a card says is about its own files.
        info=_info(card, chosen) if own else DatasetInfo(),
    )
    return _with_options(found, chosen.options)


def _chosen(card: Card, name: str | None, dataset: str) -> CardConfig:
    if not card.configs:
        _require_config(dataset, name, ["default", *card.infos] if len(card.infos) == 1 else ["default"])
        return CardConfig("default")
    wanted = _default(card.configs) if name is None else name
    _require_config(dataset, wanted, list(card.configs), optional=False)
    return card.configs[str(wanted)]


def _default(configs: Mapping[str, CardConfig]) -> str | None:
    if len(configs) == 1:
        return next(iter(configs))
    return next((name for name, one in configs.items() if one.is_default or name == "default"), None)


def _require_config(place: str, name: str | None, available: Sequence[str], optional: bool = True) -> None:
    if name not in available and not (name is None and optional):
        raise ConfigNotFoundError(place, name, available)


def _info(card: Card, chosen: CardConfig) -> DatasetInfo:
    if chosen.name in card.infos:
        return card.infos[chosen.name].copy()
    if not card.configs and len(card.infos) == 1:
        return next(iter(card.infos.values())).copy()
    return DatasetInfo()


def _require_inside(folder: str, stated: Sequence[str]) -> None:
    """A card may come from anywhere, and names only files of its own folder."""
    for one in stated:
        if not f"{os.path.normpath(os.path.join(folder, one))}/".startswith(f"{folder.rstrip('/')}/"):
            raise CardError(os.path.join(folder, config.REPOCARD_FILENAME), f"{one!r} lies outside of its folder.")


def _inside(folder: str, data_dir: str | None) -> str:
    whole = os.path.normpath(os.path.join(folder, data_dir or ""))
    if data_dir and os.path.isabs(data_dir) and not f"{whole}/".startswith(f"{folder}/"):
        raise ArgumentError("data_dir", data_dir, f"it must lie in the dataset's folder, {folder}.")
    return whole


def _conventional(place: Place) -> Splits:
    found = splits_of(place.listed()) if place.exists else {}
    if not found:
        raise EmptyDatasetError(place.name, "there are no data files in it." if place.exists else "no such folder.")
    return {split: [os.path.join(place.folder, name) for name in names] for split, names in found.items()}


def _matched(
    patterns: Patterns, base: Place, access: Access | None = None, places: list[Place] | None = None
) -> Splits:
    """The files of each split; addresses among the patterns add the places that they lead to."""
    found: Splits = {}
    for split, several in patterns.items():
        found[split] = []
        for one in several:
            member, mark, address = one.rpartition("::")
            if access is None or places is None or scheme_of(address) in ("", "file"):
                found[split] += base.matched(one)
                continue
            places.append(access.place(address))
            paths = [os.path.join(places[-1].folder, name) for name in places[-1].listed()]
            if mark:
                places[-1].bring(paths)  # what is in an archive is known when it is here
                paths = [inside for path in paths for inside in base.matched(f"{member}::{path}")]
            found[split] += paths
        if not found[split]:
            raise DataFilesNotFoundError(
                ", ".join(patterns[split]), f"no file in {base.name} matches for split {split!r}."
            )
    return found


def _exported(place: Place, name: str | None) -> Patterns:
    """The files of a configuration that the Hub made Parquet of: `config/split/0000.parquet`."""
    configs = sorted({path.split("/")[0] for path in place.listed()})
    chosen = name or ("default" if "default" in configs else configs[0] if len(configs) == 1 else None)
    if chosen not in configs:
        raise ConfigNotFoundError(place.name, name, configs)
    splits = dict.fromkeys(path.split("/")[1] for path in place.listed() if path.startswith(f"{chosen}/"))
    return {split.removeprefix("partial-"): [f"{chosen}/{split}/*.parquet"] for split in splits}


def _fitting(files: Splits, format: Format, patterns: Patterns | None) -> Splits:
    """The files without those of other formats, which a pattern may have caught; what was named stays."""
    kept: Splits = {}
    for split, paths in files.items():
        by_name = {} if patterns is None else {one for one in patterns[split] if not is_pattern(one)}
        exact = {os.path.basename(one) for one in by_name}
        fits = set(of_format(paths, format))
        kept[split] = [path for path in paths if path in fits or os.path.basename(path) in exact]
        if patterns is not None and len(kept[split]) < len(paths):
            left = sorted(os.path.basename(path) for path in set(paths) - set(kept[split]))
            logger.warning("Split %s: left out files that are not %s: %s", split, format.name, ", ".join(left[:10]))
    return kept


def _with_options(found: Resolved, stated: Mapping[str, Any]) -> Resolved:
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


def _checked(format: Format, options: Mapping[str, Any]) -> dict[str, Any]:
    available = (*format.options(), *ANY_FORMAT)
    for name, value in options.items():
        if name not in available:
            raise ArgumentTypeError(name, value, f"{format.name} takes {', '.join(dict.fromkeys(available))}.")
    return dict(options)


def _snake(name: str) -> str:
    return _WORD_BEGINS.sub("_", name).lower()
