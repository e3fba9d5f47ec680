"""A real server of PostgreSQL on loopback, in a folder of its own, run by a user who is not root."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob

import pytest


@contextmanager
def server() -> Iterator[str]:
    """Start a server and give the URL of a database; the test is skipped where no server is installed."""
    programs = sorted(glob("/usr/lib/postgresql/*/bin"))
    found = os.path.join(programs[-1], "pg_ctl") if programs else shutil.which("pg_ctl")
    if found is None:
        pytest.skip("no PostgreSQL server is installed")
    pytest.importorskip("psycopg")
    folder = tempfile.mkdtemp(prefix="pg-")  # sockets need a short path
    who = _user(folder)
    bin = os.path.dirname(found)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = os.path.join(folder, "data")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "check": True, "cwd": folder, **who}
    try:
        subprocess.run([f"{bin}/initdb", "-D", data, "-U", "tester", "-A", "trust", "--no-sync"], **quiet)
        # A folding order of its own shows whether queries compare texts as Python does.
        settings = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        subprocess.run([f"{bin}/pg_ctl", "-D", data, "-w", "-o", settings, "-l", f"{folder}/log", "start"], **quiet)
        try:
            yield f"postgresql://tester@127.0.0.1:{port}/postgres"
        finally:
            subprocess.run([f"{bin}/pg_ctl", "-D", data, "-m", "immediate", "stop"], **quiet)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _user(folder: str) -> dict[str, object]:
    """Who runs the server: PostgreSQL refuses to be run by root."""
    if os.getuid() != 0 or not sys.platform.startswith("linux"):
        return {}
    import pwd

    try:
        nobody = pwd.getpwnam("postgres")
    except KeyError:
        nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
