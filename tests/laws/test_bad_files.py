"""Whatever happens to the bytes of a file, a dataset and a stream have the same rows of it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from hypothesis import strategies as st
from support.damage import SAMPLES, load, rows_of
from support.packed import compressed

from crucible_datasets.exceptions import CastError, FileFormatError, StreamTypeError
from laws import equality
from laws.law import law

_NEEDS = {"hdf5": "h5py", "lance": "lance"}
_NAMES = [name for name in SAMPLES if name not in _NEEDS or find_spec(_NEEDS[name])]
_CHANGES = st.tuples(
    st.sampled_from(["cut", "replace", "insert", "delete"]),
    st.floats(0, 1, exclude_max=True),
    st.sampled_from([b"\xff", b"\xff" * 30, b"\0", b"\n", b'"', b",", b"{"]),
)


def damaged(data: bytes, changes: list[tuple[str, float, bytes]]) -> bytes:
    for change, share, text in changes:
        at = int(share * len(data))
        rest = {"cut": b"", "replace": text + data[at + len(text) :], "insert": text + data[at:]}
        data = data[:at] + rest.get(change, data[at + len(text) :])
    return data


@law(
    examples=25,
    name=st.sampled_from(_NAMES),
    packing=st.sampled_from(["", "", "gz", "zst", "xz"]),
    bad=st.integers(0, 2),
    changes=st.lists(_CHANGES, min_size=1, max_size=2),
)
def test_damaged_files_have_the_same_rows_in_a_dataset_and_in_a_stream(name, packing, bad, changes, folder):
    paths = []
    for number in range(3):
        sample = SAMPLES[name](100 * number, 1 if name == "xml" else 70)
        packing = "" if name == "lance" else packing
        data = compressed(sample.data, packing) if packing else sample.data
        paths.append(Path(folder, f"{number}.{sample.extension}" + f".{packing}" * bool(packing)))
        paths[-1].write_bytes(damaged(data, changes) if number == bad else data)
    try:
        streamed = rows_of(load(sample, paths, on_bad_files="skip", streaming=True))
    except (CastError, StreamTypeError):
        return  # a changed value has another type, and a stream cannot go back
    loaded = rows_of(load(sample, paths, on_bad_files="skip", cache_dir=os.path.join(folder, "cache")))
    equality.same(loaded, streamed)
    before = []
    try:
        for row in load(sample, paths, streaming=True):
            before += rows_of([row])
    except FileFormatError:
        equality.same(before, streamed[: len(before)])
