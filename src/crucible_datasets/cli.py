"""The `crucible` command.

A command is a function that yields pieces of text and may return an exit code; its docstring
is its help. `main` prints the texts, inert: no character in a data file or an environment
variable can move the cursor, change colours or reorder what a terminal shows.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Generator, Sequence
from typing import Any

from crucible_datasets import __version__
from crucible_datasets.exceptions import DatasetsError

Texts = Generator[str, None, int | None]


def demo() -> Texts:
    """Take a tour of the library on made-up data."""
    from crucible_datasets.demo import tour

    yield f"Crucible Datasets {__version__}, on 48 made-up questions\n"
    yield from tour()
    return None


def env() -> Texts:
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
    return None


def cache(action: str, **options: str | bool | None) -> Texts:
    """List, measure, clean up or check what is kept for later runs."""
    from crucible_datasets.cache import default_cache
    from crucible_datasets.cache.commands import ACTIONS

    return (yield from ACTIONS[action](default_cache(), **options))


def hub(action: str, **options: Any) -> Texts:
    """Serve a folder of datasets as a Hub, or fill it from another Hub."""
    from crucible_datasets.localhub.commands import ACTIONS

    return (yield from ACTIONS[action](**options))


def _hub_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    serve = actions.add_parser("serve", help="answer clients whose HF_ENDPOINT points here, until interrupted")
    serve.add_argument("folder", metavar="DIR", help="where the datasets are: plain folders DIR/org/name, or mirrored")
    serve.add_argument("--host", default="127.0.0.1", help="the address to listen on; %(default)s is this machine only")
    serve.add_argument("--port", type=int, default=8080, help="the port to listen on; %(default)s by default")
    mirror = actions.add_parser("mirror", help="copy datasets into the folder, with their revisions and verified")
    mirror.add_argument("names", nargs="+", metavar="NAME", help="org/name, or org/name@revision")
    mirror.add_argument("folder", metavar="DIR", help="the folder that `crucible hub serve` serves")
    mirror.add_argument("--endpoint", help="the hub to copy from; HF_ENDPOINT by default")


def _cache_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("ls", help="list the entries, the last used first")
    actions.add_parser("du", help="show how much room they take, by kind")
    clean = actions.add_parser("clean", help="remove the entries not used for the longest time")
    clean.add_argument("--limit", metavar="SIZE", help="until the rest fits: 10GB, or 5%% of the disk")
    clean.add_argument("--older-than", metavar="AGE", help="and those not used for so long: 30d, 12h")
    clean.add_argument("--all", action="store_true", help="all that no running process uses")
    actions.add_parser("verify", help="read every byte and name damaged files; exit code 1 if there are any")


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


COMMANDS: dict[str, Callable[..., Texts]] = {command.__name__: command for command in (demo, env, cache, hub)}
OPTIONS = {"cache": _cache_options, "hub": _hub_options}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    options = vars(_parser().parse_args(arguments))
    texts = COMMANDS[options.pop("command")](**options)
    try:
        while True:
            print(inert(next(texts)), flush=True)
    except StopIteration as end:
        return end.value or 0
    except DatasetsError as error:
        print(inert(str(error)), file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader has gone, as in `crucible demo | head`: nothing is left to say, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="crucible", description="Datasets for language models.")
    parser.add_argument("--version", action="version", version=f"crucible-datasets {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        options = commands.add_parser(name, help=command.__doc__, description=command.__doc__)
        if name in OPTIONS:
            OPTIONS[name](options)
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
