"""Rows of preference datasets in all common formats → `LabeledComparison`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from crucible_datasets.benchmarks.adapters.chat import conversation
from crucible_datasets.benchmarks.types.comparisons import Comparison, LabeledComparison, Words
from crucible_datasets.benchmarks.types.messages import Message
from crucible_datasets.exceptions import InvalidRecordError

Row = Mapping[str, Any]
_PROMPTS = ("prompt", "question", "instruction", "input")


def between(a: Any, b: Any, prompt: Any = None) -> Comparison:
    """The comparison of two conversations: the prompt is their common beginning, the responses are the rest.

    With a `prompt`, `a` and `b` may also be responses alone.
    """
    begun = [] if prompt is None else conversation(prompt).messages
    left, right = _messages_of(a, begun), _messages_of(b, begun)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    # If both conversations are equal, the last message is the response.
    shared = min(sum(1 for _ in same), len(left) - 1, len(right) - 1)
    if shared < 1:
        raise InvalidRecordError("Comparison", "the two conversations have no prompt in common, and none was given")
    return Comparison(_words(left[:shared], "user"), _words(left[shared:]), _words(right[shared:]))


def _messages_of(value: Any, prompt: list[Message]) -> list[Message]:
    if prompt and isinstance(value, str):
        return [*prompt, Message("assistant", value)]
    messages = conversation(value).messages
    answers_only = bool(messages) and messages[0].role == "assistant"
    return [*prompt, *messages] if answers_only else messages


def _words(messages: list[Message], role: str = "assistant") -> Words:
    """A text if there is a single message of this role; else the messages."""
    alone = len(messages) == 1 and messages[0].role == role and isinstance(messages[0].content, str)
    return messages[0].text if alone else messages


def from_chosen_and_rejected(row: Row) -> LabeledComparison:
    """Of `chosen` and `rejected`, transcripts (HH-RLHF) or messages, with a prompt or without: `a` is the chosen."""
    margin = _difference(row, "score_chosen", "score_rejected")
    prompt = next((row[name] for name in _PROMPTS if row.get(name) is not None), None)
    return LabeledComparison(between(row["chosen"], row["rejected"], prompt), "a", margin)


def from_helpsteer3(row: Row) -> LabeledComparison:
    """Of `context`, `response1`, `response2`, `overall_preference` from -3 (the first is better) to 3."""
    comparison = between(row["response1"], row["response2"], row["context"])
    return LabeledComparison.from_margin(comparison, -row["overall_preference"])


def from_labeled_responses(row: Row) -> LabeledComparison:
    """Of `prompt`, `response_a`, `response_b` and `label`."""
    return LabeledComparison.from_label(between(row["response_a"], row["response_b"], row["prompt"]), row["label"])


def from_winner(row: Row) -> LabeledComparison:
    """Of `conversation_a`, `conversation_b`, `winner`: model_a, model_b, tie or both_bad, as arenas write."""
    comparison = between(row["conversation_a"], row["conversation_b"])
    return LabeledComparison.from_label(comparison, row["winner"])


def from_binarized(row: Row) -> LabeledComparison:
    """Of `instruction`, `chosen_response`, `rejected_response`, `chosen_rating`, `rejected_rating`."""
    prompt = row["instruction"] if row.get("instruction") is not None else row["prompt"]
    margin = _difference(row, "chosen_rating", "rejected_rating")
    return LabeledComparison(between(row["chosen_response"], row["rejected_response"], prompt), "a", margin)


def from_completions(row: Row) -> LabeledComparison:
    """Of `instruction` and `completions`, each with `response` and a score: the best against the worst."""
    responses = row.get("completions") or row.get("responses") or []
    rated = [{"prompt": row.get("instruction") or row.get("prompt"), **answer} for answer in responses]
    return best_against_worst(rated, _score)


def best_against_worst(rows: Sequence[Row], score: str | Callable[[Row], float] = "helpfulness") -> LabeledComparison:
    """Of rows with one `prompt`, `response`s and scores, as HelpSteer2 has: `a` is the best. Equal ones are a tie."""
    rating = (lambda row: float(row[score])) if isinstance(score, str) else score
    if len(rows) < 2:
        raise InvalidRecordError("Comparison", f"two responses are needed, {len(rows)} came")
    ratings = list(map(rating, rows))
    best = max(range(len(rows)), key=ratings.__getitem__)
    worst = min(reversed(range(len(rows))), key=ratings.__getitem__)
    comparison = between(rows[best]["response"], rows[worst]["response"], rows[best]["prompt"])
    return LabeledComparison.from_margin(comparison, ratings[best] - ratings[worst])


def _score(row: Row) -> float:
    for key in ("overall_score", "score", "fine-grained_score", "rating"):
        if row.get(key) is not None:
            return float(row[key])
    raise InvalidRecordError("Comparison", f"a response has no score; it has {', '.join(row)}")


def _difference(row: Row, better: str, worse: str) -> float | None:
    if row.get(better) is None or row.get(worse) is None:
        return None
    # Raters may prefer the response with the lower rating; then the margin is unknown.
    found = float(row[better]) - float(row[worse])
    return found if found >= 0 else None


SHAPES: tuple[tuple[tuple[str, ...], Callable[[Row], LabeledComparison]], ...] = (
    (("chosen", "rejected"), from_chosen_and_rejected),
    (("chosen_response", "rejected_response"), from_binarized),
    (("conversation_a", "conversation_b", "winner"), from_winner),
    (("response1", "response2", "context", "overall_preference"), from_helpsteer3),
    (("response_a", "response_b", "prompt", "label"), from_labeled_responses),
    (("completions",), from_completions),
    (("responses",), from_completions),
)


def labeled_comparison(row: Row) -> LabeledComparison:
    """The comparison in a row of any common preference dataset, recognized by its columns."""
    for columns, read in SHAPES:
        if all(row.get(column) is not None for column in columns):
            return read(row)
    known = "; ".join(" + ".join(columns) for columns, _ in SHAPES)
    raise InvalidRecordError("LabeledComparison", f"known are {known}; the row has {', '.join(map(str, row))}")
