"""The result store: ten samples per row of the data, by default a million, appended, finished and queried.

`datasets` has none, so its side collects all samples in a list, writes them as JSON Lines at the end, and reads them
back for any query. Our side stores a thousand at a time on disk, and memory must not grow with them: `most_peak` is
the limit for a million.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.cases import State, case
from benchmarks.data import read_table

KEY = "exact_match@2"
AT_ONCE = 1_000
MOST_PEAK = 400e6


def sample(number: int) -> dict[str, Any]:
    """The result of one sample, about half a kilobyte."""
    return {
        "id": str(number),
        "prediction": "Let me think. " * 15 + str(number),
        "target": str(number % 7),
        "outcomes": {KEY: {"value": float(number % 3 == 0), "extracted": str(number)}},
        "input": "What is the sum? " * 8 + str(number),
        "metadata": {"subject": str(number % 57)},
    }


def counted(module: Any, path: Path) -> State:
    """The number of samples, and an empty folder."""
    return State(module, None, (10 * len(read_table(path)), Path(tempfile.mkdtemp(prefix="results-"))))


def finished(module: Any, path: Path) -> State:
    """The same after a run."""
    state = counted(module, path)
    append(state)
    return state


def ours(number: int) -> Iterator[list[Any]]:
    from crucible_datasets.evaluation import Outcome, SampleResult

    for start in range(0, number, AT_ONCE):
        rows = map(sample, range(start, min(start + AT_ONCE, number)))
        yield [SampleResult(**{**row, "outcomes": {KEY: Outcome(**row["outcomes"][KEY])}}) for row in rows]


@case("results: append and finish", setup=counted, most_peak=MOST_PEAK, flat=0.25)
def append(state: State) -> int:
    number, folder = state.given
    if state.module.__name__ == "crucible_datasets":
        from crucible_datasets.evaluation import ResultStore

        with ResultStore(folder).open_run(run_id="run", model="m", dataset="d", metrics=[KEY]) as run:
            for batch in ours(number):
                run.extend(batch)
            return run.finish().info.num_samples
    rows = [sample(place) for place in range(number)]
    with open(folder / "samples.jsonl", "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return len(rows)


@case("results: the values of a metric", setup=finished, most_peak=MOST_PEAK, flat=20)
def values(state: State) -> float:
    number, folder = state.given
    if state.module.__name__ == "crucible_datasets":
        from crucible_datasets.evaluation import ResultStore

        return round(float(ResultStore(folder).load("run").samples.values(KEY).mean()), 6)
    with open(folder / "samples.jsonl") as file:
        rows = [json.loads(line) for line in file]
    return round(sum(row["outcomes"][KEY]["value"] for row in rows) / number, 6)


@case("results: one sample of all", setup=finished, most_peak=MOST_PEAK, flat=20)
def one_of_all(state: State) -> str:
    number, folder = state.given
    if state.module.__name__ == "crucible_datasets":
        from crucible_datasets.evaluation import ResultStore

        return str(ResultStore(folder).load("run").samples[number - 7].prediction)
    with open(folder / "samples.jsonl") as file:
        rows = [json.loads(line) for line in file]
    return str(rows[number - 7]["prediction"])
