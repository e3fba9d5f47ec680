"""Real TLS: an authority that the user trusts is trusted, and nothing else is; no token leaves before that is known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.certificates import Authority
from support.proxy import proxying

from crucible_datasets import config, load_dataset
from crucible_datasets.exceptions import DownloadError
from crucible_datasets.localhub.server import serving
from crucible_datasets.sources import client

PROGRAM = """
import json, sys
import crucible_datasets as cd
from crucible_datasets import config
from crucible_datasets.sources.client import is_client_loaded

told = {}
for name, endpoint in json.loads(sys.argv[1]):
    config.HF_ENDPOINT = endpoint
    try:
        told[name] = cd.load_dataset(name, split="train", token=sys.argv[2])["x"][:], is_client_loaded()
    except Exception as error:
        told[name] = type(error).__name__, str(error)
print(json.dumps(told))
"""


def test_whom_the_user_trusts_is_trusted_and_nobody_else(tmp_path):
    for name in ("fine", "unknown", "expired", "misnamed", "again"):
        (tmp_path / "hub" / "acme" / name).mkdir(parents=True)
        (tmp_path / "hub" / "acme" / name / "a.csv").write_text("x\n1\n")
    ours, other = Authority(tmp_path / "ours.pem"), Authority(tmp_path / "other.pem")
    contexts = [ours.context(), other.context(days=2), ours.context(days=-1), ours.context("192.0.2.1")]
    root = str(tmp_path / "hub")
    with (
        serving(root, context=contexts[0]) as fine,
        serving(root, context=contexts[1]) as unknown,
        serving(root, context=contexts[2]) as expired,
        serving(root, context=contexts[3]) as misnamed,
    ):
        servers = {"fine": fine, "unknown": unknown, "expired": expired, "misnamed": misnamed, "again": fine}
        asked = json.dumps([(f"acme/{name}", server.endpoint) for name, server in servers.items()])
        token = next(iter(fine.access.tokens))
        surroundings = {
            **os.environ,
            "HF_HUB_OFFLINE": "0",
            "HF_HOME": str(tmp_path / "home"),
            "SSL_CERT_FILE": ours.path,
        }
        surroundings.pop("HF_DATASETS_CACHE", None)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, asked, token], env=surroundings, capture_output=True, text=True, timeout=120
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    # By the standard library alone, and by the client of huggingface_hub once it is there.
    assert told["acme/fine"] == [[1], False]
    assert told["acme/again"] == [[1], True]
    for name, reason in [("unknown", "issuer"), ("expired", "expired"), ("misnamed", "IP address mismatch")]:
        kind, message = told[f"acme/{name}"]
        assert kind == "DownloadError"
        assert "tried" not in message  # another trial would not help
        assert "SSL_CERT_FILE" in message
        assert reason in message
    assert token not in done.stdout + done.stderr


@pytest.fixture
def connected(tmp_path, monkeypatch):
    """What loading from an endpoint says, with variables of proxies and certificates, and a token."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)
    (tmp_path / "hub" / "acme" / "fine").mkdir(parents=True)
    (tmp_path / "hub" / "acme" / "fine" / "a.csv").write_text("x\n1\n")

    def load(endpoint, **variables):
        home = Path(tempfile.mkdtemp(dir=tmp_path))
        with monkeypatch.context() as patch:
            patch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(home))
            patch.setattr(config, "HF_DATASETS_CACHE", home / "datasets")
            patch.setattr(config, "HF_ENDPOINT", endpoint)
            patch.setattr(client, "_made", None)
            for name, value in variables.items():
                patch.setenv(name, value)
            try:
                return load_dataset("acme/fine", split="train", token=TOKEN)["x"][:]
            except DownloadError as error:
                return str(error)
            finally:
                client._close()

    return load


TOKEN = "hf_onlyForTheHub"


def test_a_proxy_is_asked_as_variables_say_and_reads_no_token(tmp_path, connected):
    ours = Authority(tmp_path / "ours.pem")
    root = str(tmp_path / "hub")
    with (
        proxying("word") as proxy,
        serving(root, context=ours.context()) as secret,
        serving(root) as plain,
    ):
        trusted = {"SSL_CERT_FILE": ours.path}
        for server in (secret, plain):
            server.access.tokens[TOKEN] = next(iter(server.access.tokens.values()))
        assert connected(secret.endpoint, HTTPS_PROXY=proxy.url("word"), **trusted) == [1]
        assert {line.split()[0] for line in proxy.seen} == {"CONNECT"}
        assert connected(plain.endpoint, HTTP_PROXY=proxy.url("word")) == [1]
        assert any(line.startswith("GET http://") for line in proxy.seen)
        before = len(proxy.seen)
        assert connected(plain.endpoint, HTTP_PROXY=proxy.url("word"), NO_PROXY="127.0.0.1") == [1]
        assert len(proxy.seen) == before
        told = connected(secret.endpoint, HTTPS_PROXY=proxy.url("other"), **trusted)
        assert "407" in told and "HTTPS_PROXY" in told and "other" not in told
        assert len(proxy.seen) == before + 1  # another trial would not help
        assert "SSL_CERT_FILE" in connected(secret.endpoint, SSL_CERT_FILE=str(tmp_path / "none.pem"))
    assert not any(TOKEN in line for line in proxy.seen)
