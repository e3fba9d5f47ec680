"""The rows that an append comes after, read from the ends of their files where the card does not count them."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.features import Features
from crucible_datasets.formats.base import FORMATS
from crucible_datasets.formats.parquet import file_errors, parquet_reader
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops.pushing.card import has_configs, parquet, stated_files
from crucible_datasets.sources.base import Elsewhere
from crucible_datasets.sources.hub.repo import HubRepo
from crucible_datasets.splits import SplitDict, SplitInfo

if TYPE_CHECKING:
    from crucible_datasets.ops.pushing.commit import Before, Where
    from crucible_datasets.sources.hub.writer import Writer


def counted(hub: Writer, where: Where, before: Before, splits: Collection[str]) -> Before:
    """The state before an append, with the rows and features of the files that it comes after."""
    if not where.append:
        return before
    kept = before.kept(where, splits)
    _require_listed(where, before, kept)
    known = before.known or DatasetInfo(config_name=where.config_name)
    infos = dict(known.splits or {})
    missing = [split for split in splits if kept.get(split) and split not in infos]
    _require_here(where, before, [split for split in splits if split not in infos])
    if not missing:
        return before
    repo, features = HubRepo(where.repo_id, before.commit, where.token, hub.endpoint), known.features
    for split in missing:
        infos[split] = SplitInfo(split, num_bytes=0, num_examples=0)
        for path in map(parquet, kept[split]):
            found = _add(infos[split], repo.elsewhere(path))
            features = found if features is None else features
    return replace(before, known=replace(known, features=features, splits=SplitDict.from_split_dict(infos)))


def _add(info: SplitInfo, file: Elsewhere) -> Features:
    """Add the size of a file to that of its split; its features."""
    with file.open() as stream, file_errors(file.file.url):
        reader = parquet_reader(stream)
        metadata, schema = reader.metadata, reader.schema_arrow
    info.num_examples += metadata.num_rows
    info.num_bytes += sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    return Features.from_arrow_schema(schema)


def _require_here(where: Where, before: Before, splits: Collection[str]) -> None:
    """Raise if rows that nobody has counted are in files elsewhere."""
    stated = stated_files(before.readme, where.config_name)
    for path in (path for split in splits for path in stated.get(split, ()) if "://" in path):
        raise ArgumentError("append", True, f"{path} is not in this repository, and the card does not count its rows.")


def _require_listed(where: Where, before: Before, kept: dict[str, list[str]]) -> None:
    """Raise if rows would be hidden: of a repository without a list of files all are read, and then the listed ones."""
    if where.config_name != "default" or has_configs(before.readme):
        return
    listed = {path for paths in kept.values() for path in paths}
    known = {extension for name in FORMATS for extension in FORMATS[name].extensions}
    for path in sorted(before.sizes.keys() - listed):
        if os.path.splitext(path)[1] in known:
            reason = f"the card does not say to which split {path} belongs: list the files of 'default' in its configs."
            raise ArgumentError("append", True, reason)
