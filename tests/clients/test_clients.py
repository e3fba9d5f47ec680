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


def outputs(library: str, programs: list[Path], home: Path) -> dict[str, str]:
    """What the programs print with this library or with Hugging Face's as `datasets`, by their names."""
    own = {"HF_HOME": home / "hf", "HF_DATASETS_CACHE": home / "datasets", "XDG_CACHE_HOME": home / "cache"}
    # One thread: others would only wait for each other on models of this size, and sums depend on their number.
    environment = {**os.environ, **{name: str(folder) for name, folder in own.items()}, "OMP_NUM_THREADS": "1"}
    if library == "crucible_datasets":
        environment = shim.redirected(environment)
    command = [sys.executable, str(HERE / "run_all.py"), *map(str, programs)]
    ran = subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, timeout=900, check=False)
    assert ran.returncode == 0, ran.stderr[-4000:]
    answer = json.loads(ran.stdout)
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


def print_the_same(folders: dict[str, tuple[str, ...]], home: Path) -> None:
    programs, absent = runnable(folders)
    for library in ("datasets", "crucible_datasets"):
        (home / library).mkdir()
    theirs = outputs("datasets", programs, home / "datasets")
    broken = [name for name, output in theirs.items() if "Traceback" in output or not output]
    assert not broken, theirs[broken[0]]
    assert not differences(theirs, outputs("crucible_datasets", programs, home / "crucible_datasets"))
    if absent:
        pytest.skip(f"what is installed was tested; not installed: {', '.join(absent)}")


def test_every_folder_of_programs_is_run():
    folders = {path.name for path in (HERE / "programs").iterdir() if any(path.glob("*.py"))}
    assert folders == {*LIGHT, *TRAINING, *SLOW, *OURS_ONLY}


def test_tutorials_and_light_libraries_print_the_same(tmp_path):
    print_the_same(LIGHT, tmp_path)


def test_training_libraries_print_the_same(tmp_path):
    print_the_same(TRAINING, tmp_path)


@pytest.mark.slow
def test_whole_evaluations_print_the_same(tmp_path):
    print_the_same(SLOW, tmp_path)


def test_loaders_of_torchdata_go_on_where_they_stopped(tmp_path):
    programs, absent = runnable(OURS_ONLY)
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)}")
    (printed,) = outputs("crucible_datasets", programs, tmp_path).values()
    assert len(printed.splitlines()) == 7
    assert all("False" not in line and line.endswith("] 40") for line in printed.splitlines()), printed
