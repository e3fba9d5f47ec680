"""Programs that meet faults on purpose, each in a process of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# In memory, fsync costs nothing; the calls are the same.
IN_MEMORY = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    """A library that makes system calls fail."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("system calls are made to fail with a C library, which needs Linux and cc")
    library = tmp_path_factory.mktemp("shim") / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, HERE / "faults.c", "-ldl"], check=True)
    return library


@pytest.fixture
def trials(shim):
    """Run trials.py; its report."""

    def run(scenario, mode, seed, number):
        return report("trials.py", scenario, mode, seed, number, LD_PRELOAD=str(shim))

    return run


def report(script, *arguments, **environment):
    """What a script prints, as JSON."""
    done = subprocess.run(
        [sys.executable, HERE / script, *map(str, arguments)],
        env={**os.environ, "DATASETS_VERBOSITY": "error", **IN_MEMORY, **environment},
        capture_output=True,
        text=True,
        timeout=900,
    )
    # Shown when a test fails, and by -rA: script, seed, outcome.
    sys.stdout.write(f"{script} {arguments}\n{done.stdout}")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def rounds():
    """Run rounds.py; its report."""

    def run(seed, number, processes):
        return report("rounds.py", seed, number, processes)

    return run


@pytest.fixture
def program():
    """Run a script of this folder; its report."""
    return report
