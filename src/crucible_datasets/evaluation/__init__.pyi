"""The public names, for editors and type checkers; at run time they are loaded when first used."""

from crucible_datasets.evaluation.comparing.compared import (
    ComparedScore as ComparedScore,
)
from crucible_datasets.evaluation.comparing.compared import (
    ComparisonRow as ComparisonRow,
)
from crucible_datasets.evaluation.comparing.compared import (
    ComparisonTable as ComparisonTable,
)
from crucible_datasets.evaluation.comparing.comparison import (
    compare as compare,
)
from crucible_datasets.evaluation.evaluating import (
    evaluate as evaluate,
)
from crucible_datasets.evaluation.evaluating import (
    evaluate_many as evaluate_many,
)
from crucible_datasets.evaluation.exports.exporting import (
    export as export,
)
from crucible_datasets.evaluation.imports.inspect_logs import (
    from_inspect_log as from_inspect_log,
)
from crucible_datasets.evaluation.imports.lm_eval import (
    from_lm_eval_samples as from_lm_eval_samples,
)
from crucible_datasets.evaluation.imports.reading import (
    read_log as read_log,
)
from crucible_datasets.evaluation.metrics.base import (
    METRICS as METRICS,
)
from crucible_datasets.evaluation.metrics.base import (
    Metric as Metric,
)
from crucible_datasets.evaluation.metrics.base import (
    metric as metric,
)
from crucible_datasets.evaluation.metrics.base import (
    metric_of as metric_of,
)
from crucible_datasets.evaluation.metrics.classification import (
    ClassificationReport as ClassificationReport,
)
from crucible_datasets.evaluation.metrics.classification import (
    ClassScores as ClassScores,
)
from crucible_datasets.evaluation.metrics.classification import (
    classification_report as classification_report,
)
from crucible_datasets.evaluation.metrics.passing import (
    pass_at_k as pass_at_k,
)
from crucible_datasets.evaluation.metrics.preference import (
    preference_report as preference_report,
)
from crucible_datasets.evaluation.outcome import (
    Outcome as Outcome,
)
from crucible_datasets.evaluation.report.page import (
    html_report as html_report,
)
from crucible_datasets.evaluation.report.page import (
    write_report as write_report,
)
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
from crucible_datasets.evaluation.rules.base import (
    RULES as RULES,
)
from crucible_datasets.evaluation.rules.base import (
    Reading as Reading,
)
from crucible_datasets.evaluation.rules.base import (
    Rule as Rule,
)
from crucible_datasets.evaluation.rules.base import (
    rule as rule,
)
from crucible_datasets.evaluation.rules.base import (
    rule_of as rule_of,
)
from crucible_datasets.evaluation.runs.record import (
    EvaluationResult as EvaluationResult,
)
from crucible_datasets.evaluation.runs.record import (
    MetricSummary as MetricSummary,
)
from crucible_datasets.evaluation.runs.record import (
    RunInfo as RunInfo,
)
from crucible_datasets.evaluation.runs.record import (
    SampleResult as SampleResult,
)
from crucible_datasets.evaluation.sampling.samplers import (
    DrawInfo as DrawInfo,
)
from crucible_datasets.evaluation.sampling.samplers import (
    Drawn as Drawn,
)
from crucible_datasets.evaluation.sampling.samplers import (
    Fold as Fold,
)
from crucible_datasets.evaluation.sampling.samplers import (
    bootstrap_sample as bootstrap_sample,
)
from crucible_datasets.evaluation.sampling.samplers import (
    k_fold as k_fold,
)
from crucible_datasets.evaluation.sampling.samplers import (
    random_sample as random_sample,
)
from crucible_datasets.evaluation.sampling.samplers import (
    split as split,
)
from crucible_datasets.evaluation.sampling.samplers import (
    stratified_sample as stratified_sample,
)
from crucible_datasets.evaluation.scoring import (
    score as score,
)
from crucible_datasets.evaluation.scoring import (
    score_corpus as score_corpus,
)
