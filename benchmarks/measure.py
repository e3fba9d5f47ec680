"""One measurement: one case of one library in a new process.

`measure()` starts a child process in a private, empty home and returns its report; `python -m benchmarks.measure CASE
MODULE ROWS` is that child and prints JSON. It imports only the standard library, so that its memory is that of the
measured library.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import (
    data,
    evaluation_cases,  # noqa: F401  its cases join CASES
    expression_cases,  # noqa: F401
    file_cases,  # noqa: F401
    hub_cases,  # noqa: F401
    map_cases,  # noqa: F401
    media_cases,  # noqa: F401
    overlap_cases,  # noqa: F401
    results_cases,  # noqa: F401
    statistics_cases,  # noqa: F401
    stream_cases,  # noqa: F401
    webdataset_cases,  # noqa: F401
)
from benchmarks.cases import ANY, CASES, Case

ROOT = Path(__file__).parents[1]
# Fewer rows than in any measurement: with equal rows, `datasets` would find the result of the warm-up in its cache.
WARM_UP_ROWS = 1_500
FEWEST_ROWS = 2_000


@dataclass(frozen=True)
class Measurement:
    """The report of one child. Memory and disk in bytes; `error` is set if it failed."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak: int = 0
    growth: int = 0  # peak memory during the run, minus resident memory before it
    disk: int = 0  # growth of the private home during the run
    answer: str = ""  # digest of the result
    error: str = ""


def measure(case: Case, module: str, rows: int, timeout: float) -> Measurement:
    """Run a case in a new process; a failure is a measurement too."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as home:
        command = [sys.executable, "-m", "benchmarks.measure", case.key, module, str(rows)]
        try:
            child = subprocess.run(
                command,
                cwd=ROOT,
                env=environment(home),
                capture_output=True,
                text=True,
                timeout=timeout,
            )
        except subprocess.TimeoutExpired:
            return Measurement(error=f"no answer within {timeout:.0f} s")
    if child.returncode < 0:
        return Measurement(error=f"killed by {signal.Signals(-child.returncode).name}")
    if child.returncode:
        return Measurement(error=(child.stderr.strip().splitlines() or ["failed silently"])[-1])
    return Measurement(**json.loads(child.stdout.splitlines()[-1]))


def environment(home: str) -> dict[str, str]:
    """The environment of the child: all files are written below `home`, and it is offline."""
    private = {
        "HOME": home,
        "TMPDIR": home,
        "XDG_CACHE_HOME": f"{home}/cache",
        "HF_HOME": f"{home}/huggingface",
        "HF_DATASETS_CACHE": f"{home}/huggingface/datasets",
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
        "PYTHONHASHSEED": "0",
    }
    # Users have cached bytecode from their second run on.
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return given | private


# ---- the child -------------------------------------------------------------------------------


def linked(shape: str, rows: int) -> Path:
    """The data file as seen from the private home.

    `datasets` caches results next to the file it opened. With its own link, each child starts without them.
    """
    if shape == ANY:
        return Path()
    folder = Path(tempfile.mkdtemp())
    link = folder / "data.arrow"
    link.symlink_to(data.path_of(shape, rows))
    with link.open("rb") as file:  # so that the file is in the page cache for both sides
        while file.read(1 << 20):
            pass
    return link


def peak_memory() -> int:
    """The peak resident memory of this process, or of a child."""
    unit = 1 if sys.platform == "darwin" else 1024
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(each).ru_maxrss for each in who) * unit


def processor_time() -> float:
    """CPU seconds of this process and its finished children."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def resident() -> int:
    """The current resident memory; if unknown, the peak so far."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return peak_memory()
    return pages * resource.getpagesize()


def forget_peak() -> None:
    """Reset the peak memory (Linux), so that it does not include the setup."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def on_disk(folder: Path) -> int:
    """Bytes of the regular files below a folder; links do not count."""
    files = (Path(root, name) for root, _, names in os.walk(folder) for name in names)
    return sum(file.lstat().st_size for file in files if not file.is_symlink())


def digest(answer: object) -> str:
    """A digest of the result of a run."""
    plain = json.dumps(answer, sort_keys=True, default=str)
    return f"{hashlib.sha256(plain.encode()).hexdigest()[:12]} {plain[:60]}"


def measure_here(case: Case, name: str, rows: int) -> Measurement:
    """Import the library, warm it up on few rows, set up, and time the run."""
    module: Any = importlib.import_module(name) if case.imports else name
    for package in case.needs:
        importlib.import_module(package)
    if case.imports:
        # Imports and compilation of the first call happen here, for both sides.
        case.run(case.setup(module, linked(case.shape, WARM_UP_ROWS)))
    state = case.setup(module, linked(case.shape, rows))
    gc.collect()
    home = Path(os.environ["HOME"])
    disk_before, peak_before, resident_before = on_disk(home), peak_memory(), resident()
    forget_peak()
    timings = []
    for _ in range(case.repeat):
        started = time.perf_counter(), processor_time()
        answer = case.run(state)
        timings.append((time.perf_counter() - started[0], processor_time() - started[1]))
    peak_after = peak_memory()
    seconds, cpu_seconds = min(timings)
    return Measurement(
        seconds=seconds / case.calls,
        cpu_seconds=cpu_seconds / case.calls,
        peak=max(peak_before, peak_after),
        growth=max(0, peak_after - resident_before),
        disk=on_disk(home) - disk_before,
        answer=digest(answer),
    )


if __name__ == "__main__":
    key, library, row_count = sys.argv[1:]
    print(json.dumps(asdict(measure_here(CASES[key], library, int(row_count)))))
