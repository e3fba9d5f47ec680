"""Answers survive the process that got them, are shared by processes, and stay few files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crucible_datasets.benchmarks import Message, Part, Picture, Sample, samples_from
from crucible_datasets.evaluation import evaluate
from crucible_datasets.evaluation.predictions import cache as caches
from crucible_datasets.evaluation.predictions.cache import PredictionCache, identity_of

PROGRAM = """
import os, signal, sys
from crucible_datasets.benchmarks import samples_from
from crucible_datasets.evaluation import evaluate

def answer(sample):
    with open(sys.argv[2], "a") as calls:
        calls.write(f"{sample.id}\\n")
    if sample.id == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return sample.target

data = samples_from([{"id": n, "input": f"q{n}", "target": f"t{n}"} for n in range(20)])
print(evaluate(answer, data, model="m", cache=sys.argv[1]).value())
"""


def test_a_killed_run_goes_on_in_another_process(tmp_path):
    calls = tmp_path / "calls"
    for dies_at, status in ((7, -9), (99, 0)):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, tmp_path / "cache", calls, str(dies_at)],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == status, done.stderr
    assert done.stdout == "1.0\n"
    asked = [int(line) for line in calls.read_text().split()]
    assert asked == [*range(8), *range(7, 20)]


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "cache")


def test_processes_share_what_they_know(folder):
    with PredictionCache(folder) as one, PredictionCache(folder) as other:
        one.put("q", 0, "a")
        other.put("q", 1, ["b", None])
    with PredictionCache(folder) as both:
        assert (
            both.get("q", 0) == (True, "a")
            and both.get("q", 1) == (True, ["b", None])
            and both.get("q", 2) == (False, None)
        )


def test_journals_of_dead_processes_become_one(folder, monkeypatch):
    monkeypatch.setattr(caches, "_MOST_JOURNALS", 3)
    for number in range(4):
        with PredictionCache(folder) as cache:
            cache.put("q", number, str(number))
    living = len(os.listdir(folder))
    assert len(PredictionCache(folder)) == 4 and len(os.listdir(folder)) == living  # their writer, this process, lives
    for place, name in enumerate(sorted(os.listdir(folder))):
        machine, _, rest = name.split("-", 2)
        os.rename(os.path.join(folder, name), os.path.join(folder, f"{machine}-{2**22 + place}-{rest}"))
    for _ in range(2):
        assert len(PredictionCache(folder)) == 4 and len(os.listdir(folder)) == 1


def test_nothing_in_a_cache_is_a_program(folder):
    with PredictionCache(folder) as cache:
        cache.put(Sample(id=1, input="q"), 0, "said")
    [path] = Path(folder).iterdir()
    _, text = path.read_bytes().split(b" ", 1)
    assert json.loads(text)["answer"] == "said"


def test_a_function_that_cannot_be_hashed_is_known_by_its_name(caplog):
    import threading

    lock = threading.Lock()

    def locked(sample):
        with lock:
            return "x"

    assert identity_of(locked).endswith("locked")


def test_pictures_are_noted_and_not_copied():
    picture = Picture(b"\x89PNG" + b"0" * 10_000)
    asked = [Message("user", [Part("text", "what is it?"), Part("image", image=picture)])]
    found = evaluate(["cat"], samples_from([Sample(id=1, input=asked, target="cat")])).samples[0].input
    assert found[0]["content"][0] == {"type": "text", "text": "what is it?"}
    assert found[0]["content"][1]["image"]["path"].startswith("sha256:") and len(str(found)) < 300
