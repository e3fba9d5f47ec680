"""Archives: every member, in order, as a stream, and nothing else."""

from __future__ import annotations

import io
import random
import stat
import tarfile
import threading
import zipfile

import pytest
from support.packed import ARCHIVES, TARS, archive_of, compressed, tar_of, zip_of

from crucible_datasets import config, load_dataset, logging
from crucible_datasets.exceptions import (
    DataFilesNotFoundError,
    FileFormatError,
    LimitExceededError,
    MissingPackageError,
    UnavailableError,
)
from crucible_datasets.reading import archives
from crucible_datasets.reading.files import identified, opened
from crucible_datasets.reading.membernames import is_data, is_shown, safe_parts

SEED = 21
MEMBERS = [("b.csv", b"a,b\n3,z\n"), ("d/é.csv", b"x" * 300_000), ("a.csv", b"a,b\n1,x\n2,y\n"), ("empty", b"")]


@pytest.fixture
def packed(tmp_path):
    def made(data, extension, name="x"):
        path = tmp_path / f"{name}{extension}"
        path.write_bytes(data)
        return str(path)

    return made


def read_all(source):
    return [(name, stream.read()) for name, _, stream in archives.members(source)]


@pytest.mark.parametrize("extension", ARCHIVES)
def test_members_come_one_after_the_other(packed, extension):
    path = packed(archive_of(MEMBERS, extension), extension)
    assert read_all(path) == MEMBERS
    assert [(name, size) for name, size, _ in archives.members(path)] == [(name, len(data)) for name, data in MEMBERS]
    with open(path, "rb") as source:
        assert read_all(source) == MEMBERS


@pytest.mark.parametrize("extension", ARCHIVES)
def test_a_member_that_is_not_read_to_its_end_does_not_disturb_the_next(packed, extension):
    path = packed(archive_of(MEMBERS, extension), extension)
    assert [stream.read(3) for _, _, stream in archives.members(path)] == [data[:3] for _, data in MEMBERS]


@pytest.mark.parametrize("extension", ARCHIVES)
def test_any_member_can_be_opened_in_any_order(packed, extension):
    path = packed(archive_of(MEMBERS, extension), extension)
    assert [member.name for member in archives.listed(path)] == ["a.csv", "b.csv", "empty", "d/é.csv"]
    for name, data in random.Random(SEED).choices(MEMBERS, k=20):
        with archives.opened_member(path, name) as stream:
            assert stream.read() == data
    with pytest.raises(DataFilesNotFoundError, match="no such member"), archives.opened_member(path, "c.csv"):
        pass


@pytest.mark.parametrize("extension", ARCHIVES)
def test_threads_read_different_members_at_a_time(packed, extension):
    members = [(f"{n}.txt", bytes([n]) * 400_000) for n in range(8)]
    path, wrong = packed(archive_of(members, extension), extension), []

    def read(name, data):
        with archives.opened_member(path, name) as stream:
            found = b"".join(iter(lambda: stream.read(10_000), b""))
        if found != data:
            wrong.append(name)

    threads = [threading.Thread(target=read, args=member) for member in members]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_archive_is_let_go_of_when_all_of_it_was_read(packed):
    path = packed(archive_of(MEMBERS, ".tar.gz"), ".tar.gz")
    for member in archives.listed(path):
        with archives.opened_member(path, member.name) as stream:
            stream.read()
    assert not archives._slot


def test_an_archive_that_changed_is_read_again(packed):
    path = packed(zip_of([("a", b"old")]), ".zip")
    archives.listed(path)
    packed(zip_of([("a", b"newer")]), ".zip")
    with archives.opened_member(path, "a") as stream:
        assert stream.read() == b"newer"


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_every_way_to_write_a_tar_is_read(packed, format):
    names = ["a", "é" * 40, "/".join(["folder"] * 20) + "/file"] + (
        ["n" * 3000] if format != tarfile.USTAR_FORMAT else []
    )
    members = [(name, name.encode()) for name in names]
    assert read_all(packed(tar_of(members, format), ".tar")) == members


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_every_way_to_compress_a_zip_is_read(packed, method):
    assert read_all(packed(zip_of(MEMBERS, method), ".zip")) == MEMBERS


def special(kind, **more):
    info = tarfile.TarInfo(f"special-{kind.decode()}")
    info.type = kind
    for name, value in more.items():
        setattr(info, name, value)
    return info


def test_folders_links_devices_and_pipes_are_no_members(packed):
    kinds = [tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE]
    members = [(special(kind, linkname="/etc/passwd"), b"") for kind in kinds]
    assert read_all(packed(tar_of([*members, ("a", b"1")]), ".tar")) == [("a", b"1")]
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    pipe = zipfile.ZipInfo("pipe")
    pipe.external_attr = stat.S_IFIFO << 16
    assert read_all(packed(zip_of([(link, b"/etc/passwd"), (pipe, b""), ("d/", b""), ("a", b"1")]), ".zip")) == [
        ("a", b"1")
    ]


@pytest.mark.parametrize("extension", TARS)
def test_a_cut_tar_gives_whole_members_and_then_an_error(packed, extension):
    members = [(f"{n}", random.Random(n).randbytes(3000)) for n in range(20)]
    data, rng = archive_of(members, extension), random.Random(SEED)
    end = data.rstrip(b"\0") if extension == ".tar" else data
    boundaries = [512 * 7 * n for n in range(1, 20)] if extension == ".tar" else []
    for cut in [*boundaries, *(rng.randrange(600, len(end)) for _ in range(20))]:
        found = []
        with pytest.raises(FileFormatError):
            for name, size, stream in archives.members(packed(data[:cut], extension)):
                content = stream.read()
                if len(content) == size:
                    found.append((name, content))
        assert found == members[: len(found)], (SEED, cut)


def test_a_cut_zip_is_an_error(packed):
    data = zip_of(MEMBERS)
    for cut in (len(data) - 1, len(data) // 2, 40, 4):
        with pytest.raises(FileFormatError):
            read_all(packed(data[:cut], ".zip"))


def test_a_member_of_a_zip_whose_bytes_changed_is_an_error(packed):
    data = bytearray(zip_of([("a", b"some text " * 100)], zipfile.ZIP_STORED))
    data[100] ^= 1
    with pytest.raises(FileFormatError, match=r"'a' cannot be read"):
        read_all(packed(bytes(data), ".zip"))


def test_an_encrypted_zip_is_an_error(packed):
    data = bytearray(zip_of([("a", b"1")]))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(FileFormatError, match="encrypted"):
        read_all(packed(bytes(data), ".zip"))


def test_a_member_without_a_name_is_no_member(packed):
    nameless = zipfile.ZipInfo("a")
    nameless.filename = ""
    assert read_all(packed(zip_of([(nameless, b"1"), ("b", b"2")]), ".zip", "nameless")) == [("b", b"2")]


def test_what_is_no_archive_says_so(packed):
    for data in (b"", b"a,b\n1,2\n", bytes(2000), compressed(b"a,b\n", "gz")):
        with pytest.raises(FileFormatError, match="no archive"):
            read_all(packed(data, ".bin"))
    with pytest.raises(UnavailableError, match="rar"):
        read_all(packed(b"Rar!\x1a\x07\x00", ".rar"))


def test_the_number_of_members_is_limited(packed, monkeypatch):
    members = [(f"{n}", b"") for n in range(40)]
    tar, zipped = packed(tar_of(members), ".tar"), packed(zip_of(members), ".zip")
    monkeypatch.setattr(config, "MAX_ARCHIVE_MEMBERS", 40)
    assert len(read_all(tar)) == len(read_all(zipped)) == 40
    monkeypatch.setattr(config, "MAX_ARCHIVE_MEMBERS", 39)
    for path in (tar, zipped):
        with pytest.raises(LimitExceededError, match="MAX_ARCHIVE_MEMBERS"):
            read_all(path)


def test_members_with_one_name_are_all_given_and_the_last_is_the_one_of_that_name(packed):
    with pytest.warns(UserWarning, match="Duplicate"):
        zipped = zip_of([("a", b"1"), ("a", b"2")])
    for data, extension in ((zipped, ".zip"), (tar_of([("a", b"1"), ("a", b"2")]), ".tar")):
        path = packed(data, extension)
        assert read_all(path) == [("a", b"1"), ("a", b"2")]
        with archives.opened_member(path, "a") as stream:
            assert stream.read() == b"2"


def test_a_sparse_member_is_an_error(packed):
    with pytest.raises(FileFormatError, match="sparse"):
        read_all(packed(tar_of([(special(tarfile.GNUTYPE_SPARSE), b"")], tarfile.GNU_FORMAT), ".tar"))


@pytest.mark.parametrize(
    "name", ["../a", "a/../../b", "/a", "\\a", "..\\a", "C:\\a", "c:a", "a\0b", "", ".", "//host/a"]
)
def test_names_that_lead_elsewhere(name):
    assert safe_parts(name) is None and not is_data(name)


def test_names_that_count():
    assert safe_parts("./d//a.csv") == ["d", "a.csv"] and is_data("./d/a.csv")
    assert not any(map(is_data, [".a", "d/.a", ".d/a", "__MACOSX/a", "__pycache__/a"]))
    assert is_shown(".d/a") and not any(map(is_shown, ["d/.a", "__MACOSX/a", "__a"]))


def test_7z(packed):
    py7zr = pytest.importorskip("py7zr")
    sink = io.BytesIO()
    with py7zr.SevenZipFile(sink, "w") as archive:
        for name, data in MEMBERS:
            archive.writestr(data, name)
    path = packed(sink.getvalue(), ".7z")
    assert dict(read_all(path)) == dict(MEMBERS)
    with archives.opened_member(path, "a.csv") as stream:
        assert stream.read() == b"a,b\n1,x\n2,y\n"
    with pytest.raises(FileFormatError):
        read_all(packed(sink.getvalue()[:-20], ".7z", "cut"))


def test_7z_without_its_package(packed, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "py7zr", None)
    with pytest.raises(MissingPackageError, match=r"clone\[7z\]"):
        read_all(packed(b"7z\xbc\xaf\x27\x1c" + bytes(100), ".7z"))


# As data files

CSVS = [
    ("b.csv", b"a,b\n3,z\n"),
    ("a.csv", b"a,b\n1,x\n2,y\n"),
    (".c.csv", b"no"),
    ("__MACOSX/a.csv", b"no"),
    ("n.txt", b"n"),
]


@pytest.mark.parametrize("extension", ARCHIVES)
def test_an_archive_is_the_data_files_in_it(packed, extension):
    path = packed(archive_of(CSVS, extension), extension)
    assert [file.inner for file in identified([path], (".csv",))] == ["a.csv", "b.csv"]
    assert load_dataset("csv", data_files=path, split="train")[:] == {"a": [1, 2, 3], "b": ["x", "y", "z"]}


def test_members_are_named_with_their_archive(packed):
    path = packed(zip_of([("train/a.csv", b"a\n1\n"), ("test/b.csv", b"a\n2\n")]), ".zip")
    found = load_dataset("csv", data_files={"train": f"zip://train/*.csv::{path}", "test": f"zip://test/b.csv::{path}"})
    assert {split: rows[:] for split, rows in found.items()} == {"train": {"a": [1]}, "test": {"a": [2]}}
    with pytest.raises(DataFilesNotFoundError, match="no such member"):
        load_dataset("csv", data_files=f"zip://c.csv::{path}")


def test_a_compressed_member_is_decompressed(packed):
    path = packed(zip_of([("a.jsonl.zst", compressed(b'{"a": 1}\n', "zst"))]), ".zip")
    with opened(identified([path])[0]) as stream:
        assert stream.read() == b'{"a": 1}\n'
    assert load_dataset("json", data_files=path, split="train")[:] == {"a": [1]}


def test_a_changed_member_changes_the_identity(packed):
    path = packed(zip_of([("a.csv", b"a\n1\n"), ("b.csv", b"a\n2\n")]), ".zip")
    one, other = identified([path])
    assert one.identity != other.identity
    packed(zip_of([("a.csv", b"a\n10\n"), ("b.csv", b"a\n2\n")]), ".zip")
    assert identified([path])[0].identity != one.identity


def test_members_that_lead_elsewhere_are_told_of(packed, caplog):
    path = packed(zip_of([("../a.csv", b"a\n1\n"), ("b.csv", b"a\n2\n")]), ".zip")
    logging.enable_propagation()
    try:
        assert [member.name for member in archives.listed(path)] == ["b.csv"]
    finally:
        logging.disable_propagation()
    assert "1 members lead out of the archive and are left out, as '../a.csv'" in caplog.text
