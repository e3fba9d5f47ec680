"""What forwarding modules give is what Hugging Face's modules give."""

from __future__ import annotations

import subprocess
import sys

import datasets.arrow_reader
import datasets.arrow_writer
import datasets.features.features
import datasets.naming
import datasets.packaged_modules
import datasets.table
import datasets.utils.file_utils
import datasets.utils.info_utils
import datasets.utils.metadata
import datasets.utils.py_utils
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCardData
from hypothesis import given
from hypothesis import strategies as st

import crucible_datasets
from crucible_datasets import _sharing

WORDS = st.text("abcXYZ019_", min_size=1, max_size=12)
ADDRESSES = ["http://a/b", "s3://x/y/z.csv", "hf://datasets/a/b", "/a/b.txt", "c.txt", "zip://in/side::http://b/c.zip"]
NESTED = st.recursive(
    st.integers(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3)
)


def both(name):
    """A module there and here."""
    return __import__(f"datasets.{name}", fromlist=["_"]), _sharing.shared(name)


def outcome(call):
    """What a call gives, or the kind of its error."""
    try:
        return call()
    except (ValueError, TypeError, FileNotFoundError) as error:
        return type(error).__name__ if type(error).__module__ == "builtins" else "error"


@given(WORDS, WORDS, st.lists(st.integers(0, 5), max_size=3) | st.none())
def test_names_of_files(name, split, lengths):
    for theirs, ours in [both("naming")]:
        for function in ("camelcase_to_snakecase", "snakecase_to_camelcase", "filename_prefix_for_name"):
            assert getattr(ours, function)(name) == getattr(theirs, function)(name), function
        asked = ("/folder", name, split, "arrow", lengths)
        assert ours.filenames_for_dataset_split(*asked) == theirs.filenames_for_dataset_split(*asked)
        assert ours.filepattern_for_dataset_split(name, split, "/f") == theirs.filepattern_for_dataset_split(
            name, split, "/f"
        )


@given(NESTED)
def test_nested_values(value):
    theirs, ours = both("utils.py_utils")
    assert ours.NestedDataStructure(value).flatten() == theirs.NestedDataStructure(value).flatten()
    assert ours.map_nested(str, value) == theirs.map_nested(str, value)
    assert ours.asdict({"a": value}) == theirs.asdict({"a": value})


def test_small_functions():
    theirs, ours = both("utils.py_utils")
    for size in (5, "5KB", "5KiB", "7MB", "1GB", "2GiB"):
        assert ours.convert_file_size_to_int(size) == theirs.convert_file_size_to_int(size)
    for size in (None, 0, 12, 1500, 3 << 20, 5 << 40):
        assert ours.size_str(size) == theirs.size_str(size)
    pairs = {"a": 1, "b": 2}, {"a": 3, "b": 4}
    assert list(ours.zip_dict(*pairs)) == list(theirs.zip_dict(*pairs))
    assert list(ours.unique_values([2, 1, 2])) == list(theirs.unique_values([2, 1, 2]))
    assert list(ours.iter_batched(range(5), 2)) == list(theirs.iter_batched(range(5), 2))
    assert ours.first_non_null_value([None, 3]) == theirs.first_non_null_value([None, 3])
    drawn = []
    for library in (theirs, ours):
        np.random.seed(0)
        with library.temp_seed(7):
            drawn.append(np.random.rand())
        drawn.append(np.random.rand())
    assert drawn[:2] == drawn[2:]
    collated = _sharing.shared("utils.tf_utils").minimal_tf_collate_fn_with_renaming([{"a": 1, "label": 2}])
    assert {name: values.tolist() for name, values in collated.items()} == {"a": [1], "labels": [2]}
    copied = ours.copyfunc(both)
    assert copied is not both and copied("naming") == both("naming")


def test_addresses(tmp_path):
    theirs, ours = both("utils.file_utils")
    for address in ADDRESSES:
        for function in ("is_remote_url", "is_local_path", "is_relative_path", "xdirname", "xbasename", "xsplitext"):
            assert getattr(ours, function)(address) == getattr(theirs, function)(address), (function, address)
        assert ours.xjoin(address, "more") == theirs.xjoin(address, "more")
        assert ours.url_or_path_join(address, "more") == theirs.url_or_path_join(address, "more")
        assert ours.hash_url_to_filename(address, "e") == theirs.hash_url_to_filename(address, "e")
    (tmp_path / "x.txt").write_text("text\n")
    place = str(tmp_path / "x.txt")
    assert ours.cached_path(place) == theirs.cached_path(place) == place
    with ours.xopen(place) as file, ours.xopen(f"file://{place}", "rb") as again:
        assert (file.read(), again.read()) == ("text\n", b"text\n")
    assert ours.xexists(place) and ours.xlistdir(str(tmp_path)) == ["x.txt"]
    theirs, ours = both("utils.info_utils")
    assert ours.get_size_checksum_dict(place, True) == theirs.get_size_checksum_dict(place, True)


CARDS = [
    [],
    [{"config_name": "a", "data_files": "x.csv"}],
    [{"config_name": "b", "data_files": "y"}, {"config_name": "a", "data_files": "x.csv", "default": True}],
    [{"config_name": "default", "data_files": "y"}, {"config_name": "a"}],
]


@pytest.mark.parametrize("configs", CARDS)
def test_configurations_of_cards(configs):
    said = []
    for module in both("utils.metadata"):
        found = module.MetadataConfigs.from_dataset_card_data(
            DatasetCardData(configs=configs) if configs else DatasetCardData()
        )
        card = DatasetCardData(configs=[{"config_name": "z", "data_files": "z"}])
        found.to_dataset_card_data(card)
        said.append((dict(found), found.get_default_config_name(), card.to_dict(), module.MetadataConfigs.FIELD_NAME))
    assert said[0] == said[1]


def test_extensions_are_those_of_hugging_face():
    theirs, ours = both("packaged_modules")
    known = {extension: name for extension, (name, _) in theirs._EXTENSION_TO_MODULE.items() if extension.islower()}
    assert known.items() <= {extension: name for extension, (name, _) in ours._EXTENSION_TO_MODULE.items()}.items()
    lines = ["a = 1 # c", "", "b"]
    assert ours._hash_python_lines(lines) == theirs._hash_python_lines(lines)


def test_features():
    theirs, ours = both("features.features")
    for value in (None, [], [[]], [None, [1]], [1], "", [[None]]):
        check = "_check_non_null_non_empty_recursive"
        assert getattr(ours, check)(value) == getattr(theirs, check)(value), value
    kinds = {"a": "int32", "l": "large_string"}
    for module, library in ((theirs, datasets), (ours, crucible_datasets)):
        feature = {name: library.Value(kind) for name, kind in kinds.items()} | {"c": library.ClassLabel(names=["x"])}
        assert module.encode_nested_example(feature, {"a": 1, "l": "t", "c": "x"}) == {"a": 1, "l": "t", "c": 0}
        assert not module.require_decoding(feature) and module.require_storage_cast(feature)
        assert module.require_decoding(library.Image()) and module.require_storage_embed(library.Image())
        assert module.string_to_arrow("int8") == pa.int8() and str(module.get_nested_type(feature["a"])) == "int32"


ROWS = [{"a": 1, "t": "x"}, {"a": None, "t": "y"}, {"a": 3, "t": None}]


@pytest.mark.parametrize("kind", ["ArrowWriter", "ParquetWriter"])
def test_files_that_programs_write_by_themselves(tmp_path, kind):
    """What a writer wrote is what its rows were, in either library, and both readers agree."""
    for module in both("arrow_writer"):
        path = str(tmp_path / f"{module.__name__}.data")
        with getattr(module, kind)(path=path, writer_batch_size=2) as writer:
            for row in ROWS:
                writer.write(row)
            writer.write_batch({"a": [4], "t": ["z"]})
            writer.write_table(pa.table({"a": [5], "t": ["w"]}))
            assert writer.finalize()[0] == 5
        for library in (datasets, crucible_datasets):
            rows = library.Dataset.from_file(path) if kind == "ArrowWriter" else library.Dataset(pq.read_table(path))
            assert rows.to_list() == [*ROWS, {"a": 4, "t": "z"}, {"a": 5, "t": "w"}]


def test_readers_and_buffers(tmp_path):
    for number, (reader, writer, library) in enumerate(
        zip(both("arrow_reader"), both("arrow_writer"), (datasets, crucible_datasets), strict=True)
    ):
        features = library.Features({"a": library.Value("int32")})
        with writer.ArrowWriter(path=str(tmp_path / f"{number}.arrow"), features=features) as written:
            written.write_batch({"a": [1, 2, 3]})
            written.finalize()
        read = reader.ArrowReader(str(tmp_path), library.DatasetInfo(features=features)).read_files(
            [{"filename": f"{number}.arrow"}, {"filename": f"{number}.arrow", "skip": 1, "take": 1}]
        )
        assert library.Dataset(**read)["a"][:] == [1, 2, 3, 2]
        buffer = pa.BufferOutputStream()
        kept = writer.ArrowWriter(stream=buffer, features=features)
        kept.write({"a": 7})
        kept.finalize()
        assert library.Dataset.from_buffer(buffer.getvalue()).to_list() == [{"a": 7}]
        with pytest.raises(writer.SchemaInferenceError):
            writer.ArrowWriter(stream=pa.BufferOutputStream()).finalize()


def test_tables():
    table = pa.table({"a": [1, 2], "t": ["x", "y"]})
    wanted = pa.schema({"t": pa.large_string(), "a": pa.float32()})
    given_back = []
    for module, library in zip(both("table"), (datasets, crucible_datasets), strict=True):
        data = library.Dataset.from_dict(table.to_pydict()).data
        assert isinstance(data, module.Table) and data.table.equals(table)
        assert data.to_pydict() == table.to_pydict() and data.column_names == ["a", "t"] and data.shape == (2, 2)
        assert library.Dataset(module.InMemoryTable.from_pydict({"a": [1]})).to_list() == [{"a": 1}]
        joined = module.concat_tables([module.InMemoryTable(table), module.InMemoryTable(table)])
        beside = module.concat_tables(
            [module.InMemoryTable(table), module.InMemoryTable(pa.table({"b": [0, 0]}))], axis=1
        )
        cast = module.table_cast(table, wanted)
        given_back.append(
            [
                joined.to_pydict(),
                beside.to_pydict(),
                sorted(cast.to_pydict().items()),
                {name: cast.schema.field(name).type for name in ("a", "t")},
                [len(piece) for piece in module.table_iter(module.InMemoryTable(table), 1)],
                module.array_cast(pa.array([1, None]), pa.string()),
                module.cast_array_to_feature(pa.array(["x"]), library.ClassLabel(names=["y", "x"])).to_pylist(),
                outcome(lambda module=module: module.table_cast(table, pa.schema({"z": pa.int8()}))),
            ]
        )
    assert given_back[0] == given_back[1]


DEEP = {
    "arrow_dataset": "Batch Column Dataset Example",
    "builder": "BuilderConfig DatasetBuilder DatasetGenerationError InvalidConfigName Key",
    "dataset_dict": "DatasetDict IterableDatasetDict",
    "download.streaming_download_manager": "StreamingDownloadManager xbasename xjoin xopen",
    "features.bio_sequence": "BioSequence",
    "features.features": "Array2D ClassLabel Sequence Value cast_to_python_objects generate_from_dict string_to_arrow",
    "features.image": "Image encode_np_array encode_pil_image image_to_bytes",
    "fingerprint": "Hasher generate_fingerprint generate_random_fingerprint update_fingerprint",
    "info": "DatasetInfo SplitDict",
    "iterable_dataset": "ExamplesIterable IterableDataset _BaseExamplesIterable",
    "load": "DatasetNotFoundError _PACKAGED_DATASETS_MODULES load_dataset",
}


@pytest.mark.parametrize("module", DEEP)
def test_names_of_modules_need_no_drop_in(module):
    program = f"import sys; from crucible_datasets.{module} import {', '.join(DEEP[module].split())}; assert 'datasets' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_modules_are_attributes_of_their_packages():
    program = (
        "import crucible_datasets as c; c.packaged_modules.csv.csv.Csv; c.formatting.np_formatter; c.utils.tf_utils"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_name_that_no_module_has():
    for module in ("features.features", "load", "fingerprint", "dataset_dict"):
        with pytest.raises(AttributeError, match=f"'crucible_datasets.{module}' has no attribute 'nothing'"):
            getattr(_sharing.shared(module), "nothing")
