"""A power failure at any call: what was forced to the disk is there, the rest may be gone, and nothing is ever half."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from exports import EXPORTS
from scenarios import SCENARIOS

HERE = Path(__file__).parent

KEPT = [*SCENARIOS, "RunUnderWay", *(name for name in EXPORTS if name != "Unforced")]
STATES_IN_ALL = 6_000


@pytest.fixture(scope="session")
def recorder(tmp_path_factory):
    """A library that writes down which calls change files."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("system calls are written down by a C library, which needs Linux and cc")
    library = tmp_path_factory.mktemp("recorder") / "recorder.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, HERE / "recorder.c", "-ldl", "-lpthread"], check=True)
    return library


def test_power_may_fail_at_any_call(program, recorder):
    reports = program("power.py", ",".join(KEPT), 1, 12, LD_PRELOAD=str(recorder))
    assert {name: report["failures"] for name, report in reports.items()} == {name: [] for name in KEPT}
    assert {report["states"] for report in reports.values()} == {12}


def test_what_is_not_forced_to_the_disk_is_found_missing(program, recorder):
    assert program("power.py", "Unforced", 1, 60, LD_PRELOAD=str(recorder))["Unforced"]["wrong"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("scenario", KEPT)
def test_power_may_fail_at_every_call(program, recorder, scenario, seed):
    report = program("power.py", scenario, seed, STATES_IN_ALL // len(KEPT), LD_PRELOAD=str(recorder))[scenario]
    assert report["failures"] == []
    assert report["states"] == STATES_IN_ALL // len(KEPT)
