"""Tar shards of samples: streamed, read at random, written.

In cases named "vs webdataset", the left side is the `webdataset` package instead of `datasets`; in those named "vs
tarfile", it is Python's `tarfile` with the members already listed. Neither `datasets` nor `webdataset` can read one
sample of an archive without reading all of it, so that case has no required ratio: it fails if a sample takes a
millisecond or more.
"""

from __future__ import annotations

import io
import json
import os
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from benchmarks.cases import State, case, count
from benchmarks.data import FOLDER

SAMPLES = 20_000
LARGE_SAMPLES, LARGE_BYTES = 1_000, 10 << 20  # 10 GB, most of it holes
LONGEST = 0.001  # maximal seconds for one sample of the large archive
TEXT = "A caption of some words, as people write them. " * 4


def written_once(name: str, write: Callable[[Path], None]) -> str:
    """An archive in the folder of data, written the first time."""
    path = FOLDER / name
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        beside = FOLDER / f"{os.getpid()}-{name}"
        write(beside)
        beside.rename(path)
    return str(path)


def files_of(number: int) -> dict[str, bytes]:
    """The three files of a sample: metadata, text, and a few undecoded bytes."""
    about = {"id": number, "score": number / 7, "source": f"page {number % 97}", "tags": ["a", "b"]}
    return {
        "json": json.dumps(about).encode(),
        "txt": f"{number} {TEXT}".encode(),
        "bin": bytes([number % 256]) * 1_000,
    }


def write_small(path: Path) -> None:
    """20,000 samples of three members."""
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for number in range(SAMPLES):
            for extension, content in files_of(number).items():
                member = tarfile.TarInfo(f"{number:08d}.{extension}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))


def write_large(path: Path) -> None:
    """1,000 samples with a sparse file of 10 MB each, which takes no disk space."""
    with path.open("wb") as file:
        for number in range(LARGE_SAMPLES):
            for extension, content in (*files_of(number).items(), ("raw", None)):
                member = tarfile.TarInfo(f"{number:08d}.{extension}")
                member.size = LARGE_BYTES if content is None else len(content)
                file.write(member.tobuf(tarfile.USTAR_FORMAT) + (content or b""))
                file.seek(LARGE_BYTES if content is None else -member.size % 512, os.SEEK_CUR)
        file.write(bytes(1024))


def small(module: Any, path: Path) -> State:
    """The small archive, by its path."""
    return State(module, None, written_once("samples-20000-v1.tar", write_small))


def is_ours(state: State) -> bool:
    return bool(state.module.__name__ == "crucible_datasets")


def totals(samples: Iterator[dict[str, Any]]) -> list[int]:
    """Totals that need everything decoded: the sum of numbers in JSON, and the number of characters of texts."""
    numbers = letters = 0
    for sample in samples:
        numbers += sample["json"]["id"]
        letters += len(sample["txt"].strip())
    return [numbers, letters]


@case("stream WebDataset", setup=small, anyway=12)
def stream(state: State) -> list[int]:
    return totals(iter(state.module.load_dataset("webdataset", data_files=state.given, split="train", streaming=True)))


@case("stream WebDataset vs webdataset", setup=small, needs=("webdataset",), anyway=8)
def stream_samples(state: State) -> list[int]:
    if is_ours(state):
        from crucible_datasets.formats import webdataset as ours

        return totals(ours.stream(state.given))
    import webdataset

    return totals(iter(webdataset.WebDataset(state.given, shardshuffle=False).decode()))


@case("load WebDataset, iterate", setup=small, anyway=4, most_disk=4 << 20)
def load_and_iterate(state: State) -> int:
    """With an empty cache: `datasets` copies the archive, this library creates an index."""
    with tempfile.TemporaryDirectory() as cache:
        return count(state.module.load_dataset("webdataset", data_files=state.given, split="train", cache_dir=cache))


def large(module: Any, path: Path) -> State:
    """The large archive, with its members listed for both sides, and random sample numbers."""
    archive = written_once("samples-10gb-v1.tar", write_large)
    numbers = Random(0).choices(range(LARGE_SAMPLES), k=1_000)
    if module.__name__ == "crucible_datasets":
        rows = module.load_dataset("webdataset", data_files=archive, split="train")
        return State(module, rows.select_columns(["json", "txt", "bin"]), numbers)
    opened = tarfile.open(archive)  # noqa: SIM115  as long as the process runs
    return State(module, opened, (numbers, {member.name: member for member in opened}))


@case("1 sample of a 10 GB tar vs tarfile", setup=large, calls=1_000, anyway=0)
def one_sample(state: State) -> int:
    if not is_ours(state):
        numbers, members = state.given
        return sum(_by_tarfile(state.dataset, members, number) for number in numbers)
    total, taken = 0, []
    for number in state.given:
        began = time.perf_counter()
        total += state.dataset[number]["json"]["id"]
        taken.append(time.perf_counter() - began)
    assert median(taken) < LONGEST, f"one sample took {median(taken) * 1000:.3f} ms"
    return total


def _by_tarfile(archive: tarfile.TarFile, members: dict[str, tarfile.TarInfo], number: int) -> int:
    found: dict[str, bytes] = {}
    for extension in ("json", "txt", "bin"):
        content = archive.extractfile(members[f"{number:08d}.{extension}"])
        assert content is not None
        found[extension] = content.read()
    assert found["txt"].decode()
    return int(json.loads(found["json"])["id"])


def rows_to_write(module: Any, path: Path) -> State:
    """The same samples as a dataset in memory."""
    rows = [
        {"json": json.loads(files["json"]), "txt": files["txt"].decode(), "bin": files["bin"]}
        for files in map(files_of, range(SAMPLES))
    ]
    return State(module, module.Dataset.from_list(rows))


@case("to_webdataset vs webdataset", setup=rows_to_write, needs=("webdataset",), anyway=3)
def write(state: State) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.tar")
        if is_ours(state):
            state.dataset.to_webdataset(path)
        else:
            import webdataset

            with webdataset.TarWriter(path) as writer:
                for number, row in enumerate(state.dataset):
                    writer.write({"__key__": f"{number:06d}", **row})
        with tarfile.open(path) as archive:
            names = [archive.next() for _ in range(3)]
    return sorted(member.name for member in names if member)
