"""The layout of the choices of a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from crucible_datasets.benchmarks.samples.shuffling import letter
from crucible_datasets.exceptions import UnknownEntryError

Layout = str | Callable[[int, str], str]

LAYOUTS: dict[str, Callable[[int, str], str]] = {
    "A.": lambda place, text: f"{letter(place)}. {text}",
    "A)": lambda place, text: f"{letter(place)}) {text}",
    "(A)": lambda place, text: f"({letter(place)}) {text}",
    "A:": lambda place, text: f"{letter(place)}: {text}",
    "1.": lambda place, text: f"{place + 1}. {text}",
    "-": lambda place, text: f"- {text}",
}


def laid_out(choices: Sequence[str], layout: Layout = "A.") -> str:
    """The choices, one per line.

    >>> print(laid_out(["yes", "no"], "(A)"))
    (A) yes
    (B) no
    """
    if isinstance(layout, str) and layout not in LAYOUTS:
        raise UnknownEntryError("layout of choices", layout, LAYOUTS)
    line = LAYOUTS[layout] if isinstance(layout, str) else layout
    return "\n".join(line(place, text) for place, text in enumerate(choices))
