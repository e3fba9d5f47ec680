"""`DownloadManager`: files found, unpacked safely and once, and iterated."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
from support.faulty import faulty
from support.packed import ARCHIVES, COMPRESSIONS, archive_of, compressed, tar_of

from crucible_datasets import config, disable_caching, enable_caching
from crucible_datasets.download import DownloadConfig, DownloadManager, DownloadMode, StreamingDownloadManager
from crucible_datasets.exceptions import FileFormatError, FileNotFoundDatasetsError, OfflineError, UnavailableError

MEMBERS = [("d/b.csv", b"a\n2\n"), ("a.csv", b"a\n1\n"), (".hidden", b"h")]


@pytest.fixture
def manager(tmp_path):
    return DownloadManager(download_config=DownloadConfig(cache_dir=tmp_path / "cache"), base_path=str(tmp_path))


def files_under(folder):
    return {
        os.path.relpath(os.path.join(place, name), folder): Path(place, name).read_bytes()
        for place, _, names in os.walk(folder)
        for name in names
    }


def test_the_shape_of_what_is_asked_for_is_kept(manager, tmp_path):
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("22")
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    asked = {"x": ["a", f"file://{b}"], "y": {"z": (tmp_path / "a",)}, "e": []}
    assert manager.download(asked) == {"x": [a, b], "y": {"z": (a,)}, "e": []}
    assert manager.download_and_extract("a") == a
    assert manager.downloaded_size == 1 + 2 + 1 and manager.get_recorded_sizes_checksums()["a"] == {
        "num_bytes": 1,
        "checksum": None,
    }


def test_checksums_are_recorded_when_they_are_wanted(tmp_path):
    (tmp_path / "a").write_text("1")
    manager = DownloadManager(base_path=str(tmp_path), record_checksums=True)
    manager.download("a")
    assert manager.get_recorded_sizes_checksums()["a"]["checksum"].startswith("6b86b273")


def test_addresses_are_fetched(manager, monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(config, "DOWNLOADED_DATASETS_PATH", tmp_path / "downloads")
    with faulty(b"hello") as server:
        paths = manager.download({"a": server.url, "b": [server.url]})
        assert [Path(path).read_bytes() for path in (paths["a"], *paths["b"])] == [b"hello", b"hello"]
    assert manager.downloaded_size == 5


@pytest.mark.parametrize("url", ["https://example.com/a", "hf://datasets/a/b"])
def test_offline_an_address_is_not_asked(manager, url):
    with pytest.raises(OfflineError):
        manager.download(url)


def test_a_missing_file_says_so(manager):
    for call in (manager.download, manager.extract, lambda path: list(manager.iter_files(path))):
        with pytest.raises(FileNotFoundDatasetsError):
            call("nothing")


@pytest.mark.parametrize("extension", ARCHIVES)
def test_an_archive_becomes_a_folder(manager, tmp_path, extension):
    path = tmp_path / f"x{extension}"
    path.write_bytes(archive_of(MEMBERS, extension))
    folder = manager.extract(str(path))
    assert files_under(folder) == dict(MEMBERS)
    assert manager.extract([str(path)]) == [folder]
    assert folder.startswith(str(tmp_path / "cache"))


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_a_compressed_file_becomes_a_file(manager, tmp_path, kind):
    path = tmp_path / f"x.csv.{kind}"
    path.write_bytes(compressed(b"a\n1\n", kind))
    found = manager.extract(str(path))
    assert os.path.basename(found) == "x.csv" and Path(found).read_bytes() == b"a\n1\n"


def test_a_changed_archive_is_unpacked_again_and_a_cut_one_leaves_nothing(manager, tmp_path):
    path = tmp_path / "x.tar"
    path.write_bytes(tar_of([("a", b"1")]))
    before = manager.extract(str(path))
    path.write_bytes(tar_of([("a", b"1"), ("b", b"2")]))
    after = manager.extract(str(path))
    assert files_under(before) == {"a": b"1"} and files_under(after) == {"a": b"1", "b": b"2"}
    path.write_bytes(tar_of([("a", b"1"), ("b", b"2")])[:1500])
    with pytest.raises(FileFormatError):
        manager.extract(str(path))
    assert len([name for name in os.listdir(tmp_path / "cache" / "crucible") if not name.startswith(".")]) == 2
    assert not [name for name in os.listdir(tmp_path / "cache" / "crucible" / ".work") if name.endswith(".tmp")]


def test_what_was_extracted_can_be_deleted(manager, tmp_path):
    path = tmp_path / "x.tar"
    path.write_bytes(tar_of([("a", b"1")]))
    folder = manager.extract(str(path))
    manager.manage_extracted_files()
    assert os.path.exists(folder)
    manager.download_config.delete_extracted = True
    manager.manage_extracted_files()
    assert not os.path.exists(folder) and path.exists()


def test_without_caching_nothing_is_put_into_the_cache(manager, tmp_path):
    path = tmp_path / "x.tar"
    path.write_bytes(tar_of([("a", b"1")]))
    disable_caching()
    try:
        assert files_under(manager.extract(str(path))) == {"a": b"1"}
    finally:
        enable_caching()
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("extension", ARCHIVES)
@pytest.mark.parametrize("kind", [DownloadManager, StreamingDownloadManager])
def test_archives_are_iterated_without_unpacking(tmp_path, extension, kind):
    path = tmp_path / f"x{extension}"
    path.write_bytes(archive_of(MEMBERS, extension))
    members = pickle.loads(pickle.dumps(kind().iter_archive(str(path))))
    for _ in range(2):
        assert [(name, file.read()) for name, file in members] == MEMBERS[:2]
    with open(path, "rb") as source:
        assert [name for name, _ in kind().iter_archive(source)] == ["d/b.csv", "a.csv"]


def test_files_of_folders_are_iterated_in_order_without_hidden_ones(tmp_path):
    for name in ("z", "a", "b/c", ".h", "__x", ".d/a", "__d/a", "b/.h"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    manager = DownloadManager()
    expected = [str(tmp_path / name) for name in ("a", "z", "b/c")]
    assert list(manager.iter_files(str(tmp_path))) == expected
    assert list(manager.iter_files([str(tmp_path), str(tmp_path / ".h")])) == [*expected, str(tmp_path / ".h")]


def test_the_streaming_manager_does_not_unpack(tmp_path):
    path = tmp_path / "x.tar"
    path.write_bytes(tar_of([("a", b"1")]))
    manager = StreamingDownloadManager(base_path=str(tmp_path))
    assert manager.is_streaming and manager.download("x.tar") == str(path)
    with pytest.raises(UnavailableError, match="iter_archive"):
        manager.extract(str(path))


def test_configuration_and_modes():
    config = DownloadConfig(token="t")
    assert config.copy() == config and config.copy() is not config
    assert DownloadMode("force_redownload") is DownloadMode.FORCE_REDOWNLOAD
    assert DownloadManager(data_dir="/m").manual_dir == "/m"
