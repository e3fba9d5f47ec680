"""Settings of installed packages: the addresses, models and options that clients of APIs take from outside of code.

`openai.base_url = "…"` or `OPENAI_BASE_URL` sends the same function to another model.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import Any

_PLAIN = (str, int, float, bool)
_SECRET = re.compile("KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)  # who asks does not change the answer


def settings_of(packages: Iterable[str]) -> dict[str, Any]:
    """The plain variables of packages and the variables of the environment that are named after them."""
    others = {name for name in packages if name not in sys.stdlib_module_names and name != __name__.partition(".")[0]}
    words = {word.upper() for name in others for word in name.split("_") if word}
    return {
        "environment": {
            name: value
            for name, value in os.environ.items()
            if name.partition("_")[0] in words and not _SECRET.search(name)
        },
        **{name: _plain_variables(name) for name in sorted(others)},
    }


def _plain_variables(package: str) -> dict[str, Any]:
    variables = dict(vars(sys.modules[package])) if package in sys.modules else {}
    return {
        name: value
        for name, value in variables.items()
        # By its type alone: a question to a proxy would load what it stands for.
        if type(value) in _PLAIN and not name.startswith("_") and not _SECRET.search(name)
    }
