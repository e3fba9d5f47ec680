"""`Command`, and arguments that commands share."""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser
from argparse import ArgumentError as RefusedArgument
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from json import loads
from typing import Any, NoReturn

from crucible_datasets.cli.completion import benchmark_argument, file_argument
from crucible_datasets.cli.option_names import option_names
from crucible_datasets.cli.output import Outputs
from crucible_datasets.exceptions import ArgumentError

# Arguments of the functions that load data which commands pass themselves, or which cannot be written as text.
_NO_OPTIONS = frozenset(
    {"path", "name", "config", "split", "revision", "streaming", "features", "limit", "on_bad_rows"}
)


class UsageError(ArgumentError):
    """An invalid command line."""

    def message(self, usage: str, command: str, reason: str) -> str:  # type: ignore[override]
        self.usage = usage
        return f"{command}: error: {reason}"


class Parser(ArgumentParser):
    """Raises errors that argparse would print, so that they can be printed as JSON."""

    def error(self, message: str) -> NoReturn:
        # Without a command, the list of commands is shown.
        asks_for_all = message.endswith(("required: COMMAND", "required: ACTION"))
        raise UsageError(f"{self.format_help()}\n" if asks_for_all else self.format_usage(), self.prog, message)

    def parse_known_args(self, *given: Any) -> Any:  # type: ignore[override]
        """Raise for unknown arguments here, with the usage of the command rather than that of the main parser."""
        known, others = super().parse_known_args(*given)
        if others:
            self.error(f"unrecognized arguments: {' '.join(others)}{_meant(others, self._option_string_actions)}")
        return known, others

    def _check_value(self, action: Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except RefusedArgument as error:
            error.message += _meant([value], action.choices or ())
            raise


def _meant(words: Iterable[str], known: Iterable[str]) -> str:
    """A suggestion for unknown words."""
    from difflib import get_close_matches

    found = []
    for word in map(str, words):
        # Without dashes, which would make --limit and --split similar.
        named = {name.lstrip("-"): name for name in map(str, known) if name.startswith("-") == word.startswith("-")}
        found += [named[near] for near in get_close_matches(word.lstrip("-"), named, 1, 0.7)]
    return f". Did you mean {' '.join(found)}?" if found else ""


def _nothing(parser: ArgumentParser) -> None:
    """For commands without arguments."""


@dataclass(frozen=True)
class Command:
    """A function that yields output, and its arguments; or a group of commands."""

    name: str
    help: str
    run: Callable[..., Outputs] | None = None
    arguments: Callable[[ArgumentParser], None] = _nothing
    actions: Mapping[str, Command] = field(default_factory=dict)
    default: str | None = None  # the default action

    @classmethod
    def of(cls, run: Callable[..., Outputs], arguments: Callable[[ArgumentParser], None] = _nothing) -> Command:
        """A command named after its function, with its docstring as help."""
        return cls(run.__name__.rstrip("_"), (run.__doc__ or "").strip(), run, arguments)

    @classmethod
    def group(cls, name: str, help: str, *actions: Command, default: str | None = None) -> Command:
        """A group of actions, possibly with a default."""
        return cls(name, help, actions={action.name: action for action in actions}, default=default)

    def add_to(self, parsers: Any, json: Any = False) -> None:
        """Add the command to a parser."""
        parser = parsers.add_parser(self.name, help=self.help, description=self.help)
        if self.actions:
            self._add_actions(parser)
            return
        self.arguments(parser)
        parser.add_argument("--json", action="store_true", default=json, help="print the answer as one JSON document")
        parser.set_defaults(called=self.run, phrases=option_names(parser))

    def _add_actions(self, parser: ArgumentParser) -> None:
        below = parser.add_subparsers(dest="action", required=self.default is None, metavar="ACTION")
        for action in self.actions.values():
            action.add_to(below, False if self.default is None else SUPPRESS)
        if self.default is not None:
            default = self.actions[self.default]
            default.arguments(alone := Parser())
            parser.add_argument("--json", action="store_true", help="print the answer as one JSON document")
            parser.set_defaults(called=default.run, phrases=option_names(alone), **vars(alone.parse_args([])))


def dataset_arguments(parser: ArgumentParser) -> None:
    """The arguments that select a dataset, configuration, split and revision."""
    what = "a file, a folder, a URL, or a name on the Hub"
    file_argument(parser, "dataset", metavar="DATASET", help=f"{what}; - is standard input")
    parser.add_argument("--config", metavar="NAME", help="the configuration, if there are several")
    parser.add_argument("--split", metavar="SPLIT", help="such as train, test, or train[:10%%]")
    parser.add_argument("--revision", metavar="COMMIT", help="a branch, tag or commit on the Hub")
    reading_arguments(parser)


class _Reading(Action):
    """Adds an option of `load_dataset` to `options`: the one with this name, or one given as NAME=VALUE."""

    def __call__(self, parser: ArgumentParser, namespace: Any, values: Any, option_string: str | None = None) -> None:
        name, equals, value = (self.dest, "=", values) if self.choices else values.partition("=")
        if not (name and equals):
            raise RefusedArgument(self, f"write NAME=VALUE, as in encoding=latin-1, not {values!r}")
        if name in _NO_OPTIONS:
            raise RefusedArgument(self, f"{name} is not an option of a format; see --help for what selects the data")
        others = {known: given for known, given in namespace.options.items() if known != name}
        # Formats without lines do not have this option, and always raise.
        added = {} if (name, value) == ("on_bad_lines", "error") else {name: value if self.choices else _value(value)}
        namespace.options = {**others, **added}


def _value(text: str) -> Any:
    """The value of JSON text; other text unchanged: `header=0`, `names=["a", "b"]`, `sep=;`, `na_values=NaN`."""
    try:
        return loads(text, parse_constant=_no_constant)
    except ValueError:
        return text


def _no_constant(text: str) -> NoReturn:
    raise ValueError(text)  # NaN and Infinity are not JSON


def reading_arguments(parser: ArgumentParser) -> None:
    """The options for reading files."""
    bad = "what to do with lines of JSON Lines or CSV that cannot be read: stop, or leave them out"
    ways = ("error", "warn", "skip")
    parser.add_argument("--on-bad-lines", action=_Reading, choices=ways, default=SUPPRESS, help=bad)
    what = "an option of the format, as encoding=latin-1 or sep=';'; `crucible formats --json` lists them; "
    what += "may be repeated"
    parser.add_argument("--option", action=_Reading, dest="options", default={}, metavar="NAME=VALUE", help=what)


def output_arguments(parser: ArgumentParser, required: bool = True) -> None:
    """The options for output files."""
    how = "the file to write; its name says the format and compression, as in data.jsonl.gz"
    file_argument(parser, "-o", "--output", metavar="FILE", required=required, help=how)
    force_argument(parser)


def benchmark_arguments(parser: ArgumentParser) -> None:
    """The arguments that select a benchmark, split and configuration."""
    what = "the name of a benchmark, or a file or folder with the columns id, input and target"
    benchmark_argument(parser, "benchmark", metavar="BENCHMARK", help=what)
    parser.add_argument("--split", metavar="SPLIT", help="the split; by default that of the benchmark")
    parser.add_argument("--config", metavar="NAME", help="the configuration, if there are several")
    other = "a commit, tag or branch instead of the pinned commit; latest is the newest one"
    parser.add_argument("--revision", metavar="COMMIT", help=other)
    parser.add_argument("--synthetic", action="store_true", help="use a made-up miniature, which needs no network")


def field_argument(parser: ArgumentParser) -> None:
    """The option that maps columns of the user's data to fields."""
    what = "which column of your data is id, input, target, choices or metadata, as in id=qid or metadata=a,b; "
    what += "may be repeated"
    parser.add_argument("--field", action="append", default=[], metavar="FIELD=COLUMN", help=what)


def force_argument(parser: ArgumentParser) -> None:
    """The option that allows replacing files."""
    parser.add_argument("--force", action="store_true", help="replace existing files")


def code_argument(parser: ArgumentParser) -> None:
    """The option that allows running code."""
    parser.add_argument("--allow-code-execution", action="store_true", help="let code metrics run what models wrote")


def cluster_argument(parser: ArgumentParser) -> None:
    """The option for the field of clusters."""
    what = "a field; samples with the same value belong together"
    parser.add_argument("--cluster-by", metavar="FIELD", help=what)


def store_argument(parser: ArgumentParser) -> None:
    """The option for the result store."""
    where = "the folder of stored runs; CRUCIBLE_RESULTS_DIR by default"
    file_argument(parser, "--store", metavar="DIR", folder=True, help=where)


def run_argument(parser: ArgumentParser, several: bool = False) -> None:
    """The arguments that select stored runs."""
    what = "the name of a run, its beginning or end, or a model, for its newest run"
    if several:
        parser.add_argument("runs", nargs="+", metavar="RUN", help=what)
    else:
        parser.add_argument("run", metavar="RUN", help=what)


def require_count(rows: int, name: str = "rows") -> None:
    """Raise for a negative number of rows."""
    if rows < 0:
        raise ArgumentError(name, rows, "it is a number of rows, 0 or more.")
