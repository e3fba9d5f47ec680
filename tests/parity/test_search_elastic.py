"""Text search through the real client, over HTTP, against a server that speaks what it needs."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import datasets
import pytest
from elasticsearch import Elasticsearch
from elasticsearch.helpers import BulkIndexError

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.exceptions import ArgumentError, ColumnNotFoundError
from crucible_datasets.search import ElasticSearchIndex

TEXTS = ["the cat sat", "a dog ran", "cat and dog", None, "a cat, a cat, a cat"]


class Server(ThreadingHTTPServer):
    """Indexes of documents by number, scored by how often they hold the words asked for."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.configs, self.documents, self.requests, self.full = {}, {}, [], False

    def answer(self, method, path, body):
        index, _, action = path.strip("/").partition("/")
        if action == "_bulk":
            return self.store(index, [json.loads(line) for line in body.splitlines()])
        if action == "_search":
            return self.search(index, json.loads(body))
        if method == "PUT" and not action:
            self.configs[index] = json.loads(body)
        return {"acknowledged": True, "index": index}

    def store(self, index, lines):
        kept = self.documents.setdefault(index, {})
        kept.update((str(head["index"]["_id"]), text) for head, text in zip(lines[::2], lines[1::2], strict=True))
        outcome = {"status": 507, "error": {"type": "full"}} if self.full else {"status": 201}
        return {"errors": self.full, "items": [{"index": {**head["index"], **outcome}} for head in lines[::2]]}

    def search(self, index, asked):
        match = asked["query"]["multi_match"]
        (field,) = match["fields"]
        words = match["query"].split()
        scored = [
            (sum((d[field] or "").count(word) for word in words), row) for row, d in self.documents[index].items()
        ]
        best = sorted(((score, row) for score, row in scored if score), key=lambda pair: -pair[0])[: asked["size"]]
        return {"hits": {"hits": [{"_id": row, "_score": float(score)} for score, row in best]}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        url = urlsplit(self.path)
        self.server.requests.append((self.command, url.path, url.query))
        answer = json.dumps(self.server.answer(self.command, url.path, body)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = do_PUT = respond

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def client(server):
    with Elasticsearch(f"http://127.0.0.1:{server.server_port}") as made:
        yield made


def mine(texts=TEXTS):
    return Dataset.from_dict({"t": texts, "n": list(range(len(texts)))})


def test_the_same_answers_as_hugging_face(server, client):
    datasets.disable_progress_bars()
    theirs = datasets.Dataset.from_dict({"t": TEXTS, "n": list(range(len(TEXTS)))})
    ours = mine()
    for one, name in ((theirs, "theirs"), (ours, "ours")):
        assert one.add_elasticsearch_index("t", es_client=client, es_index_name=name) is one
        one.load_elasticsearch_index("loaded", name, es_client=client)
    datasets.enable_progress_bars()
    assert server.documents["ours"] == server.documents["theirs"]
    assert server.configs["ours"]["mappings"] == server.configs["theirs"]["mappings"]
    for name in ("t", "loaded"):
        for k in (1, 10):
            assert ours.search(name, "cat", k) == theirs.search(name, "cat", k)
            assert ours.search_batch(name, ["cat", "dog", "cow"], k) == theirs.search_batch(
                name, ["cat", "dog", "cow"], k
            )
            assert ours.get_nearest_examples(name, "cat", k) == theirs.get_nearest_examples(name, "cat", k)
            both = (one.get_nearest_examples_batch(name, ["cat", "dog"], k) for one in (ours, theirs))
            assert next(both) == next(both)


def test_best_texts_come_first(client):
    found = mine().add_elasticsearch_index("t", es_client=client).get_nearest_examples("t", "cat", k=2)
    assert found.scores == [3.0, 1.0]
    assert found.examples["t"] == ["a cat, a cat, a cat", "the cat sat"]


def test_rows_are_those_the_dataset_shows(server, client):
    texts = [f"word{row}." for row in range(2500)]
    ours = mine(texts).shuffle(seed=3)
    ours.add_elasticsearch_index("t", index_name="words", es_client=client, es_index_name="many")
    assert len(server.documents["many"]) == 2500
    assert ours.get_nearest_examples_batch("words", texts[::500], k=5).total_examples == [
        {"t": [texts[row]], "n": [row]} for row in range(0, 2500, 500)
    ]


def test_texts_can_be_found_at_once_and_options_reach_the_server(server, client):
    config = {"settings": {"number_of_shards": 3}, "mappings": {"properties": {"text": {"type": "text"}}}}
    ours = mine().add_elasticsearch_index("t", es_client=client, es_index_name="mine", es_index_config=config)
    assert server.configs["mine"] == config
    assert server.requests[-1][:2] == ("POST", "/mine/_refresh")
    ours.search("t", "cat", routing="here")
    assert server.requests[-1] == ("POST", "/mine/_search", "routing=here")
    with pytest.raises(TypeError, match="nonsense"):
        ours.search("t", "cat", nonsense=1)


@pytest.mark.parametrize("host", ["127.0.0.1", "http://127.0.0.1"])
def test_host_and_port_are_enough(server, host):
    index = ElasticSearchIndex(host, server.server_port)
    with index.es_client:
        index.add_documents(["one", "two"])
        assert index.search("two").indices == [1]
        assert index.es_index_name in server.configs
        assert index.es_index_name == index.es_index_name.lower()


def test_mistakes_are_refused(server, client):
    with pytest.raises(ColumnNotFoundError):
        mine().add_elasticsearch_index("nope", es_client=client)
    with pytest.raises(ArgumentError, match="either es_client or host and port"):
        mine().add_elasticsearch_index("t", port=9200, es_client=client)
    assert server.requests == []
    server.full = True
    ours = mine()
    with pytest.raises(BulkIndexError):
        ours.add_elasticsearch_index("t", es_client=client)
    assert ours.list_indexes() == []
