"""Before anything is imported: a home of its own for every cache, in memory where there is enough, and no network.

The default profile repeats the same examples in every run, so that a failure is the fault
of the change at hand. `HYPOTHESIS_PROFILE=deep` looks for new counterexamples and makes
them small.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

_MEMORY, _ENOUGH = "/dev/shm", 8 << 30  # the files of a run are about 2 GiB


def _use_memory() -> None:
    """Have temporary files in memory: there, fsync costs nothing, and the calls are the same."""
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK):
        return
    facts = os.statvfs(_MEMORY)
    is_plain = not facts.f_flag & os.ST_NOEXEC  # some tests compile what they run
    if is_plain and facts.f_bavail * facts.f_frsize > _ENOUGH:
        os.environ["TMPDIR"] = tempfile.tempdir = _MEMORY


def _keep_bytecode() -> None:
    """Have the modules compiled once, whatever the environment says: the tests start hundreds of interpreters."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def _heed_interrupts() -> None:
    """Have the programs that tests start end by SIGINT: a shell lets what it runs in the background ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


_use_memory()
_keep_bytecode()
_heed_interrupts()
_HOME = tempfile.mkdtemp(prefix="crucible-tests-")
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
os.environ |= {
    "HF_HOME": _HOME,
    "HF_DATASETS_CACHE": os.path.join(_HOME, "datasets"),
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
# `--import-mode=importlib` puts no folder on the path; `support` is shared by the tests of all folders.
sys.path.insert(0, str(Path(__file__).parent))

import pytest  # noqa: E402
from hypothesis import HealthCheck, Phase, settings  # noqa: E402

pytest.register_assert_rewrite("support.parity")
pytest_plugins = ["support.hubs", "support.rays"]

_QUICK = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("ci", max_examples=25, derandomize=True, phases=[Phase.explicit, Phase.generate], **_QUICK)
settings.register_profile("deep", max_examples=300, print_blob=True, **_QUICK)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
