"""`crucible run`, `crucible switch`: programs that import `datasets` get this library."""

from __future__ import annotations

import os
from argparse import REMAINDER, ArgumentParser

from crucible_datasets.cli.command import Command
from crucible_datasets.cli.output import Facts, Outputs
from crucible_datasets.exceptions import ArgumentError


def run(program: list[str], executor: str | None = None) -> Outputs:
    """Run a script, `-m MODULE` or any program with this library as `datasets`."""
    from crucible_datasets import shim
    from crucible_datasets.executors.base import executor_of

    if program[:1] == ["--executor"]:  # The remaining arguments include this one.
        executor, program = next(iter(program[1:]), ""), program[2:]
    if not program:
        raise ArgumentError("program", None, "give a script, -m and a module, or a program: crucible run train.py.")
    if executor is not None:
        os.environ["CRUCIBLE_EXECUTOR"] = executor_of(executor).name
    yield from ()
    return shim.run(program)


def switch(on: bool = False, off: bool = False) -> Outputs:
    """Make `import datasets` give this library in the whole environment, or undo it, or tell which one it gives."""
    from crucible_datasets import shim

    if on or off:
        (shim.switch_on if on else shim.switch_off)()
    yield Facts(shim.status())
    return None


def _run_arguments(parser: ArgumentParser) -> None:
    who = "who runs its map and filter: serial, processes or ray; what CRUCIBLE_EXECUTOR names by default"
    parser.add_argument("--executor", metavar="NAME", help=who)
    what = "a script, -m and a module, or a program, followed by its arguments"
    parser.add_argument("program", nargs=REMAINDER, metavar="PROGRAM", help=what)


def _switch_arguments(parser: ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--on", action="store_true", help="from now on `import datasets` gives this library")
    which.add_argument("--off", action="store_true", help="as it was before")
    which.add_argument("--status", action="store_true", help="tell what `import datasets` gives (the default)")


COMMANDS = (Command.of(run, _run_arguments), Command.of(switch, _switch_arguments))
