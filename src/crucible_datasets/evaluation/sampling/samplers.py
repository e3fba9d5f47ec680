"""Seeded samples, folds and splits of a dataset or of samples, with row numbers and a record of how they were drawn.

The drawing is done by `Dataset.sample`, `shuffle` and `k_fold`, on a dataset of row numbers and the values of the
fields to stratify or group by. So any field can be used, also a nested one such as "metadata.level".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.benchmarks.samples.table import Samples
from crucible_datasets.evaluation.sampling.fieldvalues import field_values
from crucible_datasets.evaluation.statistics.arrays import codes_of
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError

Data = TypeVar("Data", Dataset, Samples)
Rows = npt.NDArray[np.int64]

_ROW = "\0row"  # not the name of a field


class DrawInfo(Struct, frozen=True, kw_only=True):
    """How a part was drawn: everything needed to draw it again, and its statistics."""

    method: str
    seed: int | None
    size: int
    original_size: int
    fingerprint: str
    part: str | None = None
    fold: int | None = None
    num_folds: int | None = None
    stratify_by: str | None = None
    group_by: str | None = None
    strata: dict[str, int] | None = None


@dataclass(frozen=True, eq=False)
class Drawn(Generic[Data]):
    """A part of the data, its row numbers in the original, and how it was drawn."""

    data: Data
    rows: Rows
    info: DrawInfo

    def __len__(self) -> int:
        return len(self.rows)


class Fold(NamedTuple):
    """Training and test part of one fold."""

    train: Drawn[Any]
    test: Drawn[Any]


def random_sample(data: Data, n: float, seed: int = 0) -> Drawn[Data]:
    """`n` rows drawn at random; a float is a fraction of them."""
    source = _Source(data)
    return source.drawn(source.numbered().sample(n, seed=seed), "random", seed)


def stratified_sample(data: Data, n: float, by: str, seed: int = 0) -> Drawn[Data]:
    """`n` rows drawn at random, in which each value of a field has its exact share."""
    source = _Source(data, stratify_by=by)
    return source.drawn(source.numbered().sample(n, seed=seed, stratify_by_column=by), "stratified", seed)


def bootstrap_sample(data: Data, n: float | None = None, seed: int = 0) -> Drawn[Data]:
    """`n` rows (default: as many as there are) drawn with replacement."""
    source = _Source(data)
    return source.drawn(source.numbered().sample(1.0 if n is None else n, seed=seed, replace=True), "bootstrap", seed)


def k_fold(
    data: Data,
    k: int = 5,
    seed: int = 0,
    shuffle: bool = True,
    stratify_by: str | None = None,
    group_by: str | None = None,
) -> list[Fold]:
    """`k` folds in which every row is tested exactly once.

    With `stratify_by`, every fold has its share of each value of that field. With `group_by`, rows with the same
    value stay together.
    """
    source = _Source(data, stratify_by, group_by)
    drawing_seed = seed if shuffle else None
    pairs = source.numbered().k_fold(k, shuffle, drawing_seed, stratify_by, group_by)
    return [
        Fold(*(source.drawn(pair[part], "k-fold", drawing_seed, part, number, k) for part in ("train", "test")))
        for number, pair in enumerate(pairs)
    ]


def split(
    data: Data,
    train: float | None = None,
    validation: float | None = None,
    test: float | None = None,
    seed: int = 0,
    stratify_by: str | None = None,
    group_by: str | None = None,
) -> dict[str, Drawn[Data]]:
    """The data in two or three parts: "train", "validation" and "test".

    A float is a fraction of the rows, an int their number; one part may be omitted and gets the rest. Without any
    size, test gets a fifth. With `stratify_by`, each part has its exact share of every value. With `group_by`, rows
    with the same value stay together, and sizes are as close as the groups allow.
    """
    source = _Source(data, stratify_by, group_by)
    sizes = _sizes({"train": train, "validation": validation, "test": test}, len(source.dataset))
    if group_by is not None:
        if stratify_by is not None:
            raise ArgumentError(
                "stratify_by",
                stratify_by,
                "groups stay whole, so values cannot be shared out too; folds do both, as nearly as groups allow.",
            )
        parts = _grouped(source, sizes, seed)
    else:
        parts = _shared_out(source.numbered().shuffle(seed=seed), sizes, seed, stratify_by)
    return {part: source.drawn(parts[part], "split", seed, part) for part in sizes}


def _sizes(asked: Mapping[str, float | None], num_rows: int) -> dict[str, int]:
    """The number of rows of each part, which add up to all rows."""
    given = {part: size for part, size in asked.items() if size is not None} or {"test": 0.2}
    counts = {part: _count(part, size, num_rows) for part, size in given.items()}
    rest = "train" if "train" not in given else "test" if len(given) == 1 else None
    fractions = all(isinstance(size, float) for size in given.values())
    if rest is not None:
        counts[rest] = num_rows - sum(counts.values())
    elif fractions and abs(sum(given.values()) - 1) < 1e-9:
        counts["train"] += num_rows - sum(counts.values())  # the rounding difference
    if min(counts.values()) < 0 or sum(counts.values()) != num_rows:
        total = sum(given.values()) if fractions else sum(counts[part] for part in given)
        found = f"{total * 100:g} % of the rows" if fractions else f"{total} rows, and there are {num_rows}"
        advice = "leave out train, and it gets the rest" if rest is None else f"none would be left for {rest}"
        raise ArgumentError("sizes", given, f"together they are {found}; {advice}.")
    return {part: counts[part] for part in asked if part in counts}


def _count(part: str, size: float, num_rows: int) -> int:
    whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
    if (not whole and not isinstance(size, (float, np.floating))) or not 0 <= size <= (num_rows if whole else 1):
        raise ArgumentError(part, size, f"expected a share from 0.0 to 1.0, or a number of rows up to {num_rows}.")
    return int(size) if whole else round(float(size) * num_rows)


def _shared_out(numbered: Dataset, sizes: dict[str, int], seed: int, stratify_by: str | None) -> dict[str, Dataset]:
    """Draw the parts one after the other, each from the remaining rows; train comes last and gets the rest."""
    parts: dict[str, Dataset] = {}
    for part in reversed(sizes):
        if part == "train" or len(numbered) == sizes[part]:
            parts[part], numbered = numbered, numbered.take(0)
            continue
        parts[part] = numbered.sample(sizes[part], seed=seed, stratify_by_column=stratify_by)
        left = ~np.isin(_rows(numbered), _rows(parts[part]))
        numbered = numbered.select(np.flatnonzero(left))
    return parts


def _grouped(source: _Source, sizes: dict[str, int], seed: int) -> dict[str, Dataset]:
    """Assign every group, largest first, to the part that lacks most rows."""
    numbered = source.numbered().shuffle(seed=seed)
    codes, names = codes_of(numbered[str(source.group_by)][:])
    lacking = np.array(list(sizes.values()))
    counts = np.bincount(codes, minlength=len(names))
    part_of = np.empty(len(names), dtype=np.int64)
    for group in np.argsort(-counts, kind="stable"):
        part_of[group] = lacking.argmax()
        lacking[part_of[group]] -= counts[group]
    return {part: numbered.select(np.flatnonzero(part_of[codes] == place)) for place, part in enumerate(sizes)}


def _rows(numbered: Dataset) -> Rows:
    return np.asarray(numbered[_ROW].to_numpy(), dtype=np.int64)


@dataclass(frozen=True)
class _Source:
    """The data to draw from."""

    data: Any
    stratify_by: str | None = None
    group_by: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.data, (Dataset, Samples)):
            kind = type(self.data).__name__
            raise ArgumentTypeError(
                "data", kind, "rows are drawn from a Dataset, or from Samples, which are not a stream."
            )

    @property
    def dataset(self) -> Dataset:
        return self.data.dataset if isinstance(self.data, Samples) else self.data

    def numbered(self) -> Dataset:
        """A dataset of row numbers, with a column for each field to stratify or group by, named by its path."""
        columns: dict[str, Any] = {_ROW: np.arange(len(self.dataset), dtype=np.int64)}
        for path in (self.stratify_by, self.group_by):
            if path is not None:
                columns[path] = field_values(self.dataset, path)
        return Dataset.from_dict(columns, on_mixed_types="use_json")

    def drawn(
        self,
        numbered: Dataset,
        method: str,
        seed: int | None,
        part: str | None = None,
        fold: int | None = None,
        num_folds: int | None = None,
    ) -> Drawn[Any]:
        """The part of the data with these row numbers."""
        rows = _rows(numbered)
        info = DrawInfo(
            method=method,
            seed=seed,
            size=len(rows),
            original_size=len(self.dataset),
            fingerprint=str(self.dataset._fingerprint),
            part=part,
            fold=fold,
            num_folds=num_folds,
            stratify_by=self.stratify_by,
            group_by=self.group_by,
            strata=None if self.stratify_by is None else _counts(numbered[self.stratify_by][:]),
        )
        return Drawn(self.data.select(rows), rows, info)


def _counts(values: list[Any]) -> dict[str, int]:
    """The number of occurrences of each value, by its text, most frequent first."""
    return dict(Counter(map(str, values)).most_common())
