"""Summaries of columns: of a sample at once, of all rows after a background thread has read them."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from threading import Event, Lock
from time import monotonic
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ColumnNotFoundError
from crucible_datasets.records import dataclass
from crucible_datasets.viewer.arrays import numbers
from crucible_datasets.viewer.blocks import rows_at_once
from crucible_datasets.viewer.kinds import kind_of
from crucible_datasets.viewer.query import Query

_SAMPLE_ROWS = 2_000
_SAMPLE_RUNS = 5  # each decodes a row group of a Parquet file before anything is shown
_ROWS_AT_ONCE = 50_000
_SUMMARIES_KEPT = 256
_BINS = 20
_TOP = 12
_MOST_DISTINCT = 20_000  # more are not counted
_KEY_LENGTH = 200
_EXACT = 2**52  # floats below it have halves
_PAUSE = 0.2  # seconds after the last request for rows
_PATIENCE = 30  # seconds after the last request for a summary; then it is dropped


@dataclass
class Histogram:
    """Counts of numbers in bins that are set by the first numbers; others go into the first bin or the last."""

    edges: np.ndarray = field(default_factory=lambda: np.zeros(0))
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    low: float = math.inf
    high: float = -math.inf
    total: float = 0.0
    count: int = 0

    def add(self, values: np.ndarray) -> None:
        values = values[np.isfinite(values)]
        if not len(values):
            return
        self.low, self.high = min(self.low, values.min().item()), max(self.high, values.max().item())
        self.total, self.count = self.total + float(values.sum(dtype=np.float64)), self.count + len(values)
        if not len(self.edges):
            self.edges = _edges(values)
            self.counts = np.zeros(len(self.edges) - 1, dtype=np.int64)
        self.counts += np.histogram(np.clip(values, self.edges[0], self.edges[-1]), self.edges)[0]

    def emptied(self) -> Histogram:
        """The same bins without counts."""
        return Histogram(self.edges, np.zeros_like(self.counts))

    def facts(self) -> dict[str, Any]:
        if not self.count:
            return {"min": None, "max": None, "mean": None, "histogram": None}
        edges = [*self.edges.tolist()]
        edges[0], edges[-1] = min(edges[0], self.low), max(edges[-1], self.high)
        shown = {"edges": edges, "counts": self.counts.tolist()}
        return {"min": self.low, "max": self.high, "mean": self.total / self.count, "histogram": shown}


def _edges(values: np.ndarray) -> np.ndarray:
    """Bins of equal width; for few integers, one bin each, if floats tell them apart."""
    low, high = float(values.min()), float(values.max())
    if np.issubdtype(values.dtype, np.integer) and high - low < _BINS and max(-low, high) < _EXACT:
        return np.arange(low, high + 2) - 0.5
    return np.linspace(low, high if high > low else low + 1, _BINS + 1)


@dataclass
class Summary:
    """The summary of a column so far."""

    column: str
    feature: Any
    seen: int = 0
    nulls: int = 0
    numbers: Histogram = field(default_factory=Histogram)
    lengths: Histogram = field(default_factory=Histogram)
    values: Counter[Any] | None = field(default_factory=Counter)
    done: bool = False
    asked: float = field(default_factory=monotonic)  # time of the last request
    final: dict[str, Any] | None = None

    def settle(self) -> None:
        """Keep only the final result: nothing will be added."""
        self.done = True
        self.final, self.values = self.facts(), None

    def add(self, column: pa.ChunkedArray) -> None:
        """Add some rows."""
        self.seen, self.nulls = self.seen + len(column), self.nulls + column.null_count
        kind = kind_of(self.feature)
        filled = column.drop_null()
        if kind in ("integer", "number"):
            self.numbers.add(numbers(filled))
        if kind == "text":
            self.lengths.add(numbers(pc.utf8_length(filled)))
        if kind in ("list", "chat"):
            self.lengths.add(numbers(pc.list_value_length(filled)))
        if kind in ("integer", "text", "bool", "label"):
            self._count(filled)

    def _count(self, filled: pa.ChunkedArray) -> None:
        if self.values is None:
            return
        counted = pc.value_counts(filled)
        values = counted.field("values")
        if len(self.values) + len(values) > _MOST_DISTINCT:
            self.values = None
            return
        for value, count in zip(values.to_pylist(), counted.field("counts").to_pylist(), strict=True):
            self.values[_key(value)] += count

    def facts(self) -> dict[str, Any]:
        """The summary for a page."""
        if self.final is not None:
            return self.final
        kind = kind_of(self.feature)
        names = getattr(self.feature, "names", None) if kind == "label" else None
        top = None if not self.values else self.values.most_common(_TOP)
        if top is not None and kind != "label" and len(self.values or ()) > max(50, self.seen // 2):
            top = None  # almost all values are distinct
        return {
            "column": self.column,
            "kind": kind,
            "done": self.done,
            "seen": self.seen,
            "nulls": self.nulls,
            "distinct": None if self.values is None or kind in ("number", "list", "chat") else len(self.values),
            **(self.numbers.facts() if kind in ("integer", "number") else Histogram().facts()),
            "top": None if top is None else [[_named(_shown(value), names), count] for value, count in top],
            "lengths": self.lengths.facts() if self.lengths.count else None,
        }


def _key(value: Any) -> Any:
    """A key for counting: of a long text, its beginning and its hash."""
    return (value[:_KEY_LENGTH], hash(value)) if isinstance(value, str) and len(value) > _KEY_LENGTH else value


def _shown(key: Any) -> Any:
    return f"{key[0]}…" if isinstance(key, tuple) else key


def _named(value: Any, names: list[str] | None) -> Any:
    return names[value] if names and 0 <= value < len(names) else value


class Summaries:
    """The summaries of the columns of one dataset, completed by a background thread."""

    def __init__(self, dataset: Any) -> None:
        self._desk = dataset
        self._known: OrderedDict[tuple[Query, str], Summary] = OrderedDict()
        self._lock, self._stop = Lock(), Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="crucible-summaries")

    def of(self, query: Query, column: str) -> dict[str, Any]:
        """The current summary of a column."""
        key = replace(query, columns=None, sort=None, seed=None), column
        with self._lock:
            summary = self._known.get(key)
        if summary is None:
            summary = self._begun(key)
        summary.asked = monotonic()
        return summary.facts()

    def _begun(self, key: tuple[Query, str]) -> Summary:
        query, column = key
        rows = self._desk.rows(query)
        if column not in rows.features:
            raise ColumnNotFoundError(column, list(rows.features))
        summary = Summary(column, rows.features[column])
        places = np.arange(len(rows)) if len(rows) <= _SAMPLE_ROWS else _some(len(rows))
        summary.add(_column(rows.select(places), column))
        if len(places) == len(rows):
            summary.settle()
        with self._lock:
            self._known[key] = summary
            while len(self._known) > _SUMMARIES_KEPT:
                self._known.popitem(last=False)
        if not summary.done:
            self._pool.submit(self._complete, key, rows, summary)
        return summary

    def _complete(self, key: tuple[Query, str], rows: Any, sample: Summary) -> None:
        """Read all rows in blocks, and replace the summary of the sample."""
        _, column = key
        # In the bins of the sample: those of the first block would not hold the rest of a column that is sorted.
        numbers, lengths = sample.numbers.emptied(), sample.lengths.emptied()
        summary = Summary(column, rows.features[column], numbers=numbers, lengths=lengths)
        count = rows_at_once(rows.select_columns([column]), _ROWS_AT_ONCE)
        for at in range(0, len(rows), count):
            self._give_way()
            if self._stop.is_set() or self._known.get(key) is not sample:
                return
            if monotonic() - sample.asked > _PATIENCE:
                self._drop(key)
                return
            summary.add(_column(rows.select(range(at, min(at + count, len(rows)))), column))
        summary.settle()
        with self._lock:
            if key in self._known:
                self._known[key] = summary

    def forget(self) -> None:
        with self._lock:
            self._known.clear()

    def _drop(self, key: tuple[Query, str]) -> None:
        """Forget a summary that is not complete; the next request begins it again."""
        with self._lock:
            self._known.pop(key, None)

    def _give_way(self) -> None:
        """Wait while rows are being requested, since they have priority."""
        while monotonic() - self._desk.last_read < _PAUSE and not self._stop.wait(_PAUSE / 4):
            pass

    def close(self) -> None:
        self._stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _some(count: int) -> np.ndarray:
    """The row numbers of a sample: a few runs of rows, since scattered rows would read the whole file."""
    length = _SAMPLE_ROWS // _SAMPLE_RUNS
    starts = np.linspace(0, count - length, _SAMPLE_RUNS).astype(np.int64)
    return np.unique((starts[:, None] + np.arange(length)).ravel())


def _column(rows: Any, column: str) -> pa.ChunkedArray:
    found = rows.select_columns([column]).with_format("arrow")[:].column(0)
    storage = [chunk.storage if isinstance(chunk.type, pa.BaseExtensionType) else chunk for chunk in found.chunks]
    return pa.chunked_array(storage) if storage else pa.chunked_array([], type=pa.null())
