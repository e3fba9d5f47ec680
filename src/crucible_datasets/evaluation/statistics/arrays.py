"""Validation of array arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


def numbers(name: str, values: Any) -> Floats:
    """One finite number per sample; raises for missing values, since ignoring them would change the mean."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(name, _short(values), "expected one number per sample.") from error
    if array.ndim != 1:
        raise ArgumentError(name, _short(values), f"expected one number per sample, not {array.ndim} dimensions.")
    if not np.isfinite(array).all():
        place = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ArgumentError(
            name,
            float(array[place]),
            f"the value at {place} is not a finite number; leave it out or count it as wrong.",
        )
    return array


def of_one_length(**arrays: Any) -> None:
    """Raise if the arguments differ in length."""
    lengths = {name: len(array) for name, array in arrays.items() if array is not None}
    if len(set(lengths.values())) > 1:
        raise ArgumentError("lengths", lengths, "one entry per sample is needed in each.")


def is_binary(*arrays: Floats) -> bool:
    """Whether all values are 0 or 1."""
    return all(bool(((array == 0) | (array == 1)).all()) for array in arrays)


def is_constant(values: Floats) -> bool:
    """Whether all values are equal; their computed deviation could be a rounding error instead of 0."""
    return bool((values == values[0]).all())


def codes_of(labels: Any) -> tuple[Codes, list[Any]]:
    """The group of each sample as a number, and the label of each group; labels may be of any type."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "biuU":
        names, codes = np.unique(labels, return_inverse=True)
        return codes.astype(np.int64), names.tolist()
    place: dict[Any, int] = {}
    shown: list[Any] = []
    codes = np.empty(len(labels), dtype=np.int64)
    for number, label in enumerate(labels.tolist() if isinstance(labels, np.ndarray) else labels):
        key = _key(label)
        if key not in place:
            place[key] = len(shown)
            shown.append(label)
        codes[number] = place[key]
    return codes, shown


def members_of(codes: Codes, num_groups: int) -> list[Codes]:
    """The row numbers of each group, in order."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes, minlength=num_groups))[:-1])


def _key(label: Any) -> Any:
    """A hashable key for any label: True differs from 1, and NaN equals NaN."""
    if label != label:
        return float, "nan"
    return type(label), label if label.__hash__ is not None and not isinstance(label, tuple) else repr(label)


def _short(values: Any) -> str:
    text = repr(values)
    return text if len(text) < 60 else f"{text[:57]}…"
