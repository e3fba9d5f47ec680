"""Media folders: listing and loading many files, and decoding images.

A load is a program in a new interpreter with an empty cache, import included. "2 threads against 1" compares this
library with itself: its left side decodes with one thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.cases import Setup, State, case
from benchmarks.data import FOLDER
from benchmarks.file_cases import printed

FILES, CLASSES = 20_000, 100
PICTURES, BATCH = 2_000, 100
LOADED = """
import {module} as d
rows = d.load_dataset("imagefolder", data_dir={folder!r}, split="train")
print(len(rows), rows.features, sum(rows["label"][:]))
"""


def filled_once(name: str, fill: Callable[[Path], None]) -> str:
    """A folder in the folder of data, filled the first time."""
    folder = FOLDER / name
    if not folder.exists():
        beside = FOLDER / f"{os.getpid()}-{name}"
        beside.mkdir(parents=True)
        fill(beside)
        beside.rename(folder)
    return str(folder)


def fill_classes(folder: Path) -> None:
    """20,000 files of one byte in 100 folders."""
    for number in range(CLASSES):
        inside = folder / f"class-{number:03d}"
        inside.mkdir()
        for file in range(FILES // CLASSES):
            (inside / f"{file:05d}.jpg").write_bytes(b"x")


def fill_pictures(folder: Path) -> None:
    """2,000 JPEG files of 320 × 240 pixels, about 15 kB each."""
    import numpy as np
    from PIL import Image

    chance = np.random.default_rng(1)
    for number in range(PICTURES):
        coarse = Image.fromarray(chance.integers(0, 256, (30, 40, 3), dtype=np.uint8))
        coarse.resize((320, 240), Image.Resampling.BICUBIC).save(folder / f"{number:05d}.jpg", quality=85)


def folder_program(module: Any, path: Path) -> State:
    """The program that is timed."""
    folder = filled_once("classes-v1", fill_classes)
    return State(module, None, LOADED.format(module=module, folder=folder))


@case("load a folder of 20,000 files", setup=folder_program, imports=False, anyway=10)
def load_folder(state: State) -> str:
    """The output of the program."""
    return printed(state.given)


def pictures(threads: int | None = None) -> Setup:
    """2,000 images, and the number of decoding threads of this library."""

    def setup(module: Any, path: Path) -> State:
        rows = module.load_dataset("imagefolder", data_dir=filled_once("pictures-v1", fill_pictures), split="train")
        if module.__name__ == "crucible_datasets" and threads is not None:
            module.config.CRUCIBLE_DECODE_THREADS = threads
        return State(module, rows)

    return setup


def against_itself(module: Any, path: Path) -> State:
    """2,000 images, opened by this library on both sides."""
    import crucible_datasets

    return pictures(2 if module is crucible_datasets else 1)(crucible_datasets, path)


def decode_all(state: State) -> int:
    """Decode all images in batches and read one pixel of each."""
    batches = (batch["image"] for batch in state.dataset.iter(batch_size=BATCH))
    return sum(picture.getpixel((160, 120))[0] for batch in batches for picture in batch)


decoding = partial(case, needs=("PIL",))
decoding("decode 2,000 JPEGs", setup=pictures(), anyway=1)(decode_all)
decoding("decode 2,000 JPEGs, one thread", setup=pictures(1), anyway=1)(decode_all)
decoding("decode 2,000 JPEGs, 2 threads against 1", setup=against_itself, anyway=1.3)(decode_all)
