"""Archives that attack: names, kinds of members, bombs, and kills while one is read."""

# ruff: noqa: T201 - seeds and what was found belong to the report

from __future__ import annotations

import gzip
import json
import os
import random
import stat
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest
from support.packed import compressed, zip_of

from crucible_datasets import config
from crucible_datasets.download import DownloadConfig, DownloadManager
from crucible_datasets.exceptions import DatasetsError, LimitExceededError
from crucible_datasets.reading import archives

sys.path.insert(0, str(Path(__file__).parent))
from hostile import CASES

HERE = Path(__file__).parent
SEED = int(os.environ.get("CRUCIBLE_SEED", "25"))
MB = 1 << 20


# Names and kinds of members


def tree(root):
    return {str(path): path.lstat() for path in sorted(root.rglob("*"))}


@pytest.mark.parametrize("case", CASES)
def test_no_member_gets_out_of_the_cache_and_none_is_anything_but_a_file(tmp_path, case):
    extension, make = CASES[case]
    outside = tmp_path / "deep" / "deeper" / "work"
    outside.mkdir(parents=True)
    path = outside / f"x{extension}"
    path.write_bytes(make())
    before, escaped = set(tree(tmp_path)), Path("/tmp/crucible-escaped")
    cache = tmp_path / "deep" / "deeper" / "cache"
    manager = DownloadManager(download_config=DownloadConfig(cache_dir=cache))
    streamed = [(name, file.read()) for name, file in manager.iter_archive(str(path))]
    archives.listed(str(path))
    folder = manager.extract(str(path))
    made = {place: facts for place, facts in tree(tmp_path).items() if place not in before}
    assert all(place.startswith(str(cache)) for place in made) and not escaped.exists()
    for place, facts in made.items():
        assert stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode), place
        assert not facts.st_mode & (stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX), place
        assert stat.S_ISDIR(facts.st_mode) or not facts.st_mode & 0o111, place
    contents = {file.read_bytes() for file in Path(folder).rglob("*") if file.is_file()}
    assert contents <= {data for _, data in streamed}
    if any(kind in case for kind in ("symlink", "hardlink", "fifo", "chr", "blk")):
        assert not contents


def test_a_million_members_neither_hang_nor_fill_the_memory(tmp_path, monkeypatch, count=4000):
    monkeypatch.setattr(config, "MAX_ARCHIVE_MEMBERS", count)
    tar, zipped = tmp_path / "x.tar", tmp_path / "x.zip"
    _many(tar, zipped, count)
    for path in (tar, zipped):
        assert sum(1 for _ in archives.members(str(path))) == count
    monkeypatch.setattr(config, "MAX_ARCHIVE_MEMBERS", count - 1)
    for path in (tar, zipped):
        with pytest.raises(LimitExceededError):
            sum(1 for _ in archives.members(str(path)))


def _many(tar, zipped, count):
    import tarfile

    with tarfile.open(tar, "w", format=tarfile.USTAR_FORMAT) as archive:
        for number in range(count):
            archive.addfile(tarfile.TarInfo(f"{number}"))
            archive.members = []
    with zipfile.ZipFile(zipped, "w") as archive:
        for number in range(count):
            archive.writestr(zipfile.ZipInfo(f"{number}"), b"")


@pytest.mark.slow
def test_a_million_members_in_full(tmp_path, monkeypatch):
    test_a_million_members_neither_hang_nor_fill_the_memory(tmp_path, monkeypatch, 1_000_000)


def test_the_number_of_members_that_a_zip_states_is_not_trusted(tmp_path, monkeypatch):
    data = bytearray(zip_of([(f"{n}", b"") for n in range(500)]))
    end = data.rindex(b"PK\x05\x06")
    data[end + 8 : end + 12] = b"\x01\x00\x01\x00"
    (tmp_path / "x.zip").write_bytes(data)
    monkeypatch.setattr(config, "MAX_ARCHIVE_MEMBERS", 400)
    with pytest.raises(LimitExceededError, match="MAX_ARCHIVE_MEMBERS"):
        list(archives.members(str(tmp_path / "x.zip")))


# Bombs

READ = """
import os, sys
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
from crucible_datasets import config
from crucible_datasets.exceptions import LimitExceededError
from crucible_datasets.load import load_dataset
from crucible_datasets.reading.files import identified, opened
import crucible_datasets.arrow_dataset, crucible_datasets.formats.text
config.HF_DATASETS_CACHE = sys.argv[2]
config.MAX_UNPACKED_BYTES_AT_ANY_RATIO = int(sys.argv[3])
config.MAX_UNPACKED_RATIO = int(sys.argv[4])
def peak():
    # Not ru_maxrss, which a process inherits from the one that started it.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

# What is imported when it is first needed is imported now.
harmless = sys.argv[2] + ".txt"
with open(harmless, "w") as file:
    file.write("harmless\\n")
load_dataset("text", data_files=harmless)
before = peak()

def whole(files):
    for file in files:
        with opened(file) as stream:
            stream.read()

for read in (
    lambda: whole(identified([sys.argv[1]])),
    lambda: load_dataset("text", data_files=sys.argv[1]),
):
    try:
        read()
        sys.exit("it was not refused")
    except LimitExceededError as error:
        assert sys.argv[1] in str(error), error
print(peak() - before)
"""


def bomb(kind, path, size):
    block = b"a" * 1023 + b"\n"
    block *= 4096
    if kind == "gz":
        with gzip.open(path, "wb") as file:
            for _ in range(size // len(block)):
                file.write(block)
    elif kind == "zst":
        with pa.CompressedOutputStream(str(path), "zstd") as file:
            for _ in range(size // len(block)):
                file.write(block)
    elif kind == "nested.zip":
        inner = path.with_suffix(".inner")
        bomb("gz", inner, size)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(inner, "inner.txt.gz")
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.txt", "w") as file:
            for _ in range(size // len(block)):
                file.write(block)


def test_bombs_are_refused_before_they_cost_memory(tmp_path, size=64 * MB, limit=16 * MB, ratio=20):
    costs = {}
    for kind in ("gz", "zst", "zip", "nested.zip"):
        path = tmp_path / f"x.txt.{kind}" if kind in ("gz", "zst") else tmp_path / f"x.{kind}"
        bomb(kind, path, size)
        done = subprocess.run(
            [sys.executable, "-c", READ, str(path), str(tmp_path / f"cache-{kind}"), str(limit), str(ratio)],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (kind, path.stat().st_size, done.stderr)
        allowed = max(limit, path.stat().st_size * ratio)
        costs[kind] = int(done.stdout) >> 10
        assert int(done.stdout) << 10 <= allowed + 64 * MB, (kind, done.stdout)
        # A zip states sizes, and is refused before anything is read.
        assert costs[kind] > 0 or kind == "zip", "nothing was measured"
        assert len(list((tmp_path / f"cache-{kind}").rglob("*.arrow"))) == 1, "more than the harmless file was kept"
    print("MiB of memory:", costs)


@pytest.mark.slow
def test_bombs_of_a_gibibyte(tmp_path):
    test_bombs_are_refused_before_they_cost_memory(
        tmp_path, 1024 * MB, config.MAX_UNPACKED_BYTES_AT_ANY_RATIO, config.MAX_UNPACKED_RATIO
    )


def test_a_header_of_a_tar_cannot_fill_the_memory(tmp_path):
    """One long name of 512 MiB, which is half a megabyte on the disk."""
    import tarfile

    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 512 * MB
    path = tmp_path / "x.tar.gz"
    path.write_bytes(compressed(header.tobuf(tarfile.GNU_FORMAT) + bytes(64 * MB), "gz"))
    tracemalloc.start()
    try:
        with pytest.raises(DatasetsError, match="longer than"):
            list(archives.members(str(path)))
        assert tracemalloc.get_traced_memory()[1] < 8 * MB
    finally:
        tracemalloc.stop()


# Kills


def kills(extension, seed, trials):
    print(f"seed {seed}")
    done = subprocess.run(
        [sys.executable, str(HERE / "ingest_kills.py"), extension, str(seed), str(trials)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    print(extension, found)
    assert found["wrong"] == 0 and found["litter"] == 0, (seed, found)
    return found


@pytest.mark.parametrize("extension", [".tar", ".zip", ".csv.gz", ".csv.zst"])
def test_a_killed_ingest_is_never_taken_for_a_whole_one(extension):
    kills(extension, SEED, 4)


@pytest.mark.slow
@pytest.mark.parametrize("extension", [".tar", ".zip", ".csv.gz", ".csv.zst"])
def test_two_hundred_killed_ingests(extension):
    found = kills(extension, random.Random(SEED).randrange(1000), 200)
    assert found["killed"] == 200
