"""The same `DatasetInfo` calls on Hugging Face `datasets` and here, and each reading what the other wrote."""

import json
from copy import deepcopy
from dataclasses import asdict, fields

import datasets as hf
import pytest
from datasets.info import DatasetInfosDict as HFInfosDict
from datasets.utils.py_utils import asdict as hf_plain
from huggingface_hub import DatasetCardData
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets.info import DatasetInfo, DatasetInfosDict

FEATURES = {
    "text": {"dtype": "string", "_type": "Value"},
    "label": {"names": ["no", "yes"], "_type": "ClassLabel"},
    "messages": {"feature": {"role": {"dtype": "string", "_type": "Value"}}, "_type": "List"},
    "scores": {"feature": {"dtype": "float32", "_type": "Value"}, "length": 3, "_type": "List"},
    "meta": {"a": {"dtype": "int64", "_type": "Value"}, "b": {"dtype": "bool", "_type": "Value"}},
}
texts = st.text(st.characters(codec="utf-8"), max_size=6)
sizes = st.none() | st.integers(0, 2**40)
splits = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(["train", "test", "dev"]),
            "num_bytes": st.integers(0, 9),
            "num_examples": st.integers(0, 9),
        },
        optional={"shard_lengths": st.lists(st.integers(0, 5)), "dataset_name": st.none() | st.just("d")},
    ),
    unique_by=lambda split: split["name"],
    max_size=3,
)
stored_infos = st.fixed_dictionaries(
    {},
    optional={
        "description": texts,
        "citation": texts,
        "homepage": texts,
        "license": texts,
        "features": st.none()
        | st.lists(st.sampled_from(sorted(FEATURES)), unique=True).map(lambda n: {k: FEATURES[k] for k in n}),
        "post_processed": st.none()
        | st.just({"features": {"text": FEATURES["text"]}, "resources_checksums": {"a": 1}}),
        "supervised_keys": st.none() | st.just({"input": "text", "output": "label"}) | st.just({"input": "text"}),
        "builder_name": st.none() | texts,
        "dataset_name": st.none() | texts,
        "config_name": st.none() | texts,
        "version": st.none() | st.sampled_from(["1.0.0", {"version_str": "1.2.3", "description": "v", "major": 1}]),
        "splits": st.none() | splits,
        "download_checksums": st.none() | st.just({"url": {"num_bytes": 1, "checksum": None}}),
        "download_size": sizes,
        "post_processing_size": sizes,
        "dataset_size": sizes,
        "size_in_bytes": sizes,
        "task_templates": st.just([1]),
    },
)


def both(stored):
    return DatasetInfo.from_dict(stored), hf.DatasetInfo.from_dict(stored)


def test_the_fields_are_the_same_and_in_the_same_order():
    assert [item.name for item in fields(DatasetInfo)] == [item.name for item in fields(hf.DatasetInfo)]
    assert asdict(DatasetInfo()) == asdict(hf.DatasetInfo())


@settings(max_examples=200, deadline=None)
@given(stored_infos)
def test_forms(stored):
    ours, theirs = both(stored)
    assert repr(ours) == repr(theirs)
    assert json.dumps(ours.to_dict()) == json.dumps(hf_plain(theirs))
    assert ours._to_yaml_dict() == theirs._to_yaml_dict()
    assert list(ours._to_yaml_dict()) == list(theirs._to_yaml_dict())
    yaml = theirs._to_yaml_dict()
    assert repr(DatasetInfo._from_yaml_dict(yaml)) == repr(hf.DatasetInfo._from_yaml_dict(yaml))


@settings(max_examples=50, deadline=None)
@given(stored_infos, st.booleans())
def test_files_are_the_same_and_each_reads_the_other(tmp_path_factory, stored, pretty):
    ours, theirs = both(stored)
    folders = [tmp_path_factory.mktemp("info") for _ in range(2)]
    ours.write_to_directory(str(folders[0]), pretty_print=pretty)
    theirs.write_to_directory(str(folders[1]), pretty_print=pretty)
    names = [sorted(path.name for path in folder.iterdir()) for folder in folders]
    assert names[0] == names[1]
    for name in names[0]:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    assert DatasetInfo.from_directory(str(folders[1])) == ours
    assert hf.DatasetInfo.from_directory(str(folders[0])) == theirs


@settings(max_examples=100, deadline=None)
@given(st.lists(stored_infos, max_size=3), st.booleans(), stored_infos, st.booleans())
def test_merge_and_update(several, twice, other, ignore_none):
    several = several * 2 if twice else several
    merged = [kind.from_merge([kind.from_dict(one) for one in several]) for kind in (DatasetInfo, hf.DatasetInfo)]
    assert repr(merged[0]) == repr(merged[1])
    for info, more in zip(merged, both(other), strict=True):
        assert info.update(more, ignore_none=ignore_none) is None
    assert repr(merged[0]) == repr(merged[1])
    assert merged[0].copy() == merged[0]


REFUSED = [
    {"version": "1.2"},
    {"supervised_keys": {"input": "a", "more": "b"}},
    {"splits": [{"name": "a"}, {"name": "a"}]},
    {"splits": [{"name": "a", "_type": "SplitInfo"}]},
]


@pytest.mark.parametrize("stored", REFUSED, ids=str)
def test_what_is_refused(stored):
    with pytest.raises((ValueError, TypeError)) as expected:
        hf.DatasetInfo.from_dict(stored)
    with pytest.raises(expected.type):
        DatasetInfo.from_dict(stored)


CARDS = [
    {},
    {"license": "mit", "dataset_info": {"download_size": 2}},
    {"dataset_info": {"config_name": "w", "download_size": 2}},
    {
        "dataset_info": [
            {"config_name": "q", "download_size": 2},
            {"config_name": "b", "features": [{"name": "x", "dtype": "int8"}]},
        ]
    },
    {"dataset_info": "nonsense"},
]
NEW = [
    {},
    {"default": {"dataset_size": 4}},
    {"q": {"dataset_size": 4, "features": FEATURES}},
    {"default": {"config_name": "default"}, "a": {"config_name": "other", "dataset_size": 1}},
]


@pytest.mark.parametrize("card", CARDS, ids=str)
@pytest.mark.parametrize("new", NEW, ids=[",".join(one) for one in NEW])
def test_readme_yaml(card, new):
    results = []
    for kind, info in ((DatasetInfosDict, DatasetInfo), (HFInfosDict, hf.DatasetInfo)):
        data = DatasetCardData(**deepcopy(card))
        found = repr(kind.from_dataset_card_data(data))
        kind({name: info.from_dict(stored) for name, stored in new.items()}).to_dataset_card_data(data)
        results.append((found, json.dumps(data.to_dict())))
    assert results[0] == results[1]


READMES = [
    None,
    "# Only a title\n",
    "---\nlicense: mit\n---\n# Title\n",
    "---\nlicense: mit\ndataset_info:\n  features:\n  - name: x\n    dtype: string\n---\n# Title\n",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("readme", READMES, ids=["none", "title", "yaml", "info"])
@pytest.mark.parametrize(
    "legacy", [None, {"default": {"download_size": 9}, "x": {"description": "d"}}], ids=["new", "old"]
)
def test_readme_files(tmp_path, readme, legacy):
    results = []
    for kind, info in ((DatasetInfosDict, DatasetInfo), (HFInfosDict, hf.DatasetInfo)):
        folder = tmp_path / kind.__module__.split(".")[0]
        folder.mkdir()
        if readme:
            (folder / "README.md").write_text(readme)
        if legacy:
            (folder / "dataset_infos.json").write_text(json.dumps(legacy))
        found = repr(kind.from_directory(str(folder)))
        kind({"q": info.from_dict({"dataset_size": 3, "features": FEATURES})}).write_to_directory(str(folder))
        results.append(
            (found, {path.name: path.read_text() for path in folder.iterdir()}, repr(kind.from_directory(folder)))
        )
    assert results[0] == results[1]
