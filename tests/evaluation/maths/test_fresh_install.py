"""The grader in an environment whose packages were never compiled: lazy imports of sympy change no judgement."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig

import pytest

from crucible_datasets.evaluation.maths import worker

pytest.importorskip("math_verify")

PACKAGES = ("sympy", "math_verify", "latex2sympy2_extended", "antlr4", "mpmath")
# Of every family of formulas one pair that is equal.
EQUAL = [
    (r"\boxed{\log_2 8}", "3"),
    (r"\boxed{\sqrt{8}}", r"2\sqrt{2}"),
    (r"\boxed{\int_0^1 x dx}", "1/2"),
    (r"\boxed{\sin(\pi/6)}", "1/2"),
    (r"\boxed{\lim_{x\to 0} \frac{\sin x}{x}}", "1"),
    (r"\boxed{\sum_{i=1}^{10} i}", "55"),
    (r"\boxed{\log 100}", r"2\log 10"),
    (r"\boxed{\binom{5}{2}}", "10"),
    (r"\boxed{[1,2)}", "[1,2)"),
    (r"\boxed{(-\infty,1)\cup(2,\infty)}", r"(-\infty,1)\cup(2,\infty)"),
    (r"\boxed{\begin{pmatrix}1&2\\3&4\end{pmatrix}}", r"\begin{bmatrix}1&2\\3&4\end{bmatrix}"),
    (r"\boxed{\gcd(12,18)}", "6"),
]
PROGRAM = """
import json, sys
import sympy
from crucible_datasets.evaluation import METRICS
outcomes = METRICS["math"].score_many(*map(list, zip(*json.loads(sys.argv[1]))), timeout=30)
print(json.dumps([sympy.__file__, [(outcome.value, outcome.status) for outcome in outcomes]]))
"""


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


@pytest.fixture
def uncompiled(tmp_path):
    """A folder with math-verify and what it needs, without compiled modules."""
    site = sysconfig.get_paths()["purelib"]
    for package in PACKAGES:
        ignore = shutil.ignore_patterns("__pycache__", "tests", "*.pyc")
        shutil.copytree(f"{site}/{package}", tmp_path / package, ignore=ignore, copy_function=_linked)
    return tmp_path


@pytest.mark.parametrize("settings", [{}, {"PYTHONDONTWRITEBYTECODE": "1"}], ids=["compiling", "never compiling"])
def test_a_fresh_install_judges_as_any_other(uncompiled, settings):
    environment = {**os.environ, "PYTHONPATH": str(uncompiled), **settings}
    environment.pop("PYTHONPYCACHEPREFIX", None)
    command = [sys.executable, "-c", PROGRAM, json.dumps(EQUAL)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    where, outcomes = json.loads(done.stdout.splitlines()[-1])
    assert where.startswith(str(uncompiled))
    assert outcomes == [[1.0, "ok"]] * len(EQUAL)


def test_what_was_refused_is_an_error_and_not_a_wrong_answer(monkeypatch):
    def judged(target, answer, mode):
        try:
            worker._refuse("marshal.dumps", ())
        except PermissionError:
            pass  # as math-verify does
        return False, "ok", "3", None

    monkeypatch.setattr(worker, "judged", judged)
    assert worker._judged_or_error("3", "3", "verify") == (None, "error", None, "refused: marshal.dumps")
