"""Files and folders appear whole, replace others whole, and failures leave nothing behind."""

import errno
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from crucible_datasets.atomic import atomic_file, atomic_folder, files, folders, owners, seen_whole, storage_errors
from crucible_datasets.exceptions import DatasetsError, StorageError


def contents(folder):
    return {path.name: path.read_text() for path in Path(folder).iterdir() if path.is_file()}


def of_a_dead_process(what, suffix=".tmp"):
    """The name of unfinished work whose owner has just ended."""
    code = f"from crucible_datasets.atomic.owners import *; print(unfinished_name({what!r}, {suffix!r}))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def of_another_machine(what, suffix=".tmp"):
    return f"{what}~00000000-1-1~1-00000000{suffix}"


# Files


def test_what_is_written_for_long_is_on_its_way_to_the_disk_before_the_end(tmp_path, monkeypatch):
    path, flushed = tmp_path / "file", threading.Event()
    monkeypatch.setattr(files, "make_durable", lambda place: flushed.set())
    with files.flushed_early(str(path)):
        path.write_bytes(bytes(files._MUCH))
        assert flushed.wait(30)


def test_an_error_of_the_disk_meanwhile_is_raised_at_the_end(tmp_path, monkeypatch):
    path, failed = tmp_path / "file", threading.Event()

    def full(place):
        failed.set()
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(files, "make_durable", full)
    with pytest.raises(OSError, match="broken"), files.flushed_early(str(path)):
        path.write_bytes(bytes(files._MUCH))
        assert failed.wait(30)


def test_a_file_is_not_there_before_it_is_whole(tmp_path):
    with atomic_file(tmp_path / "file") as beside:
        Path(beside).write_text("new")
        assert not (tmp_path / "file").exists()
    assert contents(tmp_path) == {"file": "new"}


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(KeyError), atomic_file(tmp_path / "file") as beside:
        Path(beside).write_text("ne")
        raise KeyError
    assert contents(tmp_path) == {"file": "old"}


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with atomic_file(tmp_path / "link") as beside:
        Path(beside).write_text("new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "new"


def test_devices_and_pipes_are_written_to_as_they_are():
    with atomic_file(os.devnull) as beside:
        Path(beside).write_text("nothing")
    assert not os.path.isfile(os.devnull)
    with pytest.raises(StorageError, match="/dev/full"), atomic_file("/dev/full") as beside:
        Path(beside).write_text("too much")


def test_a_folder_in_the_way_is_said_at_once(tmp_path):
    with pytest.raises(IsADirectoryError), atomic_file(tmp_path):
        raise AssertionError


def test_the_longest_file_name_can_be_written(tmp_path):
    path = tmp_path / ("é" * 127)
    with atomic_file(path) as beside:
        Path(beside).write_text("new")
    assert path.read_text() == "new"


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    path = tmp_path / "private"
    path.write_text("old")
    path.chmod(0o600)
    with atomic_file(path) as beside:
        Path(beside).write_text("new")
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == 0o600


def test_a_file_is_replaced_where_there_are_no_permissions(tmp_path, monkeypatch):
    def refused(*given, **options):
        raise PermissionError(1, "Operation not permitted")

    path = tmp_path / "shared"
    path.write_text("old")
    monkeypatch.setattr(os, "chmod", refused)
    with atomic_file(path) as beside:
        Path(beside).write_text("new")
    assert path.read_text() == "new"


def test_what_the_dead_left_goes_and_what_the_living_do_stays(tmp_path):
    dead, other, foreign = of_a_dead_process(".file"), of_a_dead_process(".else"), of_another_machine(".file")
    living = owners.unfinished_name(".file")
    for name in (dead, other, foreign, living):
        (tmp_path / name).write_text("half")
    with atomic_file(tmp_path / "file") as beside:
        Path(beside).write_text("new")
    assert set(os.listdir(tmp_path)) == {"file", other, foreign, living}


def test_work_of_another_machine_goes_after_a_day_of_silence(tmp_path):
    left = tmp_path / of_another_machine(".file")
    left.write_text("half")
    os.utime(left, (time.time() - 90_000,) * 2)
    with atomic_file(tmp_path / "file") as beside:
        Path(beside).write_text("new")
    assert os.listdir(tmp_path) == ["file"]


# Errors of the disk


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS])
def test_errors_of_the_disk_name_the_path(code):
    with pytest.raises(StorageError, match="/data/x.csv") as caught, storage_errors("/data/x.csv"):
        raise OSError(code, "no")
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.errno, error.path, str(error)) == (code, "/data/x.csv", str(caught.value))
    assert isinstance(error, OSError) and isinstance(error, DatasetsError)
    assert ("crucible cache clean" in str(error)) == (code in {errno.ENOSPC, errno.EDQUOT})
    assert ("HF_DATASETS_CACHE" in str(error)) == (code == errno.EROFS)


def test_other_errors_pass():
    with pytest.raises(PermissionError), storage_errors("/data/x.csv"):
        raise PermissionError(errno.EACCES, "no")


# Owners


def test_a_process_lives_until_it_ends():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = owners._owner(process.pid)
    assert owners.is_alive(owner) is True
    process.kill()
    time.sleep(0.1)
    assert owners.is_alive(owner) is False, "a zombie counts as dead"
    process.communicate()
    assert owners.is_alive(owner) is False


def test_a_process_id_that_was_given_out_again_is_another_process():
    machine, pid, started = owners.me().split("-")
    assert owners.is_alive(owners.me()) is True
    assert owners.is_alive(f"{machine}-{pid}-{int(started) - 1}") is False
    assert owners.is_alive(f"00000000-{pid}-{started}") is None


@pytest.mark.parametrize("what", ["a", "a~b", "~", "", "x\ny", "1-2-3~4"])
def test_a_name_can_be_taken_apart(what):
    parts = owners.taken_apart(owners.unfinished_name(what))
    assert (parts.what, parts.owner, parts.suffix, parts.is_mine) == (what, owners.me(), ".tmp", True)


@pytest.mark.parametrize("name", ["file", "file~", "backup~1~2.tmp", "emacs.txt~"])
def test_names_of_others_are_not_ours(name):
    assert owners.taken_apart(name) is None


# Folders


@pytest.fixture(params=["exchange", "two steps", "stays"])
def old(request, tmp_path, monkeypatch):
    """A folder that exists, replaced in each of the three ways."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("data", "stale", "notes"):
        (folder / name).write_text("old")
    if request.param == "two steps":
        monkeypatch.setattr(folders, "_exchange", lambda one, other: False)
    if request.param == "stays":
        monkeypatch.chdir(folder)
    return folder


def test_a_folder_is_replaced_whole(old):
    with atomic_folder(old, {"stale"}.__contains__) as beside:
        Path(beside, "data").write_text("new")
        assert contents(old) == dict.fromkeys(("data", "stale", "notes"), "old")
    assert contents(old) == {"data": "new", "notes": "old"}
    assert [path.name for path in old.parent.iterdir()] == ["folder"]


def test_folders_inside_are_replaced_too(old):
    for content in ("one", "two"):
        with atomic_folder(old) as beside:
            Path(beside, "train").mkdir()
            Path(beside, "train", content).write_text(content)
    assert contents(old / "train") == {"two": "two"}


def test_an_error_leaves_the_old_folder(old):
    with pytest.raises(KeyError), atomic_folder(old) as beside:
        Path(beside, "data").write_text("ne")
        raise KeyError
    assert contents(old) == dict.fromkeys(("data", "stale", "notes"), "old")
    assert len(list(old.iterdir())) == 3 and len(list(old.parent.iterdir())) == 1


def test_what_is_open_can_be_read_on(old):
    with open(old / "data") as file:
        with atomic_folder(old) as beside:
            Path(beside, "data").write_text("new")
        assert file.read() == "old"


def test_a_new_folder_appears_with_its_parents(tmp_path):
    with atomic_folder(tmp_path / "a" / "b") as beside:
        Path(beside, "data").write_text("new")
        assert not (tmp_path / "a" / "b").exists()
    assert contents(tmp_path / "a" / "b") == {"data": "new"}


def test_a_swap_that_stopped_half_way_is_undone_by_the_next_reader(tmp_path):
    aside = tmp_path / of_a_dead_process(".folder", ".old")
    aside.mkdir()
    (aside / "data").write_text("old")
    assert seen_whole(tmp_path / "folder", lambda: contents(tmp_path / "folder")) == {"data": "old"}
    assert os.listdir(tmp_path) == ["folder"]


def test_a_swap_that_stopped_half_way_is_not_undone_for_a_folder_whose_name_begins_alike(tmp_path):
    alike = "a-name-of-which-more-than-forty-characters-are-"
    (tmp_path / of_a_dead_process(f".{alike}here", ".old")).mkdir()
    folders.finish_interrupted(tmp_path / f"{alike}elsewhere")
    assert not (tmp_path / f"{alike}elsewhere").exists()
    folders.finish_interrupted(tmp_path / f"{alike}here")
    assert (tmp_path / f"{alike}here").exists()


def test_a_move_that_stopped_half_way_is_finished_by_the_next_reader(tmp_path):
    incoming = tmp_path / "folder" / of_a_dead_process(".incoming", ".incoming")
    incoming.mkdir(parents=True)
    (incoming / "b").write_text("new")
    (tmp_path / "folder" / "a").write_text("new")
    (tmp_path / "folder" / "b").write_text("old")
    assert seen_whole(tmp_path / "folder", lambda: contents(tmp_path / "folder")) == {"a": "new", "b": "new"}
    assert not incoming.exists()


def test_readers_never_see_a_mixture(tmp_path):
    folder = tmp_path / "folder"

    def write(number):
        with atomic_folder(folder) as beside:
            for name in "ab":
                Path(beside, name).write_text(str(number))

    def read():
        first = (folder / "a").read_text()
        time.sleep(0.001)
        return first, (folder / "b").read_text()

    write(0)
    done = threading.Event()

    def keep_writing():
        for number in range(40):
            write(number)
        done.set()

    thread = threading.Thread(target=keep_writing)
    thread.start()
    while not done.is_set():
        first, second = seen_whole(folder, read)
        assert first == second
    thread.join()


def test_a_reader_gets_its_own_error_when_nothing_was_replaced(tmp_path):
    with pytest.raises(FileNotFoundError):
        seen_whole(tmp_path / "folder", lambda: contents(tmp_path / "folder"))


# Temporary folders


def test_folders_of_dead_processes_go_with_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead, other = tmp_path / of_a_dead_process("job"), tmp_path / of_a_dead_process("another")
    for folder in (dead, other):
        folder.mkdir()
        (folder / "data").write_text("large")
    with files.scratch_folder("job") as mine, files.scratch_folder("job") as second:
        Path(mine, "data").write_text("x")
        assert {path.name for path in tmp_path.iterdir()} == {
            os.path.basename(mine),
            os.path.basename(second),
            other.name,
        }
        assert os.stat(mine).st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == [other]
