"""Values of rows grouped by sample, since a sample may have several answers."""

from __future__ import annotations

import numpy as np


def codes(ids: list[str]) -> tuple[np.ndarray, int]:
    """The index of the sample of every row, in order of first occurrence, and the number of samples."""
    place: dict[str, int] = {}
    found = np.fromiter((place.setdefault(one, len(place)) for one in ids), dtype=np.int64, count=len(ids))
    return found, len(place)


def means(ids: list[str], values: np.ndarray) -> np.ndarray:
    """The mean of every sample over its repetitions that count; NaN if none does."""
    sample, size = codes(ids)
    if size == len(values):
        return values
    counts = ~np.isnan(values)
    number = np.bincount(sample[counts], minlength=size)
    total = np.bincount(sample[counts], weights=values[counts], minlength=size)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def matrix(ids: list[str], values: np.ndarray) -> np.ndarray:
    """A matrix with one row per sample and one column per repetition, padded with NaN."""
    sample, size = codes(ids)
    order = np.argsort(sample, kind="stable")
    number = np.bincount(sample, minlength=size)
    starts = np.concatenate(([0], np.cumsum(number)[:-1])) if size else np.zeros(0, dtype=np.int64)
    within = np.arange(len(values)) - np.repeat(starts, number)
    filled = np.full((size, int(number.max(initial=0))), np.nan)
    filled[sample[order], within] = values[order]
    return filled
