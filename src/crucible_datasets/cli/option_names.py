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
_CONFIG = re.compile(r"load_dataset\((?:'[^']*'|\"[^\"]*\"), '(?P<config>[^']*)'\)")
_FIELD = re.compile(r"\bfields=\{'(?P<field>\w+)': '(?P<column>[^']*)'\}")
_PART = re.compile(r"'(\w+)': ")  # of several values by name
# Advice that applies to Python programs only.
_REPLACEMENTS = (
    (re.compile(r"(?<=--allow-code-execution) in this call"), ""),
    (re.compile(r"remote=True \((--allow-remote)\)"), r"\1"),
    (re.compile(r" A row is found through its split, as in dataset\['[^']*'\]\[0\]\."), ""),
    (re.compile(r" Predictions are a list as long as the data.*"), ""),
    (re.compile(r"load_dataset\('csv', data_files='([^']*)'\)"), r"`crucible head csv --option data_files=\1`"),
    (re.compile(r"(?<=[Pp]ass )--metrics with a function of \([^()]*\)"), "a metric of your own, in Python"),
)


def option_names(parser: ArgumentParser) -> dict[str, str]:
    """A command's arguments as users write them: `--id-column`, or `FILE` for a positional one."""
    words = {
        action.dest: action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest)
        for action in parser._actions
    }
    return {other: word for dest, word in words.items() for other in _OTHER_NAMES.get(dest, ())} | words


def _is_reading(given: re.Match[str], words: Mapping[str, str]) -> bool:
    """Whether this is advice to read files in another way, which the command can do."""
    from crucible_datasets.formats.base import FORMATS

    if "options" not in words or given["colon"]:
        return False
    return any(given["name"] in FORMATS[name].options() for name in FORMATS)


def with_option_names(message: str, words: Mapping[str, str]) -> str:
    """A message of the library, with options in place of Python arguments."""

    def option(given: re.Match[str]) -> str:
        word = words.get(given["name"])
        value = given["value"] if given["colon"] or " " in given["value"] else given["value"].strip("'\"")
        value = _PART.sub(r"\1=", value[1:-1]).replace(", ", ",") if value.startswith("{") else value
        if word is None:
            return f"{words['options']} {given['name']}={value}" if _is_reading(given, words) else given[0]
        return f"{word}{'' if value in ('', 'None', 'True') else f' {value}'}{given['colon']}"

    if words:
        where = "" if "field" in words else " of `crucible eval`"
        # Commands without this option take it as a part of the name.
        message = _CONFIG.sub(r"--config \g<config>" if "config" in words else r"NAME:\g<config>", message)
        message = _FIELD.sub(rf"--field \g<field>=\g<column>{where}", message)
    message = _GIVEN.sub(option, message)
    for pattern, instead in _REPLACEMENTS:
        message = pattern.sub(instead, message)
    return message
