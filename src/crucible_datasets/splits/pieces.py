"""From any way of naming splits to ranges of rows: what the rest of the library uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from crucible_datasets.splits.errors import EmptySplitError, UnknownSplitError
from crucible_datasets.splits.instructions import ReadInstruction
from crucible_datasets.splits.names import SplitBase, SplitMerged, SubSplit

if TYPE_CHECKING:
    from crucible_datasets.splits.sizes import SplitInfo, SubSplitInfo


class SplitPiece(NamedTuple):
    """Rows `start` to `stop` of one split."""

    split: str
    start: int
    stop: int


def pieces_of(split: str | SplitBase | ReadInstruction, lengths: Mapping[str, int]) -> list[SplitPiece]:
    """The row ranges that `split` names, in order; at least one of them has rows, or ends before it begins.

    >>> pieces_of("train[:10%]+test", {"train": 50, "test": 3})
    [SplitPiece(split='train', start=0, stop=5), SplitPiece(split='test', start=0, stop=3)]
    """
    parts = [part for instruction in _instructions(split, lengths) for part in instruction.to_absolute(lengths)]
    if all(part.from_ == part.to for part in parts):
        raise EmptySplitError(split, lengths)
    return [SplitPiece(part.splitname, part.from_, max(part.from_, part.to)) for part in parts]


def names_in(split: str | SplitBase | ReadInstruction, available: Iterable[str]) -> dict[str, bool]:
    """The splits that `split` reads from, each once, and whether it reads their first rows.

    >>> names_in("train[:10%]+test[5:]", ["train", "test", "dev"])
    {'train': True, 'test': False}
    """
    known = dict.fromkeys(available, 0)
    found: dict[str, bool] = {}
    for instruction in _instructions(split, known):
        for part in instruction._relative_instructions:
            found[part.splitname] = found.get(part.splitname, False) or not part.from_
    for name in found:
        if name not in known:
            raise UnknownSplitError(name, known)
    return found


def _instructions(split: str | SplitBase | ReadInstruction, lengths: Mapping[str, int]) -> list[ReadInstruction]:
    if isinstance(split, ReadInstruction):
        return [split]
    if isinstance(split, (SplitMerged, SubSplit)):
        from crucible_datasets.splits.sizes import SplitDict, SplitInfo  # which asks for pieces itself

        infos = SplitDict({name: SplitInfo(name, 0, length) for name, length in lengths.items()})
        return [_percents(*sliced) for sliced in split.get_read_instruction(infos).get_list_sliced_split_info()]
    if str(split) == "all" and "all" not in lengths:
        return [ReadInstruction(name) for name in lengths]
    return [ReadInstruction.from_spec(split)]


def _percents(info: SplitInfo | SubSplitInfo, taken: slice | None) -> ReadInstruction:
    part = taken or slice(None)
    return ReadInstruction(getattr(info, "name", ""), from_=part.start, to=part.stop, unit="%")
