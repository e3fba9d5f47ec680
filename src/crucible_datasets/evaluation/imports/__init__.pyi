"""The public names, for editors and type checkers; at run time they are loaded when first used."""

from crucible_datasets.evaluation.imports.inspect_logs import (
    from_inspect_log as from_inspect_log,
)
from crucible_datasets.evaluation.imports.lm_eval import (
    from_lm_eval_samples as from_lm_eval_samples,
)
from crucible_datasets.evaluation.imports.reading import (
    read_log as read_log,
)

__all__: list[str]
