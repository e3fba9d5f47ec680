"""The HTTP client is of this process alone: a fork never waits for it."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from huggingface_hub import get_session, set_client_factory

from crucible_datasets.localhub.server import serving
from crucible_datasets.sources.client import client
from crucible_datasets.sources.web import Web

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning", "ignore:.*fork.*:RuntimeWarning")


def in_a_fork(check, seconds=20):
    """What a forked process makes of a check: its exit code, or None if it never comes back."""
    child = os.fork()
    if child == 0:
        os._exit(0 if check() else 1)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def test_it_is_not_the_one_that_huggingface_hub_closes_in_forks():
    assert client() is client()
    assert client() is not get_session()


def test_a_forked_process_has_one_of_its_own():
    before = client()
    assert in_a_fork(lambda: client() is not before) == 0
    assert client() is before


def test_it_is_made_as_the_user_says():
    from huggingface_hub.utils import _http

    usual, made = _http.default_client_factory, []

    def factory():
        made.append(usual())
        return made[-1]

    before = client()
    set_client_factory(factory)
    try:
        assert client() is made[0]
        assert client() is made[0]
    finally:
        set_client_factory(usual)
    assert client() is not before


@pytest.mark.parametrize("forks", [10, pytest.param(1500, marks=pytest.mark.slow)])
def test_forks_return_while_files_are_coming(forks, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("crucible_datasets.config.HF_HUB_OFFLINE", False)
    folder = tmp_path / "hub" / "acme" / "plain"
    folder.mkdir(parents=True)
    (folder / "data.txt").write_bytes(b"x" * 100)
    with serving(str(tmp_path / "hub")) as server:
        url, over = f"{server.endpoint}/datasets/acme/plain/resolve/main/data.txt", threading.Event()

        def read():
            while not over.wait(0.01):  # so that the server, which is in this process too, gets its turn
                assert b"".join(Web().body(url)) == b"x" * 100

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            codes = {in_a_fork(lambda: b"".join(Web().body(url)) == b"x" * 100) for _ in range(forks)}
        finally:
            over.set()
            for thread in threads:
                thread.join()
    assert codes == {0}
