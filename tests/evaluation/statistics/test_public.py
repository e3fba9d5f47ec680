"""Names of the package: what is exported is declared to type checkers, and is in the manual."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

from crucible_datasets.evaluation import statistics
from crucible_datasets.evaluation.comparing import compared
from crucible_datasets.evaluation.sampling import samplers

MANUAL = Path(__file__).parents[3] / "docs" / "statistics.md"


def test_the_stub_declares_the_same_names():
    declared = set()
    for node in ast.parse(Path(statistics.__file__).with_suffix(".pyi").read_text()).body:
        if isinstance(node, ast.ImportFrom):
            home = importlib.import_module(node.module)
            for alias in node.names:
                assert getattr(home, alias.name) is getattr(statistics, alias.name)
                declared.add(alias.name)
    assert declared == set(statistics.__all__)


def test_every_name_is_in_the_manual():
    words = {word for span in re.findall(r"`([^`\n]+)`", MANUAL.read_text()) for word in re.findall(r"\w+", span)}
    own = {
        name
        for module in (compared, samplers)
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
    }
    assert not {*statistics.__all__, *own} - words - {"Data"}


def test_statistics_need_numpy_alone():
    code = "import crucible_datasets.evaluation.statistics as s; [getattr(s, n) for n in s.__all__]; import sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "numpy" in loaded
    assert not {"scipy", "pandas", "pyarrow", "statsmodels"} & set(loaded)
