"""The library as a client of servers that tests start."""

import pytest

from crucible_datasets import config


@pytest.fixture
def online(tmp_path, monkeypatch):
    """The network may be used, and nothing was fetched before: caches are in the test's own folder."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "datasets")
    monkeypatch.setattr(config, "DOWNLOADED_DATASETS_PATH", tmp_path / "downloads")


@pytest.fixture
def requests(monkeypatch):
    """The paths that local Hubs are asked for from now on."""
    from crucible_datasets.localhub import server

    made, answer = [], server.answer

    def noted(request):
        made.append(request.path)
        return answer(request)

    monkeypatch.setattr(server, "answer", noted)
    return made
