"""Choices in another order, with the target following the right one.

The order of a sample's choices depends on the seed and the sample's id alone: it is the same in a part of the samples,
in another order of them, in a stream and on any machine.
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
from crucible_datasets.benchmarks.types.schemas import stored
from crucible_datasets.exceptions import InvalidRecordError
from crucible_datasets.iterable_dataset import IterableDataset

_AT_ONCE = 2048
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LIKE_A_NAME = re.compile(r"[0-9]+|\([A-Za-z]\)|[A-Za-z][).:]")

Target = str | list[str]


def letter(place: int) -> str:
    """The name of a choice: A to Z, then 1, 2, …"""
    return _LETTERS[place] if place < len(_LETTERS) else str(place - len(_LETTERS) + 1)


def position(target: str, choices: Sequence[str]) -> int | None:
    """Which choice a target names by letter or by index from 0; None where it is something else, such as a text."""
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
    """Which of the old choices comes at each place."""
    # One large number, read digit by digit in the bases size, size - 1, …, is a permutation; with 16 bytes to spare
    # no order is likelier than another by more than 2 ** -128.
    number = int.from_bytes(hashlib.shake_256(f"{seed}\0{id}".encode()).digest(2 * size + 16))
    places = list(range(size))
    for last in range(size - 1, 0, -1):
        number, other = divmod(number, last + 1)
        places[last], places[other] = places[other], places[last]
    return places


def reordered(target: Target, choices: list[str], places: list[int]) -> Target:
    """The target that names the same choices in their new order, in the same way: a letter, an index, a text."""
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
    """An error for what looks like the name of a choice and is none: in another order it would name a wrong one."""
    if target not in choices and _LIKE_A_NAME.fullmatch(target):
        reason = f"the target {target!r} does not say which of {len(choices)} choices"
        raise InvalidRecordError("Sample", f"{reason}: give a letter, an index from 0, or the text of a choice")


def with_shuffled_choices(sample: Sample, seed: int) -> Sample:
    """The sample with its choices in the order that belongs to the seed."""
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
    """The dataset with new columns of targets and choices; the others are shared."""
    kinds, names = dataset.features, dataset.column_names
    rows = dataset.select_columns(["id", "target", "choices"]).with_format("arrow")
    chosen = _some(seed)
    blocks = [_columns(table, chosen) for table in rows.iter(_AT_ONCE)]
    dataset = dataset.remove_columns(["target", "choices"])
    for name in ("target", "choices"):
        values = [value for block in blocks for value in block[name]]
        dataset = dataset.add_column(name, stored(values, kinds[name]), feature=kinds[name])
    return dataset.select_columns(names)


def stream_with_shuffled_choices(stream: IterableDataset, seed: int | None) -> IterableDataset:
    """The stream with other targets and choices in its rows."""
    read = ["id", "target", "choices"]
    return stream.map(_shuffled, input_columns=read, features=stream.features, fn_kwargs={"seed": _some(seed)})


def _columns(table: Any, seed: int) -> dict[str, list[Any]]:
    columns = (column_of(name, table.column(name)) for name in ("id", "target", "choices"))
    rows = [_shuffled(id, target, choices, seed) for id, target, choices in zip(*columns, strict=True)]
    return {name: [row[name] for row in rows] for name in ("target", "choices")}


def _some(seed: int | None) -> int:
    return secrets.randbits(32) if seed is None else seed
