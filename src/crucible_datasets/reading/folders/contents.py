"""The files of one split of a media folder: media and metadata."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from crucible_datasets.exceptions import MediaFolderError
from crucible_datasets.forking import cached_property
from crucible_datasets.formats.faults import pass_over
from crucible_datasets.formats.folders import MediaFolder
from crucible_datasets.reading import archives
from crucible_datasets.reading.archivenames import chain_of, chained, has_archive_name


@dataclass(frozen=True)
class Contents:
    """Paths of media and of metadata; members of archives as `zip://member::archive`."""

    media: list[str] = field(default_factory=list)
    metadata: list[str] = field(default_factory=list)

    @cached_property
    def labels(self) -> list[str]:
        """The name of the folder of each media file; archives do not count as folders."""
        return [place.rpartition("/")[0].rpartition("/")[2] for place in self._places]

    @cached_property
    def depths(self) -> set[int]:
        """The depths of media files in folders."""
        return {place.count("/") for place in self._places}

    @cached_property
    def _places(self) -> list[str]:
        return [_unpacked(path) if "::" in path else path for path in self.media]


def contents_of(
    paths: Iterable[str], folder: MediaFolder, metadata_names: Collection[str], on_bad_files: str
) -> Contents:
    """The contents of the paths of a split, with archives replaced by their members; other files are left out.

    Files come before members of archives, as in Hugging Face `datasets`.
    """
    found, packed = Contents(), []
    for path in paths:
        if has_archive_name(path):
            packed += [path] if "::" in path else members_of(path, on_bad_files)
        else:
            _sort_in(path, path.rpartition("/")[2], found, folder, metadata_names)
    for path in packed:
        _sort_in(path, str(chain_of(path)[1]).rpartition("/")[2], found, folder, metadata_names)
    for path in found.media:
        if path.encode(errors="ignore").decode() != path:
            raise MediaFolderError(path, "its name is not UTF-8, so that no column can hold it.", "Rename it.")
    return found


def _sort_in(path: str, name: str, found: Contents, folder: MediaFolder, metadata_names: Collection[str]) -> None:
    if name in metadata_names:
        found.metadata.append(path)
    elif folder.takes(name):
        found.media.append(path)


def members_of(archive: str, on_bad_files: str = "error") -> list[str]:
    """The paths of the files in an archive."""
    members, fault = archives.listed_to_fault(archive)
    if fault is not None:
        pass_over(fault, on_bad_files)
    return [chained(member.name, archive) for member in members]


def _unpacked(path: str) -> str:
    """The path of a member as if its archive were unpacked in place."""
    archive, member = chain_of(path)
    return path if member is None else f"{archive.rpartition('/')[0]}/{member}"
