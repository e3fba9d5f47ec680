"""Splits: their names, their sizes, and the language that asks for parts of them.

`pieces_of("train[:10%]+test[5:]", lengths)` is what the rest of the library uses: it
turns any way of naming a split into row ranges. Knows only names and numbers.
"""

from crucible_datasets.splits.errors import EmptySplitError, SplitNameError, SplitSpecError, UnknownSplitError
from crucible_datasets.splits.instructions import ReadInstruction
from crucible_datasets.splits.names import (
    NamedSplit,
    NamedSplitAll,
    PercentSlice,
    PercentSliceMeta,
    SlicedSplitInfo,
    Split,
    SplitBase,
    SplitReadInstruction,
    percent,
)
from crucible_datasets.splits.pieces import SplitPiece, names_in, pieces_of
from crucible_datasets.splits.sizes import FileInstructions, SplitDict, SplitGenerator, SplitInfo, SubSplitInfo

__all__ = [
    "EmptySplitError",
    "FileInstructions",
    "NamedSplit",
    "NamedSplitAll",
    "PercentSlice",
    "PercentSliceMeta",
    "ReadInstruction",
    "SlicedSplitInfo",
    "Split",
    "SplitBase",
    "SplitDict",
    "SplitGenerator",
    "SplitInfo",
    "SplitNameError",
    "SplitPiece",
    "SplitReadInstruction",
    "SplitSpecError",
    "SubSplitInfo",
    "UnknownSplitError",
    "names_in",
    "percent",
    "pieces_of",
]
