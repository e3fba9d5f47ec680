"""`crucible metrics`: metrics and extraction rules."""

from __future__ import annotations

from argparse import ArgumentParser

from crucible_datasets.cli.command import Command
from crucible_datasets.cli.output import Column, Facts, Outputs, Table


def list_() -> Outputs:
    """List the metrics, in all versions."""
    from crucible_datasets.evaluation.metrics import METRICS

    rows = [
        {
            "metric": key,
            "about": METRICS[key].summary,
            "options": list(METRICS[key].options),
            "higher_is_better": METRICS[key].higher_is_better,
            "extra": METRICS[key].extra,
        }
        for key in METRICS
    ]
    columns = (
        Column("metric", keep=True),
        Column("about"),
        Column("extra"),
    )
    yield Table(columns, rows)
    return None


def rules() -> Outputs:
    """List the rules that extract answers from what models write."""
    from crucible_datasets.evaluation.rules import RULES

    rows = [{"rule": key, "about": RULES[key].summary} for key in RULES]
    yield Table((Column("rule", keep=True), Column("about")), rows)
    return None


def show(name: str) -> Outputs:
    """Show a metric: what it measures, its options and their defaults."""
    from crucible_datasets.evaluation.metrics import METRICS

    metric = METRICS[name]
    facts = {
        "metric": metric.key,
        "about": metric.summary,
        "options": metric.options,
        "higher_is_better": metric.higher_is_better,
        "values": "0 or 1" if metric.binary else "numbers",
        "total": "of all samples together" if metric.corpus else "the mean",
        "extra": metric.extra,
    }
    yield Facts(facts, {"options": ", ".join(f"{key}={value!r}" for key, value in metric.options.items())})
    return None


def score(metric: str, prediction: str, target: list[str], extract: str | None) -> Outputs:
    """Score one prediction against its target, to try a metric or a rule."""
    from crucible_datasets.evaluation.metrics import METRICS
    from crucible_datasets.evaluation.rules import rule_of

    rule = None if extract is None else rule_of(extract)
    outcome = METRICS[metric].score(prediction, target[0] if len(target) == 1 else target, extract=rule)
    yield Facts(
        {
            "value": outcome.value,
            "status": outcome.status,
            "extracted": outcome.extracted,
            "detail": outcome.detail,
            "metric": METRICS[metric].key,
            "rule": None if rule is None else rule.key,
        }
    )
    return None


def explain(prediction: str, target: str, choices: list[str] | None, rule: list[str] | None) -> Outputs:
    """Tell what each rule reads in a prediction, why, and whether that is the target."""
    from crucible_datasets.evaluation.explaining import explained

    rows = [
        {"rule": row.rule, "reads": row.reads, "status": row.status, "right": row.right, "why": row.why}
        for row in explained(prediction, target, choices or [], rule or [])
    ]
    yield Table((Column("rule", keep=True), Column("reads"), Column("status"), Column("right"), Column("why")), rows)
    return None


def _explain_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("prediction", metavar="PREDICTION", help="what a model wrote")
    parser.add_argument("target", metavar="TARGET", help="the right answer")
    parser.add_argument("--choices", nargs="+", metavar="OPTION", help="the options of a multiple choice")
    parser.add_argument("--rule", nargs="+", metavar="RULE", help="only these rules; default: the newest of each name")


def _show_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="METRIC", help="a name, or name@version")


def _score_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("metric", metavar="METRIC", help="a name, or name@version")
    parser.add_argument("prediction", metavar="PREDICTION", help="what a model wrote")
    parser.add_argument("target", nargs="+", metavar="TARGET", help="the right answer, or several")
    parser.add_argument("--extract", metavar="RULE", help="the rule that extracts the answer, such as gsm8k/official")


COMMANDS = (
    Command.group(
        "metrics",
        "List metrics and extraction rules, show one, or try one out.",
        Command.of(list_),
        Command.of(rules),
        Command.of(show, _show_arguments),
        Command.of(score, _score_arguments),
        Command.of(explain, _explain_arguments),
        default="list",
    ),
)
