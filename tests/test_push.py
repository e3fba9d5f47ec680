"""`push_to_hub` against the local Hub: what goes up comes down, here and with Hugging Face `datasets`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from huggingface_hub import HfApi, hf_hub_download

from crucible_datasets import ClassLabel, Dataset, DatasetDict, Features, IterableDatasetDict, Value, config
from crucible_datasets.hub import delete_from_hub
from crucible_datasets.localhub.server import serving

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

KINDS = Features({"label": ClassLabel(names=["u", "v", "w"]), "text": Value("string")})


@pytest.fixture
def server(tmp_path, monkeypatch):
    with serving(str(tmp_path / "hub")) as server:
        for name, value in {"HF_HUB_OFFLINE": False, "HF_HUB_DISABLE_XET": True}.items():
            monkeypatch.setattr(f"huggingface_hub.constants.{name}", value)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(config, "HF_ENDPOINT", server.endpoint)
        monkeypatch.setenv("HF_TOKEN", next(iter(server.access.tokens)))
        yield server


@pytest.fixture
def api(server):
    return HfApi(endpoint=server.endpoint, token=next(iter(server.access.tokens)))


@pytest.fixture
def dataset():
    return Dataset.from_dict({"label": [0, 1, 2], "text": ["x", "y", None]}, features=KINDS)


def card(api, repo, revision=None):
    path = hf_hub_download(
        repo, "README.md", repo_type="dataset", endpoint=api.endpoint, token=api.token, revision=revision
    )
    return yaml.safe_load(Path(path).read_text().split("---")[1])


def test_one_commit_holds_files_and_card(api, dataset):
    info = dataset.push_to_hub("local/one")
    assert api.list_repo_files("local/one", repo_type="dataset") == ["README.md", "data/train-00000-of-00001.parquet"]
    assert info.oid == api.dataset_info("local/one").sha
    assert len(api.list_repo_commits("local/one", repo_type="dataset")) == 2
    said = card(api, "local/one")
    assert said["configs"] == [{"config_name": "default", "data_files": [{"split": "train", "path": "data/train-*"}]}]
    assert said["dataset_info"]["splits"][0]["num_examples"] == 3


def test_a_second_split_joins_the_first(api, dataset):
    dataset.push_to_hub("local/two", split="train")
    dataset.push_to_hub("local/two", split="test", num_shards=2)
    said = card(api, "local/two")
    assert [one["split"] for one in said["configs"][0]["data_files"]] == ["train", "test"]
    assert [one["num_examples"] for one in said["dataset_info"]["splits"]] == [3, 3]
    assert len(api.list_repo_files("local/two", repo_type="dataset")) == 4


def test_a_split_pushed_again_takes_the_place_of_the_old_one(api, dataset):
    dataset.push_to_hub("local/again", num_shards=3)
    dataset.select([0]).push_to_hub("local/again")
    assert api.list_repo_files("local/again", repo_type="dataset") == ["README.md", "data/train-00000-of-00001.parquet"]
    assert card(api, "local/again")["dataset_info"]["splits"][0]["num_examples"] == 1


def test_rows_can_be_appended(api, dataset, server):
    dataset.push_to_hub("local/grown")
    dataset.push_to_hub("local/grown", append=True)
    files = api.list_repo_files("local/grown", repo_type="dataset")
    assert files == ["README.md", "data/train-00000-of-00001.parquet", "data/train-00001-of-00002.parquet"]
    assert card(api, "local/grown")["dataset_info"]["splits"][0]["num_examples"] == 6


def test_other_features_are_refused(dataset, server):
    dataset.push_to_hub("local/typed")
    with pytest.raises(ValueError, match="features"):
        dataset.rename_column("text", "other").push_to_hub("local/typed", split="test")


def test_a_dict_replaces_every_split_of_its_configuration(api, dataset):
    dataset.push_to_hub("local/dict", split="old")
    DatasetDict({"train": dataset, "validation": dataset}).push_to_hub("local/dict")
    said = card(api, "local/dict")
    assert [one["split"] for one in said["configs"][0]["data_files"]] == ["train", "validation"]
    assert not [path for path in api.list_repo_files("local/dict", repo_type="dataset") if "old" in path]


def test_configurations_live_side_by_side_and_one_can_go(api, dataset):
    dataset.push_to_hub("local/configs")
    dataset.push_to_hub("local/configs", config_name="other")
    said = card(api, "local/configs")
    assert [one["config_name"] for one in said["configs"]] == ["default", "other"]
    gone = delete_from_hub("local/configs", "other")
    left = api.list_repo_files("local/configs", repo_type="dataset", revision=gone.pr_revision)
    assert left == ["README.md", "data/train-00000-of-00001.parquet"]
    assert [one["config_name"] for one in card(api, "local/configs", gone.pr_revision)["configs"]] == ["default"]


def test_what_the_card_said_otherwise_stays(api, dataset):
    api.create_repo("local/said", repo_type="dataset")
    text = "---\nlicense: mit\ntags:\n- math\n---\n# About\nWords.\n"
    api.upload_file(path_or_fileobj=text.encode(), path_in_repo="README.md", repo_id="local/said", repo_type="dataset")
    dataset.push_to_hub("local/said")
    path = hf_hub_download("local/said", "README.md", repo_type="dataset", endpoint=api.endpoint)
    assert Path(path).read_text().endswith("# About\nWords.\n")
    assert card(api, "local/said")["license"] == "mit"


def test_what_was_sent_before_a_failure_is_not_sent_again(api, dataset, server, monkeypatch):
    from crucible_datasets.localhub import routes, routing

    sent = []

    def failing(request):
        sent.append(request.parts["sha256"])
        if len(sent) == 3:
            raise routes.HubError(403, "Forbidden", "no more today")
        return routes.lfs_upload(request)

    table = [(method, path, failing if one is routes.lfs_upload else one) for method, path, one in routing.ROUTES]
    monkeypatch.setattr(routing, "ROUTES", table)
    with pytest.raises(RuntimeError, match="uploading"):
        dataset.push_to_hub("local/failed", num_shards=3)
    assert api.list_repo_files("local/failed", repo_type="dataset") == []
    dataset.push_to_hub("local/failed", num_shards=3)
    assert len(sent) == len(set(sent)) + 1
    assert len(api.list_repo_files("local/failed", repo_type="dataset")) == 4


def test_private_and_pull_requests(api, dataset):
    dataset.push_to_hub("local/hidden", private=True)
    assert api.dataset_info("local/hidden").private
    made = dataset.push_to_hub("local/hidden", split="test", create_pr=True)
    assert "data/test-00000-of-00001.parquet" not in api.list_repo_files("local/hidden", repo_type="dataset")
    assert "data/test-00000-of-00001.parquet" in api.list_repo_files(
        "local/hidden", repo_type="dataset", revision=made.pr_revision
    )


def test_a_branch_is_made(api, dataset):
    dataset.push_to_hub("local/branched", revision="dev")
    assert api.list_repo_files("local/branched", repo_type="dataset") == []
    assert len(api.list_repo_files("local/branched", repo_type="dataset", revision="dev")) == 2


@pytest.mark.parametrize("wrong", [{"config_name": "data"}, {"split": "a b"}])
def test_names_that_the_hub_cannot_hold_are_refused(dataset, server, wrong):
    with pytest.raises(ValueError):
        dataset.push_to_hub("local/wrong", **wrong)


def test_hugging_face_datasets_reads_it(dataset, server, tmp_path):
    DatasetDict({"train": dataset, "test": dataset.select([1])}).push_to_hub("local/read")
    program = """
import datasets
loaded = datasets.load_dataset("local/read")
assert loaded["train"].features["label"].names == ["u", "v", "w"]
assert loaded["train"].to_list() == [{"label": 0, "text": "x"}, {"label": 1, "text": "y"}, {"label": 2, "text": None}]
assert loaded["test"].num_rows == 1
"""
    surroundings = {
        **os.environ,
        "HF_ENDPOINT": server.endpoint,
        "HF_HOME": str(tmp_path / "home"),
        "HF_HUB_OFFLINE": "0",
    }
    surroundings.pop("HF_DATASETS_CACHE", None)
    subprocess.run([sys.executable, "-c", program], env=surroundings, check=True, timeout=120)


def test_streams_are_pushed_while_they_flow(api, dataset, server):
    dataset.to_iterable_dataset(num_shards=2).push_to_hub("local/flown")
    assert card(api, "local/flown")["dataset_info"]["splits"][0]["num_examples"] == 3
    longer = dataset.to_iterable_dataset().map(lambda row: {"length": len(row["text"] or "")})
    IterableDatasetDict({"train": longer, "test": longer.take(1)}).push_to_hub("local/flown", max_shard_size=1)
    said = card(api, "local/flown")
    assert [one["num_examples"] for one in said["dataset_info"]["splits"]] == [3, 1]
    assert [one["name"] for one in said["dataset_info"]["features"]] == ["label", "text", "length"]
