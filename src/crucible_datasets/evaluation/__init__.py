"""Scores of predictions, with their uncertainty; runs kept and compared.

Names are loaded when they are first used; `__init__.pyi` tells them to type checkers.
"""

from crucible_datasets.later import names as _names

_HOMES: dict[str, tuple[str, ...]] = {
    "compared": ("ComparedScore", "ComparisonRow", "ComparisonTable"),
    "comparison": ("compare",),
    "evaluating": ("evaluate", "evaluate_many"),
    "exports.exporting": ("export",),
    "imports.inspect_logs": ("from_inspect_log",),
    "imports.lm_eval": ("from_lm_eval_samples",),
    "imports.reading": ("read_log",),
    "metrics.base": ("METRICS", "Metric", "metric", "metric_of"),
    "metrics.classification": ("ClassScores", "ClassificationReport", "classification_report"),
    "metrics.preference": ("preference_report",),
    "outcome": ("Outcome",),
    "passing": ("pass_at_k",),
    "record": ("EvaluationResult", "MetricSummary", "RunInfo", "SampleResult"),
    "report.page": ("html_report", "write_report"),
    "results.differences": ("Difference", "Differences"),
    "results.openrun": ("OpenRun",),
    "results.rescoring": ("Rescored",),
    "results.runfile": ("StoredRun",),
    "results.sql.mirror": ("SqlMirror",),
    "results.store": ("ResultStore",),
    "rules.base": ("RULES", "Reading", "Rule", "rule", "rule_of"),
    "samplers": (
        "DrawInfo",
        "Drawn",
        "Fold",
        "bootstrap_sample",
        "k_fold",
        "random_sample",
        "split",
        "stratified_sample",
    ),
    "scoring": ("score", "score_corpus"),
}

__all__ = sorted(name for home in _HOMES.values() for name in home)
__getattr__ = _names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
