"""Files: loading them in a new process, import included, and writing them.

A load is a short program in a new interpreter with an empty cache; its output is compared between the libraries.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.cases import Setup, State, case, count

MB = 1 << 20
FIRST_ROW = "print(rows[0])"
ITERATE = "print(sum(1 for _ in rows))"
ENDS = "print(len(rows), rows[0], rows[-1])"

LOADED = "import {module} as d\nrows = d.load_dataset('{format}', data_files={files!r}, split='train', **{options!r})\n"


def program(module: str, format: str, files: list[str], then: str, options: dict[str, Any] | None = None) -> str:
    """A program that imports the library, loads the files, and continues with `then`."""
    return LOADED.format(module=module, format=format, files=files, options=options or {}) + then


def printed(source: str) -> str:
    """The output of a program in a new interpreter."""
    done = subprocess.run([sys.executable, "-c", source], check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    return done.stdout


def beside(path: Path, suffix: str) -> Path:
    """The same rows in another format, linked into the private home."""
    link = path.with_name(f"data{suffix}")
    if not link.exists():
        link.symlink_to(path.resolve().with_suffix(suffix))
        link.read_bytes()  # so that the file is in the page cache for both sides
    return link


def loading(format: str, suffix: str, then: str, copies: int = 1, **options: Any) -> Setup:
    """The setup of a timed program."""

    def setup(module: Any, path: Path) -> State:
        first = beside(path, suffix)
        files = [first, *(first.with_name(f"copy{number}-{first.name}") for number in range(1, copies))]
        for copy in files[1:]:
            copy.symlink_to(first.resolve())
        return State(module, None, program(module, format, list(map(str, files)), then, options))

    return setup


def warm(setup: Setup) -> Setup:
    """The same after the program has run once."""

    def again(module: Any, path: Path) -> State:
        state = setup(module, path)
        printed(state.given)
        return state

    return again


def load(name: str, setup: Setup, **bars: Any) -> None:
    """Register a load."""

    @case(name, setup=setup, imports=False, **bars)
    def run(state: State) -> str:
        return printed(state.given)


PARQUET = ("parquet", ".parquet")
load("load Parquet, first row", loading(*PARQUET, FIRST_ROW), chat=6, flat=6, most_disk=0)
load("load Parquet, iterate", loading(*PARQUET, ITERATE), chat=3.5, flat=3.5, most_disk=0)
load("load Parquet again", warm(loading(*PARQUET, FIRST_ROW)), chat=3, flat=3, most_disk=0)
load("load Arrow, first row", loading("arrow", ".arrow", FIRST_ROW), chat=3, flat=3, most_disk=0)
load("load JSON Lines", loading("json", ".jsonl", ENDS), chat=1.8, flat=1.8)
load("load CSV", loading("csv", ".csv", ENDS), flat=2.5)

# 100 rows of one column of 20.
FEW_ROWS = [("number", ">=", 1_000), ("number", "<", 1_100)]
ONE_COLUMN = loading("parquet", ".wide.parquet", ITERATE, columns=["number"], filters=FEW_ROWS)
load("load 1 of 20 columns, filtered", ONE_COLUMN, flat=10, most_disk=0)

# ---- more data than memory -------------------------------------------------------------------

COPIES = 4
# Chat rows take about 1.7 kB: 400,000 of them are three times this.
BUDGET = 216 * MB
SHUFFLED = f"""
decoded = {{}}
if d.__name__ == "crucible_datasets":
    from crucible_datasets import config
    from crucible_datasets.tables.rowgroups import ParquetPart

    config.DECODED_MEMORY_BUDGET = {BUDGET}
    batches = ParquetPart.batches

    def counted(part, index, *given):
        decoded[part.path, index] = decoded.get((part.path, index), 0) + 1
        return batches(part, index, *given)

    ParquetPart.batches = counted
print(sum(1 for _ in rows.shuffle(seed=42)))
assert max(decoded.values(), default=0) <= 2, decoded
"""
MUCH = loading(*PARQUET, SHUFFLED, copies=COPIES)
load("iterate Parquet shuffled, 3 times the budget", MUCH, chat=1, most_peak=BUDGET + 500 * MB)

# ---- writing ---------------------------------------------------------------------------------


def target(name: str) -> str:
    """An unused path in the private home."""
    return str(Path(tempfile.mkdtemp()) / name)


def export(method: str, suffix: str, **bars: float) -> None:
    """Register a method that writes a file."""

    @case(method, **bars)
    def run(state: State) -> int:
        getattr(state.dataset, method)(target(f"data{suffix}"))
        return len(state.dataset)


export("to_parquet", ".parquet", chat=1, flat=1)
export("to_json", ".jsonl", chat=2.5, flat=2.5)
export("to_csv", ".csv", flat=10)


@case("save_to_disk, load_from_disk", chat=1, flat=1)
def saved_and_loaded(state: State) -> int:
    folder = target("saved")
    state.dataset.save_to_disk(folder)
    return count(state.module.load_from_disk(folder).select(range(100)))
