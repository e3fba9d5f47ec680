"""Scores of predictions, with their uncertainty; runs kept and compared.

Every module, by the stage at which it comes.

What is judged:
    sampling/     parts of the data: samplers (random, stratified, folds, splits, bootstrap), fieldvalues (at any path)
    predictions/  what models said: forms (lists, dicts, tables), responses (replies of models), identities (columns of
                  ids), files, generating (by functions), cache (of answers)

How one answer is judged:
    rules/        reading it out of a text: base (Rule, RULES), and a module for each family of named rules
    metrics/      judging it: base (Metric, METRICS), answers (the same for all), known (by any name), totals (over any
                  choice of samples), normal (forms of texts), passing (pass@k), porter and subsequences (for rouge),
                  and a module for each family
    maths/        equality as mathematics, in a bounded worker process
    sandbox/      code of models, boxed; inside/ is what runs within
    outcome       the judgement: value, extracted, status, detail
    versioned     registries in which every version of a name is kept
    scoring       `score`, `score_corpus`: one pair or many, by name

A run:
    evaluating    `evaluate`, `evaluate_many`
    runs/         questions (the data), judging (metrics, rule, options), running, batches, remote and columns (by
                  workers), counting and summaries (values, uncertainty), repetitions, record (a run), paths,
                  recorded_inputs, shown
    statistics/   intervals, bootstrap, clusters, paired tests, corrections, power: arrays in, numbers out

Many runs:
    comparing/    `compare` in comparison: comparability (refusals), matching (pairs), corpora (metrics that are no
                  mean), compared (the table)
    results/      `ResultStore`: journals, run files, index, queries, rescoring, differences; sql/ is the mirror
    report/       the HTML page
    exports/      CSV, JSONL, Parquet, Markdown, HTML, Every Eval Ever
    imports/      logs of inspect_ai and lm-evaluation-harness

Names are loaded when they are first used; `__init__.pyi` tells them to type checkers.
"""

from crucible_datasets.lazy_imports import names as _names

_HOMES: dict[str, tuple[str, ...]] = {
    "comparing.compared": ("ComparedScore", "ComparisonRow", "ComparisonTable"),
    "comparing.comparison": ("compare",),
    "evaluating": ("evaluate", "evaluate_many"),
    "exports.exporting": ("export",),
    "imports.inspect_logs": ("from_inspect_log",),
    "imports.lm_eval": ("from_lm_eval_samples",),
    "imports.reading": ("read_log",),
    "metrics.base": ("METRICS", "Metric", "metric", "metric_of"),
    "metrics.classification": ("ClassScores", "ClassificationReport", "classification_report"),
    "metrics.preference": ("preference_report",),
    "outcome": ("Outcome",),
    "metrics.passing": ("pass_at_k",),
    "runs.record": ("EvaluationResult", "MetricSummary", "RunInfo", "SampleResult"),
    "report.page": ("html_report", "write_report"),
    "results.differences": ("Difference", "Differences"),
    "results.openrun": ("OpenRun",),
    "results.rescoring": ("Rescored",),
    "results.runfile": ("StoredRun",),
    "results.sql.mirror": ("SqlMirror",),
    "results.store": ("ResultStore",),
    "rules.base": ("RULES", "Reading", "Rule", "rule", "rule_of"),
    "sampling.samplers": (
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
