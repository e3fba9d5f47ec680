"""Data that is odd, damaged or changing, and clients that are: every failure has one shape, and the viewer goes on."""

import csv
import datetime as dt
import io
import json
import math
import os
import shutil
import signal
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.command import CRUCIBLE, done
from support.runs import run_of
from support.viewers import PIXEL, served

from crucible_datasets import ClassLabel, Dataset, Features, Image, IterableDataset, ResultStore, Value, view
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.viewer import server

NAMES = ["", "a.b", "a/b", "a,b", "-a", " ", "é\u202e", "%", "%2F", "#", "?", "&x=1", "null", "__proto__", "row", "select", '"', "'", "\\", "\n", "t", "🙂", "x" * 999, "<b>"]  # fmt: skip
PROBLEM = {"type", "message", "hint"}


def odd_data():
    """One of every kind of data that pages could stumble over."""
    numbers = {
        "f": [math.nan, math.inf, -math.inf, None],
        "i": [2**63 - 1, -(2**63), 2**53 + 1, None],
        "u": pa.array([2**64 - 1, 0, 1, None], pa.uint64()),
        "half": pa.array(np.arange(4, dtype=np.float16)),
        "money": [Decimal("1.10"), Decimal("-2.50"), None, Decimal("0.00")],
        "flag": [True, None, False, True],
    }
    times = {
        "day": [dt.date(1, 1, 1), None],
        "zoned": pa.array([0, 1], pa.timestamp("s", "Europe/Berlin")),
        "late": pa.array([0, 2**62], pa.timestamp("us")),  # a year that Python has not
        "span": pa.array([1, -1], pa.duration("s")),
    }
    nested = [{"a": None, "b": [None, {"c": None}]}, None, {"a": 1, "b": None}]
    chats = [[{"role": None, "content": None}], None, [], [{"role": "user", "content": "x" * 9_000}]]
    pictures = [{"bytes": b"junk", "path": None}, {"bytes": None, "path": "/nowhere.png"}, None]
    return [
        Dataset.from_dict({name: [1, 2, 3] for name in NAMES}),
        Dataset.from_dict({}),
        Dataset.from_dict({"a": []}, features=Features({"a": Value("int64")})),
        Dataset(pa.table(numbers)),
        Dataset(pa.table(times)),
        Dataset(pa.table({"s": pa.array(nested), "l": pa.array([None, [], [[None], None]]), "n": pa.nulls(3)})),
        Dataset(pa.table({"b": [b"\0\xff" * 99, b"", None], "d": pa.array(["a", "b", "a"]).dictionary_encode()})),
        Dataset.from_dict({"t": ["x" * 1_000_000, "y"], "l": [list(range(50_000)), []]}),
        Dataset.from_dict({f"c{number}": [number] for number in range(300)}),
        Dataset.from_dict({"l": [0, None, -1]}, features=Features({"l": ClassLabel(names=["a"])})),
        Dataset.from_dict({"m": chats}),
        Dataset.from_list([{"i": each} for each in pictures], features=Features({"i": Image()})),
        IterableDataset.from_generator(lambda: iter(())),
        Dataset.from_dict({"__crucible_row__": [5, 6]}),  # a name that is in use
    ]


def listed(name):
    """A name as pages write it into lists of names."""
    escaped = name.replace("%", "%25").replace(",", "%2C")
    return f"%2D{escaped[1:]}" if escaped.startswith("-") else escaped or "%"


def test_odd_data_is_shown():
    with served(*odd_data()) as asking:
        for data in range(14):
            facts = asking.json(f"/data/{data}.json")
            page = asking(f"/data/{data}/rows.json")
            assert page.status == 200 and len(page.body) < 1_000_000
            assert len(page.json["rows"]) == facts["num_rows"]
            for row in page.json["rows"][:2]:
                whole = asking.json(f"/data/{data}/row/{row['row']}.json")
                assert len(whole["cells"]) == len(facts["columns"])
            for column in facts["columns"][: 30 if data == 0 else 6]:
                name = column["name"]
                summary = asking.json(f"/data/{data}/summary.json?{urlencode({'column': name})}")
                assert summary["seen"] == facts["num_rows"]
                asked = urlencode({"columns": listed(name), "seed": 1, "q": "x"})
                assert asking.json(f"/data/{data}.json?{asked}")["shown"] == [name]
                if data == 0:
                    order = asking.json(f"/data/0/rows.json?{urlencode({'sort': '-' + listed(name)})}")["rows"]
                    assert [each["row"] for each in order] == [2, 1, 0], name
            for kind in ("jsonl", "csv", "parquet"):
                got = asking(f"/data/{data}/download.{kind}")
                assert got.status == 200 or set(got.error) == PROBLEM, got
        cells = asking.json("/data/4/rows.json")["rows"][1]["cells"]
        assert cells[2]["t"] == "error" and cells[3] == {"t": "text", "v": "-1 day, 23:59:59"}
        assert asking.json("/data/3/rows.json?sort=-i&limit=1")["rows"][0]["cells"][1] == {
            "t": "text",
            "v": str(2**63 - 1),
        }
        assert asking("/data/11/media/-/train/1/i").error["message"]
        for condition in ("nothing>1", "n>"):
            wrong = asking(f"/data/0.json?where={condition}")
            assert wrong.status == 400 and "crucible_row" not in wrong.error["message"], condition


def test_a_stream_that_breaks_shows_what_came_before():
    def breaks(after):
        for number in range(after):
            yield {"n": number}
        raise RuntimeError("the disk is gone")

    streams = [IterableDataset.from_generator(breaks, gen_kwargs={"after": after}) for after in (10, 0)]
    with served(*streams) as asking:
        facts = asking.json("/data/0.json")
        assert facts["num_rows"] == 10 and "after 10 rows: RuntimeError: the disk is gone" in facts["note"]
        assert len(asking.json("/data/0/rows.json")["rows"]) == 10
        assert asking("/data/1.json").status == 400 and "the disk is gone" in asking("/data/1.json").error["message"]
        assert asking.json("/data/0/rows.json?limit=1")["rows"]


def test_files_that_change_are_read_anew_and_those_that_break_are_told(tmp_path):
    path = tmp_path / "train.parquet"

    def write(first):
        made = tmp_path / "made"
        pq.write_table(pa.table({"n": np.arange(first, first + 3_000)}), made, row_group_size=500)
        os.replace(made, path)

    write(0)
    with served(str(path)) as asking:
        assert asking.json("/data/0/rows.json?limit=1")["rows"][0]["cells"] == [0]
        write(7_000)
        assert asking.json("/data/0/rows.json?limit=1&offset=2500")["rows"][0]["cells"] == [9_500]
        assert asking.json("/data/0/rows.json?limit=1")["rows"][0]["cells"] == [7_000]
        os.truncate(path, 100)
        for page in ("rows.json?offset=1500", "summary.json?column=n", "download.csv?where=n>1", "row/2000.json"):
            answer = asking(f"/data/0/{page}")
            assert answer.status == 400 and set(answer.error) == PROBLEM, (page, answer)
        os.remove(path)
        assert asking("/data/0.json").status == 400
        write(1)
        assert asking.json("/data/0/rows.json?limit=1")["rows"][0]["cells"] == [1]


def test_stores_that_grow_break_and_vanish(tmp_path):
    store = ResultStore(tmp_path / "store")
    for model in "ab":
        store.save(run_of(model, [1, 0, None]))
    with served(str(tmp_path / "store")) as asking, ThreadPoolExecutor(4) as pool:
        saved = [pool.submit(store.save, run_of(f"m{number}", [1, 0, None])) for number in range(6)]
        counts = [len(asking.json("/results/0.json")["runs"]) for _ in range(6)]
        assert [each.result() for each in saved] and counts == sorted(counts)
        assert len(asking.json("/results/0.json")["runs"]) == 8
        path = tmp_path / "store" / "runs" / "a-run.parquet"
        os.truncate(path, path.stat().st_size // 2)
        for page in ("run/a-run.json", "compare.json?runs=a-run,b-run", "samples.json?runs=a-run"):
            answer = asking(f"/results/0/{page}")
            assert answer.status == 400 and set(answer.error) == PROBLEM, (page, answer)
        assert {each["run"] for each in asking.json("/results/0.json")["runs"]} >= {"b-run", "m0-run"}
        shutil.rmtree(tmp_path / "store")
        assert asking.json("/results/0.json")["runs"] == [] and asking("/results/0/run/m1-run.json").status == 404


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "=cmd|' /C calc'!A0", "\u202e=1", "plain", None, "a=b"]  # fmt: skip


def test_no_text_becomes_a_formula_unless_that_is_asked_for():
    rows = Dataset.from_dict({"=name": FORMULAS, "number": [-1] * len(FORMULAS), "=list": [["=1"]] * len(FORMULAS)})
    with served(rows) as asking:
        head, *lines = csv.reader(io.StringIO(asking("/data/0/download.csv").body.decode(), newline=""))
        assert head == ["'=name", "number", "'=list"] and {line[1] for line in lines} == {"-1"}
        for text, line in zip(FORMULAS, lines, strict=True):
            assert not line[0].startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝")) and line[2][0] == "["
            assert text is None or line[0].endswith(text.lstrip("\r\t\u202e")[-1])
        head, *lines = csv.reader(
            io.StringIO(asking("/data/0/download.csv?formula_safe=false").body.decode(), newline="")
        )
        assert head[0] == "=name" and [line[0] or None for line in lines] == FORMULAS
        assert [json.loads(each)["=name"] for each in asking("/data/0/download.jsonl").body.splitlines()] == FORMULAS


NO_REQUESTS = [
    b"GARBAGE\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
]


def test_requests_that_are_none_get_our_headers_and_our_shape():
    with served(Dataset.from_dict({"n": [1]})) as asking:
        for sent in NO_REQUESTS:
            with socket.create_connection(("127.0.0.1", asking.viewer.port), timeout=10) as connection:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                told = b"".join(iter(lambda: connection.recv(65536), b""))
            head, _, body = told.partition(b"\r\n\r\n")
            assert head.startswith((b"HTTP/1.1 400", b"HTTP/1.1 403")), (sent, told)
            assert b"content-security-policy: default-src 'none'" in head.lower() and b"nosniff" in head
            assert body.startswith(b"<!doctype html>") or set(json.loads(body)["error"]) == PROBLEM
        asked = {"Accept": "text/html"}
        assert asking("/nothing").error["type"] == "NotFound" and asking("/nothing", **asked).status == 404
        assert asking("/nothing", **asked).body.startswith(b"<!doctype html>")
        assert asking.json("/data/0.json")["num_rows"] == 1


def test_many_clients_and_clients_that_leave(tmp_path):
    rows = Dataset.from_dict({"n": list(range(30_000)), "text": ["word " * 40] * 30_000})
    with served(rows) as asking:
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", asking.viewer.port), timeout=10) as connection:
                asked = f"GET /data/0/download.jsonl HTTP/1.1\r\nHost: {asking.name}\r\nX-Crucible-Token: {asking.viewer.token}\r\n\r\n"
                connection.sendall(asked.encode())
                assert connection.recv(100).startswith(b"HTTP/1.1 200")
        paths = [f"/data/0/rows.json?offset={1000 * at}&limit=1&where=n>={at % 4}" for at in range(20)] * 2
        with ThreadPoolExecutor(20) as pool:
            found = [answer.json["rows"][0]["row"] for answer in pool.map(asking, paths)]
        assert found == [1000 * at + at % 4 for at in range(20)] * 2


def test_media_are_fetched_once():
    features = Features({"image": Image()})
    with served(Dataset.from_list([{"image": {"bytes": PIXEL, "path": None}}], features=features)) as asking:
        (cell,) = asking.json("/data/0/rows.json")["rows"][0]["cells"]
        found = asking(cell["src"])
        assert found.body == PIXEL and found.headers["cache-control"] == "private, max-age=86400, immutable"
        assert "cookie" in found.headers["vary"].lower()
        again = asking(cell["src"], If_None_Match=found.headers["etag"])
        assert (again.status, again.body) == (304, b"")
        assert asking(cell["src"], token=False, If_None_Match=found.headers["etag"]).status == 401
        plain = asking("/data/0/media/-/train/0/image")
        assert plain.body == PIXEL and plain.headers["cache-control"] == "private, no-cache"
        assert asking(cell["src"].replace("media@", "media@x")).status == 404
        for part, expected in (("bytes=2-5", PIXEL[2:6]), ("bytes=4-", PIXEL[4:]), ("bytes=-3", PIXEL[-3:])):
            answer = asking(cell["src"], Range=part)
            assert (answer.status, answer.body) == (206, expected) and answer.headers["content-range"]
        assert asking(cell["src"], Range="bytes=9999-").status == 416
        assert asking(cell["src"], Range="bytes=-").body == asking(cell["src"], Range="lines=1-2").body == PIXEL


def test_a_viewer_in_a_notebook_tells_its_address_and_ends():
    viewer = Dataset.from_dict({"n": [1]}).view(browser=False)
    assert viewer.url in repr(viewer) and f'href="{viewer.url}"' in viewer._repr_html_() and not viewer.closed
    with pytest.raises(ArgumentError, match="cannot be listened on"):
        view(Dataset.from_dict({"n": [1]}), port=viewer.port, browser=False)
    viewer.close()
    viewer.close()
    assert viewer.closed and viewer.token not in repr(viewer) + viewer._repr_html_()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", viewer.port), timeout=1).close()
    for port in (70_000, -1):
        with pytest.raises(ArgumentError, match="port"):
            view(Dataset.from_dict({"n": [1]}), port=port, browser=False)


def test_the_command_serves_until_it_is_interrupted_whoever_still_reads(tmp_path):
    path = tmp_path / "train.parquet"
    pq.write_table(pa.table({"n": np.arange(100_000), "text": ["word " * 200] * 100_000}), path, row_group_size=5_000)
    command = [CRUCIBLE, "view", str(path), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            base = running.stdout.readline().split()[-1].partition("?token=")[0]
            token = running.stdout.readline().split()[-1]
            asked = Request(f"{base}data/0/rows.json?columns=n&limit=3", headers={"X-Crucible-Token": token})
            with urlopen(asked, timeout=60) as answer:
                assert [row["cells"] for row in json.load(answer)["rows"]] == [[0], [1], [2]]
            asked = Request(f"{base}data/0/download.jsonl", headers={"X-Crucible-Token": token})
            with urlopen(asked, timeout=60) as answer:
                assert answer.read(10) == b'{"n":0,"te'
                running.send_signal(signal.SIGINT)
                assert running.wait(20) == 130
        finally:
            running.kill()
        assert running.stderr.read() == "interrupted\n"


@pytest.mark.parametrize("streamed", [[], ["--stream"]])
def test_lines_that_cannot_be_read_are_left_out_when_that_is_asked_for(tmp_path, monkeypatch, streamed):
    seen = []
    monkeypatch.setattr(
        server.Viewer, "serve", lambda viewer, announce: (seen.append((viewer._opened, None)), viewer.close())
    )
    path = tmp_path / "lines.jsonl"
    path.write_text('{"a": 1}\n{"a": \n{"a": 3}\n')
    done("view", path, "--no-browser", "--on-bad-lines", "skip", *streamed)
    (rows,) = seen[0][0].data["0"].splits(None).values()
    assert [row["a"] for row in rows] == [1, 3]


def test_a_port_that_cannot_be_had_says_what_to_do():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for port in (taken.getsockname()[1], 99999):
            with pytest.raises(ArgumentError, match=rf"port={port}: .*[^.]\. Choose another; 0 takes a free one\.$"):
                view(Dataset.from_dict({"n": [1]}), port=port, browser=False)
