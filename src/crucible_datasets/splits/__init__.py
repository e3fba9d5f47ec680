"""Splits: their names, their sizes, and specs such as `train[:10%]`.

The rest of the library uses `pieces_of("train[:10%]+test[5:]", lengths)`, which turns any way of naming splits into row
ranges.
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
