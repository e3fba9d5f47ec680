"""`crucible convert`, `sample`, `split`: rows of a dataset in new files."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from crucible_datasets.cli.command import Command, dataset_arguments, force_argument, output_arguments
from crucible_datasets.cli.completion import file_argument
from crucible_datasets.cli.output import Column, JsonLines, Outputs, Records, Table, amount
from crucible_datasets.exceptions import ArgumentError

if TYPE_CHECKING:
    from crucible_datasets import Dataset

# A placeholder in file names, for several splits.
_PLACE = "{split}"
STANDARD_OUTPUT = "-"
_PARTS = ("train", "validation", "test")
_DRAWN = 10  # default number of rows of a sample


def convert(
    dataset: str,
    output: str,
    config: str | None,
    split: str | None,
    revision: str | None,
    options: Mapping[str, Any],
    columns: str | None,
    column: str | None,
    force: bool,
) -> Outputs:
    """Write a dataset in another format; the name of the file says format and compression."""
    from crucible_datasets.cli import opening

    found = {str(name): rows for name, rows in opening.splits(dataset, config, split, revision, options).items()}
    if columns is not None:
        found = {name: rows.select_columns(columns.split(",")) for name, rows in found.items()}
    yield _piped(found) if output == STANDARD_OUTPUT else _written(found, output, force, column)
    return None


def sample(
    dataset: str,
    config: str | None,
    split: str | None,
    revision: str | None,
    options: Mapping[str, Any],
    rows: str | None,
    seed: int,
    stratify_by: str | None,
    replace: bool,
    output: str | None,
    columns: str | None,
    force: bool,
) -> Outputs:
    """Draw rows at random: the same rows for the same seed."""
    from crucible_datasets.cli import opening

    whole = opening.one_split(dataset, config, split, revision, options)
    size = min(_DRAWN, len(whole)) if rows is None else _size(rows, "rows", rows)
    drawn = _drawn(whole, size, seed, stratify_by, replace)
    drawn = drawn if columns is None else drawn.select_columns(columns.split(","))
    if output is None:
        shown = opening.undecoded(drawn)
        yield Records(shown.column_names, list(shown))
    elif output == STANDARD_OUTPUT:
        yield _piped({"drawn": drawn})
    else:
        yield _written({str(whole.split or "train"): drawn}, output, force)
    return None


def split(
    dataset: str,
    config: str | None,
    split: str | None,
    revision: str | None,
    options: Mapping[str, Any],
    output: str,
    parts: str,
    folds: int | None,
    seed: int,
    stratify_by: str | None,
    group_by: str | None,
    force: bool,
) -> Outputs:
    """Divide a split into parts or folds, each a file: every row is in exactly one part."""
    from crucible_datasets.cli import opening
    from crucible_datasets.evaluation.sampling.samplers import k_fold
    from crucible_datasets.evaluation.sampling.samplers import split as divided

    if _PLACE not in output:
        raise ArgumentError("output", output, f"write {_PLACE} where the name of a part goes, as in {_PLACE}.jsonl.")
    whole = opening.one_split(dataset, config, split, revision, options)
    if folds is not None:
        several = k_fold(whole, folds, seed, stratify_by=stratify_by, group_by=group_by)
        found = {f"fold{number}": fold.test.data for number, fold in enumerate(several)}
    else:
        drawn = divided(whole, **_sizes(parts), seed=seed, stratify_by=stratify_by, group_by=group_by)
        found = {name: part.data for name, part in drawn.items()}
    yield _written(found, output, force)
    return None


def _drawn(rows: Dataset, size: float, seed: int, stratify_by: str | None, replace: bool) -> Dataset:
    from crucible_datasets.evaluation.sampling.samplers import bootstrap_sample, random_sample, stratified_sample

    if stratify_by is None:
        return (bootstrap_sample if replace else random_sample)(rows, size, seed).data
    if replace:
        raise ArgumentError("replace", replace, "a stratified sample has every row once at most.")
    return stratified_sample(rows, size, stratify_by, seed).data


def _sizes(parts: str) -> dict[str, float]:
    """`train=0.8,test=0.2` as names and sizes."""
    sizes: dict[str, float] = {}
    for part in parts.split(","):
        name, _, size = part.partition("=")
        if name not in _PARTS or name in sizes:
            raise ArgumentError("parts", parts, f"write sizes for {', '.join(_PARTS)}, as in train=0.8,test=0.2.")
        sizes[name] = _size(size, "parts", parts)
    return sizes


def _size(text: str, argument: str, given: str) -> float:
    """A number of rows, or a fraction: `100`, `0.1`, `10%`."""
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text) if "." in text else int(text)
    except ValueError:
        raise ArgumentError(argument, given, "write a number of rows, or a share: 100, 0.1, 10%.") from None


def _piped(found: dict[str, Dataset]) -> JsonLines:
    from crucible_datasets.cli import opening

    if len(found) > 1:
        raise ArgumentError("output", STANDARD_OUTPUT, f"there are {len(found)} splits: choose one with --split.")
    return JsonLines(opening.undecoded(next(iter(found.values()))))


def _written(found: dict[str, Dataset], output: str, force: bool, column: str | None = None) -> Table:
    from crucible_datasets.cache.units import shown_size
    from crucible_datasets.cli import writing

    if len(found) > 1 and _PLACE not in output:
        raise ArgumentError(
            "output", output, f"there are {len(found)} splits: choose one with --split, or write {_PLACE}."
        )
    paths = {name: output.replace(_PLACE, _file_name(name)) for name in found}
    for path in paths.values():
        writing.require_writable(path, force)
    rows: list[dict[str, Any]] = [
        {"split": name, "rows": len(part), "file": paths[name], "size": writing.write(part, paths[name], True, column)}
        for name, part in found.items()
    ]
    return Table((Column("split"), amount("rows"), Column("file", keep=True), amount("size", shown=shown_size)), rows)


def _file_name(split: str) -> str:
    """The name of a split, checked to be a file name."""
    return split.replace(os.sep, "_").replace("/", "_").strip(".") or "_"


def _convert_arguments(parser: ArgumentParser) -> None:
    dataset_arguments(parser)
    how = "such as data.parquet, data.jsonl.gz, {split}.csv; a name without a dot is a folder for load_from_disk, "
    how += "and - is JSON Lines on standard output"
    file_argument(parser, "output", metavar="FILE", help=how)
    parser.add_argument("--columns", metavar="A,B", help="only these columns")
    parser.add_argument("--column", metavar="NAME", help="the column to write to a text file")
    force_argument(parser)


def _sample_arguments(parser: ArgumentParser) -> None:
    dataset_arguments(parser)
    size = f"how many rows, or a share: 100, 0.1, 10%%; {_DRAWN} by default, or all where there are fewer"
    parser.add_argument("-n", "--rows", metavar="N", help=size)
    parser.add_argument("--seed", type=int, default=0, help="%(default)s by default")
    parser.add_argument("--stratify-by", metavar="FIELD", help="keep the proportions of the values of this field")
    parser.add_argument("--replace", action="store_true", help="a row may be drawn more than once")
    parser.add_argument("--columns", metavar="A,B", help="only these columns")
    output_arguments(parser, required=False)


def _split_arguments(parser: ArgumentParser) -> None:
    dataset_arguments(parser)
    output_arguments(parser)
    sizes = "sizes of train, validation and test, shares or numbers of rows; %(default)s by default"
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--parts", default="train=0.8,test=0.2", metavar="PART=SIZE,…", help=sizes)
    how.add_argument("--folds", type=int, metavar="K", help="write K folds instead; each is the test set once")
    parser.add_argument("--seed", type=int, default=0, help="%(default)s by default")
    parser.add_argument("--stratify-by", metavar="FIELD", help="keep the proportions of the values of this field")
    parser.add_argument("--group-by", metavar="FIELD", help="rows with the same value stay together")


COMMANDS = (
    Command.of(convert, _convert_arguments),
    Command.of(sample, _sample_arguments),
    Command.of(split, _split_arguments),
)
