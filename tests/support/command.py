"""Runs of `crucible`: in this process, which is fast, or as a process of its own, which is the real thing."""

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

from crucible_datasets.cli import COMMANDS, main

CRUCIBLE = Path(sys.executable).with_name("crucible")


class Ran(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def crucible(*arguments):
    """The command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main([str(each) for each in arguments])
        except SystemExit as end:
            code = end.code
    return Ran(code, out.getvalue(), err.getvalue())


def done(*arguments):
    """The command in this process, which must end well."""
    ran = crucible(*arguments)
    assert ran.code == 0, ran
    return ran


def process(*arguments, encoding="utf-8", **environment):
    """The command as a process."""
    variables = {**os.environ, "PYTHONWARNINGS": "error", "PYTHONIOENCODING": "utf-8", **environment}
    return subprocess.run([CRUCIBLE, *arguments], env=variables, capture_output=True, encoding=encoding, timeout=60)


def every_command():
    """The words of every command and action: ("head",), ("cache", "ls") …"""
    for name, command in COMMANDS.items():
        yield from ((name, action) for action in command.actions) if command.actions else [(name,)]
