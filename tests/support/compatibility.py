"""Writes docs/compatibility.md from what the libraries are: `python tests/support/compatibility.py`."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from support.surface import DIFFERENT, INSIDES, MORE, NOT_HERE, absent, defined, modules, names

FILE = Path(__file__).parents[2] / "docs" / "compatibility.md"


def page() -> str:
    """The page, as it should be."""
    return "\n".join([*_names(), *_modules(), ""])


def _names() -> list[str]:
    yes = len(names()) - len(NOT_HERE)
    more = sorted({parameter for several in MORE.values() for parameter in several})
    return [
        "# Compatibility with Hugging Face `datasets` 5.2.0",
        "",
        "This page is written by `python tests/support/compatibility.py`, and a test fails when it is out of date.",
        "[Coming from Hugging Face](migrating.md) tells what behaves differently, and [Drop-in](dropin.md) how programs",
        "that import `datasets` get this library without a change.",
        "",
        "## Public names",
        "",
        f"Of {len(names())} public names (functions, classes, their methods and attributes, errors) {yes} are here, with the",
        "same parameters, in the same order, with the same defaults.",
        "",
        *([f"- `{name}`: {why}" for name, why in sorted(NOT_HERE.items())] or ["None is missing."]),
        "",
        f"Some functions take more, always behind the others: {', '.join(f'`{name}`' for name in more)}.",
        "",
        *(f"- `{name}`: {why}." for name, why in sorted(DIFFERENT.items())),
        "",
    ]


def _modules() -> list[str]:
    lines = [
        "## Modules",
        "",
        "Programs also import names from modules of the package. Each of these is the same module under both names:",
        "`datasets.arrow_dataset is crucible_datasets.arrow_dataset`.",
        "",
        "| module | names that it defines there | here |",
        "|---|---|---|",
    ]
    for name in modules():
        lacking, all_names = absent(name), defined(name)
        if lacking is not None:
            lines.append(f"| `{name}` | {len(all_names)} | {'all' if not lacking else len(all_names) - len(lacking)} |")
    lines += [
        "",
        "What programs import was counted in November 2026 in a hundred packages of PyPI that use `datasets`:",
        "training (TRL, axolotl, LLaMA-Factory, ms-swift, unsloth, verl, OpenRLHF, torchtune, torchtitan …), evaluation (lm-eval,",
        "lighteval, inspect_ai, OpenCompass, HELM, MTEB …), data (distilabel, datatrove, Data-Juicer, Argilla …). All names are here that",
        "they import and version 5.2.0 has, but for those of three: modelscope and biosets replace parts of the loader by their own,",
        "and take its inner classes for that (`datasets.load`, `datasets.data_files`, `datasets.streaming`); unsloth catches the",
        "error and goes on, except where its Studio lists the configurations of a mirrored dataset.",
        "",
        "What is not here is the inside of Hugging Face's library:",
        "",
    ]
    return [*lines, *_insides()]


def _insides() -> list[str]:
    lines = []
    for package, why in sorted(INSIDES.items()):
        several = [name for name in modules() if name.split(".")[0] == package]
        gone = [f"`{name}`" for name in several if absent(name) is None]
        names_gone = [f"`{each}`" for name in several for each in absent(name) or []]
        told = [f"modules {', '.join(gone)}"] * bool(gone) + [f"names {', '.join(names_gone)}"] * bool(names_gone)
        lines.append(f"- **{package}**: {why}. Not here: {'; '.join(told)}.")
    return lines


if __name__ == "__main__":
    FILE.write_text(page())
