"""Shell completion by shtab, which is imported only to write a script."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

FILE = {
    "bash": "_shtab_compgen_files",
    "zsh": "_files",
    "tcsh": "f",
    "fish": "(__fish_complete_path (commandline -ct))",
}
FOLDER = {
    "bash": "_shtab_compgen_dirs",
    "zsh": "_files -/",
    "tcsh": "d",
    "fish": "(__fish_complete_directories)",
}
# Shell functions that `script` defines; tcsh has none, so the placeholder is replaced by the names.
BENCHMARK = {
    "bash": "_crucible_benchmarks",
    "zsh": "_crucible_benchmarks",
    "tcsh": "@benchmarks@",
    "fish": "(_crucible_benchmarks)",
}
_DEFINED = {
    "bash": '_crucible_benchmarks() {{ compgen -W "{names}" -- "$1"; compgen -f -- "$1"; }}',
    "zsh": "_crucible_benchmarks() {{ compadd {names}; _files }}",
    "fish": "function _crucible_benchmarks; printf '%s\\n' {names}; __fish_complete_path (commandline -ct); end",
    "tcsh": "",
}


def file_argument(parser: Any, *names: str, folder: bool = False, **options: Any) -> None:
    """An argument with completion of file names."""
    parser.add_argument(*names, **options).complete = FOLDER if folder else FILE


def benchmark_argument(parser: Any, *names: str, **options: Any) -> None:
    """An argument with completion of benchmarks and file names."""
    parser.add_argument(*names, **options).complete = BENCHMARK


def script(parser: ArgumentParser, shell: str) -> str:
    """The completion script of a parser for a shell, with the current names of benchmarks."""
    from crucible_datasets.benchmarks.catalog.registry import Catalog
    from crucible_datasets.registry import need

    names = " ".join(Catalog())
    defined = {shell: _DEFINED[shell].format(names=names)}
    made: str = need("shtab", extra="completion").complete(parser, shell, preamble=defined)
    return made.replace(BENCHMARK["tcsh"], f"({names})")
