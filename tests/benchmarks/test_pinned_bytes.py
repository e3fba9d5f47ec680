"""A commit pins every byte: what a Hub serves at it under a wrong hash is refused, loaded or streamed (R21, R17)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from crucible_datasets import Dataset, config
from crucible_datasets.benchmarks import load_benchmark
from crucible_datasets.exceptions import ContentMismatchError
from crucible_datasets.localhub.blobs import blob_of
from crucible_datasets.localhub.folder import HubFolder
from crucible_datasets.localhub.repos import StoredFile
from crucible_datasets.localhub.server import serving

PIN = "0123456789abcdef0123456789abcdef01234567"
ROWS = [{"q": f"What is {n} + 1?", "a": n + 1} for n in range(5000)]


@pytest.fixture
def served(tmp_path, monkeypatch):
    """Puts a file on a Hub at the commit that a benchmark is pinned to; where the Hub has its bytes."""
    (tmp_path / "sums.toml").write_text(
        f'source = "acme/sums"\nrevision = "{PIN}"\nrule = "question/answer@1"\n'
        'columns = { question = "q", answer = "a" }\n'
    )
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "datasets-cache")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(config, "CRUCIBLE_BENCHMARKS", str(tmp_path))
    hub = HubFolder(str(tmp_path / "hub"))

    def put(path, is_lfs):
        blob = blob_of(str(path))
        hub.blobs.take_over(str(path), blob.sha256)
        repo = hub.repo("acme/sums").create()
        file = StoredFile(blob.sha256, blob.git_sha1, blob.size, is_lfs)
        repo.adopt(replace(repo.find("main"), id=PIN, files={f"train{path.suffix}": file}), ["refs/heads/main"])
        return hub.blobs.path(blob.sha256)

    with serving(hub.root) as server:
        monkeypatch.setattr(config, "HF_ENDPOINT", server.endpoint)
        yield put


def spoil(path, text, other):
    """Another content of the same length, in which every row can still be read."""
    with open(path, "rb") as file:
        content = file.read()
    assert content.count(text) == 1 and len(text) == len(other)
    with open(path, "wb") as file:
        file.write(content.replace(text, other))


@pytest.mark.parametrize("is_lfs", [False, True], ids=["git", "lfs"])
def test_lines_that_are_not_those_of_the_commit_are_refused(served, tmp_path, is_lfs):
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    place = served(tmp_path / "rows.jsonl", is_lfs)
    assert [sample.target for sample in load_benchmark("sums", streaming=True)] == [str(row["a"]) for row in ROWS]
    spoil(place, b'"What is 17 + 1?", "a": 18', b'"What is 17 + 1?", "a": 19')
    hash = "sha256" if is_lfs else "git sha1"
    seen = []
    with pytest.raises(ContentMismatchError, match=f"acme/sums/train.jsonl.*{hash}"):
        seen.extend(load_benchmark("sums", streaming=True))
    assert len(seen) < len(ROWS)
    with pytest.raises(ContentMismatchError, match=f"acme/sums/train.jsonl.*{hash}"):
        load_benchmark("sums")
    spoil(place, b'"What is 17 + 1?", "a": 19', b'"What is 17 + 1?", "a": 18')
    assert load_benchmark("sums").provenance.revision == PIN


@pytest.mark.parametrize("is_lfs", [False, True], ids=["git", "lfs"])
def test_a_table_that_is_not_that_of_the_commit_is_refused(served, tmp_path, is_lfs):
    Dataset.from_list(ROWS).to_parquet(str(tmp_path / "rows.parquet"), compression="none")
    place = served(tmp_path / "rows.parquet", is_lfs)
    spoil(place, b"What is 17 + 1?", b"What is 17 + 9?")
    with pytest.raises(ContentMismatchError, match=r"acme/sums/train\.parquet"):
        load_benchmark("sums")
