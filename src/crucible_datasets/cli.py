"""The `crucible` command.

A command is a function that yields pieces of text; its docstring is its help. `main`
prints them, inert: no character in a data file or an environment variable can move the
cursor, change colours or reorder what a terminal shows.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from crucible_datasets import __version__


def demo() -> Iterator[str]:
    """Take a tour of the library on made-up data."""
    from crucible_datasets.demo import tour

    yield f"Crucible Datasets {__version__}, on 48 made-up questions\n"
    yield from tour()


def env() -> Iterator[str]:
    """Show versions and places, to paste into a bug report."""
    import platform

    from crucible_datasets.config import HF_DATASETS_CACHE

    facts = {
        "crucible-datasets": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cache": str(HF_DATASETS_CACHE),
    }
    facts |= {package: _version(package) for package in _dependencies()}
    width = max(map(len, facts))
    yield from (f"{name:<{width}}  {fact}" for name, fact in facts.items())


def _dependencies() -> list[str]:
    """The packages that this one asks for, and then those that its extras ask for."""
    import re
    from importlib.metadata import requires

    needed = [(re.split(r"[^\w.-]", line)[0], "extra ==" in line) for line in requires("crucible-datasets") or []]
    return [name for name, _ in sorted(needed, key=lambda pair: (pair[1], pair[0]))]


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


COMMANDS: dict[str, Callable[[], Iterable[str]]] = {command.__name__: command for command in (demo, env)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    chosen = _parser().parse_args(arguments).command
    try:
        for text in COMMANDS[chosen]():
            print(inert(text), flush=True)
    except BrokenPipeError:
        # The reader has gone, as in `crucible demo | head`: nothing is left to say, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="crucible", description="Datasets for language models.")
    parser.add_argument("--version", action="version", version=f"crucible-datasets {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        commands.add_parser(name, help=command.__doc__, description=command.__doc__)
    return parser


def inert(text: str) -> str:
    r"""The text with every character that a terminal acts on written out, line ends excepted.

    >>> print(inert("a\tb\x1b[31m"))
    a\tb\x1b[31m
    """
    encoding = sys.stdout.encoding or "utf-8"
    printable = (each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)
    return "".join(printable).encode(encoding, "backslashreplace").decode(encoding)


if __name__ == "__main__":
    sys.exit(main())
