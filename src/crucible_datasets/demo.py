"""A tour of the library on made-up questions: what `crucible demo` prints.

Each step is a small function: its docstring is the title, its body the code that is
shown, and what it returns the result that is shown, so what you read is what ran.
Nothing is downloaded and nothing is written.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from pprint import pformat
from string import ascii_lowercase, digits
from textwrap import indent
from typing import Any

from crucible_datasets import ClassLabel, Dataset

WIDTH = 80
ALPHABET = ascii_lowercase + digits


def made_up_rows() -> Iterator[dict[str, Any]]:
    """Questions in the shape of a chat, each with the answer to score against."""
    for number in range(20):
        a, b = number + 2, 2 * number + 3
        yield made_up_row("arithmetic", number, f"What is {a} plus {b}?", a + b)
    for number in range(16):
        a, b = number + 4, number + 7
        yield made_up_row("geometry", number, f"A rectangle is {a} cm by {b} cm. What is its area?", a * b)
    for number in range(12):
        a, b = number + 1, 3 * number + 5
        yield made_up_row("algebra", number, f"If x plus {a} equals {b}, what is x?", b - a)


def made_up_row(topic: str, number: int, question: str, answer: int) -> dict[str, Any]:
    """One question."""
    return {
        "id": f"{topic}-{number:02d}",
        "topic": topic,
        "messages": [{"role": "user", "content": question}],
        "answer": answer,
        "embedding": embedding(question),
    }


def embedding(text: str) -> list[float]:
    """How often each letter and digit occurs: a stand-in for what a model would give."""
    return [float(text.lower().count(character)) for character in ALPHABET]


def predictions() -> Dataset:
    """The answers of a made-up model that is wrong on every seventh question."""
    rows = enumerate(made_up_rows())
    return Dataset.from_list([{"id": row["id"], "prediction": row["answer"] + (at % 7 == 0)} for at, row in rows])


def build() -> Dataset:
    """Build a dataset from rows"""
    return Dataset.from_list(list(made_up_rows()))


def look(questions: Dataset) -> dict[str, Any]:
    """Look at a row"""
    return questions.remove_columns("embedding")[0]


def label(questions: Dataset) -> Dataset:
    """Turn text into labels; the other columns are not copied"""
    topics = ClassLabel(names=["algebra", "arithmetic", "geometry"])
    labelled = questions.cast_column("topic", topics)
    return labelled.select_columns(["id", "topic", "answer"]).select([0, 20, 36])


def shuffle(questions: Dataset) -> list[str]:
    """Shuffle: one seed, one order"""
    return questions.shuffle(seed=7)["id"][:4]


def split(questions: Dataset) -> dict[Any, Counter[str]]:
    """Split off a test set in which every topic keeps its share"""
    parts = questions.train_test_split(12, stratify_by_column="topic", seed=7)
    return {name: Counter(part["topic"]) for name, part in parts.items()}


def fold(questions: Dataset) -> list[int]:
    """Cross-validate: in five folds every row is tested exactly once"""
    folds = questions.k_fold(5, stratify_by_column="topic", seed=7)
    return [len(pair["test"]) for pair in folds]


def score(questions: Dataset) -> Dataset:
    """Join the predictions of a model and score each topic"""
    joined = questions.join(predictions(), on="id")
    correct = joined["prediction"].to_numpy() == joined["answer"].to_numpy()
    topics = joined.add_column("correct", correct).group_by("topic")
    return topics.agg(rows=("id", "size"), accuracy=("correct", "mean"))


def arrays(questions: Dataset) -> tuple[Any, ...]:
    """Hand batches to numpy, torch, jax, pandas or polars"""
    batch = next(questions.with_format("numpy").iter(batch_size=32))
    return batch["embedding"].shape, batch["embedding"].dtype


def search(questions: Dataset) -> Dataset:
    """Search by vector, exactly: is this question one of ours?"""
    indexed = questions.add_exact_index("embedding", metric="cosine")
    query = embedding("Rectangle: 9 cm by 12 cm. What is its area?")
    scores, found = indexed.get_nearest_examples("embedding", query, k=3)
    texts = [messages[0]["content"] for messages in found["messages"]]
    return Dataset.from_dict({"score": scores, "text": texts})


STEPS: tuple[Callable[[Dataset], Any], ...] = (look, label, shuffle, split, fold, score, arrays, search)


def tour() -> Iterator[str]:
    """The whole tour, in pieces of text to print one after the other."""
    questions = build()
    yield shown(1, build, questions)
    for number, step in enumerate(STEPS, start=2):
        yield shown(number, step, step(questions))


def shown(number: int, step: Callable[..., Any], result: Any) -> str:
    """A step: its title, its code and its result."""
    title = f"── {number} · {step.__doc__} "
    return f"{title:─<{WIDTH}}\n\n{indent(code_of(step), '  ')}\n\n{indent(text_of(result), '  ')}\n"


def code_of(step: Callable[..., Any]) -> str:
    """The statements of a function as they would be typed at a prompt."""
    source = inspect.getsource(step)
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    typed = (node.value if isinstance(node, ast.Return) else node for node in function.body[1:])
    lines = (ast.get_source_segment(source, node) or "" for node in typed if node is not None)
    return "\n".join(f">>> {line}" for line in lines)


def text_of(result: Any) -> str:
    """A result as text: small datasets as tables, everything else as Python shows it."""
    if not isinstance(result, Dataset):
        return pformat(result, width=WIDTH - 4, sort_dicts=False)
    return table_of(result) if len(result) <= 10 else repr(result)


def table_of(dataset: Dataset) -> str:
    """The rows of a dataset under the names of its columns."""
    columns = [[name, *map(cell_of, dataset[name])] for name in dataset.column_names]
    padded = [[cell.ljust(max(map(len, column))) for cell in column] for column in columns]
    return "\n".join("  ".join(line).rstrip() for line in zip(*padded, strict=True))


def cell_of(value: Any) -> str:
    """A value, with three decimals if it is a fraction."""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
