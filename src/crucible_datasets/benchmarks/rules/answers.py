r"""Rules for targets: extraction of the answer from a text.

They run in linear time: no pattern backtracks.
"""

from __future__ import annotations

import itertools

from crucible_datasets.benchmarks.rules.base import Unfit, value_rule

_NUMBER = frozenset("-.0123456789")


@value_rule("gsm8k/after_hashes")
def after_hashes(text: str) -> str:
    r"""The number after the last `####`, without commas and `$`.

    >>> after_hashes("12 * 100 = <<12*100=1200>>1200\n#### 1,200")
    '1200'
    """
    _, hashes, answer = text.rpartition("####")
    said = answer.strip().replace(",", "").replace("$", "")
    number = "".join(itertools.takewhile(_NUMBER.__contains__, said))
    if not hashes or not any(map(str.isdigit, number)):
        raise Unfit(None, f"there is no number behind ####, but {said[:40]!r}" if hashes else "there is no ####")
    return number.removesuffix(".")


@value_rule("math/last_boxed")
def last_boxed(text: str) -> str:
    r"""The content of the last `\boxed{…}` or `\fbox{…}`, with balanced braces; `\boxed 5` is read up to the next `$`.

    >>> last_boxed(r"so it is $\boxed{\frac{1}{2}}$.")
    '\\frac{1}{2}'
    """
    start = max(text.rfind("\\boxed"), text.rfind("\\fbox"))
    if start < 0:
        raise Unfit(None, "there is no \\boxed{} in it")
    rest = text[start:].removeprefix("\\boxed").removeprefix("\\fbox").lstrip()
    return _braced(rest) if rest.startswith("{") else rest.partition("$")[0].strip()


def _braced(text: str) -> str:
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return text[1:place].strip()
    raise Unfit(None, "a brace of \\boxed{ is never closed")


@value_rule("text/stripped")
def stripped(text: str) -> str:
    """The text without surrounding white space."""
    if not text.strip():
        raise Unfit(None, "it is empty")
    return text.strip()


@value_rule("math/without_dollars")
def without_dollars(text: str) -> str:
    r"""The text without surrounding `$`.

    >>> without_dollars(r"$\frac{1}{2}$")
    '\\frac{1}{2}'
    """
    return stripped(text.strip().removeprefix("$").removesuffix("$"))
