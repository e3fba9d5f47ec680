"""Error messages with the names of options: `missing='wrong'` becomes `--missing wrong`."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Mapping

# Options whose function arguments have another name.
_OTHER_NAMES = {
    "benchmark": ("data",),
    "column": ("prediction_column",),
    "output": ("path",),
    "rows": ("n",),
    "runs": ("results",),
    "folds": ("k",),
    "parts": ("sizes",),
    "stratify_by": ("by",),
}
_GIVEN = re.compile(
    r"""(?<![\w.-])(?P<name>\w+)=(?P<value>'[^']*'|"[^"]*"|\{[^{}]*\}|None|True|False|-?\d+(?:\.\d+)?|(?=[\s,.)]|$))(?P<colon>:?)"""
)
_FIELD = re.compile(r"\bfields=\{'(?P<field>\w+)': '(?P<column>[^']*)'\}")
# Advice that applies to Python programs only.
_ELSEWHERE = (
    (re.compile(r"(?<=--allow-code-execution) in this call"), ""),
    (re.compile(r"remote=True \((--allow-remote)\)"), r"\1"),
    (re.compile(r" A row is found through its split, as in dataset\['[^']*'\]\[0\]\."), ""),
    (re.compile(r" Predictions are a list as long as the data.*"), ""),
    (re.compile(r"(?<=[Pp]ass )--metrics with a function of \([^()]*\)"), "a metric of your own, in Python"),
)


def option_names(parser: ArgumentParser) -> dict[str, str]:
    """A command's arguments as users write them: `--id-column`, or `FILE` for a positional one."""
    words = {
        action.dest: action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest)
        for action in parser._actions
    }
    return {other: word for dest, word in words.items() for other in _OTHER_NAMES.get(dest, ())} | words


def with_option_names(message: str, words: Mapping[str, str]) -> str:
    """A message of the library, with options in place of Python arguments."""

    def said(given: re.Match[str]) -> str:
        word = words.get(given["name"])
        if word is None:
            return given[0]
        value = given["value"] if given["colon"] or " " in given["value"] else given["value"].strip("'\"")
        return f"{word}{'' if value in ('', 'None', 'True') else f' {value}'}{given['colon']}"

    if words:
        where = "" if "field" in words else " of `crucible eval`"
        message = _FIELD.sub(rf"--field \g<field>=\g<column>{where}", message)
    message = _GIVEN.sub(said, message)
    for told, instead in _ELSEWHERE:
        message = told.sub(instead, message)
    return message
