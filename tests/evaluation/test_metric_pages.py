"""Every metric and every rule is in the manual, with every option and every other name."""

import re
from pathlib import Path

import pytest

from crucible_datasets.evaluation import METRICS, RULES
from crucible_datasets.evaluation.outcome import STATUSES

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {name: (DOCS / name).read_text() for name in ("metrics.md", "maths.md", "code.md")}
SPANS = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", PAGES["metrics.md"], flags=re.MULTILINE | re.DOTALL))


def test_statuses_are_in_the_manual():
    assert set(STATUSES) <= set(SPANS)


@pytest.mark.parametrize("key", list(METRICS))
def test_a_metric_is_in_the_manual(key):
    metric = METRICS[key]
    assert {metric.name, *metric.aliases} <= set(SPANS), "not in docs/metrics.md as `code`"
    words = {
        word
        for page in PAGES.values()
        for span in re.findall(r"`([^`\n]+)`", page)
        for word in re.findall(r"\w+", span)
    }
    assert not set(metric.options) - words, "options that no page names"


@pytest.mark.parametrize("key", list(RULES))
def test_a_rule_is_in_the_manual(key):
    assert {key, *RULES[key].aliases} <= set(SPANS), "not in docs/metrics.md as `code`"
