"""The public names, for editors and type checkers; at run time they are loaded when first used."""

from crucible_datasets.evaluation.exports.base import (
    EXPORTS as EXPORTS,
)
from crucible_datasets.evaluation.exports.base import (
    Export as Export,
)
from crucible_datasets.evaluation.exports.exporting import (
    export as export,
)

__all__: list[str]
