"""docs/cli.md is true and complete: its examples run, every command, option and exit code is in it."""

import argparse
import doctest
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from support.command import crucible

from crucible_datasets.cli import COMMANDS, exit_codes, parser

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
MORE = {name: (Path(__file__).parents[2] / "docs" / name).read_text("utf-8") for name in ("cache.md", "hub.md")}


def examples():
    """What is typed at a prompt, and what is shown after it."""
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = example.partition("\n")
            yield command, shown


def ran(command):
    if command.startswith("crucible "):
        done = crucible(*shlex.split(command)[1:])
        assert done.code == 0, done
        return done.out
    return subprocess.run(["bash", "-c", command], check=True, capture_output=True, text=True).stdout


def test_every_example_gives_the_output_that_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    same = doctest.OutputChecker().check_output
    rules = re.compile("[─-]+")
    for command, shown in examples():
        got = ran(command)
        wanted, found = (rules.sub("─", text) for text in (shown, got))
        assert same(wanted, found, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE), f"$ {command}\n{got}"


def words_of(page):
    """Every word in inline code."""
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    return {word for span in re.findall(r"`([^`\n]+)`", prose) for word in re.findall(r"-*[\w-]+", span)}


def subcommands(of):
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_action_is_in_the_manual(name):
    assert f"| `crucible {name}` |" in PAGE
    assert set(COMMANDS[name].actions) <= words_of(PAGE)


def test_every_option_is_in_the_manual():
    def options(of):
        yield from (each for action in of._actions for each in action.option_strings if each.startswith("--"))
        for _, below in subcommands(of):
            yield from options(below)

    known = words_of(PAGE).union(*(words_of(page) | set(re.findall(r"--[\w-]+", page)) for page in MORE.values()))
    missing = sorted(set(options(parser())) - known - {"--version"})
    assert not missing


def test_every_exit_code_is_in_the_manual():
    rows = dict(re.findall(r"^\| (\d+) \| (.*) \|$", PAGE, re.MULTILINE))
    assert {int(code): meaning for code, meaning in rows.items()} == exit_codes.MEANINGS
