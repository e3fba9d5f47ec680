"""Stage 2 of 6: from a dataset's name and arguments to the files of each split, their format and description."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import (
    ArgumentError,
    CardError,
    DatasetNotFoundError,
    DatasetScriptError,
    DownloadError,
    OfflineError,
    UnknownEntryError,
    content_errors,
)
from crucible_datasets.exceptions.base import closest
from crucible_datasets.formats.base import FORMATS, Format
from crucible_datasets.info import DatasetInfo
from crucible_datasets.logging import get_logger
from crucible_datasets.reading.access import Access
from crucible_datasets.reading.card import card_of
from crucible_datasets.reading.configs import chosen as chosen_config
from crucible_datasets.reading.configs import default, info_of, require_config
from crucible_datasets.reading.data_files import Patterns, of_repository, patterns_of
from crucible_datasets.reading.format_choice import extensions, format_of, is_missing_file, named, of_format
from crucible_datasets.reading.patterns import absence
from crucible_datasets.reading.place import Place, RemotePlace, of_export
from crucible_datasets.reading.resolved import Resolved, checked, with_options
from crucible_datasets.reading.selection import conventional, exported, fitting, inside, matched, require_inside
from crucible_datasets.sources.base import scheme_of

logger = get_logger(__name__)

_REPOSITORY = re.compile(r"[\w][\w.-]*(?:/[\w][\w.-]*)?")
_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def resolve(
    path: str | os.PathLike[str],
    name: str | None = None,
    data_dir: str | None = None,
    data_files: Any = None,
    options: Mapping[str, Any] | None = None,
    access: Access | None = None,
) -> Resolved:
    """The dataset that `path` names: a format, folder, file, URL or repository; `options` are those of the format."""
    asked, access = os.fspath(path), access or Access()
    if not asked:
        raise DatasetNotFoundError("''", "the name is empty. Name a repository, folder, file, URL or format.")
    patterns = None if data_files is None else patterns_of(data_files)
    place = os.path.abspath(os.path.expanduser(asked.removeprefix("file://")))
    if format := _packaged(asked):
        found = _of_format(format, name, data_dir, patterns, access)
    elif os.path.isdir(place):
        found = _of_folder(Place(place), name, data_dir, patterns, access)
    elif os.path.isfile(place):
        found = _of_file(place, name)
    elif address := _address(asked):
        found = _of_remote(address, name, data_dir, patterns, access)
    elif is_missing_file(asked) and ("/" not in asked or os.path.isdir(os.path.dirname(place))):
        raise DatasetNotFoundError(asked, *absence(place))
    elif _REPOSITORY.fullmatch(asked):
        found = _of_repository(asked, name, data_dir, patterns, access)
    else:
        raise DatasetNotFoundError(
            asked, f"it is no format, no repository's name, and there is neither a folder nor a file {place}."
        )
    return replace(found, options={**found.options, **checked(found.format, options or {})})


def _of_repository(
    asked: str, name: str | None, data_dir: str | None, patterns: Patterns | None, access: Access
) -> Resolved:
    try:
        return _of_remote(asked, name, data_dir, patterns, access)
    except (DownloadError, OfflineError, DatasetNotFoundError) as error:
        if format := extensions().get(f".{asked}"):
            raise DatasetNotFoundError(asked, f"it is no format; did you mean {format!r}? The Hub: {error}") from error
        if os.path.splitext(asked)[1] in extensions():
            raise DatasetNotFoundError(asked, f"there is no such file here. The Hub: {error}") from error
        if (absent := _not_here(asked)) is None:
            raise
        raise _also(absent, asked, error) from error


def _not_here(asked: str) -> str | None:
    """What else a name may have been meant as, which does not exist here; None if only a repository was meant."""
    absent = f"There is no file or folder {asked!r} here."
    if "/" not in asked:
        return f"{absent} {UnknownEntryError('format', asked, FORMATS)}"
    folder, name = os.path.split(asked)
    return f"{absent}{closest(name, os.listdir(folder))}" if os.path.isdir(folder) else None


def _also(absent: str, asked: str, error: DownloadError | OfflineError | DatasetNotFoundError) -> Exception:
    """An error of the same kind that says this too."""
    if isinstance(error, DownloadError):
        return type(error)(error.url, f"{error.reason} {absent}", error.status, error.code)
    if isinstance(error, OfflineError):
        return OfflineError(error.what, absent)
    return DatasetNotFoundError(asked, f"{absent} The Hub: {error}")


def _of_remote(
    asked: str, name: str | None, data_dir: str | None, patterns: Patterns | None, access: Access
) -> Resolved:
    place = access.dataset(asked)
    if patterns and not scheme_of(asked):
        patterns = of_repository(patterns, asked, access.revision or config.HUB_DEFAULT_VERSION)
    if (export := _export(asked, place, access)) is not None:
        place = export
        if patterns is None and data_dir is None:
            return _of_export(export, name, asked)
        name = None  # it names a configuration, and files were given instead
    if scheme_of(asked) and place.listed() == [asked.rpartition("/")[2]]:
        file = os.path.join(place.folder, place.listed()[0])
        return replace(_of_file(file, name), places=(place,))
    place.download_description()
    found = _of_folder(place, name, data_dir, patterns, access)
    return replace(found, name=_snake(asked.rpartition("/")[2]), places=(place, *found.places))


def _export(asked: str, place: Place, access: Access) -> RemotePlace | None:
    """The Hub's conversion to Parquet, if a repository is a program, which is never run."""
    script = f"{asked.rpartition('/')[2]}.py"
    if scheme_of(asked) or not place.has(script):
        return None
    export = of_export(asked, access.token)
    if export is None:
        raise DatasetScriptError(f"{asked}/{script}")
    logger.warning("%s is a program, which is never run. What the Hub made of it, as Parquet, is read instead.", asked)
    return export


def _of_export(place: RemotePlace, name: str | None, asked: str) -> Resolved:
    configs = exported(place)
    chosen = _default_of(configs) if name is None else name
    require_config(place.name, chosen, list(configs), optional=False)
    files, format = configs[str(chosen)], FORMATS["parquet"]
    called = _snake(asked.rpartition("/")[2])
    return Resolved(called, str(chosen), tuple(configs), place.folder, files, format, places=(place,))


def _default_of(names: Collection[str]) -> str | None:
    return "default" if "default" in names else next(iter(names)) if len(names) == 1 else None


def config_names(
    path: str | os.PathLike[str], data_files: Any = None, access: Access | None = None
) -> tuple[list[str], str | None]:
    """The names of the configurations, and that of the default one."""
    asked = os.fspath(path)
    place = os.path.abspath(os.path.expanduser(asked))
    if asked and os.path.isdir(place) and not _packaged(asked):
        configs = card_of(place).configs
    elif (_address(asked) or _REPOSITORY.fullmatch(asked)) and not _packaged(asked) and not os.path.exists(place):
        access = access or Access()
        repo = access.dataset(_address(asked) or asked)
        if (export := _export(asked, repo, access)) is not None:
            return list(exported(export)), _default_of(exported(export))
        repo.download_description()
        configs = card_of(repo.folder).configs
    else:
        configs = {}
    if configs:
        return list(configs), default(configs)
    return list(resolve(path, data_files=data_files, access=access).config_names), "default"


def _address(asked: str) -> str | None:
    """The URL that a name is or stands for: buckets may be named without a scheme."""
    is_bucket = re.fullmatch(r"buckets/[^/]+/[^/]+(/.*)?", asked)
    return f"hf://{asked}" if is_bucket else asked if scheme_of(asked) else None


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
        found = conventional(place)
        fitting = {split: of_format(files, format) for split, files in found.items()}
        # Metadata of media may have any name, and media files are recognised later.
        files = fitting if all(fitting.values()) and format.folder is None else found
    else:
        files = matched(patterns, place, access, places)
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
    require_config(path, name, ["default"])
    stem = os.path.basename(path).split(".")[0]
    return Resolved(_snake(stem), "default", ("default",), os.path.dirname(path), files, format_of(files, path))


def _of_folder(
    place: Place, name: str | None, data_dir: str | None, patterns: Patterns | None, access: Access
) -> Resolved:
    folder = place.folder
    script = os.path.join(folder, f"{os.path.basename(folder)}.py")
    if os.path.exists(script):
        raise DatasetScriptError(script)
    if not isinstance(place, RemotePlace) and place.has(config.DATASET_STATE_JSON_FILENAME):
        raise ArgumentError("path", folder, "it was written by save_to_disk: open it with load_from_disk.")
    card = card_of(folder)
    own = patterns is None and data_dir is None
    chosen = chosen_config(card, name, place.name, optional=not own)
    if own:
        patterns, data_dir = chosen.data_files, chosen.data_dir
        require_inside(folder, data_dir or "", [one for several in (patterns or {}).values() for one in several])
    base, elsewhere = inside(folder, data_dir), list[Place]()
    within = place.below(base)
    if patterns is None:
        files = conventional(within)
    else:
        files = matched(patterns, within, None if own else access, elsewhere)  # a card is untrusted: no URLs
    if archives := [path for paths in files.values() for path in paths if path.endswith(".zip")]:
        place.download(
            archives[: config.ARCHIVES_MAX_NUMBER_FOR_MODULE_INFERENCE]
        )  # their members determine the format
    format = format_of(files, base)
    found = Resolved(
        _snake(os.path.basename(folder)),
        chosen.name,
        tuple(card.configs) or (chosen.name,),
        folder,
        fitting(files, format, patterns),
        format,
        # The card describes only its own files.
        info=info_of(card, chosen) if own else DatasetInfo(),
        places=tuple(elsewhere),
    )
    with content_errors(CardError, os.path.join(folder, config.REPOCARD_FILENAME)):
        return with_options(found, chosen.options)


def _snake(name: str) -> str:
    return _WORD_BEGINS.sub("_", name).lower()
