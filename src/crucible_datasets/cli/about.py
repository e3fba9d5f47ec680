"""`crucible env`, `crucible completion`: about the program itself."""

from __future__ import annotations

from argparse import ArgumentParser

from crucible_datasets.cli.command import Command
from crucible_datasets.cli.output import Facts, Message, Outputs


def env() -> Outputs:
    """Show versions and paths, to paste into a bug report."""
    import platform

    from crucible_datasets import __version__
    from crucible_datasets.config import CRUCIBLE_RESULTS_DIR, HF_DATASETS_CACHE

    facts = {
        "crucible-datasets": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cache": str(HF_DATASETS_CACHE),
        "results": str(CRUCIBLE_RESULTS_DIR),
    }
    yield Facts(facts | {package: _version(package) for package in _dependencies()})
    return None


def _dependencies() -> list[str]:
    """The required packages, then those of extras."""
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


def completion(shell: str) -> Outputs:
    """Print a script that makes a shell complete commands, options, benchmarks and files."""
    from crucible_datasets import cli
    from crucible_datasets.cli.completion import script

    made = script(cli.parser(), shell)
    yield Message(made.rstrip("\n"), {"shell": shell, "script": made})
    return None


def _completion_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish", "tcsh"), help="which shell")


COMMANDS = (Command.of(env), Command.of(completion, _completion_arguments))
