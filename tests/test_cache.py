"""The cache: what was made is found again, damage is noticed, and old entries go."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import crucible_datasets
from crucible_datasets import Dataset, config
from crucible_datasets.atomic import owners
from crucible_datasets.cache import Cache, claims, default_cache, manifest, units
from crucible_datasets.exceptions import ArgumentError, StorageError

CRUCIBLE = Path(sys.executable).with_name("crucible")


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def writes(content="content", **facts):
    def make(folder):
        Path(folder, "data").write_text(content)
        Path(folder, "deep").mkdir()
        Path(folder, "deep", "more").write_text("more")
        return facts

    return make


def forbidden(folder):
    raise AssertionError("made again")


def in_other_process(code, *arguments):
    """Run code that is given a cache; what it prints."""
    head = "import sys, os, time\nfrom pathlib import Path\nfrom crucible_datasets.cache import Cache\n"
    head += "cache = Cache(sys.argv[1])\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + code, *arguments], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )


def use(root, key):
    """A process that has found an entry and lives until it is sent a line."""
    process = in_other_process(f"print(cache.find({key!r}) is not None, flush=True)\ninput()", root)
    assert process.stdout.readline() == "True\n"
    return process


# Find and make


def test_what_was_made_is_found_again(cache):
    assert cache.find("key") is None
    folder = cache.made("key", writes(rows=3), {"kind": "test"})
    assert folder == cache.find("key") == cache.made("key", forbidden) == Cache(cache.root).find("key")
    assert Path(folder, "data").read_text() == "content"
    (entry,) = cache.entries()
    assert (entry.key, entry.facts, entry.size) == ("key", {"kind": "test", "rows": 3}, 11)
    assert set(entry.files) == {"data", os.path.join("deep", "more")} and cache.size() == 11


def test_looking_writes_nothing(cache):
    assert cache.find("key") is None and not cache.remove("key")
    assert list(cache.entries()) == cache.verify() == cache.clean() == []
    assert not os.path.exists(cache.root)


@pytest.mark.parametrize("key", [".", "..", "../up", "a/b", "", " ", "x" * 500, "a\nb", ".hidden", "ключ", "a~b", "\0"])
def test_any_text_is_a_key(cache, key):
    folder = cache.made(key, writes(key))
    assert os.path.dirname(folder) == cache.root and cache.find(key) == folder
    assert [entry.key for entry in cache.entries()] == [key]
    assert cache.remove(key) and cache.find(key) is None


def test_an_error_leaves_nothing(cache):
    def fail(folder):
        Path(folder, "data").write_text("half")
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        cache.made("key", fail)
    assert cache.find("key") is None and os.listdir(os.path.join(cache.root, ".work")) == []
    assert cache.made("key", writes())


def test_a_full_disk_is_a_storage_error(cache):
    def fail(folder):
        raise OSError(28, "No space left on device")

    with pytest.raises(StorageError, match="key") as caught:
        cache.made("key", fail)
    assert caught.value.errno == 28


def test_threads_make_an_entry_once(cache):
    made = []

    def make(folder):
        made.append(folder)
        time.sleep(0.05)
        writes()(folder)

    threads = [threading.Thread(target=cache.made, args=("key", make)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and cache.find("key")


def test_an_entry_that_needs_itself_does_not_wait_for_itself(cache):
    def make(folder):
        cache.made("key", writes("inner"))
        writes("outer")(folder)

    assert Path(cache.made("key", make), "data").read_text() == "inner", "the first one stays"


# Others at the same entry


def rival(cache, owner):
    """The folder in which an owner seems to make the entry now."""
    folder = Path(cache.root, ".work", f"key~{owner}~1-00000000.tmp")
    folder.mkdir(parents=True)
    return folder


def test_a_dead_rival_is_not_waited_for(cache):
    process = in_other_process("cache.made('key', lambda folder: (print(1, flush=True), time.sleep(60)))", cache.root)
    assert process.stdout.readline()
    process.kill()
    began = time.monotonic()
    assert cache.made("key", writes())
    assert time.monotonic() - began < 1
    process.communicate()
    Cache(cache.root).find("key")
    assert not list(Path(cache.root, ".work").glob("*.tmp"))


@pytest.mark.parametrize("skew", [0, 3600, -3600])
def test_a_silent_rival_is_waited_for_only_a_while_whatever_the_clock_says(cache, monkeypatch, skew):
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + skew)
    monkeypatch.setattr(claims, "STALE_SECONDS", 0.3)
    for owner in (owners.me(), "00000000-1-1"):
        folder = rival(cache, owner)
        began = time.monotonic()
        cache.made("key", writes())
        assert 0.2 < time.monotonic() - began < 1
        assert folder.exists(), "it may still be alive"
        folder.rmdir()
        cache.remove("key")


def test_a_stopped_rival_that_wakes_up_loses(cache, monkeypatch):
    monkeypatch.setattr(claims, "STALE_SECONDS", 0.3)
    code = """
def make(folder):
    Path(folder, "data").write_text("late")
    print(1, flush=True)
    input()
print(Path(cache.made("key", make), "data").read_text())
"""
    process = in_other_process(code, cache.root)
    assert process.stdout.readline()
    os.kill(process.pid, 19)
    folder = cache.made("key", writes("first"))
    os.kill(process.pid, 18)
    assert process.communicate("\n")[0] == "first\n"
    assert Path(folder, "data").read_text() == "first"


def test_signs_of_life_keep_others_waiting(cache, monkeypatch):
    monkeypatch.setattr(claims, "STALE_SECONDS", 0.3)
    monkeypatch.setattr(claims, "HEARTBEAT_SECONDS", 0.05)
    made = []

    def make(folder):
        made.append(folder)
        time.sleep(0.8)
        writes()(folder)

    threads = [threading.Thread(target=cache.made, args=("key", make)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


# Damage


def damaged(cache, change):
    path = Path(cache.made("key", writes("content")), "data")
    change(path)
    return path


def flip(path):
    with open(path, "r+b") as file:
        file.seek(3)
        file.write(b"X")


def flip_secretly(path):
    times = os.stat(path)
    flip(path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


CHANGES = {
    "cut": lambda path: os.truncate(path, 2),
    "grown": lambda path: path.write_text("content and more"),
    "gone": lambda path: path.unlink(),
    "flipped": flip,
    "flipped, with the time set back": flip_secretly,
}


@pytest.mark.parametrize("change", CHANGES)
def test_damage_is_noticed_when_an_entry_is_found(cache, change, caplog):
    path = damaged(cache, CHANGES[change])
    assert cache.find("key") is None and str(path) in caplog.text
    assert [damage.path for damage in cache.verify()] == [str(path)]
    assert Path(cache.made("key", writes("again")), "data").read_text() == "again"
    assert cache.verify() == []


def test_bytes_that_rot_on_the_disk_are_noticed_by_verify_and_not_trusted_again(cache, monkeypatch):
    from crucible_datasets.cache import manifest

    path = damaged(cache, flip)
    entry = manifest.read_manifest(os.path.dirname(path))
    # The file looks as it did when it was written.
    stated = json.loads(Path(entry.folder, "manifest.json").read_text())
    stated["files"]["data"]["identity"] = manifest.identity_of(path)
    Path(entry.folder, "manifest.json").write_text(json.dumps(stated))
    assert cache.find("key"), "bytes are not read again as long as a file looks the same"
    assert [damage.path for damage in cache.verify()] == [str(path)]
    assert cache.find("key") is None


def test_bytes_are_read_once_per_identity(cache, monkeypatch):
    from crucible_datasets.cache import manifest

    read = []
    original = manifest._hash
    monkeypatch.setattr(manifest, "_hash", lambda path: (read.append(path), original(path))[1])
    folder = cache.made("key", writes())
    assert len(read) == 2
    cache.find("key")
    assert len(read) == 2
    os.utime(Path(folder, "data"))
    cache.find("key")
    cache.find("key")
    assert len(read) == 3


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "null", '{"files": 3}', '{"files": {"a": {}}}', "\x00"])
def test_a_manifest_of_nonsense_is_no_entry(cache, content):
    manifest = Path(cache.made("key", writes()), "manifest.json")
    manifest.write_text(content)
    assert cache.find("key") is None and list(cache.entries()) == []
    assert [damage.path for damage in cache.verify()] == [str(manifest)]
    assert cache.made("key", writes()) and cache.verify() == []


# Cleaning up


@pytest.fixture
def old_entries(tmp_path):
    """A cache of four entries that no living process uses: day-1 … day-4."""
    root = str(tmp_path / "cache")
    code = "".join(
        f"p = cache.made('day-{day}', lambda folder: Path(folder, 'data').write_text('x' * 100) and None)\n"
        f"os.utime(p + '/manifest.json', (time.time() - {day} * 86400,) * 2)\n"
        for day in (1, 2, 3, 4)
    )
    process = in_other_process(code, root)
    process.communicate()
    assert process.returncode == 0
    return Cache(root)


def keys(entries):
    return sorted(entry.key for entry in entries)


def test_the_least_recently_used_go_first(old_entries):
    assert keys(old_entries.clean(250)) == ["day-3", "day-4"]
    assert keys(old_entries.entries()) == ["day-1", "day-2"] and old_entries.size() == 200


def test_finding_is_using(tmp_path, old_entries):
    use(old_entries.root, "day-4").communicate("\n")
    assert keys(old_entries.clean(100)) == ["day-1", "day-2", "day-3"]


def test_entries_of_some_age_go(old_entries):
    assert keys(old_entries.clean(older_than=3.5 * 86400)) == ["day-4"]
    with pytest.raises(ArgumentError, match="with its unit"):
        old_entries.clean(older_than="2")
    assert keys(old_entries.clean(older_than="60h")) == ["day-3"]


def test_entries_in_use_stay_until_their_process_ends(old_entries):
    process = use(old_entries.root, "day-4")
    assert keys(old_entries.clean(0)) == ["day-1", "day-2", "day-3"]
    process.communicate("\n")
    assert keys(old_entries.clean(0)) == ["day-4"]


def test_making_an_entry_keeps_the_limit(old_entries, monkeypatch):
    monkeypatch.setattr(config, "CRUCIBLE_CACHE_LIMIT", "300")
    old_entries.made("new", lambda folder: Path(folder, "data").write_text("x" * 100) and None)
    assert keys(old_entries.entries()) == ["day-1", "day-2", "new"]


@pytest.mark.parametrize("ledger", [b"", b"nonsense", b"\xff", b"0\n0\n", b"99999999999\n0\n", b"1.5\n2\n"])
def test_the_limit_is_kept_when_the_ledger_is_old_or_nonsense(old_entries, monkeypatch, ledger):
    Path(old_entries.root, ".ledger").write_bytes(ledger)
    monkeypatch.setattr(config, "CRUCIBLE_CACHE_LIMIT", "300")
    old_entries.made("new", lambda folder: Path(folder, "data").write_text("x" * 100) and None)
    assert keys(old_entries.entries()) == ["day-1", "day-2", "new"]


def test_the_limit_is_kept_by_what_several_add(old_entries, monkeypatch):
    monkeypatch.setattr(config, "CRUCIBLE_CACHE_LIMIT", "550")
    caches = [old_entries, Cache(old_entries.root)]
    for number in range(5):  # what this process made is in use, and stays
        caches[number % 2].made(f"new-{number}", lambda folder: Path(folder, "data").write_text("x" * 100) and None)
        assert old_entries.size() <= 550
    assert keys(old_entries.entries()) == [f"new-{number}" for number in range(5)]


def test_a_cache_with_room_is_not_looked_through(old_entries):
    code = (
        "sys.addaudithook(lambda event, facts: event == 'open' and 'day-' in str(facts[0]) and print(facts[0]))\n"
        "cache.made('new', lambda folder: Path(folder, 'data').write_text('x' * 100) and None)\n"
    )
    assert in_other_process(code, old_entries.root).communicate() == ("", None)


def test_what_is_in_use_may_exceed_the_limit(cache, monkeypatch):
    monkeypatch.setattr(config, "CRUCIBLE_CACHE_LIMIT", "10")
    assert cache.made("a", writes()) and cache.made("b", writes())
    assert cache.find("a") and cache.find("b")


def test_a_cache_that_only_others_may_write_to_can_be_read(old_entries, monkeypatch):
    def refuse(*arguments, **options):
        raise PermissionError

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(os, "makedirs", refuse)
    assert old_entries.find("day-1")


@pytest.mark.parametrize(
    ("text", "size"),
    [("10", 10), (7, 7), ("10GB", 10**10), ("1.5 kb", 1500), ("2MiB", 2 << 20), ("1T", 10**12), ("0", 0)],
)
def test_sizes(text, size):
    assert units.byte_count(text, "/") == size


def test_a_share_of_the_disk(tmp_path):
    assert 0 < units.byte_count("20%", "/") == pytest.approx(2 * units.byte_count("10%", "/"), abs=2)
    # The cache of a new user does not exist yet.
    assert units.byte_count("20%", str(tmp_path / "not" / "there")) == units.byte_count("20%", str(tmp_path))


@pytest.mark.parametrize("text", ["", "GB", "10 XB", "-1", "1e9", "ten", "5%B"])
def test_sizes_that_make_no_sense(text):
    with pytest.raises(ArgumentError, match="10GB"):
        units.byte_count(text, "/")


# Callers


def numbers(start):
    yield from ({"n": start + index} for index in range(3))


def test_generated_rows_are_kept_and_found(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path)
    first = Dataset.from_generator(numbers, gen_kwargs={"start": 1})
    (entry,) = default_cache().entries()
    assert (entry.facts["kind"], entry.facts["rows"]) == ("generator", 3)
    assert [os.path.dirname(file["filename"]) for file in first.cache_files] == [entry.folder]
    created = entry.created
    assert Dataset.from_generator(numbers, gen_kwargs={"start": 1})[:] == first[:] == {"n": [1, 2, 3]}
    assert [entry.created for entry in default_cache().entries()] == [created]


def test_without_caching_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "none")
    crucible_datasets.disable_caching()
    try:
        assert len(Dataset.from_generator(numbers, gen_kwargs={"start": 1})) == 3
    finally:
        crucible_datasets.enable_caching()
    assert not (tmp_path / "none").exists()


# The command


@pytest.fixture
def command(tmp_path, old_entries):
    (tmp_path / "cache").rename(tmp_path / "crucible")

    def run(*arguments):
        environment = {**os.environ, "HF_DATASETS_CACHE": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run([CRUCIBLE, "cache", *arguments], env=environment, capture_output=True, encoding="utf-8")
        assert done.stderr == "" or done.returncode == 2
        return done.returncode, done.stdout + done.stderr

    run.root = tmp_path / "crucible"
    return run


def test_ls_lists_the_last_used_first(command):
    code, text = command("ls")
    lines = text.splitlines()
    assert code == 0 and lines[0].split() == ["key", "kind", "size", "age", "last", "use"]
    assert [line.split()[0] for line in lines[2:]] == ["day-1", "day-2", "day-3", "day-4"]
    assert lines[5].split()[-2:] == ["4", "d"] and "100 B" in lines[5]


def test_du_sums_up(command):
    code, text = command("du")
    assert (
        code == 0
        and ["total", "4", "400", "B"] in [line.split() for line in text.splitlines()]
        and "limit: 20%" in text
    )


def test_clean_by_size_age_or_all(command):
    assert command("clean", "--limit", "300B") == (0, "removed 1 entry, 100 B\nkept    3 entries, 300 B\n")
    assert command("clean", "--older-than", "60h") == (0, "removed 1 entry, 100 B\nkept    2 entries, 200 B\n")
    process = use(str(command.root), "day-1")
    kept = "kept    1 entry, 100 B, which running processes use\n"
    assert command("clean", "--all") == (0, "removed 1 entry, 100 B\n" + kept)
    process.communicate("\n")
    assert command("clean", "--all") == (0, "removed 1 entry, 100 B\nkept    0 entries, 0 B\n")


@pytest.mark.parametrize(
    "arguments", [("--limit", "much"), ("--older-than", "long"), ("--limit", "10"), ("--older-than", "30")]
)
def test_clean_refuses_what_it_does_not_understand(command, arguments):
    """A number without a unit too: 30 may mean days, and 30 seconds would be the whole cache."""
    code, text = command("clean", *arguments)
    assert code == 2 and f"{arguments[0]} '{arguments[1]}'" in text and "Traceback" not in text
    assert len(list(Cache(command.root).entries())) == 4


def test_verify_names_damaged_files(command):
    assert command("verify") == (0, "4 entries, 400 B read, 0 damaged files\n")
    flip(command.root / "day-2" / "data")
    code, text = command("verify")
    assert code == 1 and text.startswith(f"{command.root / 'day-2' / 'data'}: its bytes have changed\n")


def test_what_it_prints_is_inert(command):
    Cache(command.root).made("evil\x1b[31m\n\u202ekey", writes(), {"kind": "\x07kind\nkind"})
    code, text = command("ls")
    assert code == 0 and len(text.splitlines()) == 7
    assert all(character.isprintable() for character in text.replace("\n", ""))


def test_bytes_that_a_power_failure_lost_are_noticed(cache, monkeypatch):
    """After the machine has started anew, an entry's bytes are read once more before they are used."""
    folder = cache.made("key", lambda folder: Path(folder, "data").write_bytes(b"x" * 100) and None, {})
    facts = os.stat(Path(folder, "data"))
    with open(Path(folder, "data"), "r+b") as file:
        file.write(b"\0" * 100)
    os.utime(Path(folder, "data"), ns=(facts.st_atime_ns, facts.st_mtime_ns))
    stated = json.loads(Path(folder, "manifest.json").read_text())
    stated["files"]["data"]["identity"] = manifest.identity_of(os.path.join(folder, "data"))
    Path(folder, "manifest.json").write_text(json.dumps(stated))
    assert cache.find("key") == folder  # within one run of the machine nothing tells them apart
    monkeypatch.setattr(manifest, "boot", lambda: "the next run of the machine")
    assert cache.find("key") is None
