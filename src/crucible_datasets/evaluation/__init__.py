"""Scores of predictions, with their uncertainty; runs, stored and compared.

Inputs:
    sampling/     parts of the data: samplers (random, stratified, folds, splits, bootstrap), fieldvalues (at any path)
    predictions/  answers of models: forms (lists, dicts, tables), responses (replies of chat models), identities
                  (columns of ids), files, generating (by functions), cache (of answers),
                  settings (of packages that functions use)

Scoring one answer:
    rules/        extraction of the answer from a text: base (Rule, RULES), and a module per family of rules
    metrics/      base (Metric, METRICS), answers (shared by all metrics), known (lookup by any name), totals (over
                  subsets of samples), normal (normalization of texts), passing (pass@k), porter and subsequences (for
                  rouge), and a module per family
    maths/        mathematical equality, in a worker process with limits
    sandbox/      execution of generated code; inside/ runs within the sandbox
    outcome       `Outcome`: value, extracted, status, detail
    versioned     registries that keep every version of an entry
    explaining    what each rule reads in a text, and why
    scoring       `score`, `score_corpus`: one pair or many

A run:
    evaluating    `evaluate`, `evaluate_many`
    runs/         questions (the data), judging (metrics, rule, options), running, batches, remote and columns (worker
                  processes), counting and summaries (values, uncertainty), repetitions, record (a run), paths,
                  recorded_inputs, shown (text and HTML)
    statistics/   intervals, bootstrap, clusters, paired tests, corrections, power: arrays in, numbers out

Many runs:
    comparing/    comparison (`compare`), comparability (checks), matching (paired samples), corpora (corpus metrics),
                  compared (the table)
    results/      `ResultStore`: journals, run files, index, queries, rescoring, differences; sql/ (in a database)
    report/       the HTML page
    exports/      CSV, JSONL, Parquet, Markdown, HTML, Every Eval Ever
    imports/      logs of inspect_ai and lm-evaluation-harness

Names are imported on first use; `__init__.pyi` declares them for type checkers.
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
