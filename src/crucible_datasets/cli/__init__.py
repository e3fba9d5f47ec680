"""The `crucible` command.

A command yields notes and one result (`output`), and may return an exit code (`exit_codes`). `main` prints the result
as text or as JSON. Everything that is printed is escaped (`escaping`). There is one module per group of commands; heavy
imports are deferred until a command runs.

    inspecting profile      load, head, describe, formats
    files opening stdin writing   convert, sample, split; how data is opened and written
    benchmarks locking      benchmarks; lock, overlap
    metrics                 metrics
    evaluating benchmark_samples prediction_files scores advice   eval, compare
    results run_samples diffs exchange   results: list, show, delete; diff, rescore; export, import, mirror; report
    cache hub about demo    cache, hub, env, completion, demo
    running                 run, switch
    viewing                 view
    command completion output layout escaping exit_codes option_names   shared by commands
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

from crucible_datasets import __version__
from crucible_datasets.cli import (
    about,
    benchmarks,
    cache,
    demo,
    evaluating,
    exit_codes,
    files,
    hub,
    inspecting,
    locking,
    metrics,
    results,
    running,
    viewing,
)
from crucible_datasets.cli.command import Command, Parser, UsageError
from crucible_datasets.cli.escaping import escaped, escaped_json, escaped_output
from crucible_datasets.cli.option_names import with_option_names
from crucible_datasets.cli.output import Output, Outputs, json_text

__all__ = ["COMMANDS", "escaped", "main", "parser"]

COMMANDS: dict[str, Command] = {
    command.name: command
    for module in (
        inspecting,
        files,
        benchmarks,
        locking,
        metrics,
        evaluating,
        results,
        cache,
        hub,
        running,
        about,
        demo,
        viewing,
    )
    for command in module.COMMANDS
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    with escaped_output():
        try:
            options = _options(given)
        except UsageError as error:
            _print_error(error, "--json" in given, {})
            return exit_codes.USAGE
        return _run(**options)


def _run(called: Callable[..., Outputs], json: bool, phrases: Mapping[str, str], **options: Any) -> int:
    # A group with a default action also has the options of that action.
    taken = {name: options[name] for name in signature(called).parameters if name in options}
    try:
        return _print_all(called(**taken), json)
    except BrokenPipeError:
        # The reader has closed the pipe, as in `crucible head data.csv | head`; nothing more may be written, not even
        # at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exit_codes.OK
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - tracebacks are escaped too
        _print_error(error, json, phrases)
        return exit_codes.code_of(error)


def _options(arguments: Sequence[str]) -> dict[str, Any]:
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    # All arguments after `run` belong to another program.
    if arguments[:1] == ["run"] and arguments[1:] and arguments[1] not in ("-h", "--help", "--json"):
        words = {"program": "PROGRAM"}
        return {"called": running.run, "json": False, "phrases": words, "program": list(arguments[1:])}
    return vars(parser().parse_args(_with_action(arguments)))


def _with_action(arguments: Sequence[str]) -> Sequence[str]:
    """`results --store runs` as `results list --store runs`."""
    group, first = COMMANDS.get("".join(arguments[:1])), next((one for one in arguments[1:] if one != "--json"), "")
    if group is None or group.default is None or not first.startswith("-") or first in ("-h", "--help"):
        return arguments
    return [group.name, group.default, *arguments[1:]]


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    top = Parser(
        prog="crucible",
        description="Datasets for language models: load, look, convert, evaluate, compare.",
        epilog="`crucible COMMAND --help` shows the options of a command.",
    )
    top.add_argument("--version", action="version", version=f"crucible-datasets {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS.values():
        command.add_to(commands)
    return top


def _print_all(outputs: Outputs, as_json: bool) -> int:
    while True:
        try:
            output = next(outputs)
        except StopIteration as end:
            return end.value or exit_codes.OK
        if isinstance(output, str):
            # Standard output is one JSON document, so notes go to standard error.
            print(output, file=sys.stderr if as_json else sys.stdout, flush=True)
        else:
            _print(output, as_json)


def _print(output: Output, as_json: bool) -> None:
    if as_json:
        print(escaped_json(json_text(output.value)), flush=True)
        return
    for line in output.lines():
        print(line)
    sys.stdout.flush()


def _print_error(error: BaseException, as_json: bool, words: Mapping[str, str]) -> None:
    if not exit_codes.is_known(error):
        import traceback

        traceback.print_exception(error)
    text = "\n".join([str(error), *getattr(error, "__notes__", ())])
    message = "interrupted" if isinstance(error, KeyboardInterrupt) else with_option_names(text, words)
    if as_json:
        print(escaped_json(json_text(exit_codes.facts_of(error, message)), sys.stderr.encoding), file=sys.stderr)
    elif exit_codes.is_known(error):
        print(f"{getattr(error, 'usage', '')}{message}", file=sys.stderr)
