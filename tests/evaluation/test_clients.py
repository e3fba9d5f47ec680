"""Models behind a network: one client for many calls, and outages, which are no answers."""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

import crucible_datasets as datasets
from crucible_datasets.benchmarks import samples_from
from crucible_datasets.evaluation import ResultStore, compare, evaluate, evaluate_many

EM = "exact_match@2"


class Server(ThreadingHTTPServer):
    """Answers `q7` with `a7`; the inputs in `broken` get status 500."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.broken: set[str] = set()
        self.asked: Counter[str] = Counter()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open, so a client keeps them in its pool

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked[question] += 1
        body = json.dumps(question.replace("q", "a")).encode()
        self.send_response(500 if question in self.server.broken else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def client():
    client = httpx.AsyncClient()
    yield client
    from crucible_datasets.ops.mapping.asynchronous import run

    run(client.aclose())


def questions(number=12):
    return samples_from([{"id": n, "input": f"q{n}", "target": f"a{n}"} for n in range(number)])


def asking(client, server):
    async def answer(sample):
        reply = await client.post(server.url, json=sample.input)
        reply.raise_for_status()
        return reply.json()

    return answer


def test_one_client_works_in_many_calls(client, server):
    answer = asking(client, server)
    for _ in range(3):
        assert evaluate(answer, questions(), cache=False).value() == 1.0
    results = evaluate_many({"one": answer, "other": answer}, questions(), cache=False)
    assert [result.value() for result in results.values()] == [1.0, 1.0]


def test_one_client_works_for_a_model_and_the_judge_of_it(client, server):
    async def judge(prediction, target, *, sample):
        reply = await client.post(server.url, json=sample.input)
        return float(reply.json() == prediction)

    results = [evaluate(asking(client, server), questions(), judge, cache=False) for _ in range(2)]
    assert [result.value() for result in results] == [1.0, 1.0]
    assert compare(*results).rows[0].difference == 0.0


def test_one_client_works_in_map_filter_and_streams(client, server):
    async def with_answer(row):
        return {"answer": (await client.post(server.url, json=row["input"])).json()}

    async def is_known(row):
        return (await client.post(server.url, json=row["input"])).status_code == 200

    rows = datasets.Dataset.from_dict({"input": ["q1", "q2", "q3"]})
    for _ in range(2):
        assert rows.map(with_answer, load_from_cache_file=False)["answer"][:] == ["a1", "a2", "a3"]
        assert len(rows.filter(is_known, load_from_cache_file=False)) == 3
        assert [row["answer"] for row in rows.to_iterable_dataset().map(with_answer)] == ["a1", "a2", "a3"]


def test_a_call_within_an_async_function_does_not_wait_for_itself(server):
    async def inner(sample):
        async with httpx.AsyncClient() as client:
            return await asking(client, server)(sample)

    async def outer(sample):
        return str(evaluate(inner, questions(2), cache=False).value())

    assert evaluate(outer, questions(2), cache=False).samples[0].prediction == "1.0"


@pytest.mark.parametrize("missing", ["wrong", "ignore"])
def test_an_outage_is_an_error_and_never_a_wrong_answer(client, server, missing, caplog):
    server.broken = {"q3", "q5"}
    result = evaluate(asking(client, server), questions(), missing=missing, cache=False)
    assert result.value() == 1.0 and result.summary[EM].n == 10
    assert result.summary[EM].counts == {"ok": 10, "error": 2}
    assert "2 of 12 answers are not counted" in caplog.text and "500" in caplog.text


@pytest.mark.parametrize("is_finished", [True, False], ids=["finished run", "interrupted run"])
def test_resume_asks_again_what_failed_and_only_that(client, server, tmp_path, is_finished):
    server.broken = {"q3", "q5"}
    answer = asking(client, server)

    async def stops(sample):
        if sample.id == 8:
            raise KeyboardInterrupt
        return await answer(sample)

    call = {"store": tmp_path, "run_id": "r", "missing": "ignore", "cache": False, "model": "m", "concurrency": 1}
    if is_finished:
        assert evaluate(answer, questions(), **call).summary[EM].n == 10
    else:
        with pytest.raises(KeyboardInterrupt):
            evaluate(stops, questions(), **call)
    before = server.asked.copy()
    server.broken = set()
    result = evaluate(answer, questions(), resume=True, **call)
    expected = {"q3", "q5"} if is_finished else {"q3", "q5", "q8", "q9", "q10", "q11"}
    assert set(server.asked - before) == expected
    assert result.value() == 1.0 and sorted(result.ids, key=int) == [str(n) for n in range(12)]
    store = ResultStore(tmp_path)
    assert [run.summary[EM].n for run in store.list()] == [12] and not store.unfinished()
    assert store.load("r").value() == 1.0
    again = evaluate(answer, questions(), resume=True, **call)
    assert server.asked.total() == before.total() + len(expected) and again.value() == 1.0


@pytest.mark.parametrize(("is_finished", "executor"), [(False, None), (True, None), (True, "processes")])
def test_resume_judges_again_the_answers_of_which_only_verdicts_are_missing(tmp_path, is_finished, executor):
    """A judge that was out of order does not cost the answers, nor are other answers drawn in their place."""
    asked, broken = tmp_path / "asked", tmp_path / "broken"
    broken.touch()

    def answer(sample):
        with asked.open("a") as file:
            file.write(f"{sample.id}\n")
        if sample.id == 8 and broken.exists() and not is_finished:
            raise KeyboardInterrupt
        return f"{len(asked.read_text().splitlines())}"

    def judge(prediction, target, *, sample):
        if broken.exists() and sample.id in (3, 5):
            raise RuntimeError("the judge is out of order")
        return float(int(prediction) > 0)

    call = {"store": tmp_path / "store", "run_id": "r", "cache": False, "model": "m", "concurrency": 1}
    call |= {"executor": executor, "metrics": judge}
    if is_finished:
        assert evaluate(answer, questions(), **call).summary["judge"].n == 10
    else:
        with pytest.raises(KeyboardInterrupt):
            evaluate(answer, questions(), **call)
    kept = ResultStore(tmp_path / "store").load("r").samples if is_finished else []
    before = {sample.id: sample.prediction for sample in kept}
    broken.unlink()
    count = len(asked.read_text().splitlines())
    result = evaluate(answer, questions(), resume=True, **call)
    assert (result.summary["judge"].n, result.value()) == (12, 1.0)
    assert not {"3", "5"} & set(asked.read_text().splitlines()[count:])
    assert {sample.id: sample.prediction for sample in result.samples}.items() >= before.items()


def test_a_mirror_shows_the_scores_of_a_run_that_was_resumed(client, server, tmp_path):
    server.broken = {"q3"}
    call = {"store": tmp_path, "run_id": "r", "missing": "ignore", "cache": False, "model": "m"}
    evaluate(asking(client, server), questions(), **call)
    store = ResultStore(tmp_path)
    counts = []
    for broken in ({"q3"}, set()):
        server.broken = broken
        evaluate(asking(client, server), questions(), resume=True, **call)
        with store.mirror(samples=True) as mirror:
            counts.append(mirror.sql("SELECT n FROM crucible_scores"))
            assert mirror.sql("SELECT count(*) FROM crucible_samples WHERE value IS NOT NULL") == counts[-1]
    assert counts == [[(11,)], [(12,)]]
