"""Entries made in parts: what a maker finished before it died or failed, the next one need not do again."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from crucible_datasets import config
from crucible_datasets.cache import Cache, Parts, claims, manifest
from crucible_datasets.cli.cache import clean, du, ls, verify
from crucible_datasets.exceptions import StorageError

COUNT = 4


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


class Maker:
    """Makes an entry of four parts; `made` are the parts it did not find."""

    def __init__(self, stop_at=None, error=KeyError("stopped")):
        self.made, self.stop_at, self.error = [], stop_at, error

    def __call__(self, folder):
        parts = Parts(folder)
        for number in range(COUNT):
            if parts.found(f"p{number}") is None:
                self.made.append(number)
                Path(folder, f"p{number}.data").write_text(str(number) * 100)
                if number == self.stop_at:
                    raise self.error
                Path(folder, f"p{number}.more").write_text("more")
                parts.finish(f"p{number}", [f"p{number}.data", f"p{number}.more"], {"number": number})
        return {"rows": COUNT}


def stopped(cache, at, key="key", **options):
    maker = Maker(at, **options)
    with pytest.raises(type(maker.error)):
        cache.resumable(key, maker, {"kind": "test"})
    return maker


def texts(folder):
    return {name: Path(folder, name).read_text() for name in os.listdir(folder) if name.endswith((".data", ".more"))}


def right():
    wanted = {f"p{number}.data": str(number) * 100 for number in range(COUNT)}
    return wanted | {f"p{number}.more": "more" for number in range(COUNT)}


def left(cache):
    return list(Path(cache.root, ".work").glob("*.left"))


def in_work(cache):
    return [path.name for path in Path(cache.root, ".work").iterdir() if path.suffix != ".uses"]


def resumed(cache, key="key"):
    """The parts that had to be made to finish the entry."""
    maker = Maker()
    folder = cache.resumable(key, maker, {"kind": "test"})
    assert texts(folder) == right() and cache.verify() == []
    assert in_work(cache) == [], "nothing is left of it"
    assert cache.resumable(key, Maker(0)) == cache.made(key, Maker(0)) == cache.find(key) == folder
    return maker.made


def test_without_interruption_it_is_an_entry_as_any_other(cache):
    assert resumed(cache) == [0, 1, 2, 3]
    (entry,) = cache.entries()
    assert entry.is_whole and entry.facts == {"kind": "test", "rows": COUNT}


@pytest.mark.parametrize("error", [KeyError("x"), KeyboardInterrupt(), StorageError("path", 28)], ids=type)
@pytest.mark.parametrize("at", range(COUNT))
def test_what_was_finished_before_an_error_is_not_made_again(cache, at, error):
    assert stopped(cache, at, error=error).made == list(range(at + 1))
    assert cache.find("key") is None
    assert bool(left(cache)) == (at > 0)
    assert resumed(cache) == list(range(at, COUNT))


def test_only_finished_parts_stay(cache):
    stopped(cache, 2)
    (folder,) = left(cache)
    assert set(os.listdir(folder)) == {"plan.json"} | {
        f"p{number}.{kind}" for number in (0, 1) for kind in ("data", "more", "part.json")
    }


def test_interrupted_again_and_again(cache):
    made = [stopped(cache, at).made for at in (1, 1, 2, 3)]
    assert [*made, resumed(cache)] == [[0, 1], [1], [1, 2], [2, 3], [3]]


def test_facts_come_back(cache):
    stopped(cache, 1)
    (folder,) = left(cache)
    assert Parts(folder).found("p0") == {"number": 0} and Parts(folder).found("p1") is None


def test_another_key_gets_nothing_of_it(cache):
    stopped(cache, 3)
    other = Maker()
    cache.resumable("other", other)
    assert other.made == [0, 1, 2, 3] and len(left(cache)) == 1


def test_parts_belong_to_a_key_not_to_the_name_of_a_folder(cache):
    """Keys unfit for file names go by a hash, which another key may have as its text."""
    from crucible_datasets.cache.store import _name

    stopped(cache, 3, key="a/b")
    assert resumed_made(cache, _name("a/b")) == [0, 1, 2, 3]


def resumed_made(cache, key):
    maker = Maker()
    cache.resumable(key, maker)
    return maker.made


@pytest.mark.parametrize("key", ["a/b", "x" * 500, "ключ", "a~b", ""])
def test_any_text_is_a_key(cache, key):
    stopped(cache, 2, key=key)
    assert [entry.key for entry in cache.entries()] == [key]
    assert resumed(cache, key) == [2, 3]


def test_parts_that_made_way_for_others_go(cache):
    """What is put together from parts is the last part; if its maker dies before the others are gone, they go later."""

    def make(folder):
        parts = Parts(folder)
        if parts.found("all") is None:
            Maker()(folder)
            Path(folder, "all.data").write_text("".join(Path(folder, f"p{i}.data").read_text() for i in range(COUNT)))
            parts.finish("all", ["all.data", "p0.more"], {})
            if fail:
                raise KeyError("stopped")
        parts.keep_only("all")

    for fail in (True, False):
        with contextlib.suppress(KeyError):
            folder = cache.resumable("key", make)
    assert set(os.listdir(folder)) == {"plan.json", "all.part.json", "all.data", "p0.more", "manifest.json"}


# Damage


def flip(path):
    with open(path, "r+b") as file:
        file.seek(3)
        file.write(b"X")


CHANGES = {
    "cut": lambda path: os.truncate(path, 2),
    "grown": lambda path: path.write_text("content and more" * 100),
    "gone": lambda path: path.unlink(),
    "flipped": flip,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_damaged_part_is_made_again(cache, change):
    stopped(cache, 3)
    (folder,) = left(cache)
    CHANGES[change](folder / "p1.data")
    assert Parts(folder).found("p1") is None and Parts(folder).found("p2") == {"number": 2}
    assert resumed(cache) == [1, 3]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", "null", '{"files": 3, "facts": {}}', '{"files": {"a": {}}}', "\0"]
)
def test_a_part_whose_facts_are_nonsense_is_made_again(cache, text):
    stopped(cache, 3)
    (folder,) = left(cache)
    (folder / "p1.part.json").write_text(text)
    assert resumed(cache) == [1, 3]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", "null", '{"key": "key"}', '{"key": "other", "facts": {}, "created": 1}']
)
def test_parts_of_nobody_knows_what_are_not_used(cache, text):
    stopped(cache, 3)
    (left(cache)[0] / "plan.json").write_text(text)
    maker = Maker()
    assert texts(Cache(cache.root).resumable("key", maker)) == right()
    assert maker.made == [0, 1, 2, 3]


def lost_by_a_power_failure(path):
    """The file looks as it did, but its bytes never reached the disk."""
    facts = os.stat(path)
    path.write_bytes(b"\0" * facts.st_size)
    stated = json.loads(path.with_suffix(".part.json").read_text())
    stated["files"][path.name]["identity"] = manifest.identity_of(path)
    path.with_suffix(".part.json").write_text(json.dumps(stated))


def test_bytes_that_a_power_failure_lost_are_noticed(cache, monkeypatch):
    stopped(cache, 3)
    (folder,) = left(cache)
    lost_by_a_power_failure(folder / "p1.data")
    assert Parts(folder).found("p1"), "within one run of the machine nothing tells them apart"
    monkeypatch.setattr(manifest, "boot", lambda: "the next run of the machine")
    assert resumed(cache) == [1, 3]


def test_after_a_restart_bytes_are_read_once(cache, monkeypatch):
    read = []
    original = manifest._hash
    stopped(cache, 3)
    monkeypatch.setattr(manifest, "_hash", lambda path: (read.append(os.path.basename(path)), original(path))[1])
    monkeypatch.setattr(manifest, "boot", lambda: "the next run of the machine")
    assert resumed_made(cache, "key") == [3]
    assert sorted(name for name in read if not name.endswith(".json")) == sorted(right())


def test_where_a_restart_cannot_be_noticed_parts_are_made_durable(cache, monkeypatch):
    from crucible_datasets.cache import parts

    durable = []
    original = parts.make_durable
    for module in (parts, manifest):
        monkeypatch.setattr(module, "boot", lambda: "")
    monkeypatch.setattr(parts, "make_durable", lambda path: (durable.append(os.path.basename(path)), original(path)))
    assert resumed(cache) == [0, 1, 2, 3]
    assert set(durable) == set(right())


# Who takes over


def test_one_of_many_takes_over(cache):
    """Rivals that believe to be alone, because the file system lies, get folders of their own."""
    stopped(cache, 3)
    barrier, made = threading.Barrier(4), []

    def work():
        maker = Maker()
        barrier.wait()
        texts_found.append(texts(cache.resumable("key", maker)))
        made.append(maker.made)

    texts_found = []
    original, claims._rivals = claims._rivals, lambda work, name, skew: []
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        claims._rivals = original
    assert texts_found == [right()] * 4
    assert made.count([3]) <= 1 and all(each in ([3], [], [0, 1, 2, 3]) for each in made)
    assert in_work(cache) == []


def test_what_is_being_made_is_not_taken(cache):
    began, go_on = threading.Event(), threading.Event()

    class Slow(Maker):
        def __call__(self, folder):
            began.set()
            go_on.wait()
            return super().__call__(folder)

    one, other = Slow(), Maker()
    threads = [threading.Thread(target=cache.resumable, args=("key", maker)) for maker in (one, other)]
    threads[0].start()
    began.wait()
    threads[1].start()
    time.sleep(0.1)
    go_on.set()
    for thread in threads:
        thread.join()
    assert (one.made, other.made) == ([0, 1, 2, 3], [])


CODE = """
import os, signal, sys, time
sys.path.insert(0, sys.argv[2])
from test_cache_parts import Cache, Maker
class Stuck(Maker):
    def __call__(self, folder):
        self.error = None
        try:
            super().__call__(folder)
        except TypeError:
            print("stuck", flush=True)
            time.sleep(60)
Cache(sys.argv[1]).resumable("key", Stuck(2))
"""


def killed(cache):
    """A process that is killed in its third part."""
    arguments = [sys.executable, "-c", CODE, cache.root, str(Path(__file__).parent)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "stuck\n"
    return process


def test_the_parts_of_a_killed_process_are_taken_over_at_once(cache):
    process = killed(cache)
    process.kill()
    process.communicate()
    assert resumed(cache) == [2, 3]


def test_the_next_look_at_the_cache_removes_what_a_killed_process_did_not_finish(cache):
    process = killed(cache)
    Cache(cache.root).size()
    assert in_work(cache)[0].endswith(".parts"), "it lives"
    process.kill()
    process.communicate()
    (entry,) = Cache(cache.root).entries()
    assert (entry.key, entry.is_whole, entry.size) == ("key", False, 2 * 104)
    (name,) = in_work(cache)
    assert name.endswith(".left") and "p2.data" not in os.listdir(Path(cache.root, ".work", name))


def test_a_writer_that_outlives_its_maker_cannot_touch_what_was_taken_over(cache):
    """A worker process whose parent was killed may still be at work."""
    folders = []

    def make(folder):
        folders.append(folder)
        raise KeyError(stopped_at_once(folder))

    def stopped_at_once(folder):
        Path(folder, "p0.data").write_text("0" * 100)
        Path(folder, "p0.more").write_text("more")
        Parts(folder).finish("p0", ["p0.data", "p0.more"], {})

    with pytest.raises(KeyError):
        cache.resumable("key", make)
    with pytest.raises(FileNotFoundError):
        Path(folders[0], "p1.data").write_text("late")
    with pytest.raises(FileNotFoundError):
        Parts(folders[0]).finish("p0", [], {})
    assert resumed(cache) == [1, 2, 3]


# Room


@pytest.fixture
def commands(cache, monkeypatch):
    """The commands, on the cache of the test."""
    monkeypatch.setattr("crucible_datasets.cli.cache._cache", lambda: cache)


def lines(pieces):
    return [line for piece in pieces for line in piece.lines()]


@pytest.mark.usefixtures("commands")
def test_the_command_shows_what_is_unfinished(cache):
    stopped(cache, 2)
    line = lines(ls())[-1]
    assert line.startswith("key  test, unfinished") and "208 B" in line
    assert any(line.startswith("test, unfinished") and "208 B" in line for line in lines(du()))
    assert lines(verify()) == ["0 entries, 0 B read, 0 damaged files"]


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize("options", [{"all": True}, {"limit": "100B"}, {"older_than": "0s"}])
def test_the_command_removes_what_is_unfinished(cache, options):
    stopped(cache, 2)
    assert lines(clean(limit="1GB")) == ["removed 0 entries, 0 B", "kept    1 entry, 208 B"]
    assert lines(clean(**options)) == ["removed 1 entry, 208 B", "kept    0 entries, 0 B"]
    assert in_work(cache) == []


def test_it_counts_against_the_limit_and_goes_when_it_is_the_oldest(cache, monkeypatch):
    monkeypatch.setattr(config, "CRUCIBLE_CACHE_LIMIT", "1000")
    stopped(cache, 2, key="old")
    stopped(cache, 3, key="new")
    for path in left(cache):
        age = 100 if len(list(path.iterdir())) < 9 else 10
        for file in path.glob("*.part.json"):
            os.utime(file, (time.time() - age,) * 2)
    cache.made("big", lambda folder: Path(folder, "data").write_bytes(b"x" * 600) and None)
    assert sorted(entry.key for entry in cache.entries()) == ["big", "new"]
    assert resumed(cache, "new") == [3]


def test_removing_an_entry_removes_what_is_left_of_it(cache):
    stopped(cache, 2)
    assert cache.remove("key") and not cache.remove("key")
    assert resumed(cache) == [0, 1, 2, 3]


def test_files_of_parts_are_not_read_again_for_the_manifest(cache, monkeypatch):
    read = []
    original = manifest._hash
    monkeypatch.setattr(manifest, "_hash", lambda path: (read.append(os.path.basename(path)), original(path))[1])
    assert resumed_made(cache, "key") == [0, 1, 2, 3]
    assert sorted(name for name in read if not name.endswith(".json")) == sorted(right())
