"""The cases: one function each, the same code for every library.

A case has the shapes of data it runs on, with the required ratio for each: `@case(chat=5, flat=12)` requires 5 times
the speed of `datasets` on chat rows and 12 times on flat rows. Only the function is timed, after `setup`. Its results
are compared between the libraries, so that neither is fast by doing less.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.data import read_table


@dataclass(frozen=True)
class State:
    """The argument of a case: the library, the open dataset, and the result of its setup."""

    module: Any
    dataset: Any
    given: Any = None


Setup = Callable[[Any, Path], State]
Run = Callable[[State], object]


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    name: str
    shape: str
    bar: float
    run: Run
    setup: Setup
    calls: int = 1  # calls per run; times are shown per call
    repeat: int = 1  # runs per process, of which the fastest counts
    needs: tuple[str, ...] = ()  # packages that the case needs
    imports: bool = True  # whether the library is imported before the run
    floor: bool = False  # whether benchmarks.floor can run it
    most_disk: float = inf  # maximal bytes on disk of this library
    most_peak: float = inf  # maximal peak memory in bytes; no case may need more than HF

    @property
    def key(self) -> str:
        """Its name on the command line."""
        return f"{self.name}/{self.shape}"


CASES: dict[str, Case] = {}
ANY = "-"  # the shape of a case without rows


def opened(module: Any, path: Path) -> State:
    """The file as a dataset."""
    return State(module, module.Dataset.from_file(str(path)))


def shuffled(module: Any, path: Path) -> State:
    """The file as a dataset in random order."""
    return State(module, module.Dataset.from_file(str(path)).shuffle(seed=42))


def scattered(module: Any, path: Path) -> State:
    """The file as a dataset, and 2,000 random row numbers."""
    dataset = module.Dataset.from_file(str(path))
    return State(module, dataset, Random(0).choices(range(len(dataset)), k=2_000))


def python_rows(module: Any, path: Path) -> State:
    """The rows as Python objects, without a dataset."""
    return State(module, None, read_table(path).to_pylist())


def python_columns(module: Any, path: Path) -> State:
    """The columns as Python lists, without a dataset."""
    return State(module, None, read_table(path).to_pydict())


def three(module: Any, path: Path) -> State:
    """The file opened three times."""
    return State(module, [module.Dataset.from_file(str(path)) for _ in range(3)])


def case(
    name: str = "",
    *,
    setup: Setup = opened,
    calls: int = 1,
    repeat: int = 1,
    needs: tuple[str, ...] = (),
    imports: bool = True,
    floor: bool = False,
    most_disk: float = inf,
    most_peak: float = inf,
    anyway: float | None = None,
    **bars: float,
) -> Callable[[Run], Run]:
    """Register a function as one case per shape in `bars`; `anyway` is the required ratio without a shape."""

    def register(run: Run) -> Run:
        label = name or run.__name__.replace("_", " ")
        shapes = bars if anyway is None else {ANY: anyway}
        for shape, bar in shapes.items():
            new = Case(label, shape, bar, run, setup, calls, repeat, needs, imports, floor, most_disk, most_peak)
            CASES[new.key] = new
        return run

    return register


def count(rows: Any) -> int:
    """Iterate to the end; the number of rows."""
    number = 0
    for _ in rows:
        number += 1
    return number


# ---- start -----------------------------------------------------------------------------------


def named(module: Any, path: Path) -> State:
    """The name of the library, which the run itself imports."""
    return State(module, None)


@case("import", setup=named, repeat=3, imports=False, anyway=15)
def import_in_a_new_interpreter(state: State) -> None:
    subprocess.run([sys.executable, "-c", f"import {state.module}"], check=True)


@case("import of nothing", setup=named, repeat=3, imports=False, anyway=0)
def bare_interpreter(state: State) -> None:
    subprocess.run([sys.executable, "-c", "pass"], check=True)


@case(setup=lambda module, path: State(module, None, str(path)), repeat=3, chat=1, flat=1)
def open_file(state: State) -> object:
    return state.module.Dataset.from_file(state.given)[0]


# ---- rows ------------------------------------------------------------------------------------


@case(floor=True, chat=5, flat=12)
def iterate(state: State) -> int:
    return count(state.dataset)


@case(setup=shuffled, floor=True, chat=8, flat=8)
def iterate_after_shuffle(state: State) -> int:
    return count(state.dataset)


@case("random ds[i]", setup=scattered, calls=2_000, repeat=3, floor=True, chat=3, flat=3)
def random_row(state: State) -> object:
    for index in state.given:
        row = state.dataset[index]
    return row


def scattered_after_shuffle(module: Any, path: Path) -> State:
    state = scattered(module, path)
    return State(module, state.dataset.shuffle(seed=42), state.given)


@case("ds[i] after shuffle", setup=scattered_after_shuffle, calls=2_000, repeat=3, chat=1, flat=1)
def random_row_after_shuffle(state: State) -> object:
    return random_row(state)


def starts(state: State) -> range:
    """The start of each thousand rows."""
    return range(0, len(state.dataset) - 999, 1_000)


@case("select(range).to_list() after shuffle", setup=shuffled, floor=True, chat=3, flat=3)
def selected_thousands(state: State) -> int:
    number = 0
    for start in starts(state):
        number += len(state.dataset.select(range(start, start + 1_000)).to_list())
    return number


@case("ds[a:a+1000]", chat=1, flat=1)
def slices(state: State) -> object:
    for start in starts(state):
        columns = state.dataset[start : start + 1_000]
    return columns


def thousands(module: Any, path: Path) -> State:
    """Ten lists of 1,000 random row numbers."""
    dataset = module.Dataset.from_file(str(path))
    random, every = Random(0), range(len(dataset))
    return State(module, dataset, [random.choices(every, k=1_000) for _ in range(10)])


@case("ds[[1,000 indices]]", setup=thousands, calls=10, chat=1, flat=1)
def listed_rows(state: State) -> object:
    for indices in state.given:
        columns = state.dataset[indices]
    return columns


@case("iter(1000)", floor=True, chat=1, flat=1)
def python_batches(state: State) -> int:
    return count(state.dataset.iter(1_000))


# ---- whole columns and whole tables ----------------------------------------------------------


@case("list(ds['problem'])", floor=True, flat=10)
def listed_problem(state: State) -> int:
    return len(list(state.dataset["problem"]))


@case("list(ds['source'])", floor=True, chat=10)
def listed_source(state: State) -> int:
    return len(list(state.dataset["source"]))


@case("list(ds['messages'])", floor=True, chat=1)
def listed_messages(state: State) -> int:
    return len(list(state.dataset["messages"]))


@case("ds['problem'][:]", repeat=3, flat=1)
def sliced_problem(state: State) -> int:
    return len(state.dataset["problem"][:])


@case("to_list", floor=True, chat=1, flat=1)
def to_list(state: State) -> int:
    return len(state.dataset.to_list())


@case("to_dict", chat=1, flat=1)
def to_dict(state: State) -> list[str]:
    return list(state.dataset.to_dict())


@case("to_pandas", repeat=3, floor=True, needs=("pandas",), chat=1, flat=1)
def to_pandas(state: State) -> object:
    return state.dataset.to_pandas().shape


@case("to_polars", repeat=3, needs=("polars",), chat=1, flat=1)
def to_polars(state: State) -> object:
    return state.dataset.to_polars().shape


@case("numpy iter(1000)", floor=True, chat=3, flat=3)
def numpy_batches(state: State) -> int:
    return count(state.dataset.with_format("numpy").iter(1_000))


@case("torch iter(1000)", needs=("torch",), flat=1)
def torch_batches(state: State) -> int:
    return count(state.dataset.with_format("torch").iter(1_000))


# ---- construction ----------------------------------------------------------------------------


@case("from_list", setup=python_rows, floor=True, chat=3, flat=3)
def from_list(state: State) -> int:
    return len(state.module.Dataset.from_list(state.given))


@case("from_dict", setup=python_columns, chat=1, flat=1)
def from_dict(state: State) -> int:
    return len(state.module.Dataset.from_dict(state.given))


@case(
    "from_pandas",
    setup=lambda module, path: State(module, None, read_table(path).to_pandas()),
    needs=("pandas",),
    flat=1,
)
def from_pandas(state: State) -> int:
    return len(state.module.Dataset.from_pandas(state.given))


def rows_in_memory(module: Any, path: Path) -> State:
    rows = read_table(path).to_pylist()

    def generate() -> Iterator[dict[str, Any]]:
        yield from rows

    return State(module, None, generate)


# The common use: the function yields rows in memory, which both libraries hash for their cache.
@case("from_generator", setup=rows_in_memory, chat=6, flat=6)
def from_generator(state: State) -> int:
    return len(state.module.Dataset.from_generator(state.given))


def read_rows(path: str) -> Iterator[dict[str, Any]]:
    """Read a file and yield its rows lazily; the path differs in every run."""
    for batch in read_table(Path(path)).to_batches():
        yield from batch.to_pylist()


# The generator itself takes a third of the time of `datasets`, and the conversion to Arrow another.
@case(
    "from_generator, reading a file",
    setup=lambda module, path: State(module, None, str(path)),
    floor=True,
    chat=1,
    flat=1,
)
def from_file_generator(state: State) -> int:
    return len(state.module.Dataset.from_generator(read_rows, gen_kwargs={"path": state.given}))


# ---- order and splits ------------------------------------------------------------------------


@case(flat=1)
def shuffle(state: State) -> object:
    return state.dataset.shuffle(seed=1)[0]


@case("select(range)", calls=20, repeat=3, flat=1)
def select_range(state: State) -> int:
    for start in range(20):
        chosen = state.dataset.select(range(start, start + 1_000))
    return len(chosen)


@case("select(list)", setup=thousands, calls=10, flat=1)
def select_list(state: State) -> object:
    for indices in state.given:
        chosen = state.dataset.select(indices)
    return chosen[0]


@case("sort by score", floor=True, flat=1)
def sort_by_number(state: State) -> object:
    return state.dataset.sort("score")[0]


@case("sort by subject, score", flat=1)
def sort_by_two(state: State) -> object:
    return state.dataset.sort(["subject", "score"], reverse=[False, True])[0]


@case("unique", repeat=3, floor=True, flat=1)
def unique(state: State) -> object:
    return sorted(state.dataset.unique("subject"))


@case("train_test_split", flat=1)
def train_test_split(state: State) -> object:
    return state.dataset.train_test_split(test_size=0.2, seed=42)["test"][0]


@case("train_test_split, stratified", floor=True, typed=100)
def stratified_split(state: State) -> object:
    split = state.dataset.train_test_split(test_size=0.2, seed=42, stratify_by_column="subject")
    return split["test"][0]


# ---- columns ---------------------------------------------------------------------------------


@case("rename_column", calls=20, repeat=3, flat=1)
def rename_column(state: State) -> list[str]:
    for number in range(20):
        renamed = state.dataset.rename_column("problem", f"question{number}")
    return list(renamed.column_names)


@case("remove_columns", calls=20, repeat=3, flat=1)
def remove_columns(state: State) -> list[str]:
    for _ in range(20):
        rest = state.dataset.remove_columns(["answer", "level"])
    return list(rest.column_names)


@case("select_columns", calls=20, repeat=3, flat=1)
def select_columns(state: State) -> list[str]:
    for _ in range(20):
        rest = state.dataset.select_columns(["answer", "level"])
    return list(rest.column_names)


def new_column(module: Any, path: Path) -> State:
    dataset = module.Dataset.from_file(str(path))
    return State(module, dataset, list(range(len(dataset))))


@case("add_column", setup=new_column, flat=1)
def add_column(state: State) -> object:
    return state.dataset.add_column("number", state.given)[-1]


@case("cast_column", flat=1)
def cast_column(state: State) -> object:
    return state.dataset.cast_column("level", state.module.Value("int32"))[-1]


@case("class_encode_column", flat=1)
def class_encode_column(state: State) -> object:
    return state.dataset.class_encode_column("subject")[-1]


@case(typed=1)
def flatten(state: State) -> object:
    return state.dataset.flatten()[-1]


# ---- several datasets, and other processes ---------------------------------------------------


@case("concatenate_datasets", setup=three, flat=1)
def concatenate(state: State) -> object:
    return state.module.concatenate_datasets(state.dataset)[-1]


@case("interleave_datasets, probabilities", setup=three, flat=1)
def interleave(state: State) -> object:
    mixed = state.module.interleave_datasets(
        state.dataset, probabilities=[0.5, 0.3, 0.2], seed=42, stopping_strategy="all_exhausted"
    )
    return len(mixed), mixed[-1]


@case("pickle round trip", repeat=3, flat=1)
def pickled(state: State) -> object:
    return pickle.loads(pickle.dumps(state.dataset))[-1]


@case("pickle round trip after shuffle", setup=shuffled, flat=1)
def pickled_after_shuffle(state: State) -> object:
    return pickle.loads(pickle.dumps(state.dataset))[-1]
