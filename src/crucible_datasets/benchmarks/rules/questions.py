"""Questions with free answers."""

from __future__ import annotations

import itertools
from typing import Annotated, Any

import msgspec

from crucible_datasets.benchmarks.rules.base import Fields, Unfit, rule, table_rule, value_rule

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


_NUMBER = frozenset("-.0123456789")


@value_rule("gsm8k/after_hashes")
def after_hashes(text: str) -> str:
    r"""The number after the last `####`, without commas and `$`.

    >>> after_hashes("12 * 100 = <<12*100=1200>>1200\n#### 1,200")
    '1200'
    """
    _, hashes, answer = text.rpartition("####")
    said = answer.strip().replace(",", "").replace("$", "")
    number = "".join(itertools.takewhile(_NUMBER.__contains__, said))
    if not hashes or not any(map(str.isdigit, number)):
        raise Unfit(None, f"there is no number behind ####, but {said[:40]!r}" if hashes else "there is no ####")
    return number.removesuffix(".")


@value_rule("math/last_boxed")
def last_boxed(text: str) -> str:
    r"""The content of the last `\boxed{…}` or `\fbox{…}`, with balanced braces; `\boxed 5` is read up to the next `$`.

    >>> last_boxed(r"so it is $\boxed{\frac{1}{2}}$.")
    '\\frac{1}{2}'
    """
    start = max(text.rfind("\\boxed"), text.rfind("\\fbox"))
    if start < 0:
        raise Unfit(None, "there is no \\boxed{} in it")
    rest = text[start:].removeprefix("\\boxed").removeprefix("\\fbox").lstrip()
    return _braced(rest) if rest.startswith("{") else rest.partition("$")[0].strip()


def _braced(text: str) -> str:
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return text[1:place].strip()
    raise Unfit(None, "a brace of \\boxed{ is never closed")


@value_rule("text/stripped")
def stripped(text: str) -> str:
    """The text without surrounding white space."""
    if not text.strip():
        raise Unfit(None, "it is empty")
    return text.strip()


@value_rule("math/without_dollars")
def without_dollars(text: str) -> str:
    r"""The text without surrounding `$`.

    >>> without_dollars(r"$\frac{1}{2}$")
    '\\frac{1}{2}'
    """
    return stripped(text.strip().removeprefix("$").removesuffix("$"))


Table = dict[str, list[Any]]


@table_rule(
    "pairs/best_and_worst",
    columns={
        "prompt": "string",
        "best": "string",
        "worst": "string",
        "best_score": "float64",
        "worst_score": "float64",
    },
)
def best_and_worst(table: Table, *, prompt: str, response: str, score: str) -> Table:
    """One row for each prompt, with its best and its worst response by score; the first wins among equals.

    They are two different responses even if all scores are equal, which is a tie. A prompt with a single response has
    no worst one, and is an invalid row.

    >>> rows = {"p": ["x", "x", "y"], "r": ["a", "b", "c"], "s": [1, 4, 2]}
    >>> best_and_worst(rows, prompt="p", response="r", score="s")["best"]
    ['b', 'c']
    """
    scores = table[score]
    if None in scores:
        raise Unfit("score", "it is missing in a row")
    places: dict[str, list[int]] = {}
    for place, asked in enumerate(table[prompt]):
        places.setdefault(asked, []).append(place)
    best = [max(same, key=scores.__getitem__) for same in places.values()]
    others = [[place for place in same if place != one] for same, one in zip(places.values(), best, strict=True)]
    worst = [min(other, key=scores.__getitem__, default=None) for other in others]
    return {
        "prompt": list(places),
        "best": [table[response][place] for place in best],
        "worst": [None if place is None else table[response][place] for place in worst],
        "best_score": [float(scores[place]) for place in best],
        "worst_score": [None if place is None else float(scores[place]) for place in worst],
    }


_Bytes = bytes  # the field of the same name shadows it


class Stored(msgspec.Struct):
    """An undecoded image."""

    bytes: _Bytes | None = None
    path: str | None = None


@rule("picture/class", input="pictures", at_once=100)
def classified(image: Stored, label: str | int) -> Fields:
    """An image and its class."""
    if image.bytes is None and image.path is None:
        raise Unfit("image", "it has neither bytes nor a path")
    shown = {"type": "image", "text": None, "image": {"bytes": image.bytes, "path": image.path}}
    return {"input": [{"role": "user", "content": [shown]}], "target": str(label)}
