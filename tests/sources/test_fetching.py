"""Bytes arrive right or not at all, whatever the server does."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from support.faulty import faulty
from support.web import Quiet, served

from crucible_datasets.exceptions import ContentMismatchError, DownloadError
from crucible_datasets.sources import backoff, http, stdlib_http
from crucible_datasets.sources.fetching import Expected, fetch
from crucible_datasets.sources.web import Web

CONTENT = random.Random(20261116).randbytes(3 << 20)
RIGHT = Expected(len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
HASTY = Web(retry_timeout=4.0, read_timeout=0.5)

PASSING = ["429 1", "500", "502", "503", "504", "reset", "cut 0", "cut 100000", "stall 1"]
WRONG = ["html", "flipped 5", "longer", "shorter"]


@pytest.fixture(autouse=True)
def online(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("crucible_datasets.config.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")


def get(server, tmp_path, expected=RIGHT, web=HASTY):
    path = fetch(partial(web.body, server.url), str(tmp_path / "out" / "data"), "data", expected)
    return Path(path).read_bytes()


def connect(monkeypatch, by_client):
    """Have requests made by the client of huggingface_hub, or by the standard library without it."""
    monkeypatch.setattr("crucible_datasets.sources.stdlib_http.is_client_configured", lambda: by_client)
    monkeypatch.setattr("crucible_datasets.sources.client_errors.is_client_loaded", lambda: by_client)


@pytest.mark.parametrize("fault", PASSING)
def test_accidents_that_pass_are_survived(tmp_path, monkeypatch, fault, by_client=True):
    connect(monkeypatch, by_client)
    with faulty(CONTENT, fault, "fine") as server:
        assert get(server, tmp_path) == CONTENT
    assert os.listdir(tmp_path / "out") == ["data"]


@pytest.mark.parametrize("fault", [*PASSING, *WRONG])
def test_so_it_is_by_the_standard_library_alone(tmp_path, monkeypatch, fault):
    connect(monkeypatch, by_client=False)
    monkeypatch.setattr("crucible_datasets.sources.client_errors.made_client", None)  # nobody asks for it
    if fault in WRONG:
        test_wrong_bytes_are_refused_before_they_have_a_name(tmp_path, fault)
    else:
        test_accidents_that_pass_are_survived(tmp_path, monkeypatch, fault, by_client=False)


@pytest.mark.parametrize("by_client", [False, True])
def test_a_page_that_crawls_is_asked_for_again(by_client, monkeypatch):
    connect(monkeypatch, by_client=by_client)
    with faulty(CONTENT[:9000], "crawl 10000", "fine") as server:
        assert Web(retry_timeout=3.0, read_timeout=0.3).page(server.url)[1] == CONTENT[:9000]


def test_a_head_that_trickles_is_given_up_as_a_whole():
    with faulty(CONTENT[:900], "trickle", "fine") as server:
        began = time.monotonic()
        assert Web(retry_timeout=3.0, read_timeout=0.3).page(server.url)[1] == CONTENT[:900]
        assert time.monotonic() - began < 1.5
        assert len(server.asked) == 2


def test_an_answer_without_a_stated_length_is_read_up_to_a_limit(monkeypatch):
    connect(monkeypatch, by_client=False)
    monkeypatch.setattr("crucible_datasets.sources.stdlib_http._LONGEST_RESPONSE", 100_000)
    with served(InPieces) as address:
        found = [stdlib_http.try_get(f"{address}/{size}", {}) for size in (99, 200, 99)]
    assert found == [bytes(99_000), None, bytes(99_000)]


class InPieces(Quiet):
    """Answers with as many thousand bytes as the path says, and does not say so itself."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with suppress(OSError):
            for _ in range(int(self.path[1:])):
                self.wfile.write(b"3e8\r\n" + bytes(1000) + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")


@pytest.mark.parametrize("fault", ["cut 1000", "reset", "503"])
@pytest.mark.parametrize("after", ["whole", "wrong-range", "fine"])
def test_what_comes_after_a_cut_is_what_was_missing(tmp_path, fault, after):
    with faulty(CONTENT, "cut 70000", fault, after, "fine") as server:
        assert get(server, tmp_path) == CONTENT


@pytest.mark.parametrize("fault", WRONG)
def test_wrong_bytes_are_refused_before_they_have_a_name(tmp_path, fault):
    with faulty(CONTENT, fault) as server, pytest.raises(ContentMismatchError):
        get(server, tmp_path)
    assert os.listdir(tmp_path / "out") == []


def test_each_flipped_bit_is_noticed(tmp_path):
    chance = random.Random(7)
    content = CONTENT[:5000]
    expected = Expected(len(content), hashlib.sha256(content).hexdigest())
    with faulty(content, *[f"flipped {chance.randrange(len(content))}" for _ in range(100)]) as server:
        for trial in range(100):
            with pytest.raises(ContentMismatchError):
                get(server, tmp_path / str(trial), expected)
        assert server.plan == []


@pytest.mark.parametrize(("fault", "words"), [("404", "404"), ("gzip", "encoding"), ("loop", "redirected")])
def test_what_does_not_pass_is_an_error_that_names_the_address(tmp_path, fault, words):
    with faulty(CONTENT, fault) as server, pytest.raises(DownloadError, match=words) as caught:
        get(server, tmp_path)
    assert caught.value.url == server.url


@pytest.mark.parametrize("by_client", [False, True])
def test_headers_that_make_no_sense_are_an_error_at_once(by_client, monkeypatch):
    connect(monkeypatch, by_client=by_client)
    for length in ("abc", "-5", "1e3"):
        # The client notices by itself that this is no HTTP, and tries again.
        with faulty(CONTENT, f"stated {length}") as server, suppress(DownloadError):
            assert b"".join(HASTY.body(server.url)) == CONTENT and by_client
    for place in ("http://[bad", "ftp://127.0.0.1/data", "file:///etc/passwd", "http://127.0.0.1:99999/data"):
        with faulty(CONTENT, "redirect", "redirect") as server:
            server.elsewhere = place
            with pytest.raises(DownloadError, match="redirected"):
                list(HASTY.body(server.url))
            assert len(server.asked) == 1


def test_what_a_user_says_to_a_host_is_not_said_in_the_clear_when_it_was_to_be_encrypted():
    web = http._web("https://host.example/a", {"headers": {"Authorization": "mine"}})
    hearing = (
        "https://host.example/b",
        "http://host.example/a",
        "https://host.example:444/a",
        "https://other.example/a",
    )
    assert [bool(web.headers(url)) for url in hearing] == [True, False, False, False]
    assert http._web("http://host.example/a", {"headers": {"x": "y"}}).headers("https://host.example/a") == {"x": "y"}


def test_patience_ends(tmp_path):
    with faulty(CONTENT, *["503"] * 100) as server, pytest.raises(DownloadError, match="503"):
        get(server, tmp_path, web=Web(retry_timeout=0.5))


def test_a_host_that_was_never_there_is_given_up_before_one_that_was(monkeypatch):
    monkeypatch.setattr(backoff, "_NEVER_REACHED", 0.0)
    monkeypatch.setattr(backoff, "_REACHED_BEFORE", 0.3)
    with pytest.raises(DownloadError, match=r"refused \(tried 1 times\)"):
        Web().head("http://127.0.0.1:9/")
    backoff.note_reachable("127.0.0.1:9")
    with pytest.raises(DownloadError, match=r"refused \(tried [2-9] times\)"):
        Web().head("http://127.0.0.1:9/")
    backoff._reachable.discard("127.0.0.1:9")


def test_a_pause_that_the_server_asks_for_is_kept(tmp_path):
    with faulty(CONTENT, "429 1", "fine") as server:
        began = time.monotonic()
        get(server, tmp_path)
        assert time.monotonic() - began >= 1  # without the wish it would be a tenth of it


def test_a_line_that_is_cut_again_and_again_still_delivers(tmp_path):
    with faulty(CONTENT, cut_every=1 << 20) as server:
        assert get(server, tmp_path) == CONTENT
        assert server.sent == len(CONTENT)


def test_a_crawling_connection_is_replaced_and_a_crawling_server_given_up():
    """Bytes that trickle never let a read time out."""
    hasty, short = Web(retry_timeout=1.5, read_timeout=0.3), CONTENT[:9000]
    with faulty(short, "crawl 10000", "fine") as server:
        assert b"".join(hasty.body(server.url)) == short
    with faulty(CONTENT, "crawl 10000", "cut 9000", "fine") as server:
        assert b"".join(hasty.body(server.url)) == CONTENT
        assert len(server.asked) == 3
    with faulty(CONTENT, *["crawl 10000"] * 10) as server, pytest.raises(DownloadError, match="fewer than 300 bytes"):
        list(hasty.body(server.url))
    assert 1 < len(server.asked) < 10


def test_who_reads_slowly_is_no_reason_to_lose_patience():
    """A stream may wait for its reader longer than servers keep connections."""
    hasty, found = Web(retry_timeout=0.3, read_timeout=0.2), b""
    with faulty(CONTENT, "cut 5000", "fine") as server:
        for piece in hasty.body(server.url):
            time.sleep(0.5 if not found else 0)
            found += piece
    assert found == CONTENT


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_killed_download_goes_on_where_it_ended(tmp_path, share):
    program = f"""
import sys
from functools import partial
from pathlib import Path
from crucible_datasets.sources.fetching import Expected, fetch
from crucible_datasets.sources.web import Web
total = 0
def advance(number):
    global total
    total += number
    if total >= {int(share * len(CONTENT))}:
        import os, signal
        os.kill(os.getpid(), signal.SIGKILL)
fetch(partial(Web().body, sys.argv[1]), sys.argv[2], "data", Expected({len(CONTENT)}, {RIGHT.sha256!r}), advance)
"""
    target = str(tmp_path / "out" / "data")
    with faulty(CONTENT) as server:
        killed = subprocess.run([sys.executable, "-c", program, server.url, target], timeout=60)
        assert killed.returncode == -signal.SIGKILL
        assert not os.path.exists(target)
        server.sent = 0
        assert get(server, tmp_path) == CONTENT
        assert server.sent <= len(CONTENT) * (1 - share) + (1 << 20)
    assert os.listdir(tmp_path / "out") == ["data"]


def test_a_damaged_rest_of_an_earlier_download_is_not_built_upon(tmp_path):
    (tmp_path / "out").mkdir()
    from crucible_datasets.atomic import owners

    dead = owners.unfinished_name("data", ".partial").replace(owners.me().split("-")[1], "999999999")
    (tmp_path / "out" / dead).write_bytes(bytes(1000))
    with faulty(CONTENT) as server:
        assert get(server, tmp_path) == CONTENT
    assert os.listdir(tmp_path / "out") == ["data"]


def test_headers_are_made_for_each_host_anew(tmp_path):
    said = {}

    def headers(url):
        return {"X-Secret": "s"} if f":{first.port}/" in url else {}

    with faulty(CONTENT, "redirect") as first, faulty(CONTENT) as second:
        first.elsewhere = second.url.replace("127.0.0.1", "localhost")
        assert b"".join(Web(headers).body(first.url)) == CONTENT
        said = [first.seen[0].get("X-Secret"), second.seen[0].get("X-Secret")]
    assert said == ["s", None]
