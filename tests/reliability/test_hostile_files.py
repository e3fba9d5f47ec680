"""Damaged and hostile files: typed errors only, and no code is ever run."""

# ruff: noqa: T201 - seeds and what was found belong to the report

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.packed import ARCHIVES, COMPRESSIONS, archive_of, compressed

from crucible_datasets.exceptions import DatasetsError
from crucible_datasets.reading import archives
from crucible_datasets.reading.files import DataFile, opened

SEED = int(os.environ.get("CRUCIBLE_SEED", "23"))
TEXT = b"".join(b"%d,some text %d\n" % (n, n * n) for n in range(300))
SECONDS = 10


def mutated(data, rng):
    """The data with some bytes changed, cut, doubled, or taken from elsewhere."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at, kind = rng.randrange(len(changed) or 1), rng.randrange(6)
        if kind == 0 and changed:
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and changed:
            changed[at] = rng.choice([0, 0xFF, 0x7F, 0x80, rng.randrange(256)])
        elif kind == 2:
            del changed[at:]
        elif kind == 3:
            changed[at:at] = rng.randbytes(rng.choice([1, 4, 512]))
        elif kind == 4:
            source = rng.randrange(len(changed) or 1)
            changed[at : at + 32] = changed[source : source + 32]
        else:
            del changed[at : at + rng.choice([1, 4, 512])]
    return bytes(changed)


def read_archive(path):
    for _, _, stream in archives.members(path):
        while stream.read(100_000):
            pass
    for member in archives.listed(path):
        with archives.opened_member(path, member.name) as stream:
            stream.read()


def read_compressed(path):
    with opened(DataFile(path, os.path.getsize(path), ())) as stream:
        while stream.read(100_000):
            pass


def mutants(tmp_path, extension, count):
    rng = random.Random(f"{SEED}{extension}")
    print(f"seed {SEED}")
    if extension in ARCHIVES:
        good, read = archive_of([("a.csv", TEXT), ("d/b.csv", TEXT[:100]), ("n" * 150, b"")], extension), read_archive
    else:
        good, read = compressed(TEXT, extension), read_compressed
    path, errors = tmp_path / f"x.{extension.lstrip('.')}", 0
    for number in range(count):
        path.write_bytes(mutated(good, rng))
        began = time.perf_counter()
        try:
            read(str(path))
        except DatasetsError:
            errors += 1
        except BaseException as error:
            raise AssertionError((SEED, extension, number)) from error
        assert time.perf_counter() - began < SECONDS, (SEED, extension, number)
    archives.release()
    return errors


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("extension", [*ARCHIVES, *COMPRESSIONS])
def test_damage_is_a_typed_error(tmp_path, extension):
    assert mutants(tmp_path, extension, 150) > 0


@pytest.mark.slow
@pytest.mark.parametrize("extension", [".tar", ".zip", "gz", "zst", "bz2", "xz", "lz4", ".tar.gz"])
def test_a_hundred_thousand_damages(tmp_path, extension):
    assert mutants(tmp_path, extension, 100_000 if extension in (".tar", ".zip", "gz", "zst") else 10_000) > 0


# No code is ever run

WATCHED = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
from crucible_datasets import config
from crucible_datasets.load import load_dataset
from crucible_datasets.exceptions import DatasetsError
from crucible_datasets.download import DownloadConfig, DownloadManager
from crucible_datasets.reading import archives

EVENTS = ("exec", "compile", "pickle.find_class", "marshal", "subprocess", "os.system", "os.exec", "os.posix_spawn",
          "os.spawn", "os.fork", "ctypes", "code.__new__", "function.__new__", "socket", "urllib", "webbrowser")
seen, armed = [], False

def watch(event, arguments):
    if armed and event.startswith(EVENTS):
        seen.append(f"{event} {arguments!r}"[:300])

sys.addaudithook(watch)
config.HF_DATASETS_CACHE = sys.argv[1]
manager = DownloadManager(download_config=DownloadConfig(cache_dir=sys.argv[1]))
outcomes = {}

def read(path):
    for call in (
        lambda: [file.read() for _, file in manager.iter_archive(path)],
        lambda: manager.extract(path),
        lambda: load_dataset("text", data_files=path, keep_in_memory=True),
        lambda: load_dataset("csv", data_files=path, keep_in_memory=True),
        lambda: load_dataset("json", data_files=path, keep_in_memory=True),
    ):
        try:
            call()
            name = "read"
        except DatasetsError as error:
            name = type(error).__name__
        except Exception as error:
            name = "untyped " + type(error).__name__
        outcomes[name] = outcomes.get(name, 0) + 1

good, hostile = (sorted(os.path.join(folder, name) for name in os.listdir(folder)) for folder in sys.argv[2:4])
for path in good:  # what is imported when it is first needed is imported now
    read(path)
outcomes.clear()
armed = True
for path in hostile:
    read(path)
armed = False
print(json.dumps([seen, outcomes]))
"""


class Exploit:
    def __reduce__(self):
        return os.system, ("touch /tmp/crucible-was-here",)


PAYLOADS = [
    pickle.dumps(Exploit()),
    b"__import__('os').system('touch /tmp/crucible-was-here')\n",
    b'{"__reduce__": ["os.system", "touch /tmp/crucible-was-here"]}\n',
    b"!!python/object/apply:os.system ['touch /tmp/crucible-was-here']\n",
    b"#!/bin/sh\ntouch /tmp/crucible-was-here\n",
    b'=cmd|"/C calc"!A0,1\n',
]
NAMES = ["data.pkl", "setup.py", "conftest.py", "x.csv", "__init__.py", "sitecustomize.pth", "a.json", "$(touch x).csv"]


def hostile_files(folder, count, rng):
    folder.mkdir()
    for number in range(count):
        members = [(rng.choice(NAMES), rng.choice(PAYLOADS)) for _ in range(rng.randrange(1, 4))]
        extension = rng.choice([*ARCHIVES, *COMPRESSIONS, "plain"])
        if extension in ARCHIVES:
            data = archive_of(members, extension)
        else:
            data = members[0][1] if extension == "plain" else compressed(members[0][1], extension)
        data = mutated(data, rng) if rng.random() < 0.5 else data
        suffix = extension if extension in ARCHIVES else f".csv.{extension}"
        (folder / f"{number}{suffix}").write_bytes(data)


def run_watched(tmp_path, count):
    import warnings

    print(f"seed {SEED}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hostile_files(tmp_path / "good", 120, random.Random(SEED + 1))
        hostile_files(tmp_path / "hostile", count, random.Random(SEED))
    places = [str(tmp_path / name) for name in ("cache", "good", "hostile")]
    done = subprocess.run([sys.executable, "-c", WATCHED, *places], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen, outcomes = json.loads(done.stdout.splitlines()[-1])
    print(outcomes)
    assert not seen and not Path("/tmp/crucible-was-here").exists(), (SEED, seen[:5])
    assert not [name for name in outcomes if name.startswith("untyped")], (SEED, outcomes)


def test_reading_hostile_files_runs_no_code(tmp_path):
    run_watched(tmp_path, 60)


@pytest.mark.slow
def test_reading_a_thousand_hostile_files_runs_no_code(tmp_path):
    run_watched(tmp_path, 1000)
