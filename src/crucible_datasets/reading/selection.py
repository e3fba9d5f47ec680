"""Stage 2 of 6: the files of each split: by naming conventions, by patterns, or from the Hub's Parquet conversion."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from crucible_datasets import config
from crucible_datasets.exceptions import (
    ArgumentError,
    CardError,
    DataFilesNotFoundError,
    EmptyDatasetError,
)
from crucible_datasets.formats.base import Format
from crucible_datasets.logging import get_logger
from crucible_datasets.reading.access import Access
from crucible_datasets.reading.data_files import Patterns
from crucible_datasets.reading.discover import Splits, in_usual_order, splits_of
from crucible_datasets.reading.format_choice import of_format
from crucible_datasets.reading.place import Place, RemotePlace
from crucible_datasets.sources.base import scheme_of
from crucible_datasets.sources.wildcards import folder_of, is_pattern

logger = get_logger(__name__)

_EXPORTED = re.compile(r"(?P<config>[^/]+)/(?:partial-)?(?P<split>[^/]+)/[^/]+\.parquet")


def conventional(place: Place) -> Splits:
    """The files of a folder, assigned to splits by naming conventions."""
    found = splits_of(place.listed()) if place.exists else {}
    if not found:
        raise EmptyDatasetError(place.name, "there are no data files in it." if place.exists else "no such folder.")
    start = os.path.join(place.folder, "")
    return {split: [start + name for name in names] for split, names in found.items()}


def matched(patterns: Patterns, base: Place, access: Access | None = None, places: list[Place] | None = None) -> Splits:
    """The files of each split that match its patterns; the places of URLs among them are appended to `places`."""
    found: Splits = {}
    for split, several in patterns.items():
        found[split] = []
        for one in several:
            member, mark, address = one.rpartition("::")
            if access is None or places is None or scheme_of(address) in ("", "file"):
                found[split] += base.matched(one)
                continue
            there = access.place(address)
            places.append(there)
            paths = _of_address(there, address)
            if mark:
                there.download(paths)  # members of an archive can be listed once it is downloaded
                paths = [inside for path in paths for inside in Place(base.folder).matched(f"{member}::{path}")]
            found[split] += paths
        if not found[split]:
            raise DataFilesNotFoundError(
                ", ".join(patterns[split]), f"no file in {base.name} matches for split {split!r}."
            )
    return found


def _of_address(place: RemotePlace, address: str) -> list[str]:
    """The files that a URL means: the one that it names, or those of a pattern or a folder that hold data."""
    name = address.rpartition("/")[2]
    if scheme_of(address) in {"http", "https"} or ("*" not in address and place.has(name)):
        return [os.path.join(place.folder, one) for one in place.names]
    found = place.matched(address.removeprefix(f"{folder_of(address)}/")) if is_pattern(address) else []
    return found if found or "*" in address else place.matched("**")  # a folder's name may have a `[` in it


def exported(place: Place) -> dict[str, Splits]:
    """The files of each configuration in the Hub's Parquet conversion: `config/split/0000.parquet`."""
    found: dict[str, Splits] = {}
    for path in place.listed():
        if part := _EXPORTED.fullmatch(path):
            splits = found.setdefault(part["config"], {})
            splits.setdefault(part["split"], []).append(os.path.join(place.folder, path))
    return {config: in_usual_order(splits) for config, splits in found.items()}


def fitting(files: Splits, format: Format, patterns: Patterns | None) -> Splits:
    """The files without those of other formats that matched a pattern; files named explicitly stay."""
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


def require_inside(folder: str, data_dir: str, stated: Sequence[str]) -> None:
    """Raise if a card, which is untrusted, names files outside its folder."""
    paths = {data_dir: data_dir, **{one: os.path.join(data_dir, _file(one)) for one in stated}}
    for one, path in paths.items():
        if not f"{os.path.normpath(os.path.join(folder, path))}/".startswith(f"{folder.rstrip('/')}/"):
            raise CardError(os.path.join(folder, config.REPOCARD_FILENAME), f"{one!r} lies outside of its folder.")


def _file(pattern: str) -> str:
    """The file of a pattern as `reading.patterns` will read it: a member comes before its archive, `~` is expanded."""
    return os.path.expanduser(pattern.rpartition("::")[2].removeprefix("file://"))


def inside(folder: str, data_dir: str | None) -> str:
    """The folder inside a dataset that `data_dir` names."""
    whole = os.path.normpath(os.path.join(folder, data_dir or ""))
    if data_dir and os.path.isabs(data_dir) and not f"{whole}/".startswith(f"{folder}/"):
        raise ArgumentError("data_dir", data_dir, f"it must lie in the dataset's folder, {folder}.")
    return whole
