"""Archives of any program are walked as `tarfile` reads them, whatever the size of what is read at once."""

from __future__ import annotations

import io
import os
import random
import shutil
import subprocess
import tarfile
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.packed import tar_of

from crucible_datasets.exceptions import DatasetsError, FileFormatError, LimitExceededError
from crucible_datasets.formats.webdataset import FORMAT, parse, stream, window
from crucible_datasets.formats.webdataset.members import entries, nothing, walk

FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}
_words = st.text(st.sampled_from("ab0-_ é日."), min_size=1, max_size=12)
_names = st.one_of(
    st.builds(lambda parts, end: "/".join([*parts, end]), st.lists(_words, max_size=3), _words),
    st.builds(lambda part, times, end: f"{part * times}/{part * times}.{end}", _words, st.integers(1, 30), _words),
)
_members = st.lists(st.tuples(_names, st.binary(max_size=1500)), max_size=8)


def in_tarfile(data: bytes) -> list[tuple[str, int, bytes]]:
    """The regular files as the standard library reads them."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        files = [member for member in archive if member.isreg()]
        return [(file.name, file.offset_data, archive.extractfile(file).read()) for file in files]


def belongs(name: str) -> bool:
    base = name.rpartition("/")[2]
    stem, dot, extension = base.partition(".")
    return bool(stem and dot and extension) and "__MACOSX" not in name.split("/")


@settings(max_examples=120, deadline=None)
@given(members=_members, format=st.sampled_from([*FORMATS]), chunk=st.sampled_from([512, 1000, 1 << 20]))
def test_a_walk_finds_what_tarfile_finds(members, format, chunk):
    try:
        data = tar_of([(name.strip("/") or "x", content) for name, content in members], FORMATS[format])
    except ValueError:
        return  # a name that this format cannot hold
    expected = [found for found in in_tarfile(data) if belongs(found[0])]
    before, window.CHUNK = window.CHUNK, chunk
    try:
        found = list(walk(io.BytesIO(data), "x"))
        located = [member for member, _ in walk(io.BytesIO(data), "x", wanted=nothing)]
    finally:
        window.CHUNK = before
    assert [(member.name, member.offset, content) for member, content in found] == expected
    assert located == [member for member, _ in found]
    for place, (member, _) in enumerate(found):
        again = list(walk(io.BytesIO(data), "x", start=member.begin))
        assert again == found[place:]


def _programs() -> list[tuple[str, list[str]]]:
    gnu = [("tar", [f"--format={kind}"]) for kind in ("gnu", "oldgnu", "posix", "ustar", "v7")]
    sparse = [("tar", ["--format=posix", "--sparse", f"--sparse-version={number}"]) for number in ("0.0", "0.1", "1.0")]
    return [*gnu, ("tar", ["--format=gnu", "--sparse"]), *sparse]


def _is_gnu() -> bool:
    return bool(shutil.which("tar")) and b"GNU" in subprocess.run(["tar", "--version"], capture_output=True).stdout


def _folder(place) -> dict[str, bytes]:
    """Files to pack, one of them with more gaps than a header has room for."""
    os.makedirs(place / "a" / "deep")
    files = {"a/x.txt": b"hi\n", "a/x.bin": os.urandom(3000), "a/deep/y.tar": b"", "b.txt": b"\0" * 700}
    for name, content in files.items():
        (place / name).write_bytes(content)
    with open(place / "gaps.bin", "wb") as file:
        for part in range(30):
            file.seek(part * 65536)
            file.write(b"%d" % part * 100)
        file.truncate(30 * 65536)
    return {**files, "gaps.bin": (place / "gaps.bin").read_bytes()}


def test_archives_of_gnu_tar_are_read_with_gaps_or_without(tmp_path):
    if not _is_gnu():
        pytest.skip("GNU tar is not installed")
    files = _folder(tmp_path / "in")
    for number, (program, options) in enumerate(_programs()):
        packed = tmp_path / f"{number}.tar"
        subprocess.run([program, *options, "-cf", packed, "-C", tmp_path / "in", "."], check=True)
        with open(packed, "rb") as source:
            found = {member.name.removeprefix("./"): content for member, content in walk(source, "x")}
        assert found == files, options
        with open(packed, "rb") as source:
            located = [member for member, _ in walk(source, "x", wanted=nothing)]
        assert {member.name.removeprefix("./"): member.size for member in located} == {
            name: len(content) for name, content in files.items()
        }
        for member in located:  # what is stored lies where the member says
            assert _restored(packed.read_bytes(), member) == files[member.name.removeprefix("./")]


def _restored(data: bytes, member) -> bytes:
    if member.runs is None:
        return data[member.offset : member.offset + member.size]
    content, at = bytearray(member.size), member.offset
    for start, length in member.runs:
        content[start : start + length] = data[at : at + length]
        at += length
    return bytes(content)


def test_archives_of_bsdtar_are_read(tmp_path):
    if not shutil.which("bsdtar"):
        pytest.skip("bsdtar is not installed")
    files = _folder(tmp_path / "in")
    for kind in ("pax", "ustar", "gnutar", "v7"):
        subprocess.run(
            ["bsdtar", f"--format={kind}", "-cf", tmp_path / "b.tar", "-C", tmp_path / "in", "."], check=True
        )
        with open(tmp_path / "b.tar", "rb") as source:
            found = {member.name.removeprefix("./"): content for member, content in walk(source, "x")}
        assert found == files


def test_what_belongs_to_no_sample_is_passed_over_and_counted():
    link = tarfile.TarInfo("a.lnk")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    folder = tarfile.TarInfo("some.folder")
    folder.type = tarfile.DIRTYPE
    names = ["README", "a/.DS_Store", "__MACOSX/._x.txt", "b/__MACOSX/x.txt", ".x.txt", "x.", "__x.txt", "x.txt"]
    data = tar_of([*((name, b"1") for name in names), (link, b""), (folder, b"")])
    samples = parse(io.BytesIO(data))
    assert [sample["__key__"] for sample in samples] == ["__x", "x"]
    assert samples.report.skipped == Counter({"no extension": 2, "hidden": 2, "__MACOSX": 2, "no file": 1, "folder": 1})


def test_sizes_in_base_256_and_signed_checksums_are_understood():
    content = b"x" * 600
    data = bytearray(tar_of([("é.txt", content)], tarfile.GNU_FORMAT))
    data[124:136] = b"\x80" + len(content).to_bytes(11, "big")
    for signed in (False, True):
        data[148:156] = b" " * 8
        total = sum(memoryview(bytes(data[:512])).cast("b")) if signed else sum(data[:512])
        data[148:156] = b"%06o\0 " % (total & 0o777777)
        assert [found for _, found in walk(io.BytesIO(bytes(data)), "x")] == [content]


def test_an_archive_that_breaks_off_gives_all_whole_samples_and_then_the_place():
    members = [(f"{key}.{kind}", kind.encode() * (40 * key + 1)) for key in range(4) for kind in ("txt", "bin")]
    for format in FORMATS.values():
        data = tar_of([*members, ("long" * 40 + ".txt", b"1")] if format != FORMATS["ustar"] else members, format)
        everything = parse(io.BytesIO(data))
        end = data.rstrip(b"\0")
        whole = -(-len(end) // 512) * 512 + 512  # with the first block of zeros
        for cut in sorted({*range(0, whole + 513, 512), *range(1, whole, 509), whole - 1, len(data)}):
            samples, error = [], None
            try:
                samples.extend(stream(io.BytesIO(data[:cut])))
            except FileFormatError as raised:
                error = raised
                # Samples come before the error, and one of which more might follow does not come at all.
                samples = list(_before_error(data[:cut]))
            assert samples == everything[: len(samples)]
            assert (error is None) == (cut >= whole), cut
            if error is None:
                assert samples == everything
            else:
                assert error.offset is not None
                assert error.offset <= cut
                assert len(samples) < len(everything)


def _before_error(data: bytes):
    found = stream(io.BytesIO(data))
    while True:
        try:
            yield next(found)
        except (StopIteration, FileFormatError):
            return


def test_a_size_that_lies_costs_no_memory():
    import tracemalloc

    huge = tarfile.TarInfo("x.bin")
    huge.size = 1 << 29
    header = huge.tobuf(tarfile.GNU_FORMAT)
    sparse = tarfile.TarInfo("x.bin")
    sparse.pax_headers = {"GNU.sparse.map": "0,1", "GNU.sparse.size": str(1 << 50)}
    sparse.size = 1
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match="breaks off"):
            parse(io.BytesIO(header + bytes(1000)))
        with pytest.raises(LimitExceededError, match="MAX_MEMBER_BYTES"):
            parse(io.BytesIO(sparse.tobuf(tarfile.PAX_FORMAT) + bytes(2048)))
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def _damaged(data: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, in headers more often than elsewhere, most of them with checksums that agree again."""
    mutant = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        block = chance.randrange(len(mutant) // 512) * 512
        place = block + chance.choice([0, 99, 124, 125, 135, 156, 345, 386, 482, 483, chance.randrange(512)])
        mutant[place] = chance.choice([0, 32, 48, 55, 83, 120, 128, 255, chance.randrange(256)])
    for block in range(0, len(mutant) - 511, 512) if chance.random() < 0.8 else ():
        if mutant[block + 257 : block + 262] == b"ustar":
            mutant[block + 148 : block + 156] = b" " * 8
            mutant[block + 148 : block + 156] = b"%06o\0 " % sum(mutant[block : block + 512])
    return bytes(mutant[: chance.randrange(len(mutant))] if chance.random() < 0.2 else mutant)


def _met(data: bytes, chunk: int) -> list[object]:
    """The members of an archive, and the error that ends them, where `chunk` bytes are read at once."""
    met: list[object] = []
    before, window.CHUNK = window.CHUNK, chunk
    try:
        for entry in entries(io.BytesIO(data), "x"):
            met.append(entry)
    except DatasetsError as error:
        met.append((type(error), str(error)))
    finally:
        window.CHUNK = before
    return met


def _survive(count: int) -> None:
    seed = int(os.environ.get("CRUCIBLE_SEED", 20261116))
    chance = random.Random(seed)
    gaps = tarfile.TarInfo("g.bin")
    gaps.pax_headers = {"GNU.sparse.map": "0,3,100,2", "GNU.sparse.size": "200"}
    contents = {"json": b'{"a": [1]}', "txt": b"hi", "cls": b"3", "mp": b"\x93\x01\x02\x03", "x" * 120: b"1" * 700}
    members = [(f"d/{key}.{kind}", content) for key in range(2) for kind, content in contents.items()]
    archives = [tar_of([*members, (gaps, b"abcde")], FORMATS[kind]) for kind in ("gnu", "pax")]
    archives.append(tar_of([(f"{key}.{kind}", b"1" * key) for key in range(6) for kind in ("txt", "json", "id")]))
    for number in range(count):
        mutant = _damaged(chance.choice(archives), chance)
        for read in (parse, lambda source: list(FORMAT.rows(source))):
            try:
                read(io.BytesIO(mutant))
            except DatasetsError:
                pass
            except BaseException as error:
                raise AssertionError(f"seed {seed}, mutant {number}: {error!r}") from error
        # Many headers are read together where they are at hand, and one by one where they are not.
        assert _met(mutant, 512) == _met(mutant, 1 << 20), f"seed {seed}, mutant {number}"


def test_damaged_archives_give_samples_or_typed_errors():
    _survive(200)


@pytest.mark.slow
def test_many_damaged_archives_give_samples_or_typed_errors():
    _survive(20_000)
