"""What comes out of one file is counted together, whatever it has inside."""

import gzip
import io
import json
import zipfile

import pytest

from crucible_datasets import config, load_dataset
from crucible_datasets.evaluation.imports.inspect_logs import from_inspect_log
from crucible_datasets.exceptions import LimitExceededError

MEMBERS, EACH = 40, 100_000


@pytest.fixture(autouse=True)
def small_limits(monkeypatch):
    monkeypatch.setattr(config, "MAX_UNPACKED_BYTES_AT_ANY_RATIO", MEMBERS * EACH // 2)
    monkeypatch.setattr(config, "MAX_UNPACKED_RATIO", 2)


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return str(path)


def log(path, members):
    sample = json.dumps({"id": 1, "input": "a" * EACH})
    header = json.dumps({"eval": {}})
    return archive(path, {"header.json": header, **{f"samples/{n}_epoch_1.json": sample for n in range(members)}})


def packed(members):
    return {f"{n}.jsonl.gz": gzip.compress(json.dumps({"a": "x" * EACH}).encode()) for n in range(members)}


def test_samples_of_a_log(tmp_path):
    with pytest.raises(LimitExceededError, match="MAX_UNPACKED_RATIO"):
        load_dataset("eval", data_files=log(tmp_path / "a.eval", MEMBERS))
    assert len(load_dataset("eval", data_files=log(tmp_path / "b.eval", 5), split="train")) == 5


def test_samples_of_an_imported_log(tmp_path):
    with pytest.raises(LimitExceededError, match="MAX_UNPACKED_RATIO"):
        from_inspect_log(log(tmp_path / "a.eval", MEMBERS))


def test_members_of_an_archive(tmp_path):
    path = archive(tmp_path / "a.zip", {f"{n}.jsonl": json.dumps({"a": "x" * EACH}) for n in range(MEMBERS)})
    with pytest.raises(LimitExceededError, match="MAX_UNPACKED_RATIO"):
        load_dataset("json", data_files=path)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_compressed_members_of_an_archive(is_streamed, tmp_path):
    path = archive(tmp_path / "a.zip", packed(MEMBERS))
    with pytest.raises(LimitExceededError, match="MAX_UNPACKED_RATIO"):
        list(load_dataset("json", data_files=path, streaming=is_streamed, split="train"))


def test_an_archive_that_is_read_again_counts_once(tmp_path):
    rows = load_dataset("json", data_files=archive(tmp_path / "a.zip", packed(15)), streaming=True, split="train")
    assert [len(list(rows)) for _ in range(5)] == [15] * 5


def test_a_file_that_is_compressed_twice(tmp_path):
    content = gzip.compress(b'{"a": 1}\n' * (MEMBERS * EACH // 9))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("a.jsonl.gz", content)
    (tmp_path / "a.zip").write_bytes(buffer.getvalue())
    with pytest.raises(LimitExceededError, match="MAX_UNPACKED_RATIO"):
        load_dataset("json", data_files=str(tmp_path / "a.zip"))
