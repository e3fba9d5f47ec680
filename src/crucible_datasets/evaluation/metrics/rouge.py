"""ROUGE-1, -2, -L and -Lsum: overlap of a summary with its references.

Values are those of the rouge-score package, with and without stemming: words are runs of ASCII letters and digits
in lower case. Of several references the best counts. `detail` has precision, recall and F.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from crucible_datasets.evaluation.metrics.base import metric
from crucible_datasets.evaluation.metrics.porter import stem
from crucible_datasets.evaluation.metrics.subsequences import Line
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.registry import need

_WORD = re.compile(r"[a-z0-9]+")
_STATS = ("fmeasure", "precision", "recall")
_OTHERS = {"f1": "fmeasure", "f": "fmeasure", "p": "precision", "r": "recall"}


class Share(NamedTuple):
    """Precision, recall and F of an overlap."""

    precision: float
    recall: float
    fmeasure: float


Compare = Callable[[str, str, bool], Share]


@metric("rouge1", version=1, all_targets=True)
def rouge1(prediction: Any, target: Any, *, use_stemmer: bool = False, stat: str = "fmeasure") -> Outcome:
    """ROUGE-1: words in common.

    >>> rouge1("testing one two", "testing").value
    0.5
    """
    return _best(_single_words, prediction, target, use_stemmer, stat)


@metric("rouge2", version=1, all_targets=True)
def rouge2(prediction: Any, target: Any, *, use_stemmer: bool = False, stat: str = "fmeasure") -> Outcome:
    """ROUGE-2: pairs of neighbouring words in common."""
    return _best(_word_pairs, prediction, target, use_stemmer, stat)


@metric("rougeL", version=1, all_targets=True, extra="eval", package="rapidfuzz", aliases=("rouge", "rougel"))
def rouge_l(prediction: Any, target: Any, *, use_stemmer: bool = False, stat: str = "fmeasure") -> Outcome:
    """ROUGE-L: the longest sequence of words in common, gaps allowed."""
    return _best(_longest, prediction, target, use_stemmer, stat)


@metric("rougeLsum", version=1, all_targets=True, aliases=("rougelsum",))
def rouge_l_sum(prediction: Any, target: Any, *, use_stemmer: bool = False, stat: str = "fmeasure") -> Outcome:
    """ROUGE-Lsum: ROUGE-L sentence by sentence, a sentence being a line."""
    return _best(_longest_by_line, prediction, target, use_stemmer, stat)


def _best(compare: Compare, prediction: Any, target: Any, use_stemmer: bool, stat: str) -> Outcome:
    stat = _OTHERS.get(stat, stat)
    if stat not in _STATS:
        raise ArgumentError("stat", stat, f"pass one of {', '.join(_STATS)}.")
    references = target if isinstance(target, (list, tuple)) else [target]
    shares = [compare(str(reference), str(prediction), use_stemmer) for reference in references]
    best = max(shares, key=lambda share: share.fmeasure, default=Share(0.0, 0.0, 0.0))
    return Outcome(getattr(best, stat), detail=best._asdict())


def _words(text: str, use_stemmer: bool) -> list[str]:
    found = _WORD.findall(text.lower())
    return [stem(word) if len(word) > 3 else word for word in found] if use_stemmer else found


def _share(common: int, predicted: int, wanted: int) -> Share:
    precision, recall = common / max(predicted, 1), common / max(wanted, 1)
    return Share(precision, recall, 2 * precision * recall / (precision + recall) if common else 0.0)


def _single_words(reference: str, prediction: str, use_stemmer: bool) -> Share:
    return _counted(_words(reference, use_stemmer), _words(prediction, use_stemmer))


def _word_pairs(reference: str, prediction: str, use_stemmer: bool) -> Share:
    wanted, predicted = _words(reference, use_stemmer), _words(prediction, use_stemmer)
    return _counted([*pairwise(wanted)], [*pairwise(predicted)])


def _counted(wanted: list[Any], predicted: list[Any]) -> Share:
    return _share((Counter(wanted) & Counter(predicted)).total(), len(predicted), len(wanted))


def _longest(reference: str, prediction: str, use_stemmer: bool) -> Share:
    wanted, predicted = _words(reference, use_stemmer), _words(prediction, use_stemmer)
    common = need("rapidfuzz.distance.LCSseq", extra="eval").similarity(wanted, predicted)
    return _share(common, len(predicted), len(wanted))


def _longest_by_line(reference: str, prediction: str, use_stemmer: bool) -> Share:
    wanted, predicted = _lines(reference, use_stemmer), _lines(prediction, use_stemmer)
    left_wanted = Counter(word for line in wanted for word in line)
    left_predicted = Counter(word for line in predicted for word in line)
    totals = left_predicted.total(), left_wanted.total()
    others = [Line(words) for words in predicted]
    common = 0
    for line in wanted:
        positions: set[int] = set().union(*(other.common_with(line) for other in others))
        for word in (line[at] for at in sorted(positions)):
            # A word counts at most as often as it occurs on both sides.
            if left_wanted[word] > 0 and left_predicted[word] > 0:
                left_wanted[word] -= 1
                left_predicted[word] -= 1
                common += 1
    return _share(common, *totals)


def _lines(text: str, use_stemmer: bool) -> list[list[str]]:
    return [_words(line, use_stemmer) for line in text.split("\n") if line]
