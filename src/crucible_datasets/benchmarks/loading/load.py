"""`load_benchmark`: a benchmark by its name, as typed samples."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.benchmarks.catalog.registry import BenchmarkEntry, Folders, get_benchmark
from crucible_datasets.benchmarks.loading.converting import (
    REASON,
    ROW,
    Converter,
    class_names,
    features_of,
    refuse_missing,
)
from crucible_datasets.benchmarks.loading.origins import Origin, origin_of
from crucible_datasets.benchmarks.loading.pieces import Piece, limited, pieces_of, within
from crucible_datasets.benchmarks.locks.guard import LockGiven, benchmark_under, lock_of
from crucible_datasets.benchmarks.samples.provenance import Provenance
from crucible_datasets.benchmarks.samples.stream import StreamedSamples
from crucible_datasets.benchmarks.samples.table import Samples
from crucible_datasets.exceptions import ArgumentError, DownloadError, OfflineError, UnknownEntryError
from crucible_datasets.keywords import passing_on

BadRows = Literal["error", "skip"]
_MINIATURE = "Pass synthetic=True for a miniature of the benchmark, which needs no network."


def load_benchmark(
    name: str | os.PathLike[str],
    split: str | None = None,
    *,
    config: str | None = None,
    synthetic: bool = False,
    streaming: bool = False,
    revision: str | None = None,
    on_bad_rows: BadRows = "error",
    limit: int | None = None,
    token: bool | str | None = None,
    source: str | os.PathLike[str] | None = None,
    folders: Folders = None,
    lock: LockGiven = None,
    **load_options: Any,
) -> Any:
    """The samples of a benchmark, by its short name, its repository or its TOML file.

    They come from the Hub; from `source`, a folder or another repository; or, with `synthetic=True`, from a generated
    miniature, without network. `limit` is the number of rows to read. An invalid row raises an error that names it,
    or is skipped and counted with `on_bad_rows="skip"`. `revision="latest"` ignores the pinned commits of entry and
    lock. `lock` is a file of `crucible lock`, True for the one in the current folder, or False for none; the default
    is CRUCIBLE_LOCK. Further arguments are those of `load_dataset_builder`.
    """
    if on_bad_rows not in ("error", "skip"):
        raise ArgumentError("on_bad_rows", on_bad_rows, "choose 'error' or 'skip'.")
    if limit is not None and limit < 0:
        raise ArgumentError("limit", limit, "it is a number of rows, 0 or more.")
    entry = get_benchmark(name, folders=folders).of(config)
    _refuse_config(entry, split)
    source_options = {"source": None if source is None else os.fspath(source), "token": token}
    where = {"synthetic": synthetic, **source_options, **load_options}
    spec, used_lock = str(split or entry.default_split), None if revision == "latest" else lock_of(lock)
    load = partial(loaded, entry, {**where, "folders": folders, "lock": used_lock}, on_bad_rows)
    with passing_on(load_benchmark), _hints(entry, split):
        if used_lock is None:
            return load(spec, revision, limit, streaming)
        arguments = {"revision": revision, "limit": limit, "streaming": streaming, **where}
        return benchmark_under(used_lock, entry, spec, load, **arguments)


def _refuse_config(entry: BenchmarkEntry, split: str | None) -> None:
    """Raise for a configuration passed as a split, before any request to the Hub."""
    if split not in entry.splits_of(entry.config) and split in (*entry.config_names, *entry.group_names):
        known = ", ".join(entry.splits_of(entry.config))
        reason = f"it is a configuration of {entry.name}, not a split: pass config={split!r}. Splits: {known}."
        raise ArgumentError("split", split, reason)


@contextmanager
def _hints(entry: BenchmarkEntry, split: str | None) -> Iterator[None]:
    """Add a note on `synthetic=True` to errors of the network, and one on `config` to those of an unknown split."""
    try:
        yield
    except UnknownEntryError as error:
        meant = get_close_matches(str(split), [*entry.config_names, *entry.group_names], n=1)
        if error.kind.startswith("split of ") and meant and not get_close_matches(str(split), error.available):
            error.add_note(f"A configuration is passed by name: config={meant[0]!r}.")
        raise
    except (DownloadError, OfflineError) as error:
        if _MINIATURE not in getattr(error, "__notes__", ()):
            error.add_note(_MINIATURE)
        raise


def loaded(
    entry: BenchmarkEntry,
    where: dict[str, Any],
    on_bad_rows: BadRows,
    spec: str,
    revision: str | None,
    limit: int | None,
    streaming: bool,
) -> Any:
    """The samples without a check against the lock, which is used only for the commit of an excluded benchmark."""
    excluded = _inputs(entry, where, revision)
    origins = _origins(entry, revision, {name: where[name] for name in where if name not in ("folders", "lock")})
    pieces = [piece for one, origin in origins.items() for piece in pieces_of(entry, one, spec, origin, streaming)]
    chosen = limited([_chosen(entry, piece, excluded) for piece in pieces], limit)
    provenance = Provenance(
        source=where["source"] or entry.source,
        revision=next(iter(origins.values())).revision,
        config=entry.config or None,
        split=spec,
        rules=entry.rules,
    )
    made = _streamed if streaming else _table
    return made(entry, list(chosen), provenance, on_bad_rows, limit)


def _origins(entry: BenchmarkEntry, revision: str | None, where: dict[str, Any]) -> dict[str, Origin]:
    """The configurations to load: those of a group, or the single one in which a column has the group of each row.

    All are of the same commit, even if another is pushed meanwhile.
    """
    members = entry.group_names.get(entry.config)
    configs = [entry.config] if members is None else [next(iter(entry.configs))] if entry.group_column else members
    origins: dict[str, Origin] = {}
    for one in configs:
        origins[one] = origin_of(entry, one, revision=revision, **where)
        revision = revision if len(configs) == 1 or where["synthetic"] else origins[one].revision
    return origins


def _inputs(entry: BenchmarkEntry, where: dict[str, Any], revision: str | None) -> set[Any]:
    """The inputs of the benchmark that an entry excludes; `revision` does not apply to it."""
    if not entry.exclude:
        return set()
    known = {name: value for name, value in where.items() if name in ("synthetic", "folders", "token", "cache_dir")}
    known["revision"] = revision if revision == "latest" else None
    used_lock = where["lock"]
    is_locked = used_lock is not None and used_lock.named(entry.exclude, None, None, "benchmark", where["synthetic"])
    return {sample.input for sample in load_benchmark(entry.exclude, lock=used_lock if is_locked else False, **known)}


def _chosen(entry: BenchmarkEntry, piece: Piece, excluded: set[Any]) -> Piece:
    """The rows without those of other groups and of the excluded benchmark."""
    members = entry.group_names.get(entry.config)
    if members and entry.group_column:
        piece = within(piece, entry.group_column, frozenset(members))
    return within(piece, str(entry.columns["question"]), excluded, keep=False) if excluded else piece


def _table(
    entry: BenchmarkEntry, pieces: list[Piece], provenance: Provenance, on_bad_rows: BadRows, limit: int | None
) -> Benchmark:
    from crucible_datasets.combine import concatenate_datasets

    made = concatenate_datasets([_converted(entry, piece, on_bad_rows) for piece in pieces])
    reasons = made[REASON][:]
    bad = [place for place, reason in enumerate(reasons) if reason is not None]
    if bad:
        left_out = made.select(bad).select_columns([ROW, "id", REASON])
        left_out = left_out.rename_columns({ROW: "index", REASON: "exception"})
        made = made.select([place for place, reason in enumerate(reasons) if reason is None])
    raw = concatenate_datasets([piece.rows.remove_columns(ROW) for piece in pieces])
    known = provenance.replace(skipped=len(bad))
    return Benchmark(made.remove_columns([ROW, REASON]), entry, raw, known, left_out if bad else None)


def _converted(entry: BenchmarkEntry, piece: Piece, on_bad_rows: BadRows) -> Any:
    """The samples of a piece, with a column of reasons for invalid rows."""
    rows = _undecoded(entry, piece.rows)
    names, untyped = class_names(entry, rows.features), rows.features is None
    convert = Converter(entry, piece.prefix, names, on_bad_rows, untyped)
    if rows.column_names is not None:
        refuse_missing(entry, convert.rule, rows.column_names)
    kinds = features_of(entry, convert.rule, rows.features)
    if isinstance(rows, Dataset) and not len(rows):
        return Dataset.from_dict({name: [] for name in kinds}, features=kinds)
    options = {
        "batched": True,
        "batch_size": convert.rule.at_once,
        "remove_columns": rows.column_names,
        "features": kinds,
    }
    return rows.map(convert, **options, **({"cache_key": convert.key} if isinstance(rows, Dataset) else {}))


def _undecoded(entry: BenchmarkEntry, rows: Any) -> Any:
    """The rows with undecoded images."""
    from crucible_datasets.features import Image

    for column in entry.columns.values():
        if rows.features and isinstance(column, str) and isinstance(rows.features.get(column), Image):
            rows = rows.cast_column(column, Image(decode=False))
    return rows


def _streamed(
    entry: BenchmarkEntry, pieces: list[Piece], provenance: Provenance, on_bad_rows: BadRows, limit: int | None
) -> StreamedBenchmark:
    from crucible_datasets.combine import concatenate_datasets

    left_out: set[str] = set()

    def fits(id: str, reason: str | None) -> bool:
        if reason is not None:
            left_out.add(id)
        return reason is None

    made = concatenate_datasets([_converted(entry, piece, on_bad_rows) for piece in pieces])
    raw = concatenate_datasets([piece.rows.remove_columns(ROW) for piece in pieces])
    if limit is not None:
        made, raw = made.take(limit), raw.take(limit)
    fitting = made.filter(fits, input_columns=["id", REASON]).remove_columns([ROW, REASON])
    return StreamedBenchmark(fitting, entry, raw, provenance, left_out)


class _OfBenchmark:
    """Properties shared by `Benchmark` and `StreamedBenchmark`."""

    entry: BenchmarkEntry
    raw: Any
    _provenance: Provenance

    @property
    def config(self) -> str | None:
        """The configuration that was loaded."""
        return self._provenance.config

    @property
    def split(self) -> str | None:
        """The split that was loaded."""
        return self._provenance.split


class Benchmark(_OfBenchmark, Samples):
    """The samples of a benchmark, with its entry in the registry and the original rows."""

    def __init__(
        self, dataset: Any, entry: BenchmarkEntry, raw: Any, provenance: Provenance, bad_rows: Any = None
    ) -> None:
        super().__init__(dataset, entry.name, provenance, bad_rows)
        self.entry, self.raw = entry, raw


class StreamedBenchmark(_OfBenchmark, StreamedSamples):
    """The samples of a benchmark as a stream: `raw` and `dataset` are streams too."""

    def __init__(
        self, dataset: Any, entry: BenchmarkEntry, raw: Any, provenance: Provenance, left_out: set[str]
    ) -> None:
        super().__init__(dataset, entry.name, provenance)
        self.entry, self.raw, self._left_out = entry, raw, left_out

    @property
    def skipped(self) -> int:
        """The number of invalid rows skipped so far."""
        return len(self._left_out)
