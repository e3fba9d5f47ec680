"""The source argument of `load_samples` → rows: files, a dataset of the Hub, a dataset, a list."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.benchmarks.samples.provenance import Provenance
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, FileNotFoundDatasetsError
from crucible_datasets.iterable_dataset import IterableDataset
from crucible_datasets.keywords import refuse_unknown_keywords
from crucible_datasets.load import load_dataset_builder, load_from_disk
from crucible_datasets.reading.format_choice import is_missing_file, names_beside, stem_of


def opened(
    source: Any, texts: list[str], split: str | None, streaming: bool, options: Mapping[str, Any], skips: bool = False
) -> tuple[Any, Provenance]:
    """The rows, as a dataset, a stream or a list, and their provenance. `texts` are columns to read as text.

    With `skips`, invalid lines of files are skipped with a warning.
    """
    if isinstance(source, (str, os.PathLike)):
        return _named(os.fspath(source), texts, split, streaming, options, skips)
    _refuse_options("a source in memory", options)
    if isinstance(source, Mapping):
        return _streamed(_only_split(source, split), streaming), Provenance(split=split)
    if isinstance(source, (Dataset, IterableDataset)):
        return _streamed(source, streaming), Provenance(split=str(source.split) if source.split else None)
    if isinstance(source, Iterable):
        return list(source), Provenance()
    raise ArgumentTypeError("source", source, "give a file, a folder, a name of the Hub, a dataset, or a list of rows")


def _named(
    source: str, texts: list[str], split: str | None, streaming: bool, options: Mapping[str, Any], skips: bool
) -> tuple[Any, Provenance]:
    if is_missing_file(source):
        raise FileNotFoundDatasetsError(source, "there is no such file.", names_beside(source))
    if os.path.isdir(source) and is_saved(source):
        _refuse_options("a folder of save_to_disk", options)
        return _streamed(_only_split(load_from_disk(source), split), streaming), Provenance(source=source, split=split)
    builder = load_dataset_builder(source, **options)
    if more := _more_options(builder.name, texts, options, skips):
        builder = load_dataset_builder(source, **options, **more)
    chosen = split or _only(list(builder.config.data_files), source)
    rows = builder.as_streaming_dataset(chosen) if streaming else builder.as_dataset(chosen)
    config = options.get("name") or (builder.config.name if builder.revision else None)
    return rows, Provenance(source=source, revision=builder.revision, config=config, split=chosen)


def _refuse_options(source: str, options: Mapping[str, Any]) -> None:
    refuse_unknown_keywords(source, {name: value for name, value in options.items() if value is not None})


def _more_options(format: str | None, texts: list[str], options: Mapping[str, Any], skips: bool) -> dict[str, Any]:
    more: dict[str, Any] = {}
    if format == "csv" and not {"dtype", "converters", "features"} & set(options):
        # CSV has no types: as numbers, the texts 007 and 1.50 would become 7 and 1.5.
        more["converters"] = dict.fromkeys(texts, str)
    if skips and format in ("csv", "json") and "on_bad_lines" not in options:
        more["on_bad_lines"] = "warn"
    return more


def is_saved(folder: str) -> bool:
    """Whether a folder was written by `save_to_disk`."""
    return any(os.path.exists(os.path.join(folder, name)) for name in ("state.json", "dataset_dict.json"))


def _streamed(rows: Any, streaming: bool) -> Any:
    return rows.to_iterable_dataset() if streaming and isinstance(rows, Dataset) else rows


def _only_split(splits: Any, split: str | None) -> Any:
    if not isinstance(splits, Mapping):
        return splits
    return splits[split or _only(list(splits), "the dataset")]


def _only(names: list[str], source: str) -> str:
    if len(names) != 1:
        raise ArgumentError("split", None, f"{source} has several splits; choose one of {', '.join(map(str, names))}")
    return names[0]


def title(source: Any) -> str:
    """A name for the samples, derived from their source."""
    if isinstance(source, str) and not os.path.splitext(source)[1] and "://" not in source:
        return source
    return stem_of(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else "samples"
