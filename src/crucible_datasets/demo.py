"""What `crucible demo` does: a benchmark from loading to a report, offline.

Each step is a small function: its docstring is the title, its body the code that is shown. What you read is what ran.
"""

from __future__ import annotations

import ast
import inspect
import math
import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from crucible_datasets.benchmarks.loading.load import load_benchmark
from crucible_datasets.evaluation.comparing.comparison import compare
from crucible_datasets.evaluation.evaluating import evaluate_many
from crucible_datasets.evaluation.report.page import write_report
from crucible_datasets.evaluation.sampling.samplers import random_sample

# Predictors: honest ones, which see the question only, and answer in the form that the benchmark asks for.


def last_number(sample: Any) -> str:
    """Repeat the last number of the question."""
    return f"#### {numbers_in(sample.input)[-1]}"


def sum_of_numbers(sample: Any) -> str:
    """Add up all numbers of the question."""
    numbers = numbers_in(sample.input)
    return f"{' + '.join(map(str, numbers))} = {sum(numbers)}\n#### {sum(numbers)}"


def cue_words(sample: Any) -> str:
    """Choose what to do with the numbers by words such as "left" and "more"."""
    numbers, words = numbers_in(sample.input), set(re.findall(r"[a-z]+", sample.input.lower()))
    if "back" in words:
        return "Something comes back, but these words do not tell me how much."
    if "left" in words:
        return f"What is multiplied, and what is left.\n#### {math.prod(numbers[:2]) + sum(numbers[2:])}"
    if "more" in words:
        return f"More means to add.\n#### {sum(numbers)}"
    return f"Things that cost something are multiplied.\n#### {math.prod(numbers)}"


def numbers_in(text: str) -> list[int]:
    """The whole numbers of a text."""
    return [int(found) for found in re.findall(r"\d+", text)]


PREDICTORS = {"last number": last_number, "sum of numbers": sum_of_numbers, "cue words": cue_words}


# Steps


def load() -> Any:
    """Load a benchmark; synthetic=True takes its miniature, which needs no network"""
    return load_benchmark("gsm8k", synthetic=True)


def draw(benchmark: Any) -> Any:
    """Draw some of its questions at random: one seed, one sample"""
    return random_sample(benchmark, 24, seed=1).data


def evaluate(samples: Any, store: str) -> Any:
    """Evaluate three simple predictors, and keep every answer"""
    return evaluate_many(PREDICTORS, samples, store=store, cache=False)


def contrast(results: Any) -> Any:
    """Compare them in pairs, on the same questions"""
    return compare(*results.values())


def report(results: Any, path: str) -> str:
    """Write a report that a browser shows"""
    return write_report(path, results.values())


class Step(NamedTuple):
    """One step of the demo: its title, the code that ran, and what came out."""

    title: str
    code: str
    result: Any


def steps(folder: str) -> Iterator[Step]:
    """The whole way, step by step; runs and report go to a folder."""
    store, page = os.path.join(folder, "results"), os.path.join(folder, "report.html")
    os.makedirs(folder, exist_ok=True)
    yield (loaded := _step(load))
    yield (drawn := _step(draw, loaded.result))
    yield (evaluated := _step(evaluate, drawn.result, store))
    yield _step(contrast, evaluated.result)
    yield _step(report, evaluated.result, page)


def _step(function: Callable[..., Any], *given: Any) -> Step:
    return Step(function.__doc__ or "", code_of(function), function(*given))


def code_of(step: Callable[..., Any]) -> str:
    """What a step returns, as it would be typed at a prompt."""
    source = inspect.getsource(step)
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    (returned,) = (node.value for node in function.body if isinstance(node, ast.Return))
    return f">>> {ast.get_source_segment(source, returned) if returned else ''}"
