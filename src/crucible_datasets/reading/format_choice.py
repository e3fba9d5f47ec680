"""Stage 2 of 6: the format of files, by their most frequent extension."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice

from crucible_datasets import config
from crucible_datasets.exceptions import (
    DataFilesNotFoundError,
    FileFormatError,
    FormatConflictError,
    UnavailableError,
    UnknownEntryError,
)
from crucible_datasets.exceptions.base import listed
from crucible_datasets.formats.base import FORMATS, Format
from crucible_datasets.reading import archives
from crucible_datasets.reading.archivenames import chain_of
from crucible_datasets.reading.compression import named_compression

# When extensions are equally frequent, the first in this list wins, then the alphabetically last.
_PREFERRED = (".parquet", ".lance", ".vortex", ".arrow", ".jsonl", ".json", ".csv")
_METADATA = frozenset({"metadata.csv", "metadata.jsonl", "metadata.parquet"})
# Formats that are recognised, so that their files are not mistaken for others, but cannot be read yet.
_RECOGNISED = {
    "webdataset": ".tar",
    "harbor": ".toml .md",
    "xml": ".xml",
    "hdf5": ".h5 .hdf5",
    "eval": ".eval",
    "lance": ".lance .idx .txn .manifest",
    "conll": ".conll .conllu",
    "tsfile": ".tsfile",
    "vortex": ".vortex",
    "fasta": ".fa .fasta .fna .ffn .faa .frn .afa",
    "fastq": ".fq .fastq",
    "genbank": ".gb .gbk .genbank",
    "pdb": ".pdb .ent",
    "mmcif": ".cif .mmcif",
}


def extensions() -> dict[str, str]:
    """The name of the format of every recognised extension."""
    found = {extension: name for name, several in _RECOGNISED.items() for extension in several.split()}
    return found | {extension: name for name in FORMATS for extension in _spelled(FORMATS[name])}


def _spelled(format: Format) -> tuple[str, ...]:
    """The extensions of a format as they occur in file names: for media also in upper case, as cameras write them."""
    small = format.extensions
    return small if format.folder is None else (*small, *map(str.upper, small))


def is_missing_file(name: str) -> bool:
    """Whether a name looks like that of a data file, which does not exist, so that the Hub need not be asked."""
    bare = named_compression(name)[0]
    stem, extension = os.path.splitext(bare)
    # Most repository names return here, before every format is imported for its extensions.
    if not extension or any(sign in name for sign in ("://", "*")) or os.path.exists(name):
        return False
    # A repository's name may have any extension; if a file has nearly the same name, the file was meant.
    near = [] if extension in (known := extensions()) else get_close_matches(extension, known)
    return extension in known or any(os.path.exists(f"{stem}{one}{name[len(bare) :]}") for one in near)


def names_beside(path: str) -> list[str]:
    """The names in the folder of a missing file, among which its error may suggest one."""
    try:
        return sorted(os.listdir(os.path.dirname(path) or "."))
    except OSError:
        return []


def stem_of(path: str) -> str:
    """A file's name without folder, format and compression: `llama-3.1` for `runs/llama-3.1.csv.gz`."""
    bare = named_compression(os.path.basename(path.rstrip("/")))[0]
    stem, extension = os.path.splitext(bare)
    return stem if extension.lower() in extensions() else bare


def format_of(files: Mapping[str, Sequence[str]], place: str) -> Format:
    """The common format of the files of all splits."""
    if format := _called_as_extension([path for paths in files.values() for path in paths]):
        return format
    known = extensions()
    names = {split: _voted(paths, known) for split, paths in files.items()}
    if not any(names.values()):
        path = next(path for paths in files.values() for path in paths)
        how = (
            f"If their format is one of {listed(FORMATS)}, name it, as in load_dataset('csv', data_files={path!r}); "
            "read others with a library of their own, and pass its rows to Dataset.from_list or from_pandas."
        )
        raise DataFilesNotFoundError(place, f"none of its files has a known extension: {_seen(files)}. {how}")
    if len(set(names.values())) > 1:
        raise FormatConflictError(place, names)
    (name,) = set(names.values())
    return named(str(name), place)


def _called_as_extension(paths: Sequence[str]) -> Format | None:
    """The format if all files have one extension, which is its name: then no other format need be imported."""
    ends = {_file_name(path).partition(".")[2] for path in paths}
    end = next(iter(ends)) if len(ends) == 1 else ""
    if f".{end}" not in _PREFERRED or any(_file_name(path) in _METADATA for path in paths):
        return None
    try:
        return FORMATS[end]
    except UnknownEntryError:
        return None


def named(name: str, place: str) -> Format:
    """The format of a name."""
    try:
        return FORMATS[name]
    except UnknownEntryError:
        if name not in _RECOGNISED:
            raise
        raise UnavailableError(f"Reading {place} as {name}", "Name files of another format with data_files.") from None


def _voted(paths: Sequence[str], known: Mapping[str, str]) -> str | None:
    votes = Counter(
        extension for path in paths if _file_name(path) not in _METADATA for extension in suffixes(path, known)
    )
    archives = [path for path in paths if _is_zip(path) and not suffixes(path, known)]
    if (
        archives
        and _most(votes + Counter({".zip": len(archives)})) == ".zip"
        and (inside := _voted_inside(archives, known))
    ):
        return known[inside]
    if not votes:
        votes = Counter(extension for path in paths for extension in suffixes(path, known))
    return known[_most(votes)] if votes else None


def _voted_inside(paths: Sequence[str], known: Mapping[str, str]) -> str | None:
    """The most frequent extension in archives, the first if tied; metadata files count only if there are no others."""
    few = islice(paths, config.ARCHIVES_MAX_NUMBER_FOR_MODULE_INFERENCE)
    members: list[str] = []
    fault: FileFormatError | None = None
    for archive in few:
        inside, damage = archives.listed_to_fault(archive)
        members += [member.name for member in inside]
        fault = fault or damage
    if fault is not None and not members:
        raise fault
    media = [member for member in members if _file_name(member) not in _METADATA]
    for names in (media, members):
        if votes := Counter(extension for name in names for extension in suffixes(name, known)):
            return votes.most_common(1)[0][0]
    return None


def _most(votes: Mapping[str, int]) -> str:
    return max(votes, key=lambda extension: (votes[extension], *_rank(extension)))


def _rank(extension: str) -> tuple[int, str]:
    return (-_PREFERRED.index(extension) if extension in _PREFERRED else -len(_PREFERRED)), extension


def suffixes(path: str, known: Iterable[str]) -> list[str]:
    """The known extensions in a file's name: `data.csv.gz` is a `.csv`."""
    parts = _file_name(path).split(".")[1:]
    return [f".{part}" for part in parts if f".{part}" in known]


def of_format(paths: Sequence[str], format: Format) -> list[str]:
    """The files with an extension of the format, archives, which may contain some, and metadata files of media."""
    more = _METADATA if format.folder is not None else ()
    known = frozenset(_spelled(format))
    return [path for path in paths if suffixes(path, known) or _is_zip(path) or _file_name(path) in more]


def _file_name(path: str) -> str:
    if "::" not in path:
        return path.rpartition("/")[2]
    archive, inner = chain_of(path)
    return (archive if inner is None else inner).rpartition("/")[2]


def _is_zip(path: str) -> bool:
    return path.endswith(".zip") and chain_of(path)[1] is None


def _seen(files: Mapping[str, Sequence[str]], limit: int = 5) -> str:
    names = [_file_name(path) for paths in files.values() for path in paths]
    return ", ".join(names[:limit]) + (f", … ({len(names) - limit} more)" if len(names) > limit else "")
