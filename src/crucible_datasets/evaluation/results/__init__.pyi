"""The public names, for editors and type checkers; at run time they are loaded when first used."""

from crucible_datasets.evaluation.results.differences import (
    Difference as Difference,
)
from crucible_datasets.evaluation.results.differences import (
    Differences as Differences,
)
from crucible_datasets.evaluation.results.openrun import (
    OpenRun as OpenRun,
)
from crucible_datasets.evaluation.results.rescoring import (
    Move as Move,
)
from crucible_datasets.evaluation.results.rescoring import (
    Rescored as Rescored,
)
from crucible_datasets.evaluation.results.runfile import (
    StoredRun as StoredRun,
)
from crucible_datasets.evaluation.results.sql.mirror import (
    SqlMirror as SqlMirror,
)
from crucible_datasets.evaluation.results.store import (
    ResultStore as ResultStore,
)

__all__: list[str]
