"""The `crucible` command.

A command yields notes and one answer (`pieces`), and may return an exit code (`exits`). `main` shows the answer as
text or as JSON. Everything that is printed is inert (`inert`). Commands stand in one file for each group, and import
what is heavy when they run.

    looking profile         load, head, describe
    files opening piped writing   formats, convert, sample, split; how data is opened and written
    catalogue locking       benchmarks; lock, overlap
    measures                metrics
    evaluating questions answers scores advice   eval, compare
    results answered moves exchange   results: list, show, delete; diff, rescore; export, import, mirror; report
    cache hub about showing cache, hub, env, demo, completion
    running                 run, switch
    viewing                 view
    command completing pieces layout inert exits phrasing   what commands are made of
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
    cache,
    catalogue,
    evaluating,
    exits,
    files,
    hub,
    locking,
    looking,
    measures,
    results,
    running,
    showing,
    viewing,
)
from crucible_datasets.cli.command import Command, Parser, UsageError
from crucible_datasets.cli.inert import inert, inert_json, inert_streams
from crucible_datasets.cli.phrasing import phrased
from crucible_datasets.cli.pieces import Piece, Pieces, json_text

__all__ = ["COMMANDS", "inert", "main", "parser"]

COMMANDS: dict[str, Command] = {
    command.name: command
    for module in (
        looking,
        files,
        catalogue,
        locking,
        measures,
        evaluating,
        results,
        cache,
        hub,
        running,
        about,
        showing,
        viewing,
    )
    for command in module.COMMANDS
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    with inert_streams():
        try:
            options = _options(given)
        except UsageError as error:
            _tell(error, "--json" in given, {})
            return exits.USAGE
        return _ran(**options)


def _ran(called: Callable[..., Pieces], json: bool, phrases: Mapping[str, str], **options: Any) -> int:
    # A command with a default action also knows the options of that one.
    taken = {name: options[name] for name in signature(called).parameters if name in options}
    try:
        return _shown(called(**taken), json)
    except BrokenPipeError:
        # The reader has gone, as in `crucible head data.csv | head`: nothing is left to say, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.OK
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - also a defect is told without control characters
        _tell(error, json, phrases)
        return exits.code_of(error)


def _options(arguments: Sequence[str]) -> dict[str, Any]:
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    # What stands behind `run` belongs to another program, whatever it looks like.
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
        epilog="`crucible COMMAND --help` tells more about a command.",
    )
    top.add_argument("--version", action="version", version=f"crucible-datasets {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS.values():
        command.add_to(commands)
    return top


def _shown(pieces: Pieces, as_json: bool) -> int:
    while True:
        try:
            piece = next(pieces)
        except StopIteration as end:
            return end.value or exits.OK
        if isinstance(piece, str):
            # A program reads one document; what is said beside it goes elsewhere.
            print(piece, file=sys.stderr if as_json else sys.stdout, flush=True)
        else:
            _print(piece, as_json)


def _print(piece: Piece, as_json: bool) -> None:
    if as_json:
        print(inert_json(json_text(piece.value)), flush=True)
        return
    for line in piece.lines():
        print(line)
    sys.stdout.flush()


def _tell(error: BaseException, as_json: bool, words: Mapping[str, str]) -> None:
    if not exits.is_known(error):
        import traceback

        traceback.print_exception(error)
    told = "\n".join([str(error), *getattr(error, "__notes__", ())])
    message = "interrupted" if isinstance(error, KeyboardInterrupt) else phrased(told, words)
    if as_json:
        print(inert_json(json_text(exits.facts_of(error, message)), sys.stderr.encoding), file=sys.stderr)
    elif exits.is_known(error):
        print(f"{getattr(error, 'usage', '')}{message}", file=sys.stderr)
