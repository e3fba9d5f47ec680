"""Only the browser of the user gets into a viewer: no other user, no other server of this machine, no page of one."""

import os
import stat
import subprocess
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import quote, urlsplit

import pytest
from support.browser import browser, needs_browser
from support.command import CRUCIBLE
from support.viewers import served

from crucible_datasets import Dataset
from crucible_datasets.viewer.entry import write_way

SQL = quote("select 7 * 6 as answer from self")


@pytest.fixture
def asking():
    with served(Dataset.from_dict({"n": [11, 22], "text": ["a", "b"]})) as made:
        yield made


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened


@contextmanager
def neighbour(page=b""):
    """A server of somebody else on another port, with what it is told."""
    heard = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            heard.append((self.path, dict(self.headers)))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port, heard
    finally:
        server.shutdown()
        server.server_close()


def entered(chromium, viewer):
    page = chromium.new_context().new_page()
    page.goto(viewer.url)
    page.get_by_text("22", exact=True).locator("visible=true").first.wait_for()
    return page


def test_an_address_opens_the_viewer_once(asking):
    url = asking.viewer.url
    path = url.partition(str(asking.viewer.port))[2]
    assert asking(path, token=False, method="HEAD").status == 401
    assert asking(path, token=False, Origin="http://evil.example").status == 403
    assert asking.viewer.url == url
    assert [asking(path, token=False).status for _ in range(3)] == [303, 401, 401]
    assert asking.viewer.url != url and asking.viewer.token not in url
    assert asking(asking.viewer.url.partition(str(asking.viewer.port))[2], token=False).status == 303


def test_secrets_are_no_tickets_and_tickets_no_secrets(asking):
    ticket = asking.viewer.url.partition("token=")[2]
    assert asking("/index.json", token=False, X_Crucible_Token=ticket).status == 401
    assert asking(f"/index.json?token={asking.viewer.token}", token=False).status == 401
    name = f"crucible-{asking.viewer.port}"
    own = urlsplit(asking.viewer.origin).netloc
    for secret in (ticket, asking.viewer.token):
        assert asking("/index.json", token=False, Host=own, Cookie=f"{name}={secret}").status == 401


def test_another_name_below_localhost_is_not_answered_to(asking):
    for name in ("localhost.localhost", "x.localhost", f"x.{urlsplit(asking.viewer.origin).hostname}"):
        assert asking("/index.json", Host=name).status == 403


def test_nobody_else_can_wait_at_the_other_loopback_address(asking):
    import socket

    with socket.socket(socket.AF_INET6) as other:
        try:
            other.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
    with socket.socket(socket.AF_INET6) as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError):
            other.bind(("::1", asking.viewer.port))
    with socket.socket(socket.AF_INET6) as other:
        other.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        other.bind(("::1", 0))
        other.listen()
        from crucible_datasets import view
        from crucible_datasets.exceptions import ArgumentError

        with pytest.raises(ArgumentError, match="cannot be listened on"):
            view(Dataset.from_dict({"n": [1]}), port=other.getsockname()[1], browser=False)


@needs_browser
def test_a_browser_stays_in_after_a_reload_in_new_tabs_and_without_the_ticket_in_its_history(chromium, asking):
    page = entered(chromium, asking.viewer)
    assert page.url == f"{asking.viewer.origin}/data/0"
    page.reload()
    page.get_by_text("22", exact=True).locator("visible=true").first.wait_for()
    page.goto(f"{asking.viewer.origin}/data/0?where=n%3E11")
    page.get_by_text("1 of 2 rows").wait_for()
    other = page.context.new_page()
    other.goto(f"{asking.viewer.origin}/data/0/rows.json")
    assert '"total":2' in other.content()
    (cookie,) = page.context.cookies()
    assert cookie["domain"] == urlsplit(asking.viewer.origin).hostname
    assert cookie["expires"] == -1 and cookie["httpOnly"] and cookie["sameSite"] != "None"
    assert cookie["value"] not in (asking.viewer.token, asking.viewer.url)
    page.context.close()


@needs_browser
def test_a_file_leads_the_browser_in(chromium, asking, tmp_path):
    path = write_way(str(tmp_path), asking.viewer.url)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    page = chromium.new_context().new_page()
    page.goto(Path(path).as_uri())
    page.get_by_text("22", exact=True).locator("visible=true").first.wait_for()
    assert page.url == f"{asking.viewer.origin}/data/0"
    page.context.close()


@needs_browser
def test_servers_on_other_ports_receive_no_secret(chromium, asking):
    page = entered(chromium, asking.viewer)
    (cookie,) = page.context.cookies()
    with neighbour() as (port, heard):
        for name in ("127.0.0.1", "localhost", "other.localhost"):
            page.context.new_page().goto(f"http://{name}:{port}/")
    told = str(heard)
    assert len(heard) >= 3 and "Cookie" not in told
    for secret in (cookie["value"], asking.viewer.token, urlsplit(asking.viewer.origin).hostname):
        assert secret not in told
    page.context.close()


PAGE = """<!doctype html><script>
const viewer = "http://127.0.0.1:%(port)d", query = "/data/0.json?sql=%(sql)s";
const said = [];
fetch(viewer + query, {credentials: "include"}).then(a => a.text()).then(t => said.push(t), e => said.push("refused"));
const image = new Image(); image.onload = () => said.push("image"); image.src = viewer + query;
document.write(`<iframe src="${viewer}${query}"></iframe><script src="${viewer}${query}"><\\/script>`);
setTimeout(() => { document.title = said.join() || "nothing"; location = viewer + query; }, 500);
</script>"""


@needs_browser
def test_a_page_of_another_server_can_ask_nothing(chromium, asking):
    page = entered(chromium, asking.viewer)
    told = []
    other = page.context.new_page()
    other.on("response", lambda answer: told.append((answer.url, answer.status)))
    with neighbour((PAGE % {"port": asking.viewer.port, "sql": SQL}).encode()) as (port, _):
        other.goto(f"http://127.0.0.1:{port}/")
        other.wait_for_url("**/data/0.json*")
        assert "TokenNeeded" in other.content() and "42" not in other.content()
    answers = [status for url, status in told if f":{asking.viewer.port}/" in url]
    assert answers and set(answers) <= {401, 403}
    page.context.close()


OPENER = """#!/bin/sh
printf '%s\\n' "$@" > "$OPENED.part"
for file in "$@"; do path="${file#file://}"; stat -c '%a' "$path" "$(dirname "$path")" >> "$OPENED.part"; done
cat "$path" > "$OPENED.page"
mv "$OPENED.part" "$OPENED"
"""


@pytest.mark.skipif(not os.path.exists("/usr/bin/stat"), reason="needs stat")
def test_the_arguments_of_the_browser_hold_no_ticket(tmp_path):
    Dataset.from_dict({"n": [1]}).to_json(tmp_path / "rows.jsonl")
    opener, opened = tmp_path / "opener", tmp_path / "opened"
    opener.write_text(OPENER)
    opener.chmod(0o755)
    environment = {**os.environ, "BROWSER": str(opener), "OPENED": str(opened)}
    command = [CRUCIBLE, "view", str(tmp_path / "rows.jsonl")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as ran:
        try:
            ticket = ran.stdout.readline().partition("token=")[2].strip()
            end = time.monotonic() + 60
            while not opened.exists():
                assert time.monotonic() < end
                time.sleep(0.02)
            arguments, mode, folder = opened.read_text().split()
            assert arguments.startswith("file://") and ticket and ticket not in arguments
            assert (mode, folder) == ("600", "700")
            if os.geteuid() == 0:
                path = arguments.removeprefix("file://")
                other = {"user": 65534, "group": 65534, "extra_groups": []}
                assert subprocess.run(["cat", path], capture_output=True, **other).returncode != 0
            assert ticket in Path(f"{opened}.page").read_text()
            assert Path(arguments.removeprefix("file://")).exists()
        finally:
            ran.send_signal(2)
            ran.wait(20)
    assert not Path(arguments.removeprefix("file://")).exists()
