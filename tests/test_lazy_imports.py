"""Modules that wait for their first use, and items that a thread makes ahead of theirs."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
import weakref

import pytest

from crucible_datasets.formats.prefetch import ahead
from crucible_datasets.lazy_imports import LazyModule, gc_paused

LOAD = """
import json, sys
import crucible_datasets
rows = crucible_datasets.load_dataset("parquet", data_files=sys.argv[1], split="train", streaming="stream" in sys.argv)
assert next(iter(rows)) == {"n": 0}
print(json.dumps(sorted(sys.modules)))
"""
# None of them is needed to read a Parquet file, and each takes longer to import than the file to read.
UNNEEDED = {
    "asyncio",
    "crucible_datasets.cache",
    "crucible_datasets.ops.push",
    "crucible_datasets.sources.hub",
    "fsspec",
    "hashlib",
    "huggingface_hub",
    "msgspec",
    "multiprocessing",
    "pandas",
    "pyarrow.compute",
    "pyarrow.dataset",
    "sqlite3",
    "tempfile",
    "tqdm",
    "yaml",
    "zipfile",
}


@pytest.mark.parametrize("how", ["whole", "stream"])
def test_loading_parquet_imports_what_it_needs(tmp_path, how):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"n": range(3)}), tmp_path / "it.parquet")
    command = [sys.executable, "-c", LOAD, str(tmp_path / "it.parquet"), how]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not UNNEEDED & set(json.loads(ran.stdout))


def test_a_stand_in_is_the_module_for_whoever_uses_it(monkeypatch):
    import json.tool

    stand_in = LazyModule("json.tool")
    assert stand_in.main is json.tool.main
    assert stand_in.__dict__ is vars(json.tool)
    monkeypatch.setattr(stand_in, "main", "changed")
    assert json.tool.main == "changed"
    monkeypatch.undo()
    assert callable(json.tool.main)


def test_what_does_not_exist_is_missing_at_once():
    with pytest.raises(ImportError, match="no_such_module"):
        from crucible_datasets.ops import no_such_module  # noqa: F401


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "crucible-ahead"]


@pytest.mark.parametrize("count", [0, 1, 2, 50])
@pytest.mark.parametrize("most", [1, 7])
def test_items_come_in_order(count, most):
    assert list(ahead(iter(range(count)), most)) == list(range(count))
    assert not threads()


@pytest.mark.parametrize("taken", [0, 1, 3])
def test_a_taker_may_stop(taken):
    closed = threading.Event()

    def endless():
        try:
            number = 0
            while True:
                yield number
                number += 1
        finally:
            closed.set()

    items = ahead(endless())
    assert [next(items) for _ in range(taken)] == list(range(taken))
    items.close()
    assert not threads()
    assert closed.is_set() or taken <= 1


@pytest.mark.parametrize("place", [0, 1, 5])
def test_an_error_comes_in_its_place(place):
    def failing():
        yield from range(place)
        raise LookupError("here")

    items, seen = ahead(failing()), []
    with pytest.raises(LookupError, match="here"):
        seen.extend(items)
    assert seen == list(range(place)) or not seen
    assert not threads()


def test_nothing_is_collected_while_modules_are_imported_and_all_of_it_afterwards():
    class Knot:
        def __init__(self) -> None:
            self.itself = self

    with pytest.raises(ZeroDivisionError), gc_paused():
        gone = weakref.ref(Knot())
        knots = [Knot() for _ in range(5_000)]
        assert gone() is not None, "as many would have it collected otherwise"
        raise ZeroDivisionError
    assert (gc.isenabled(), gc.get_freeze_count(), len(knots)) == (True, 0, 5_000)
    gc.collect()
    assert gone() is None, "what counts as old is collected with the old"


def test_what_the_program_has_frozen_stays_frozen():
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        with gc_paused():
            assert gc.isenabled()
        assert gc.get_freeze_count() > count // 2 > 0  # some of what is frozen goes out of use
    finally:
        gc.unfreeze()
