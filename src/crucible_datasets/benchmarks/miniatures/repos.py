"""Miniatures as repositories, which the local Hub serves under the names of the real ones."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from crucible_datasets.atomic.files import atomic_file
from crucible_datasets.benchmarks.catalog.registry import BenchmarkEntry, Catalog, Folders
from crucible_datasets.benchmarks.miniatures.base import Maker, makers
from crucible_datasets.exceptions import UnknownEntryError

Splits = dict[str, list[str]]  # of each configuration


def write_miniatures(
    folder: str | os.PathLike[str], names: Iterable[str] | None = None, *, folders: Folders = None
) -> list[str]:
    """Write the miniatures of all benchmarks, or of some, into a folder for `crucible hub serve`.

    Returns the names of the repositories, which have every configuration and split of the registry.
    """
    catalog = Catalog(folders)
    chosen = [catalog[name] for name in (catalog if names is None else names)]
    made = makers()
    sources = list(dict.fromkeys(entry.source for entry in chosen if names is not None or entry.source in made))
    for source in sources:
        if source not in made:
            raise UnknownEntryError("miniature", source, sorted(made))
        _write(os.path.join(folder, *source.split("/")), made[source], _splits(catalog, source))
    return sources


def _splits(catalog: Catalog, source: str) -> Splits:
    """All configurations in the entries of a repository, with their splits."""
    found: Splits = {}
    for entry in catalog.values():
        for config in _configs(entry) if entry.source == source else ():
            known = found.setdefault(config, [])
            known += [split for split in entry.splits_of(config) if split not in known]
    return found


def _configs(entry: BenchmarkEntry) -> list[str]:
    return entry.config_names or [""]


def _write(folder: str, made: Maker, splits: Splits) -> None:
    os.makedirs(folder, exist_ok=True)
    for config, names in splits.items():
        for split in names:
            _write_rows(os.path.join(folder, _path(made, config, split)), made, config, split)
    _write_file(os.path.join(folder, "README.md"), "\n".join(_card(made, splits)).encode())


def _path(made: Maker, config: str, split: str) -> str:
    if made.file == "parquet":
        return f"{config or 'data'}/{split}-00000-of-00001.parquet"
    return f"{config}/{split}.{made.file}".lstrip("/")


def _card(made: Maker, splits: Splits) -> Iterator[str]:
    yield from ("---", "configs:")
    for config, names in splits.items():
        yield from (f"- config_name: {config or 'default'}", "  data_files:")
        for split in names:
            yield from (f"  - split: {split}", f"    path: {_path(made, config, split)}")
    yield from ("---", f"# A miniature of {made.source}", "")
    yield "Rows with the same columns, made up by Crucible Datasets. Nothing in them is from the dataset itself."
    yield ""


def _write_rows(path: str, made: Maker, config: str, split: str) -> None:
    from crucible_datasets.arrow_dataset import Dataset

    os.makedirs(os.path.dirname(path), exist_ok=True)
    rows = made.made(config, split)
    if made.file == "parquet":
        Dataset.from_list(rows, features=made.features(config)).to_parquet(path)
        return
    _write_file(path, _packed(path, _text(made.file, rows)))


def _text(kind: str, rows: list[dict[str, Any]]) -> bytes:
    if kind == "json":
        return json.dumps(rows).encode()
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def _packed(path: str, text: bytes) -> bytes:
    return gzip.compress(text, mtime=0) if path.endswith(".gz") else text


def _write_file(path: str, content: bytes) -> None:
    with atomic_file(path) as temporary, open(temporary, "wb") as file:
        file.write(content)
