"""A query of a page has a deadline and bounded memory, ends with its client, and harms no other query."""

import os
import socket
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from support.viewers import served

from crucible_datasets import Dataset, config
from crucible_datasets.viewer.opening import InMemory
from crucible_datasets.viewer.query import Query
from crucible_datasets.viewer.rows import DatasetRows

pytest.importorskip("duckdb")

ENDLESS = "select count(*) as x from self a, self b, self c, self d where a.n * b.n * c.n + d.n = -1"
BUSY = ENDLESS.replace("count(*)", "max(list_sum(list_transform(range(100000000), lambda y: y + a.n)))")
HUGE = "select sum(length(lpad('', 4000000000, 'x'))) as x from self"


@pytest.fixture(scope="module")
def asking():
    with served(Dataset.from_dict({"n": list(range(100_000)), "text": ["a" * 20] * 100_000})) as made:
        yield made


@pytest.fixture
def second(monkeypatch):
    monkeypatch.setattr(config, "VIEWER_QUERY_SECONDS", 1)


def workers():
    """The processes that compute answers: the children of the fork servers of this process."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = int(path.parent.name), path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if rest[0] != "Z":
            parents[pid] = int(rest[1])
    servers = {pid for pid, parent in parents.items() if parent == os.getpid()}
    return {pid for pid, parent in parents.items() if parent in servers}


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def rows(sql):
    return f"/data/0/rows.json?sql={quote(sql)}"


@pytest.mark.parametrize("query", [ENDLESS, BUSY, HUGE, "select list(a.n) as x from self a, self b"])
def test_a_query_that_takes_too_much_is_ended_and_the_viewer_goes_on(asking, second, query):
    answer = asking(rows(query))
    assert answer.status == 400 and answer.error["type"] in ("QuestionError", "ExpressionError"), answer
    assert asking.json("/data/0/rows.json?limit=1")["rows"]


def test_filters_and_searches_have_the_same_deadline(asking, second, monkeypatch):
    condition = "list_sum(list_transform(range(20000 + n), lambda y: y * n)) > 0"
    answer = asking(f"/data/0/rows.json?where={quote(condition)}")
    assert answer.status == 400 and "longer than 1 s (CRUCIBLE_VIEWER" in answer.error["message"]
    monkeypatch.setattr(config, "VIEWER_QUERY_SECONDS", 0)
    for question in ("where=n>5", "q=aaa", "where=n>6&q=aab"):
        answer = asking(f"/data/0/rows.json?{question}")
        assert answer.status == 400 and answer.error["type"] == "QuestionError", answer


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="counts processes in /proc")
@pytest.mark.parametrize("page", ["data/0.json", "data/0/rows.json", "data/0/download.csv", "data/0/summary.json"])
def test_a_query_ends_when_its_client_leaves(asking, page):
    before = workers()
    column = "column=x&" if "summary" in page else ""
    head = f"Host: {asking.name}\r\nX-Crucible-Token: {asking.viewer.token}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", asking.viewer.port), timeout=30) as connection:
        connection.sendall(f"GET /{page}?{column}sql={quote(BUSY)} HTTP/1.1\r\n{head}".encode())
        until(lambda: workers() - before)
    until(lambda: not workers() - before)


def test_a_query_that_crashes_its_process_is_an_error_of_its_own(asking, monkeypatch):
    # No query is known that does: so one is let through that is refused.
    monkeypatch.setattr("crucible_datasets.viewer.rows.rows_where", crash)
    answer = asking("/data/0/rows.json?where=n>77")
    assert answer.status == 400 and answer.error["type"] == "QuestionError"
    assert "exit code -11" in answer.error["message"]
    monkeypatch.undo()
    assert asking.json("/data/0/rows.json?where=n>77&limit=1")["total"] == 99_922


def crash(*_):
    import signal

    os.kill(os.getpid(), signal.SIGSEGV)


def test_one_that_leaves_takes_no_answer_from_those_that_stay(asking):
    query = rows("select max(a.n + b.n) as x from self a, self b where a.n < 3000")
    head = f"Host: {asking.name}\r\nX-Crucible-Token: {asking.viewer.token}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", asking.viewer.port), timeout=30) as connection:
        connection.sendall(f"GET {query} HTTP/1.1\r\n{head}".encode())
    assert asking.json(query)["rows"][0]["cells"] == [2_999 + 99_999]


def test_a_summary_that_nobody_asks_for_any_more_is_not_completed(monkeypatch):
    monkeypatch.setattr("crucible_datasets.viewer.summaries._PATIENCE", -1)
    with served(Dataset.from_dict({"n": list(range(10_000))})) as asking:
        path = "/data/0/summary.json?column=n"
        assert {asking.json(path)["done"] for _ in range(5)} == {False}
        monkeypatch.setattr("crucible_datasets.viewer.summaries._PATIENCE", 30)
        until(lambda: asking.json(path)["done"])


def test_results_that_are_kept_stay_within_a_quarter_of_the_budget(monkeypatch):
    monkeypatch.setattr(config, "DECODED_MEMORY_BUDGET", 40_000_000)
    dataset = DatasetRows(InMemory("numbers", {"train": Dataset.from_dict({"n": list(range(10_000))})}))
    queries = [Query(sql=f"select n + {number} as n, repeat('x', 300) as t from self") for number in range(5)]
    assert [len(dataset.rows(query)) for query in queries] == [10_000] * 5
    kept = [query for query in queries if query in dataset._answers]
    assert kept == queries[-len(kept) :] and 1 <= len(kept) <= 3
