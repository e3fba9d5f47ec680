"""Makes `import datasets` import this library: in this process and its children, in a program, or in an environment.

The folder `dropin/` has a package `datasets`, and the metadata of a distribution of that name. If the folder comes
first in `sys.path`, `import datasets` finds it. Processes of `multiprocessing` inherit `sys.path`; other programs get
it from `PYTHONPATH`, and all programs of an environment from a `.pth` file.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from contextlib import suppress
from shutil import which
from types import ModuleType

from crucible_datasets.exceptions import DatasetsError

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dropin")
# The version of Hugging Face `datasets` with the same API, which other libraries check.
VERSION = "5.2.0"


class AlreadyImportedError(DatasetsError, RuntimeError):
    """Another library is imported as `datasets` already, and other modules refer to it."""

    def message(self, file: str) -> str:
        self.file = file
        return (
            f"`datasets` is already imported from {file}. Call install_as_datasets() before the first import of it, or "
            "of a library that imports it, or start the program with `crucible run`."
        )


class ProgramNotFoundError(DatasetsError, FileNotFoundError):
    """A program to run does not exist."""

    def message(self, program: str) -> str:
        self.program = program
        return f"There is no program {program!r}. Give a script (….py), -m and a module, or a program of PATH."


def install_as_datasets() -> None:
    """Make `import datasets` import this library, in this process and its children.

    Call it before anything imports `datasets`.
    """
    present = sys.modules.get("datasets")
    if present is not None and not is_ours(present):
        raise AlreadyImportedError(str(getattr(present, "__file__", None)))
    sys.path[:] = [FOLDER, *(place for place in sys.path if place != FOLDER)]
    os.environ.update(redirected(os.environ))


def is_ours(module: ModuleType) -> bool:
    """Whether a module named `datasets` is this library."""
    return os.path.dirname(os.path.dirname(os.path.abspath(module.__file__ or ""))) == FOLDER


def redirected(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which Python finds this library as `datasets`."""
    path = [place for place in environment.get("PYTHONPATH", "").split(os.pathsep) if place not in ("", FOLDER)]
    return {**environment, "PYTHONPATH": os.pathsep.join([FOLDER, *path])}


def command_of(arguments: Sequence[str]) -> list[str]:
    """The command to run: scripts, and modules after `-m`, by this Python; other programs directly."""
    if not arguments:
        raise ProgramNotFoundError("")
    first = arguments[0]
    if first in ("-m", "-c") or first.endswith((".py", ".pyc", ".pyz")) or os.path.isdir(first):
        return [sys.executable, *arguments]
    if which(first) is None:
        raise ProgramNotFoundError(first)
    return list(arguments)


def run(arguments: Sequence[str]) -> int:
    """Replace this process by a program that finds this library as `datasets`; on Windows, run it; its exit code."""
    command, environment = command_of(arguments), redirected(os.environ)
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        os.execvpe(command[0], command, environment)  # noqa: S606 - the program that the user asked for
    # On Windows, `exec` returns to the shell before the program ends.
    import subprocess

    return subprocess.run(command, env=environment, check=False).returncode


def switch_file() -> str:
    """The `.pth` file for the environment of this Python; they are read in alphabetical order, this one last."""
    return os.path.join(sysconfig.get_path("purelib"), "zz_crucible_datasets_as_datasets.pth")


def switch_on() -> None:
    """Make `import datasets` import this library in every program of this environment."""
    from crucible_datasets.atomic import atomic_file

    with atomic_file(switch_file()) as path, open(path, "w", encoding="utf-8") as file:
        # A line that begins with `import` is executed at start; plain paths would be appended to `sys.path`. The file
        # may remain after the library is uninstalled, so it checks that the library can be imported.
        is_there = "any(finder.find_spec('crucible_datasets', None) for finder in sys.meta_path)"
        file.write(f"import sys; sys.path[:0] = [{FOLDER!r}] if {is_there} else []\n")


def switch_off() -> None:
    """Undo `switch_on`."""
    with suppress(FileNotFoundError):
        os.unlink(switch_file())


def status() -> dict[str, str | None]:
    """What `import datasets` imports in a new program of this environment, and the `.pth` file, if there is one."""
    import subprocess

    # Without PYTHONPATH and the current folder, which are not part of the environment.
    ask = "import importlib.util as u; s = u.find_spec('datasets'); print(s.origin if s else '', end='')"
    asked = [sys.executable, "-E", "-c", f"import sys; sys.path.pop(0); {ask}"]
    place = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    ours = place.startswith(FOLDER)
    gives = "crucible-datasets" if ours else "another library" if place else "nothing: no module named 'datasets'"
    return {
        "datasets": gives,
        "place": place or None,
        "switch": switch_file() if os.path.exists(switch_file()) else None,
    }


def main() -> None:
    """`python -m crucible_datasets.shim script.py arguments…`."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m crucible_datasets.shim (SCRIPT | -m MODULE | PROGRAM) [ARGUMENTS ...]")
    try:
        sys.exit(run(sys.argv[1:]))
    except ProgramNotFoundError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
