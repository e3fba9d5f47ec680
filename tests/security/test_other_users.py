"""Other users of the machine read no cache and no results, and plant nothing in a cache that they may write to."""

import os
import stat
import subprocess
import sys

import pytest

from crucible_datasets import Dataset, load_dataset
from crucible_datasets.cache import Cache, default_cache
from crucible_datasets.evaluation import EvaluationResult, ResultStore, RunInfo

STRANGER = 54_321
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")

MAKE = """
import os, sys, tempfile
from crucible_datasets.cache import Cache, default_cache
def make(folder):
    with open(os.path.join(folder, "value"), "w") as file:
        file.write({value!r})
with tempfile.TemporaryDirectory() as warm:  # the interpreter may be in a folder that the other user cannot read
    Cache(warm).made("warm", make)
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
print({cache}(sys.argv[2]).made("key", make))
"""
PLANT = MAKE.format(value="planted", cache="Cache")
KEEP = MAKE.format(value="mine", cache="default_cache")


def as_stranger(program, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", program, str(STRANGER), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def write(folder):
    with open(os.path.join(folder, "value"), "w", encoding="utf-8") as file:
        file.write("mine")


def value(folder):
    with open(os.path.join(folder, "value"), encoding="utf-8") as file:
        return file.read()


@pytest.fixture
def everybodys(tmp_path):
    """A folder that everybody may write to, at a place that everybody can reach."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield folder


@pytest.fixture(autouse=True)
def wide_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_the_folders_of_a_cache_are_for_their_owner(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n", encoding="utf-8")
    data = load_dataset(
        "csv", data_files=str(tmp_path / "a.csv"), cache_dir=str(tmp_path / "new" / "cache"), split="train"
    )
    data.map(lambda row: {"y": row["x"]})
    assert [mode(tmp_path / "new" / one) for one in (".", "cache", "cache/crucible", "cache/crucible/.work")] == [
        0o700
    ] * 4
    entries = [entry.folder for entry in default_cache(tmp_path / "new" / "cache").entries()]
    assert entries
    assert {mode(folder) for folder in entries} == {0o700}


def test_folders_that_users_name_keep_the_permissions_of_the_umask(tmp_path):
    Dataset.from_dict({"x": [1]}).save_to_disk(str(tmp_path / "out" / "saved"))
    Dataset.from_dict({"x": [1]}).to_parquet(str(tmp_path / "more" / "a.parquet"))
    assert {mode(tmp_path / one) for one in ("out", "out/saved", "more")} == {0o777}


def test_a_folder_that_was_there_keeps_its_permissions(tmp_path):
    (tmp_path / "crucible").mkdir(mode=0o755)
    default_cache(tmp_path).made("key", write)
    assert mode(tmp_path / "crucible") == 0o755


@pytest.mark.parametrize("is_kept_open", [False, True])
def test_the_folder_of_results_is_for_its_owner(is_kept_open, tmp_path):
    store = ResultStore(tmp_path / "a" / "store")
    info = RunInfo(run_id="run", model="m", dataset="d", metrics=["exact_match"])
    if is_kept_open:
        with store.open_run(info):
            assert mode(tmp_path / "a" / "store") == 0o700
    else:
        store.save(EvaluationResult(info, [], {}))
    assert {mode(tmp_path / "a"), mode(tmp_path / "a" / "store")} == {0o700}


def test_a_folder_of_results_that_a_team_has_made_stays_theirs(tmp_path):
    (tmp_path / "store").mkdir()
    info = RunInfo(run_id="run", model="m", dataset="d", metrics=["exact_match"])
    ResultStore(tmp_path / "store").save(EvaluationResult(info, [], {}))
    assert {mode(tmp_path / "store"), mode(tmp_path / "store" / "runs")} == {0o777}


@needs_root
def test_entries_that_another_user_has_planted_are_not_used(everybodys):
    planted = as_stranger(PLANT, everybodys)
    assert value(planted) == "planted"
    cache = Cache(everybodys)
    assert cache.find("key") is None
    assert not list(cache.entries())
    assert value(cache.made("key", write)) == "mine"
    assert value(cache.find("key")) == "mine"


@needs_root
def test_entries_of_root_are_used_by_all(everybodys):
    os.mkdir(os.path.join(everybodys, "crucible"), 0o755)
    made = default_cache(everybodys).made("key", write)
    os.chmod(made, 0o755)
    assert as_stranger(KEEP, everybodys) == made


@needs_root
def test_a_cache_folder_of_another_user_is_not_written_to(everybodys):
    theirs = os.path.join(everybodys, "crucible")
    os.mkdir(theirs, 0o777)
    os.chown(theirs, STRANGER, STRANGER)
    made = default_cache(everybodys).made("key", write)
    assert os.path.dirname(made) == f"{theirs}-{os.geteuid()}"
    assert not os.listdir(theirs)


def four(sample):
    return "4"


def answers_of(folder, monkeypatch):
    from crucible_datasets.evaluation.predictions.cache import prediction_cache

    monkeypatch.setattr("crucible_datasets.config.HF_DATASETS_CACHE", str(folder))
    return prediction_cache(four, "model", True, "key")


def test_the_folders_of_cached_answers_are_for_their_owner(tmp_path, monkeypatch):
    with answers_of(tmp_path / "new" / "cache", monkeypatch) as answers:
        folder = answers.folder
    assert {mode(folder), mode(os.path.dirname(folder)), mode(tmp_path / "new")} == {0o700}


@needs_root
@pytest.mark.parametrize("planted", ["predictions", "answers"])
def test_answers_of_another_user_are_not_used(planted, everybodys, monkeypatch):
    with answers_of(everybodys, monkeypatch) as answers:
        answers.put("2 + 2?", 0, "5")
        folder = answers.folder
    theirs = os.path.dirname(folder) if planted == "predictions" else folder
    for path, _, files in os.walk(theirs):
        for name in [path, *(os.path.join(path, file) for file in files)]:
            os.chown(name, STRANGER, STRANGER)
    with answers_of(everybodys, monkeypatch) as answers:
        assert answers.get("2 + 2?", 0) == (False, None)
        assert answers.folder != folder and f"-{os.geteuid()}" in answers.folder


@needs_root
def test_a_shared_cache_is_a_setting(everybodys, monkeypatch):
    planted = as_stranger(PLANT, everybodys)
    monkeypatch.setattr("crucible_datasets.config.SHARED_CACHE", True)
    assert Cache(everybodys).find("key") == planted
