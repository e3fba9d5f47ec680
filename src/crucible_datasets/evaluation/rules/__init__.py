"""Extraction rules, one file per family; `RULES` has them all."""

from crucible_datasets.evaluation.rules.base import RULES, Reading, Rule, rule, rule_of

__all__ = ["RULES", "Reading", "Rule", "rule", "rule_of"]
