"""Token F1: the overlap of words of prediction and target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from crucible_datasets.evaluation.metrics.answers import no_text_in
from crucible_datasets.evaluation.metrics.base import metric
from crucible_datasets.evaluation.outcome import RIGHT, WRONG, Outcome
from crucible_datasets.evaluation.rules.drop import drop_tokens, is_number
from crucible_datasets.evaluation.rules.squad import tokens, unsplit_tokens

_BLOCK = 256
_FEW = 64  # pairs of words up to which searching a list is faster than counting


def f1_many(predictions: list[Any], targets: list[Any], *, no_answer: bool = False) -> list[Outcome]:
    """`f1` of many pairs."""
    outcomes: list[Outcome] = []
    # In blocks, so that the lists of words are freed before the garbage collector traverses them.
    for start in range(0, len(predictions), _BLOCK):
        block = slice(start, start + _BLOCK)
        predicted, right = unsplit_tokens(_texts(predictions[block])), unsplit_tokens(_texts(targets[block]))
        outcomes += [
            RIGHT if some == others and some and not some.isspace() else _f1(some.split(), others.split(), no_answer)
            for some, others in zip(predicted, right, strict=True)
        ]
    return outcomes


@metric(version=1, mappings=True, many=f1_many, aliases=("token_f1", "squad_f1"))
def f1(prediction: Any, target: Any, *, no_answer: bool = False) -> Outcome:
    """Harmonic mean of precision and recall of the words, counted as often as they occur (SQuAD).

    Words are lower case, without ASCII punctuation and articles. Without any word on a side it is 0, as in SQuAD 1.1;
    with `no_answer`, two texts without words agree, as in SQuAD 2.0.

    >>> f1("Denver Broncos won", "Denver Broncos").value
    0.8
    """
    return _f1(tokens(_text(prediction)), tokens(_text(target)), no_answer)


def _f1(predicted: list[str], right: list[str], no_answer: bool) -> Outcome:
    if predicted == right:
        return RIGHT if predicted or no_answer else WRONG
    shared = _shared(predicted, right)
    return Outcome(2 * shared / (len(predicted) + len(right))) if shared else WRONG


def _shared(some: list[str], others: list[str]) -> int:
    """The size of the multiset intersection of two lists of words."""
    if len(some) * len(others) > _FEW:
        return (Counter(some) & Counter(others)).total()
    left = others.copy()
    for word in some:
        if word in left:
            left.remove(word)
    return len(others) - len(left)


def _texts(values: list[Any]) -> list[str]:
    return values if {*map(type, values)} == {str} else [*map(_text, values)]


def _text(value: Any) -> str:
    """The text of an answer; of a mapping, its `answer`, `text` or `response`."""
    if isinstance(value, Mapping):
        named = [value[name] for name in ("answer", "text", "response") if name in value]
        if not named:
            raise no_text_in(value, "f1")
        return _text(named[0])
    return value if isinstance(value, str) else "" if value is None else str(value)


@metric(version=1, aliases=("drop/f1",))
def drop_f1(prediction: Any, target: Any) -> Outcome:
    """Harmonic mean of precision and recall of DROP's words, as a set; 0 if the target has numbers and none is given.

    >>> drop_f1("125 yards", "12.5 yards").value, drop_f1("the 12.5 yards", "12.50 yards").value
    (0.0, 1.0)
    """
    predicted, right = set(drop_tokens(_text(prediction))), set(drop_tokens(_text(target)))
    numbers = {token for token in right if is_number(token)}
    if numbers and not numbers & predicted:
        return WRONG
    shared = len(predicted & right)
    return Outcome(2 * shared / (len(predicted) + len(right))) if shared else WRONG
