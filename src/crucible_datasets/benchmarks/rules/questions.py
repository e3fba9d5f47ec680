"""Questions with free answers."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from crucible_datasets.benchmarks.rules.base import Fields, Unfit, rule

Words = Annotated[str, msgspec.Meta(min_length=1)]


class Spans(msgspec.Struct):
    """Answers that are spans of a passage; SQuAD and DROP have different column names."""

    text: list[str] = []
    spans: list[str] = []


@rule("question/answer")
def answer(question: Words, answer: str | int | float) -> Fields:
    """A question and its answer."""
    return {"input": question, "target": str(answer)}


@rule("question/reasoning", metadata={"answer": "string"})
def reasoning(question: Words, reasoning: Words, answer: str) -> Fields:
    """A question and its full solution; the answer alone is in the metadata."""
    return {"input": question, "target": reasoning, "metadata": {"answer": answer}}


@rule("question/instruction", metadata={"instructions": ["string"], "arguments": "json"})
def instruction(prompt: Words, instructions: list[str], arguments: list[dict[str, Any]]) -> Fields:
    """A prompt and its verifiable instructions with arguments; there is no target."""
    if len(instructions) != len(arguments):
        raise Unfit("arguments", f"{len(instructions)} instructions have {len(arguments)} sets of arguments")
    given = [{name: value for name, value in one.items() if value is not None} for one in arguments]
    return {"input": prompt, "target": "", "metadata": {"instructions": instructions, "arguments": given}}


@rule("question/answers", target="texts")
def answers(question: Words, right: list[str], best: str = "") -> Fields:
    """A question and all correct answers; the best answer comes first."""
    targets = list(dict.fromkeys(text for text in [best, *right] if text))
    if not targets:
        raise Unfit("right", "there is no answer")
    return {"input": question, "target": targets}


@rule("passage/spans", target="texts")
def spans(passage: Words, question: Words, answers: Spans) -> Fields:
    """A passage, a question on it, and the correct spans of the passage."""
    found = list(dict.fromkeys([*answers.text, *answers.spans]))
    if not found:
        raise Unfit("answers", "there is no answer")
    return {"input": f"{passage}\n\n{question.strip()}", "target": found}
