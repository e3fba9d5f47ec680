"""BLEU, chrF and TER, computed by sacrebleu.

The value of a pair is sacrebleu's sentence score. The total is its corpus score, computed from the counts that every
outcome has in `detail`, and `signature` is sacrebleu's signature, to be published with every score.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from crucible_datasets.evaluation.metrics.base import METRICS, Metric, metric
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.registry import need


@lru_cache(maxsize=64)
def _scorer(kind: str, *options: tuple[str, Any]) -> Any:
    return getattr(need("sacrebleu.metrics", extra="eval"), kind)(**dict(options))


def _judged(kind: str, prediction: Any, target: Any, **options: Any) -> Outcome:
    """The sentence score, with the counts for the corpus score."""
    references = [str(one) for one in target] if isinstance(target, (list, tuple)) else [str(target)]
    scorer = _scorer(kind, *options.items())
    counts = scorer._extract_corpus_statistics([str(prediction)], [[one] for one in references])
    score = scorer._aggregate_and_compute(counts).score
    return Outcome(float(score), detail={"counts": list(counts[0]), "references": len(references)})


def _total(kind: str, fixed: dict[str, Any], outcomes: Sequence[Outcome], **options: Any) -> float:
    counts = [each.detail["counts"] for each in outcomes if each.detail and "counts" in each.detail]
    scorer = _scorer(kind, *(fixed | options).items())
    return float(scorer._aggregate_and_compute(counts).score) if counts else 0.0


def _signature(kind: str, fixed: dict[str, Any], outcomes: Sequence[Outcome], **options: Any) -> str:
    numbers = {each.detail["references"] for each in outcomes if each.detail and "references" in each.detail} or {1}
    scorer = getattr(need("sacrebleu.metrics", extra="eval"), kind)(**fixed, **options)
    scorer.num_refs = numbers.pop() if len(numbers) == 1 else -1  # sacrebleu writes "var" for -1
    return str(scorer.get_signature())


def _by_sacrebleu(kind: str, **fixed: Any) -> dict[str, Any]:
    """Fields that these metrics have in common: the target may be a list, and the total is sacrebleu's."""
    return {
        "all_targets": True,
        "extra": "eval",
        "package": "sacrebleu",
        "reduce": partial(_total, kind, fixed),
        "of_sums": True,
        "signed": partial(_signature, kind, fixed),
    }


@metric(version=1, aliases=("sacrebleu",), spellings=(("max_order", "max_ngram_order"),), **_by_sacrebleu("BLEU"))
def bleu(
    prediction: Any,
    target: Any,
    *,
    tokenize: str | None = None,
    lowercase: bool = False,
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    max_ngram_order: int = 4,
) -> Outcome:
    """BLEU from 0 to 100: sentence BLEU of one pair, corpus BLEU in total. The target is one reference or a list.

    >>> round(bleu("The dog bit the man.", ["The dog bit the man.", "The dog had bit the man."]).value)
    100
    """
    return _judged(
        "BLEU",
        prediction,
        target,
        tokenize=tokenize,
        lowercase=lowercase,
        smooth_method=smooth_method,
        smooth_value=smooth_value,
        max_ngram_order=max_ngram_order,
        effective_order=True,  # a short sentence without 4-grams is scored by the n-grams that it has
    )


@metric(version=1, aliases=("chrf2",), **_by_sacrebleu("CHRF"))
def chrf(
    prediction: Any,
    target: Any,
    *,
    lowercase: bool = False,
    char_order: int = 6,
    beta: int = 2,
    whitespace: bool = False,
    eps_smoothing: bool = False,
) -> Outcome:
    """chrF2 from 0 to 100: n-grams of characters that prediction and reference share."""
    options = {"char_order": char_order, "beta": beta, "whitespace": whitespace, "eps_smoothing": eps_smoothing}
    return _judged("CHRF", prediction, target, lowercase=lowercase, **options)


@metric("chrf++", version=1, aliases=("chrf2++",), **_by_sacrebleu("CHRF", word_order=2))
def chrf_words(prediction: Any, target: Any, *, lowercase: bool = False) -> Outcome:
    """chrF2++ from 0 to 100: n-grams of characters and of words."""
    return _judged("CHRF", prediction, target, lowercase=lowercase, word_order=2)


@metric(version=1, higher_is_better=False, **_by_sacrebleu("TER"))
def ter(
    prediction: Any, target: Any, *, normalized: bool = False, no_punct: bool = False, case_sensitive: bool = False
) -> Outcome:
    """Translation edit rate, in edits for 100 words of the reference; lower is better."""
    options = {"normalized": normalized, "no_punct": no_punct, "case_sensitive": case_sensitive}
    return _judged("TER", prediction, target, **options)


_OF_LM_EVAL = re.compile(r"(lm-eval/(bleu|chrf|chrf\+\+|ter),[^@]*)@(.+)")


def _of_imported_runs(asked: str) -> Metric | None:
    """The metric of an imported run of lm-eval, which has sacrebleu compute the same."""
    found = _OF_LM_EVAL.fullmatch(asked)
    return found and replace(METRICS.entries[f"{found[2]}@1"], name=found[1], version=found[3], aliases=())


METRICS.families.append(_of_imported_runs)
