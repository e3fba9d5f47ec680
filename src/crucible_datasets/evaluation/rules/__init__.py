"""Extraction rules, one module per family; `RULES` has them all.

base · parts wording statements numbers (how stated answers are read) · thinking gsm8k boxed hendrycks minerva verify
choice squad drop code final_answer formula whole
"""

from crucible_datasets.evaluation.rules.base import RULES, Reading, Rule, rule, rule_of

__all__ = ["RULES", "Reading", "Rule", "rule", "rule_of"]
