"""`DatasetInfo`: its forms on disk, and files that are whole or absent."""

import json
import os
import stat

import pytest

from crucible_datasets.features import ClassLabel, Features, Value
from crucible_datasets.info import (
    DatasetInfo,
    DatasetInfoMixin,
    DatasetInfosDict,
    PostProcessedInfo,
    SupervisedKeysData,
    write_text,
)
from crucible_datasets.splits import SplitDict, SplitInfo
from crucible_datasets.version import Version


def full_info():
    return DatasetInfo(
        description="d",
        license="mit",
        features=Features({"text": Value("string"), "label": ClassLabel(names=["no", "yes"])}),
        post_processed={"features": {"text": {"dtype": "string", "_type": "Value"}}},
        supervised_keys=("text", "label"),
        config_name="main",
        version="1.2.3",
        splits=[{"name": "train", "num_bytes": 9, "num_examples": 2}],
        download_checksums={"url": {"num_bytes": 1, "checksum": None}},
        dataset_size=0,
    )


def test_fields_given_in_plain_form_become_what_they_are():
    info = full_info()
    assert isinstance(info.version, Version) and isinstance(info.splits, SplitDict)
    assert info.supervised_keys == SupervisedKeysData("text", "label")
    assert info.post_processed == PostProcessedInfo(Features({"text": Value("string")}))
    assert DatasetInfo(features={"text": {"dtype": "string", "_type": "Value"}}).features["text"] == Value("string")


def test_only_what_is_known_is_shown_and_written():
    assert repr(DatasetInfo()) == "DatasetInfo()"
    assert repr(DatasetInfo(config_name="main")) == "DatasetInfo(config_name='main')"
    assert DatasetInfo().to_dict() == dict.fromkeys(("description", "citation", "homepage", "license"), "")
    assert DatasetInfo()._to_yaml_dict() == {}


def test_every_form_is_read_back(tmp_path):
    info = full_info()
    info.write_to_directory(tmp_path)
    assert DatasetInfo.from_directory(tmp_path) == DatasetInfo.from_dict(info.to_dict()) == info.copy() == info
    assert (tmp_path / "LICENSE").read_text() == "mit"
    again = DatasetInfo._from_yaml_dict(info._to_yaml_dict())
    assert (again.features, again.splits, again.config_name) == (info.features, info.splits, "main")


def test_a_copy_shares_nothing():
    info = full_info()
    info.copy().features["more"] = Value("int8")
    info.copy().splits.add(SplitInfo("test"))
    assert info == full_info()


def test_a_merge_keeps_what_all_share_or_else_the_texts():
    info = full_info()
    assert DatasetInfo.from_merge([info, None, info]) == info
    assert DatasetInfo.from_merge([]) == DatasetInfo()
    merged = DatasetInfo.from_merge(
        [DatasetInfo("a", dataset_size=1), DatasetInfo("b"), DatasetInfo("a", homepage="h")]
    )
    assert merged == DatasetInfo("a\n\nb", homepage="h")


def test_update_takes_over_what_the_other_knows():
    info = full_info()
    info.update(DatasetInfo("new"))
    assert (info.description, info.config_name) == ("new", "main")
    info.update(DatasetInfo("new"), ignore_none=False)
    assert info == DatasetInfo("new")


def test_a_folder_must_be_named_and_exist(tmp_path):
    with pytest.raises(ValueError, match=r"name the folder that holds dataset_info\.json"):
        DatasetInfo.from_directory("")
    with pytest.raises(FileNotFoundError):
        DatasetInfo.from_directory(tmp_path / "absent")
    with pytest.raises(FileNotFoundError):
        DatasetInfo().write_to_directory(tmp_path / "absent")


@pytest.mark.parametrize("folder", ["memory://info-test", "file://{tmp}"])
def test_a_folder_may_be_a_url(folder, tmp_path):
    folder = folder.format(tmp=tmp_path)
    full_info().write_to_directory(folder, storage_options={})
    assert DatasetInfo.from_directory(folder, storage_options={}) == full_info()


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(failing, tmp_path, monkeypatch):
    DatasetInfo("old").write_to_directory(tmp_path)

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="disk full"):
        DatasetInfo("new").write_to_directory(tmp_path)
    assert os.listdir(tmp_path) == ["dataset_info.json"]
    assert DatasetInfo.from_directory(tmp_path).description == "old"


def test_a_written_file_has_the_usual_permissions_and_line_ends(tmp_path):
    (tmp_path / "plain").write_text("x")
    write_text(str(tmp_path / "whole"), "a\nb")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "whole")]
    assert modes[0] == modes[1]
    assert (tmp_path / "whole").read_bytes() == b"a\nb"


def test_infos_live_in_the_readme(tmp_path):
    (tmp_path / "README.md").write_text("---\nlicense: mit\n---\n# Title\n")
    DatasetInfosDict({"main": full_info()}).write_to_directory(tmp_path)
    DatasetInfosDict({"more": DatasetInfo(download_size=3)}).write_to_directory(tmp_path)
    infos = DatasetInfosDict.from_directory(tmp_path)
    assert list(infos) == ["main", "more"] and infos["main"].features == full_info().features
    assert "license: mit" in (text := (tmp_path / "README.md").read_text()) and text.endswith("# Title\n")


def test_overwriting_replaces_the_infos_of_other_configurations_on_request(tmp_path):
    (tmp_path / "dataset_infos.json").write_text(json.dumps({"old": {"download_size": 1}}))
    DatasetInfosDict({"new": DatasetInfo(download_size=2)}).write_to_directory(tmp_path, overwrite=True)
    assert list(json.loads((tmp_path / "dataset_infos.json").read_text())) == ["new"]
    assert list(DatasetInfosDict.from_directory(tmp_path)) == ["new"]


def test_a_folder_without_infos_has_none(tmp_path):
    assert DatasetInfosDict.from_directory(tmp_path) == {}
    DatasetInfosDict().write_to_directory(tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_class_with_an_info_tells_what_it_holds():
    class Told(DatasetInfoMixin):
        info = full_info()

    assert (Told().description, Told().version, Told().dataset_size) == ("d", "1.2.3", 0)
