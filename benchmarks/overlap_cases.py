"""Contamination checks, which `datasets` does not have: its side uses a Python set of 13-grams.

Training rows are the problems of the data; test rows are a hundredth as many, half of them taken from the training
rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.cases import State, case
from benchmarks.data import read_table

RUN = 13
WORD = re.compile(r"[一-鿿]|[^\W_一-鿿]+")


def questions(module: Any, path: Path) -> State:
    """The data as a dataset, and the texts to search for."""
    problems = read_table(path).column("problem").to_pylist()[::100]
    tests = [text if place % 2 else f"{' '.join(text.split()[::-1])} end" for place, text in enumerate(problems)]
    return State(module, module.Dataset.from_file(str(path)), tests)


def runs(text: str) -> Iterator[tuple[str, ...]]:
    words = WORD.findall(text.lower())
    return (tuple(words[at : at + RUN]) for at in range(max(len(words) - RUN + 1, 1)) if words)


def in_python(train: Any, tests: list[str]) -> list[int]:
    """The indices of the test rows with an n-gram of the training rows."""
    rows_of: dict[tuple[str, ...], list[int]] = {}
    for number, text in enumerate(tests):
        for run in runs(text):
            rows_of.setdefault(run, []).append(number)
    found: set[int] = set()
    for text in train["problem"]:
        for run in runs(text):
            found.update(rows_of.get(run, ()))
    return sorted(found)


@case("overlap of 13 words", setup=questions, flat=3)
def overlap_of_words(state: State) -> list[int]:
    if state.module.__name__ != "crucible_datasets":
        return in_python(state.dataset, state.given)
    from crucible_datasets.benchmarks import overlap

    return overlap(state.dataset, state.given, RUN, train_columns="problem", examples=0).contaminated
