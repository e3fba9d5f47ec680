"""Shuffled choices, with adjusted targets.

The order of a sample's choices depends only on the seed and the sample's id: it is the same for subsets and other
orders of the samples, in streams, and on any machine.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from typing import Any

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.benchmarks.samples.decoding import column_of
from crucible_datasets.benchmarks.types import Sample
from crucible_datasets.exceptions import InvalidRecordError
from crucible_datasets.iterable_dataset import IterableDataset

_AT_ONCE = 2048
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LIKE_A_NAME = re.compile(r"[0-9]+|\([A-Za-z]\)|[A-Za-z][).:]")

Target = str | list[str]


def letter(place: int) -> str:
    """The letter of a choice: A to Z, then 1, 2, …"""
    return _LETTERS[place] if place < len(_LETTERS) else str(place - len(_LETTERS) + 1)


def position(target: str, choices: Sequence[str]) -> int | None:
    """The index of the choice that a target names by letter or index; None for other targets, such as texts."""
    if len(target) == 1 and target in _LETTERS:
        place = _LETTERS.index(target)
        if place < len(choices):
            return place
        if target not in choices:
            raise InvalidRecordError("Sample", f"the target is {target!r}, but there are {len(choices)} choices")
        return None
    if len(target) == 1 and target.upper() in _LETTERS and target not in choices:
        place = _LETTERS.index(target.upper())
        return place if place < len(choices) else None
    if not (target.isascii() and target.isdigit()) or target in choices:
        return None
    if len(choices) > len(_LETTERS):
        place = int(target) + len(_LETTERS) - 1
        return place if len(_LETTERS) <= place < len(choices) else None
    return int(target) if int(target) < len(choices) else None


def order(seed: int, id: str | int, size: int) -> list[int]:
    """The old index of the choice at each position."""
    # A large number in the factorial number system is a permutation; with 16 extra bytes, probabilities differ by at
    # most 2 ** -128.
    number = int.from_bytes(hashlib.shake_256(f"{seed}\0{id}".encode()).digest(2 * size + 16))
    places = list(range(size))
    for last in range(size - 1, 0, -1):
        number, other = divmod(number, last + 1)
        places[last], places[other] = places[other], places[last]
    return places


def reordered(target: Target, choices: list[str], places: list[int]) -> Target:
    """The target that names the same choices in their new order, as before by letter, index or text."""
    if isinstance(target, list):
        return [_renamed(one, choices, places) for one in target]
    return _renamed(target, choices, places)


def _renamed(target: str, choices: list[str], places: list[int]) -> str:
    old = position(target, choices)
    if old is None:
        _refuse_unclear(target, choices)
        return target
    new = places.index(old)
    named = str(new) if target.isdigit() and len(choices) <= len(_LETTERS) else letter(new)
    return named.lower() if target.islower() else named


def _refuse_unclear(target: str, choices: list[str]) -> None:
    """Raise for a target that looks like a letter or index but is out of range."""
    if target not in choices and _LIKE_A_NAME.fullmatch(target):
        reason = f"the target {target!r} does not say which of {len(choices)} choices"
        raise InvalidRecordError("Sample", f"{reason}: give a letter, an index from 0, or the text of a choice")


def with_shuffled_choices(sample: Sample, seed: int) -> Sample:
    """The sample with its choices shuffled by the seed."""
    return sample.replace(**_shuffled(sample.id, sample.target, sample.choices, seed))


def _shuffled(id: str | int, target: Target, choices: list[str] | None, seed: int) -> dict[str, Any]:
    if not choices or target is None:
        return {"target": target, "choices": choices}
    places = order(seed, id, len(choices))
    try:
        return {"target": reordered(target, choices, places), "choices": [choices[place] for place in places]}
    except InvalidRecordError as error:
        raise InvalidRecordError(f"Sample {id!r}", error.reason) from None


def dataset_with_shuffled_choices(dataset: Dataset, seed: int | None) -> Dataset:
    """The dataset with new columns of targets and choices; other columns are shared."""
    kinds, names = dataset.features, dataset.column_names
    rows = dataset.select_columns(["id", "target", "choices"]).with_format("arrow")
    chosen = _some(seed)
    blocks = [_columns(table, chosen) for table in rows.iter(_AT_ONCE)]
    dataset = dataset.remove_columns(["target", "choices"])
    for name in ("target", "choices"):
        values = [value for block in blocks for value in block[name]]
        dataset = dataset.add_column(name, values, feature=kinds[name])
    return dataset.select_columns(names)


def stream_with_shuffled_choices(stream: IterableDataset, seed: int | None) -> IterableDataset:
    """The stream with shuffled choices and adjusted targets."""
    read = ["id", "target", "choices"]
    return stream.map(_shuffled, input_columns=read, features=stream.features, fn_kwargs={"seed": _some(seed)})


def _columns(table: Any, seed: int) -> dict[str, list[Any]]:
    columns = (column_of(name, table.column(name)) for name in ("id", "target", "choices"))
    rows = [_shuffled(id, target, choices, seed) for id, target, choices in zip(*columns, strict=True)]
    return {name: [row[name] for row in rows] for name in ("target", "choices")}


def _some(seed: int | None) -> int:
    return secrets.randbits(32) if seed is None else seed
