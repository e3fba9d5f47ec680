"""Other people's code runs unchanged: libraries from PyPI and programs as tutorials have them print the same with this library.

Every file in `programs/` is run twice, with Hugging Face `datasets` and with this library in its place.
"""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from crucible_datasets import shim

HERE = Path(__file__).parent
# What the programs of a folder import; those without torch come first, and are not slowed down by its import.
LIGHT = {
    "tutorials": ("PIL", "pandas", "polars"),
    "frames": ("duckdb", "pandas", "polars"),
    "scikit_learn": ("sklearn",),
    "inspect_ai": ("inspect_ai",),
}
TRAINING = {
    "torch": ("torch",),
    "accelerate": ("accelerate", "torch"),
    "transformers": ("transformers", "torch", "accelerate"),
    "trl": ("trl", "torch"),
    "sentence_transformers": ("sentence_transformers", "torch"),
    "setfit": ("setfit", "torch"),
    "evaluate": ("evaluate",),  # it and lm_eval import torch where that is installed, and do without it elsewhere
    "lm_eval": ("lm_eval",),
}
SLOW = {"evaluations": ("inspect_ai",), "mteb": ("mteb",), "distilabel": ("distilabel",)}
OURS_ONLY = {"resumption": ("torch", "torchdata")}  # Hugging Face's streams lose or repeat rows here


def started(library: str, programs: list[Path], home: Path) -> subprocess.Popen[str]:
    """A process that runs the programs with this library or with Hugging Face's as `datasets`, in a home of its own."""
    home.mkdir()
    own = {"HF_HOME": home / "hf", "HF_DATASETS_CACHE": home / "datasets", "XDG_CACHE_HOME": home / "cache"}
    # One thread: others would only wait for each other on models of this size, and sums depend on their number.
    environment = {**os.environ, **{name: str(folder) for name, folder in own.items()}, "OMP_NUM_THREADS": "1"}
    if library == "crucible_datasets":
        environment = shim.redirected(environment)
    command = [sys.executable, str(HERE / "run_all.py"), *map(str, programs)]
    with open(home / "out", "w") as out, open(home / "err", "w") as err:
        return subprocess.Popen(command, env=environment, cwd=home, stdout=out, stderr=err, text=True)


def outputs(library: str, process: subprocess.Popen[str], home: Path) -> dict[str, str]:
    """What each program printed, by its name."""
    try:
        code = process.wait(timeout=900)
    finally:
        process.kill()
    assert code == 0, (home / "err").read_text()[-4000:]
    answer = json.loads((home / "out").read_text())
    assert answer["library"] == library
    return answer["outputs"]


def runnable(folders: dict[str, tuple[str, ...]]) -> tuple[list[Path], list[str]]:
    """The programs of the folders whose libraries are installed, and the libraries that are not."""
    absent = {folder: [name for name in names if find_spec(name) is None] for folder, names in folders.items()}
    programs = [
        program
        for folder in folders
        if not absent[folder]
        for program in sorted((HERE / "programs" / folder).glob("*.py"))
    ]
    return programs, sorted({name for names in absent.values() for name in names})


def differences(theirs: dict[str, str], ours: dict[str, str]) -> str:
    """The lines in which the outputs differ."""
    both = [(name, theirs[name].splitlines(), ours[name].splitlines()) for name in theirs]
    return "\n".join(
        line for name, old, new in both for line in difflib.unified_diff(old, new, f"{name} there", f"{name} here", n=0)
    )


def printed(shared: list[Path], ours_only: list[Path], home: Path) -> tuple[dict[str, str], dict[str, str]]:
    """What the programs print with either library: one process for each, side by side, since imports take most of the time."""
    sides = {"datasets": shared, "crucible_datasets": [*shared, *ours_only]}
    processes = {library: started(library, programs, home / library) for library, programs in sides.items()}
    theirs, ours = (outputs(library, process, home / library) for library, process in processes.items())
    broken = [name for name, output in theirs.items() if "Traceback" in output or not output]
    assert not broken, theirs[broken[0]]
    return theirs, ours


def test_every_folder_of_programs_is_run():
    folders = {path.name for path in (HERE / "programs").iterdir() if any(path.glob("*.py"))}
    assert folders == {*LIGHT, *TRAINING, *SLOW, *OURS_ONLY}


def test_libraries_and_tutorials_print_the_same(tmp_path):
    programs, absent = runnable({**LIGHT, **TRAINING})
    resuming, absent_too = runnable(OURS_ONLY)
    theirs, ours = printed(programs, resuming, tmp_path)
    assert not differences(theirs, ours)
    for program in resuming:
        lines = ours[f"{program.parent.name}/{program.stem}"].splitlines()
        assert len(lines) == 7 and all("False" not in line and line.endswith("] 40") for line in lines), lines
    if absent or absent_too:
        pytest.skip(f"what is installed was tested; not installed: {', '.join(sorted({*absent, *absent_too}))}")


@pytest.mark.slow
def test_whole_evaluations_print_the_same(tmp_path):
    programs, absent = runnable(SLOW)
    assert not differences(*printed(programs, [], tmp_path))
    if absent:
        pytest.skip(f"what is installed was tested; not installed: {', '.join(absent)}")
