"""What a hostile archive may hold, member kind by member kind."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile

from support.packed import tar_of, zip_of


def _entry(name, kind=tarfile.REGTYPE, mode=0o644, link="", device=(0, 0)):
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.linkname = kind, mode, link
    info.devmajor, info.devminor = device
    return info


def _zip_entry(name, mode):
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def _with_nul():
    """A name with a NUL, which only an extended header can carry."""
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("x")
        info.pax_headers, info.size = {"path": "a\0b.csv"}, 1
        archive.addfile(info, io.BytesIO(b"x"))
    return sink.getvalue()


BAD = b"bad"
FAR = "../" * 40 + "tmp/crucible-escaped"
TARS = {
    "parent": lambda: tar_of([("../../escaped", BAD), ("a/../../../escaped", BAD), (FAR, BAD)]),
    "absolute": lambda: tar_of([("/tmp/crucible-escaped", BAD)]),
    "drive": lambda: tar_of([("C:\\escaped", BAD), ("C:/escaped", BAD)]),
    "unc": lambda: tar_of([("\\\\host\\share\\escaped", BAD), ("//host/share/escaped", BAD)]),
    "nul": _with_nul,
    "symlink": lambda: tar_of([(_entry("link", tarfile.SYMTYPE, link="/etc/passwd"), b"")]),
    "hardlink": lambda: tar_of([(_entry("link", tarfile.LNKTYPE, link="/etc/passwd"), b"")]),
    "chain": lambda: tar_of(
        [
            (_entry("up", tarfile.SYMTYPE, link=".."), b""),
            (_entry("up/up", tarfile.SYMTYPE, link=".."), b""),
            ("up/up/escaped", BAD),
        ]
    ),
    "fifo": lambda: tar_of([(_entry("pipe", tarfile.FIFOTYPE), b"")]),
    "chr": lambda: tar_of([(_entry("null", tarfile.CHRTYPE, device=(1, 3)), b"")]),
    "blk": lambda: tar_of([(_entry("disk", tarfile.BLKTYPE, device=(8, 0)), b"")]),
    "setuid": lambda: tar_of([(_entry("run", mode=0o4777), BAD)]),
    "duplicate": lambda: tar_of([("same", b"1"), ("same", b"2"), ("same/below", b"3"), ("same", b"4")]),
    "long name": lambda: tar_of([("n" * 10_000, BAD), ("d/" * 5000 + "f", BAD)]),
    "case clash": lambda: tar_of([("A/b", b"1"), ("a/B", b"2"), ("a/b", b"3")]),
}
ZIPS = {
    "parent": lambda: zip_of([("../../escaped", BAD), ("a/../../../escaped", BAD), (FAR, BAD)]),
    "absolute": lambda: zip_of([("/tmp/crucible-escaped", BAD)]),
    "drive": lambda: zip_of([("C:\\escaped", BAD), ("C:/escaped", BAD)]),
    "unc": lambda: zip_of([("\\\\host\\share\\escaped", BAD), ("//host/share/escaped", BAD)]),
    "symlink": lambda: zip_of([(_zip_entry("link", stat.S_IFLNK | 0o777), b"/etc/passwd")]),
    "fifo": lambda: zip_of([(_zip_entry("pipe", stat.S_IFIFO | 0o777), b"")]),
    "chr": lambda: zip_of([(_zip_entry("null", stat.S_IFCHR | 0o777), b"")]),
    "blk": lambda: zip_of([(_zip_entry("disk", stat.S_IFBLK | 0o777), b"")]),
    "setuid": lambda: zip_of([(_zip_entry("run", stat.S_IFREG | 0o4777), BAD)]),
    "file and folder": lambda: zip_of([("same", b"1"), ("same/below", b"3")]),
    "long name": lambda: zip_of([("n" * 10_000, BAD), ("d/" * 5000 + "f", BAD)]),
    "case clash": lambda: zip_of([("A/b", b"1"), ("a/B", b"2"), ("a/b", b"3")]),
}
CASES = {
    **{f"tar: {name}": (".tar", make) for name, make in TARS.items()},
    **{f"zip: {name}": (".zip", make) for name, make in ZIPS.items()},
}
