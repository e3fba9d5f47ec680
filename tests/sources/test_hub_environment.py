"""What huggingface_hub finds out about this machine is found out without it, and one question is asked without its client."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crucible_datasets.localhub import server as module
from crucible_datasets.localhub.server import serving
from crucible_datasets.sources import stdlib_http

OURS = """
import json, os, sys
from crucible_datasets.sources.hub.environment import hub_cache, token
found = []
for change in json.loads(sys.argv[1]):
    os.environ.update(change)
    found.append([hub_cache(), token()])
    for name in change:
        del os.environ[name]
assert not [name for name in sys.modules if name.startswith(("huggingface_hub", "httpx"))]
print(json.dumps(found))
"""
THEIRS = """
import json, os, sys
from huggingface_hub import get_token
from huggingface_hub.constants import HF_HUB_CACHE
print(json.dumps([HF_HUB_CACHE, get_token()]))
"""


def changes(home):
    """Every choice of some variables that matter, each with a value of its own."""
    known = {
        "HF_HOME": str(home / "other"),
        "XDG_CACHE_HOME": "~/elsewhere",
        "HF_HUB_CACHE": "$HOME/hubs",
        "HF_TOKEN": " hf_mine\n",
        "HF_TOKEN_PATH": str(home / "secret"),
    }
    some = [*itertools.chain.from_iterable(itertools.combinations(known, number) for number in (0, 1)), tuple(known)]
    return [{name: known[name] for name in names} for names in [*some, ("HF_HOME", "HF_TOKEN_PATH")]]


def test_the_cache_and_the_token_are_those_of_huggingface_hub(tmp_path):
    for place, text in {".cache/huggingface/token": "hf_a\n", "other/token": "hf_b", "secret": "hf_c\r\n"}.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "XDG_", "HUGGING"))}
    plain["HOME"] = str(tmp_path)
    asked = changes(tmp_path)
    ours = json.loads(run(OURS, plain, json.dumps(asked)))
    theirs = [json.loads(run(THEIRS, {**plain, **change})) for change in asked]
    assert ours == theirs


def run(program, environment, *arguments):
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60).stdout


LOAD = """
import sys
import crucible_datasets as cd
print(cd.load_dataset("acme/plain", split="train")["n"][:], "httpx2" in sys.modules or "httpx" in sys.modules)
"""


@pytest.fixture
def hub(tmp_path, monkeypatch):
    folder = tmp_path / "hub" / "acme" / "plain"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"n": [1, 2]}), folder / "train.parquet")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("HF_") and "proxy" not in name}
    with serving(str(tmp_path / "hub")) as server:
        yield server, {**plain, "HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": server.endpoint}


def test_a_dataset_needs_no_http_client_and_sees_what_is_new(hub, monkeypatch):
    server, surroundings = hub
    assert run(LOAD, surroundings) == "[1, 2] False\n"
    assert run(LOAD, surroundings) == "[1, 2] False\n"
    pq.write_table(pa.table({"n": [3]}), os.path.join(server.hub.root, "acme", "plain", "train.parquet"))
    server.hub._looked.clear()
    assert run(LOAD, surroundings) == "[3] False\n"


@pytest.mark.parametrize("status", [429, 401])
def test_after_a_refusal_the_question_is_asked_as_usual(hub, monkeypatch, status):
    _, surroundings = hub
    run(LOAD, surroundings)
    answer, refused = module.answer, []

    def once(request):
        if not refused:
            refused.append(request.path)
            raise module.HubError(status, "Busy", "not now")
        return answer(request)

    monkeypatch.setattr(module, "answer", once)
    assert run(LOAD, surroundings) == "[1, 2] False\n"
    assert refused == ["/api/datasets/acme/plain/revision/main"]


def test_a_proxy_is_left_to_the_client(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert stdlib_http.try_get("http://127.0.0.1:9/x", {}) is None


def test_nobody_there_is_no_answer(monkeypatch):
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    assert stdlib_http.try_get("http://127.0.0.1:9/x", {}) is None
    assert stdlib_http.try_get("http://user:word@127.0.0.1:9/x", {}) is None
