"""`crucible benchmarks`: the registered benchmarks."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crucible_datasets.cli.benchmark_samples import fields_named, samples_of
from crucible_datasets.cli.command import Command, benchmark_arguments, field_argument, require_count
from crucible_datasets.cli.completion import benchmark_argument, file_argument
from crucible_datasets.cli.output import Column, Facts, Message, Outputs, Records, Sections, Table, amount, plural

_NONE_FITS = "no benchmark fits; `crucible benchmarks summary` tells which domains, tasks and licences there are"


def list_(
    words: list[str],
    domain: str | None,
    task: str | None,
    tag: str | None,
    licence: str | None,
    language: str | None,
) -> Outputs:
    """List the benchmarks, or those that match."""
    from crucible_datasets.benchmarks.catalog.registry import Catalog

    catalog = Catalog()
    found = catalog.filter(domain, task, tag, licence, language)
    if words:
        fitting = {entry.name for entry in catalog.search(" ".join(words))}
        found = [entry for entry in found if entry.name in fitting]
    columns = (
        Column("name", keep=True),
        Column("title"),
        Column("task_type", "task"),
        Column("metrics", shown=", ".join),
    )
    yield Table(columns, [entry.to_dict() for entry in found], _NONE_FITS)
    return None


def show(name: str) -> Outputs:
    """Show a benchmark: source, columns, rules, metrics, licence, citation."""
    from crucible_datasets.benchmarks.catalog.registry import get_benchmark

    entry = get_benchmark(name)
    facts = {**entry.to_dict(), "splits": entry.splits, "url": entry.url, "revision": entry.revision or None}
    shown = {field: _pairs(value) for field, value in facts.items() if isinstance(value, dict)}
    if not entry.revision:
        shown["revision"] = (
            f"not pinned: the newest commit is loaded; `crucible lock {entry.name}` pins it for a project"
        )
    yield Facts(facts, shown)
    return None


def _pairs(value: dict[str, Any]) -> str:
    return ", ".join(f"{name}: {each}" for name, each in value.items())


def head(
    benchmark: str,
    split: str | None,
    config: str | None,
    revision: str | None,
    synthetic: bool,
    field: list[str],
    rows: int,
) -> Outputs:
    """Show the first samples of a benchmark, or those that `eval` makes of your data."""
    from msgspec import to_builtins

    require_count(rows)
    what: dict[str, Any] = {"split": split, "config": config, "limit": rows, "streaming": True}
    asked = {} if revision is None else {"revision": revision}
    samples = samples_of(benchmark, synthetic, fields_named(field), {**what, **asked})
    shown = [to_builtins(sample, enc_hook=str) for sample in samples]
    yield Records(("id", "input", "target", "choices", "metadata"), shown)
    return None


def summary() -> Outputs:
    """Count the benchmarks by domain, task and licence."""
    from crucible_datasets.benchmarks.catalog.registry import Catalog

    counts = Catalog().summary()
    tables = {
        field: Table(
            (Column("name", field.replace("_", " ")), amount("benchmarks")),
            [{"name": name, "benchmarks": count} for name, count in several.items()],
        )
        for field, several in counts.items()
    }
    yield Sections(tables)
    return None


def miniatures(folder: str, names: list[str]) -> Outputs:
    """Write miniatures of benchmarks into a folder for `crucible hub serve`."""
    from crucible_datasets.benchmarks.miniatures.repos import write_miniatures

    written = write_miniatures(folder, names or None)
    yield Message(f"{plural(len(written), 'dataset')} in {folder}", {"folder": folder, "repositories": written})
    return None


def _miniatures_arguments(parser: ArgumentParser) -> None:
    file_argument(parser, "folder", metavar="DIR", folder=True, help="the folder to write to")
    benchmark_argument(parser, "names", nargs="*", metavar="NAME", help="which benchmarks; all by default")


def _list_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORD", help="search words; all must occur in name, title, tags …")
    parser.add_argument("--domain", help="such as math")
    parser.add_argument("--task", metavar="TYPE", help="such as multiple_choice")
    parser.add_argument("--tag", help="one of its tags")
    parser.add_argument("--licence", help="such as mit")
    parser.add_argument("--language", help="such as en")


def _name_argument(parser: ArgumentParser) -> None:
    benchmark_argument(parser, "name", metavar="NAME", help="a short name, a repository, or a TOML file")


def _head_arguments(parser: ArgumentParser) -> None:
    benchmark_arguments(parser)
    field_argument(parser)
    parser.add_argument("-n", "--rows", type=int, default=3, help="how many; %(default)s by default")


COMMANDS = (
    Command.group(
        "benchmarks",
        "List benchmarks, show one and its samples, write miniatures.",
        Command.of(list_, _list_arguments),
        Command.of(show, _name_argument),
        Command.of(head, _head_arguments),
        Command.of(summary),
        Command.of(miniatures, _miniatures_arguments),
        default="list",
    ),
)
