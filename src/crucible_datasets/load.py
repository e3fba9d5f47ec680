"""`load_dataset` and `load_from_disk`, and functions that inspect datasets without loading them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.dataset_dict import DatasetDict
from crucible_datasets.exceptions import ArgumentError, UnavailableError
from crucible_datasets.features import Features
from crucible_datasets.info import DatasetInfo, DatasetInfosDict
from crucible_datasets.keywords import keywords_of, passing_on, refuse_unknown_keywords
from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.logging import get_logger
from crucible_datasets.ops import saved
from crucible_datasets.reading import streaming
from crucible_datasets.reading.access import Access
from crucible_datasets.reading.modes import DownloadMode, VerificationMode
from crucible_datasets.reading.reader import AnySplit, How, SplitReader
from crucible_datasets.reading.resolve import config_names, resolve
from crucible_datasets.records import dataclass
from crucible_datasets.splits import SplitDict, SplitInfo
from crucible_datasets.version import Version

if TYPE_CHECKING:
    from crucible_datasets.iterable_dataset import IterableDataset
    from crucible_datasets.iterable_dataset_dict import IterableDatasetDict
    from crucible_datasets.splits import NamedSplit, ReadInstruction

    OneSplit = str | NamedSplit | ReadInstruction

logger = get_logger(__name__)

Path = str | os.PathLike[str]


# The return type depends on `split` and `streaming`.
# fmt: off
@overload
def load_dataset(
    path: Path, name: str | None = None, data_dir: str | None = None, data_files: Any = None, split: None = None, *,
    cache_dir: Path | None = None, features: Features | None = None, download_config: Any = None,
    download_mode: DownloadMode | str | None = None, verification_mode: VerificationMode | str | None = None,
    keep_in_memory: bool | None = None, save_infos: bool = False, revision: Any = None, token: bool | str | None = None,
    streaming: Literal[False] = False, num_proc: int | None = None, storage_options: dict[str, Any] | None = None,
    **config_kwargs: Any,
) -> DatasetDict: ...
@overload
def load_dataset(
    path: Path, name: str | None = None, data_dir: str | None = None, data_files: Any = None, *, split: OneSplit,
    cache_dir: Path | None = None, features: Features | None = None, download_config: Any = None,
    download_mode: DownloadMode | str | None = None, verification_mode: VerificationMode | str | None = None,
    keep_in_memory: bool | None = None, save_infos: bool = False, revision: Any = None, token: bool | str | None = None,
    streaming: Literal[False] = False, num_proc: int | None = None, storage_options: dict[str, Any] | None = None,
    **config_kwargs: Any,
) -> Dataset: ...
@overload
def load_dataset(
    path: Path, name: str | None = None, data_dir: str | None = None, data_files: Any = None, split: None = None, *,
    cache_dir: Path | None = None, features: Features | None = None, download_config: Any = None,
    download_mode: DownloadMode | str | None = None, verification_mode: VerificationMode | str | None = None,
    keep_in_memory: bool | None = None, save_infos: bool = False, revision: Any = None, token: bool | str | None = None,
    streaming: Literal[True], num_proc: int | None = None, storage_options: dict[str, Any] | None = None,
    **config_kwargs: Any,
) -> IterableDatasetDict: ...
@overload
def load_dataset(
    path: Path, name: str | None = None, data_dir: str | None = None, data_files: Any = None, *, split: OneSplit,
    cache_dir: Path | None = None, features: Features | None = None, download_config: Any = None,
    download_mode: DownloadMode | str | None = None, verification_mode: VerificationMode | str | None = None,
    keep_in_memory: bool | None = None, save_infos: bool = False, revision: Any = None, token: bool | str | None = None,
    streaming: Literal[True], num_proc: int | None = None, storage_options: dict[str, Any] | None = None,
    **config_kwargs: Any,
) -> IterableDataset: ...
@overload
def load_dataset(
    path: Path, name: str | None = None, data_dir: str | None = None, data_files: Any = None, split: Any = None,
    cache_dir: Path | None = None, features: Features | None = None, download_config: Any = None,
    download_mode: DownloadMode | str | None = None, verification_mode: VerificationMode | str | None = None,
    keep_in_memory: bool | None = None, save_infos: bool = False, revision: Any = None, token: bool | str | None = None,
    streaming: bool = False, num_proc: int | None = None, storage_options: dict[str, Any] | None = None,
    **config_kwargs: Any,
) -> Any: ...
# fmt: on
def load_dataset(
    path: Path,
    name: str | None = None,
    data_dir: str | None = None,
    data_files: Any = None,
    split: Any = None,
    cache_dir: Path | None = None,
    features: Features | None = None,
    download_config: Any = None,
    download_mode: DownloadMode | str | None = None,
    verification_mode: VerificationMode | str | None = None,
    keep_in_memory: bool | None = None,
    save_infos: bool = False,
    revision: Any = None,
    token: bool | str | None = None,
    streaming: bool = False,
    num_proc: int | None = None,
    storage_options: dict[str, Any] | None = None,
    **config_kwargs: Any,
) -> Any:
    """Load a dataset: from the Hub (`"org/name"`), any folder, file or URL, or files of a format such as `"json"`.

    Without `split` all splits are returned as a `DatasetDict`; `split` may be `"train[:10%]+test"`, and only the splits
    in it are read. `columns` and `filters` work for every format and limit what is read; further arguments are options
    of the format.
    """
    where: tuple[Any, ...] = (download_config, download_mode, revision, token, storage_options)
    with passing_on(load_dataset):
        builder = load_dataset_builder(path, name, data_dir, data_files, cache_dir, features, *where, **config_kwargs)
    if streaming:
        _require_one_process(num_proc)
        return builder.as_streaming_dataset(split)
    careful = VerificationMode.ALL_CHECKS if save_infos else VerificationMode.BASIC_CHECKS
    builder.how = How(
        cache_dir,
        keep_in_memory,
        num_proc,
        DownloadMode(download_mode or "reuse_dataset_if_exists") is DownloadMode.FORCE_REDOWNLOAD,
        VerificationMode(verification_mode or careful),
    )
    loaded = builder.as_dataset(split)
    if save_infos:
        builder.save_infos()
    return loaded


def load_dataset_builder(
    path: Path,
    name: str | None = None,
    data_dir: str | None = None,
    data_files: Any = None,
    cache_dir: Path | None = None,
    features: Features | None = None,
    download_config: Any = None,
    download_mode: DownloadMode | str | None = None,
    revision: Any = None,
    token: bool | str | None = None,
    storage_options: dict[str, Any] | None = None,
    **config_kwargs: Any,
) -> FilesBuilder:
    """Find a dataset and its description, without reading its files."""
    if config_kwargs.pop("trust_remote_code", None) is not None:
        logger.warning("trust_remote_code is not needed: no program from a dataset is ever run.")
    access = Access.of(revision, token, storage_options, download_config)
    with passing_on(load_dataset_builder):
        found = resolve(path, name, data_dir, data_files, config_kwargs, access)
    kinds = None if features is None else Features(features)
    fresh = DownloadMode(download_mode or "reuse_dataset_if_exists") is DownloadMode.FORCE_REDOWNLOAD
    return FilesBuilder(SplitReader(found, kinds, How(cache_dir, fresh=fresh)))


def _require_one_process(num_proc: int | None) -> None:
    if num_proc is not None:
        instead = "Leave num_proc out; a DataLoader with num_workers reads a stream in several processes."
        raise UnavailableError(f"Streaming with num_proc={num_proc}", instead)


def load_from_disk(
    dataset_path: Path, keep_in_memory: bool | None = None, storage_options: dict[str, Any] | None = None
) -> Dataset | DatasetDict:
    """Open what `save_to_disk` wrote: a `Dataset` or a `DatasetDict`."""
    kind = DatasetDict if saved.holds_splits(dataset_path, storage_options) else Dataset
    return kind.load_from_disk(dataset_path, keep_in_memory, storage_options)


@dataclass(frozen=True)
class FilesConfig:
    """The configuration of a dataset of files: its name, files and options."""

    name: str
    version: Version
    data_dir: str | None
    data_files: Mapping[str, list[str]]
    description: str | None
    options: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.options:
            raise AttributeError(f"{self.name!r} has no option {name!r}; it has {', '.join(self.options)}.")
        return self.options[name]


class FilesBuilder:
    """A dataset of files, found but not yet read."""

    def __init__(self, reader: SplitReader) -> None:
        self._reader = reader

    def __repr__(self) -> str:
        return f"FilesBuilder({self.name!r}, {self.dataset_name!r}, config={self.config.name!r})"

    @property
    def how(self) -> How:
        """The cache folder, and the checks to run."""
        return self._reader.how

    @how.setter
    def how(self, how: How) -> None:
        self._reader = replace(self._reader, how=how)

    @property
    def name(self) -> str:
        """The format of the files."""
        return self._reader.resolved.format.name

    @property
    def dataset_name(self) -> str:
        return self._reader.resolved.name

    @property
    def base_path(self) -> str:
        """The folder that paths of files are relative to."""
        return self._reader.resolved.base

    @property
    def info(self) -> DatasetInfo:
        """The description of the dataset; more complete once it is prepared."""
        return self._reader.known

    @property
    def config(self) -> FilesConfig:
        found = self._reader.resolved
        options = {**found.format.options(), **found.options}
        described = found.info.description or None
        version = Version(str(found.info.version or "0.0.0"))
        return FilesConfig(found.config_name, version, None, found.files, described, options)

    @property
    def revision(self) -> str | None:
        """The commit of the repository on the Hub; None for other files."""
        known = (getattr(place, "revision", None) for place in self._reader.resolved.places)
        return next((revision for revision in known if revision), None)

    @property
    def config_id(self) -> str:
        """The name of the configuration, with a hash of the options that differ from its defaults."""
        from crucible_datasets.hashing import Hasher

        given = sorted(self._reader.resolved.options.items())
        return self.config.name if not given else f"{self.config.name}-{Hasher.hash(given)}"

    @property
    def cache_dir(self) -> str:
        """The cache folder for files that are converted to Arrow."""
        from crucible_datasets.cache import default_cache

        return default_cache(self.how.cache_dir).root

    def download_and_prepare(
        self,
        output_dir: Path | None = None,
        download_config: Any = None,
        download_mode: DownloadMode | str | None = None,
        verification_mode: VerificationMode | str | None = None,
        dl_manager: Any = None,
        base_path: str | None = None,
        file_format: str = "arrow",
        max_shard_size: int | str | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
        **download_and_prepare_kwargs: Any,
    ) -> None:
        """Read all splits, so that converted files are in the cache."""
        refuse_unknown_keywords("download_and_prepare", download_and_prepare_kwargs)
        if output_dir is not None:
            raise ArgumentError("output_dir", output_dir, "use as_dataset().save_to_disk(folder) or to_parquet(file).")
        self.how = replace(
            self.how,
            num_proc=num_proc,
            fresh=DownloadMode(download_mode or "reuse_dataset_if_exists") is DownloadMode.FORCE_REDOWNLOAD,
            verification=VerificationMode(verification_mode or "basic_checks"),
        )
        self._reader.all()

    def as_dataset(self, split: Any = None, in_memory: bool = False) -> Any:
        """One split; all splits as a `DatasetDict`; or several, for a list or dict of specs."""
        if in_memory:
            self.how = replace(self.how, keep_in_memory=True)
        if split is None:
            return DatasetDict({name: Dataset._of(view) for name, view in self._reader.all().items()})
        if isinstance(split, dict):
            return DatasetDict({name: self._dataset(one) for name, one in split.items()})
        if isinstance(split, (list, tuple)):
            return type(split)(self._dataset(one) for one in split)
        return self._dataset(split)

    def _dataset(self, split: AnySplit) -> Dataset:
        return Dataset._of(self._reader.rows(split))

    def as_streaming_dataset(self, split: Any = None, base_path: str | None = None) -> Any:
        """One split as a stream; or all as an `IterableDatasetDict`."""
        from crucible_datasets.iterable_dataset_dict import IterableDatasetDict

        if split is None:
            return IterableDatasetDict({name: self._streamed(name) for name in self._reader.names})
        return self._streamed(str(split))

    def _streamed(self, split: str) -> IterableDataset:
        from crucible_datasets.iterable_dataset import IterableDataset

        return IterableDataset._of(streaming.named_splits(self._reader, split))

    def save_infos(self) -> None:
        """Write the description of all splits to the README in the dataset's folder, if it is on this disk."""
        if self._reader.resolved.places:
            logger.warning("Nothing was saved: %s is not a folder of this disk.", self._reader.resolved.places[0].name)
            return
        self._reader.all()
        DatasetInfosDict({self.config.name: self.info}).write_to_directory(self.base_path)


def _access(revision: Any, download_config: Any, options: Mapping[str, Any]) -> Access:
    """The access to a remote dataset; further options are fields of `DownloadConfig`."""
    from crucible_datasets.download import DownloadConfig

    refuse_unknown_keywords("DownloadConfig", options, keywords_of(DownloadConfig))
    return Access.of(revision, options.get("token"), options.get("storage_options"), download_config)


def get_dataset_config_names(
    path: Path,
    revision: Any = None,
    download_config: Any = None,
    download_mode: DownloadMode | str | None = None,
    data_files: Any = None,
    **download_kwargs: Any,
) -> list[str]:
    """The names of a dataset's configurations."""
    access = _access(revision, download_config, download_kwargs)
    return config_names(path, data_files, access)[0]


def get_dataset_default_config_name(
    path: Path,
    revision: Any = None,
    download_config: Any = None,
    download_mode: DownloadMode | str | None = None,
    data_files: Any = None,
    **download_kwargs: Any,
) -> str | None:
    """The default configuration, if there is one."""
    access = _access(revision, download_config, download_kwargs)
    return config_names(path, data_files, access)[1]


def get_dataset_config_info(
    path: Path,
    config_name: str | None = None,
    data_files: Any = None,
    download_config: Any = None,
    download_mode: DownloadMode | str | None = None,
    revision: Any = None,
    token: bool | str | None = None,
    **config_kwargs: Any,
) -> DatasetInfo:
    """The description of one configuration; at least its splits, and its features if its first file states them."""
    where: dict[str, Any] = {"download_config": download_config, "revision": revision, "token": token}
    builder = load_dataset_builder(path, config_name, data_files=data_files, **where, **config_kwargs)
    info = builder.info
    if info.splits:
        return info
    names = list(builder.config.data_files)
    features = info.features or builder._streamed(names[0]).features
    splits = SplitDict({name: SplitInfo(name) for name in names}, dataset_name=info.dataset_name)
    return replace(info, features=features, splits=splits)


def get_dataset_split_names(
    path: Path,
    config_name: str | None = None,
    data_files: Any = None,
    download_config: Any = None,
    download_mode: DownloadMode | str | None = None,
    revision: Any = None,
    token: bool | str | None = None,
    **config_kwargs: Any,
) -> list[str]:
    """The names of the splits of one configuration."""
    where: dict[str, Any] = {"download_config": download_config, "revision": revision, "token": token}
    builder = load_dataset_builder(path, config_name, data_files=data_files, **where, **config_kwargs)
    return list(builder.info.splits or builder.config.data_files)


def get_dataset_infos(
    path: Path,
    data_files: Any = None,
    download_config: Any = None,
    download_mode: DownloadMode | str | None = None,
    revision: Any = None,
    token: bool | str | None = None,
    **config_kwargs: Any,
) -> dict[str, DatasetInfo]:
    """The description of each configuration."""
    where = (download_config, download_mode, revision, token)
    names = get_dataset_config_names(path, revision, download_config, download_mode, data_files, token=token)
    return {name: get_dataset_config_info(path, name, data_files, *where, **config_kwargs) for name in names}


names_of_datasets(__name__)
