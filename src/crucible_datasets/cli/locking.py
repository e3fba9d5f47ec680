"""`crucible lock` and `crucible overlap`: pinned data, and contamination by test sets."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from typing import Any

from crucible_datasets.cli import exit_codes
from crucible_datasets.cli.command import Command
from crucible_datasets.cli.completion import benchmark_argument, file_argument
from crucible_datasets.cli.output import Column, Message, Output, Outputs, Table, amount
from crucible_datasets.exceptions import FileNotFoundDatasetsError

_SHOWN = (
    Column("dataset", keep=True),
    amount("rows"),
    Column("revision", shown=lambda text: text[:12]),
    Column("sha256", shown=lambda text: text[:12]),
    Column("rules", shown=", ".join),
)


def lock(names: list[str], check: bool, update: bool, file: str, synthetic: bool, on_bad_rows: str) -> Outputs:
    """Record the commit and hash of datasets in a file that loading checks; show, check or update it."""
    from crucible_datasets.benchmarks.locks.file import Lock
    from crucible_datasets.benchmarks.locks.making import check_lock, chosen, lock_datasets

    if (check or not names) and not os.path.exists(file):
        raise FileNotFoundDatasetsError(file, "there is no such file; `crucible lock NAME …` writes one.")
    if check:
        checked = check_lock(*names, path=file, latest=update)
        yield _checked(checked)
        return exit_codes.CHECK_FAILED if any(moves for _, moves in checked) else exit_codes.OK
    if not names and not update:
        yield _table(Lock.read(file))
        return None
    made = lock_datasets(*names, path=file, update=update, synthetic=synthetic, on_bad_rows=on_bad_rows)
    yield _table(chosen(made, names))
    return None


def _table(entries: Any) -> Output:
    return Table(_SHOWN, [{"dataset": entry.title, **entry.to_dict()} for entry in entries], "nothing is locked")


def _checked(checked: Any) -> Output:
    rows = [
        {
            "dataset": entry.title,
            "state": "moved" if moves else "same",
            "moved": [move._asdict() for move in moves],
        }
        for entry, moves in checked
    ]
    moved = Column("moved", "what moved", shown=lambda moves: "; ".join(map(_move_text, moves)))
    return Table((Column("dataset", keep=True), Column("state", keep=True), moved), rows, "nothing is locked")


def _move_text(move: dict[str, Any]) -> str:
    from crucible_datasets.benchmarks.locks.file import Move

    return str(Move(**move))


def overlap(
    train: str, test: str, n: int | None, method: str, columns: list[str] | None, threshold: float | None
) -> Outputs:
    """Report which rows of a test set are in a train set, by n-grams, equal or similar texts."""
    from crucible_datasets.benchmarks.contamination.finding import overlap as compared

    report = compared(train, test, n, method=method, columns=columns, threshold=threshold)  # type: ignore[arg-type]
    yield Message(str(report), report.to_dict())
    return exit_codes.CHECK_FAILED if report.contaminated else exit_codes.OK


def _lock_arguments(parser: ArgumentParser) -> None:
    what = "a benchmark, a repository or a file, as in gsm8k, openai/gsm8k:main:test, data.jsonl"
    benchmark_argument(parser, "names", nargs="*", metavar="DATASET", help=f"{what}; without any, the file is shown")
    parser.add_argument(
        "--check", action="store_true", help="show what has changed; with --update, what an update would change"
    )
    parser.add_argument("--update", action="store_true", help="update these, or everything in the file")
    file_argument(parser, "--file", metavar="FILE", default="crucible.lock", help="the file; %(default)s by default")
    parser.add_argument("--synthetic", action="store_true", help="lock the miniatures of benchmarks")
    bad = "what to do with rows that do not fit a benchmark; %(default)s by default"
    parser.add_argument("--on-bad-rows", choices=("error", "skip"), default="error", help=bad)


def _overlap_arguments(parser: ArgumentParser) -> None:
    what = "a benchmark, a repository or a file, as in gsm8k, openai/gsm8k:main:test, data.jsonl"
    benchmark_argument(parser, "train", metavar="TRAIN", help=what)
    benchmark_argument(parser, "test", metavar="TEST", help="the same")
    parser.add_argument("-n", type=int, help="the number of words in an n-gram; 13 by default, 5 for minhash")
    methods = ("ngrams", "exact", "minhash")
    parser.add_argument("--method", choices=methods, default="ngrams", help="%(default)s by default")
    which = "which columns; those with texts that are no ids by default"
    parser.add_argument("--columns", nargs="+", metavar="NAME", help=which)
    share = "the share of a row that must be found; any for ngrams, 0.8 for minhash by default"
    parser.add_argument("--threshold", type=float, metavar="SHARE", help=share)


COMMANDS = (Command.of(lock, _lock_arguments), Command.of(overlap, _overlap_arguments))
