"""`crucible load`, `head`, `describe`, `formats`: inspect datasets."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from crucible_datasets.cli.command import Command, dataset_arguments, require_count
from crucible_datasets.cli.completion import file_argument
from crucible_datasets.cli.output import Column, Facts, Output, Outputs, Records, Sections, Table, amount


def load(
    dataset: str,
    config: str | None,
    split: str | None,
    revision: str | None,
    options: Mapping[str, Any],
    save: str | None,
    force: bool,
) -> Outputs:
    """Load a dataset and show its splits and columns."""
    from crucible_datasets.cli import opening, writing

    if save is not None:
        writing.require_writable(save, force, "save")
    found = opening.splits(dataset, config, split, revision, options)
    splits = [
        {"split": str(name), "rows": len(rows), "columns": len(rows.column_names), "fingerprint": rows._fingerprint}
        for name, rows in found.items()
    ]
    columns = [{"column": name, "type": kind} for name, kind in _types(next(iter(found.values()))).items()]
    parts: dict[str, Output] = {
        "splits": Table(
            (Column("split"), amount("rows", shown=_count), amount("columns"), Column("fingerprint")), splits
        ),
        "columns": Table((Column("column"), Column("type")), columns),
    }
    if save is not None:
        found.save_to_disk(save)
        parts["saved"] = Facts({"folder": save})
    yield Sections(parts)
    return None


def head(
    dataset: str,
    config: str | None,
    split: str | None,
    revision: str | None,
    options: Mapping[str, Any],
    rows: int,
    columns: str | None,
) -> Outputs:
    """Show the first rows, and read no more than that."""
    from crucible_datasets.cli import opening

    require_count(rows)
    flow = opening.stream(dataset, config, split, revision, options)
    if columns is not None:
        flow = flow.select_columns(columns.split(","))
    shown = list(opening.undecoded(flow).take(rows))
    names = list(shown[0]) if shown else list(flow.features or ())
    yield Records(names, shown)
    return None


def describe(
    dataset: str,
    config: str | None,
    split: str | None,
    revision: str | None,
    options: Mapping[str, Any],
    columns: str | None,
) -> Outputs:
    """Show the type, nulls, NaN, distinct values, lengths and quantiles of every column."""
    from crucible_datasets.cli import opening
    from crucible_datasets.cli.profile import profile

    parts = {}
    for name, rows in opening.splits(dataset, config, split, revision, options).items():
        chosen = rows if columns is None else rows.select_columns(columns.split(","))
        profiles = [profile(chosen, column) for column in chosen.column_names]
        facts = Facts({"split": str(name), "rows": len(rows), "columns": len(rows.column_names)})
        parts[str(name)] = Sections({"about": facts, "columns": Table(_PROFILE, profiles)})
    yield Sections(parts)
    return None


def formats() -> Outputs:
    """List file formats: their extensions, and whether they can be written."""
    from crucible_datasets.formats.base import FORMATS
    from crucible_datasets.reading.compression import EXTENSIONS

    rows = [
        {
            "format": name,
            "extensions": list(FORMATS[name].extensions),
            "written": FORMATS[name].write is not None,
            "in_place": FORMATS[name].in_place,
            "options": list(FORMATS[name].options()),
        }
        for name in FORMATS
    ]
    columns = (
        Column("format", keep=True),
        Column("extensions", "names end with", " ".join),
        Column("written", shown=_yes),
        Column("in_place", "read in place", _yes),
        Column("options", shown=", ".join, spare=True),
    )
    compression = Facts({"compressed": list(EXTENSIONS)}, {"compressed": " ".join(EXTENSIONS)})
    yield Sections({"formats": Table(columns, rows), "compression": compression})
    return None


def _types(rows: Any) -> dict[str, str]:
    from crucible_datasets.features.typetext import type_text

    return {name: type_text(kind) for name, kind in rows.features.items()}


def _count(number: int) -> str:
    return f"{number:,}"


def _yes(value: bool) -> str:
    return "yes" if value else ""


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _quantiles(values: list[float]) -> str:
    return " ".join(map(_number, values))


def _spread(row: Mapping[str, Any]) -> str | None:
    """Quantiles of numbers, or of the lengths of texts and lists."""
    if "length" in row:
        return f"{_quantiles(row['length']['quantiles'])} {row['length']['unit']}"
    return _quantiles(row["quantiles"]) if "quantiles" in row else None


def _top(values: list[dict[str, Any]]) -> str:
    return ", ".join(f"{each['value']} ({each['count']:,})" for each in values)


_PROFILE = (
    Column("column"),
    Column("type"),
    amount("nulls", shown=_count),
    amount("nans", "NaN", shown=lambda count: _count(count) if count else ""),
    amount("distinct", shown=_count),
    Column("values or lengths: min ¼ ½ ¾ max", keep=True, of=_spread),
    Column("top", "most frequent", _top, spare=True),
)


def _load_arguments(parser: ArgumentParser) -> None:
    dataset_arguments(parser)
    file_argument(parser, "--save", metavar="DIR", folder=True, help="a folder to save it to, for load_from_disk")
    parser.add_argument("--force", action="store_true", help="replace an existing folder")


def _head_arguments(parser: ArgumentParser) -> None:
    dataset_arguments(parser)
    parser.add_argument("-n", "--rows", type=int, default=5, help="how many; %(default)s by default")
    parser.add_argument("--columns", metavar="A,B", help="only these columns")


def _describe_arguments(parser: ArgumentParser) -> None:
    dataset_arguments(parser)
    parser.add_argument("--columns", metavar="A,B", help="only these columns")


COMMANDS = (
    Command.of(load, _load_arguments),
    Command.of(head, _head_arguments),
    Command.of(describe, _describe_arguments),
    Command.of(formats),
)
