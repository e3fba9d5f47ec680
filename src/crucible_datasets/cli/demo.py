"""`crucible demo`: the steps of the demo as text."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from crucible_datasets.cli.command import Command
from crucible_datasets.cli.completion import file_argument
from crucible_datasets.cli.output import Message, Output, Outputs, Sections
from crucible_datasets.cli.scores import comparison_table, result_rows, score_table


def demo(output: str) -> Outputs:
    """Evaluate simple predictors on a small benchmark, offline, and write a report."""
    from crucible_datasets import __version__
    from crucible_datasets.demo import steps

    yield f"Crucible Datasets {__version__}: a benchmark from loading to a report, offline"
    shown: dict[str, Callable[[Any], Output]] = {
        "benchmark": _loaded,
        "sample": _drawn,
        "scores": _scored,
        "comparisons": comparison_table,
        "report": _reported,
    }
    values: dict[str, Any] = {}
    for number, (step, name) in enumerate(zip(steps(output), shown, strict=True), start=1):
        yield f"\n── {number} · {step.title}\n{step.code}\n"
        piece = shown[name](step.result)
        yield from piece.lines()
        values[name] = piece.value
    yield f"\nThe runs stay in {output}: crucible results list --store {os.path.join(output, 'results')}"
    yield Sections({}, values)
    return None


def _loaded(benchmark: Any) -> Output:
    about = benchmark.provenance
    first = benchmark[0]
    facts = {
        "benchmark": benchmark.entry.title,
        "samples": len(benchmark),
        "revision": about.revision,
        "first": {"id": first.id, "input": first.input, "target": first.target},
    }
    lines = (
        f"{facts['benchmark']}, {about.split}: {len(benchmark)} samples, {about.revision}",
        f"{first.input} → {first.target}",
    )
    return Message("\n".join(lines), facts)


def _drawn(samples: Any) -> Output:
    ids = [sample.id for sample in samples]
    return Message(f"{len(ids)} samples: {', '.join(one.rpartition('/')[2] for one in ids[:12])} …", ids)


def _scored(results: Any) -> Output:
    return score_table([row for result in results.values() for row in result_rows(result)])


def _reported(path: str) -> Output:
    size = os.path.getsize(path)
    return Message(f"{os.path.abspath(path)} ({size:,} bytes): open it in a browser", {"path": path, "size": size})


def _arguments(parser: ArgumentParser) -> None:
    place = "where runs and the report go; %(default)s by default"
    file_argument(parser, "-o", "--output", metavar="DIR", default="crucible-demo", folder=True, help=place)


COMMANDS = (Command.of(demo, _arguments),)
