"""The same builder class under both libraries."""

from __future__ import annotations

import os
from dataclasses import dataclass, make_dataclass

import datasets as hf
import datasets.download
import pyarrow as pa
import pytest
from support.packed import archive_of, compressed
from support.parity import canonical, same_outcome

import crucible_datasets as ours
import crucible_datasets.builder
import crucible_datasets.download

HOMES = {hf: (hf, datasets.download), ours: (crucible_datasets.builder, crucible_datasets.download)}


def classes(library):
    """Builders as a user writes them, with the names of one library."""
    builders, _ = HOMES[library]
    Config = make_dataclass("Config", [("size", int, 2), ("lang", str, "en")], bases=(builders.BuilderConfig,))

    class Rows(builders.GeneratorBasedBuilder):
        VERSION = library.Version("1.1.0")
        BUILDER_CONFIG_CLASS = Config
        BUILDER_CONFIGS = [Config(name="small", version=library.Version("1.0.0")), Config(name="large", size=50)]  # noqa: RUF012 - as users write it
        DEFAULT_CONFIG_NAME = "small"

        def _info(self):
            kinds = {
                "n": library.Value("int32"),
                "label": library.ClassLabel(names=["even", "odd"]),
                "t": library.Value("string"),
            }
            return library.DatasetInfo(description="rows", features=library.Features(kinds), license="mit")

        def _split_generators(self, dl_manager):
            return [
                library.SplitGenerator(name=library.Split.TRAIN, gen_kwargs={"start": 0}),
                library.SplitGenerator(name="extra", gen_kwargs={"start": 100}),
            ]

        def _generate_examples(self, start):
            for n in range(start, start + self.config.size):
                yield n, {"n": n, "label": ["even", "odd"][n % 2], "t": self.config.lang}

    class Tables(builders.ArrowBasedBuilder):
        def _info(self):
            return library.DatasetInfo()

        def _split_generators(self, dl_manager):
            files = dl_manager.download_and_extract(self.config.data_files)
            return [
                library.SplitGenerator(split, {"files": dl_manager.iter_files(paths)}) for split, paths in files.items()
            ]

        def _generate_tables(self, files):
            for file in files:
                with open(file) as stream:
                    yield os.path.basename(file), pa.table({"line": stream.read().splitlines()})

    class Members(builders.GeneratorBasedBuilder):
        def _info(self):
            return library.DatasetInfo(
                features=library.Features({"name": library.Value("string"), "size": library.Value("int64")})
            )

        def _split_generators(self, dl_manager):
            path = dl_manager.download(os.path.join(dl_manager.manual_dir, "x.tar.gz"))
            return [library.SplitGenerator("train", {"members": dl_manager.iter_archive(path)})]

        def _generate_examples(self, members):
            for name, file in members:
                yield name, {"name": name, "size": len(file.read())}

    return {"rows": Rows, "tables": Tables, "members": Members}


@dataclass
class Both:
    place: str

    def __call__(self, call, **how):
        """`call(library, builder)` on both libraries."""

        def of(library):
            home = os.path.join(self.place, library.__name__)
            return lambda: call(
                library, lambda name, **given: classes(library)[name](cache_dir=home, **{**how, **given})
            )

        return same_outcome(of(hf), of(ours))


@pytest.fixture
def both(tmp_path):
    return Both(str(tmp_path / "caches"))


def opened(builder, split=None, **how):
    builder.download_and_prepare(**how)
    return builder.as_dataset(split)


SPLITS = [
    None,
    "train",
    "train+extra",
    "train[1:]",
    "extra[:50%]",
    "all",
    ["train", "extra[:1]"],
    {"a": "train"},
    "nothing",
    "train[",
]


@pytest.mark.parametrize("split", SPLITS, ids=str)
def test_splits(both, split):
    both(lambda library, make: opened(make("rows"), split))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"config_name": "large"},
        {"size": 7},
        {"config_name": "large", "lang": "de"},
        {"config_name": "other"},
        {"other": 1},
    ],
    ids=str,
)
def test_configurations(both, given):
    def call(library, make):
        builder = make("rows", **given)
        return vars(builder.config) | {"version": str(builder.config.version), "id": builder.config_id}

    both(call)


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("split", ["train", "extra"])
def test_info(both, features, split):
    def call(library, make):
        kinds = {"n": library.Value("string"), "label": library.Value("string"), "t": library.Value("string")}
        builder = make("rows", **({"features": library.Features(kinds)} if features else {}))
        info = opened(builder, split).info
        return {
            "features": info.features.to_dict(),
            "splits": {name: (size.num_examples, size.shard_lengths) for name, size in info.splits.items()},
            "texts": [info.description, info.license, info.config_name, str(info.version)],
            "names": [info.builder_name, info.dataset_name, builder.name, builder.dataset_name],
            "sizes": [info.download_size, info.download_checksums or None],
        }

    both(call)


def test_info_before_anything_is_read(both):
    told = ("description", "license", "splits", "config_name", "dataset_name", "builder_name", "dataset_size")
    both(lambda library, make: [getattr(make("rows").info, name) for name in told])


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_the_files_that_are_written(both, tmp_path, file_format):
    def call(library, make):
        out = tmp_path / f"out-{library.__name__}"
        make("rows").download_and_prepare(str(out), file_format=file_format)
        return sorted(name for name in os.listdir(out) if not name.startswith("."))

    both(call)


@pytest.mark.parametrize(("writer", "reader"), [(hf, ours), (ours, hf)])
def test_each_library_reads_the_files_of_the_other(tmp_path, writer, reader):
    out = str(tmp_path / "out")
    written = opened(classes(writer)["rows"](cache_dir=str(tmp_path / "w")), "train", output_dir=out)
    file = written.cache_files[0]["filename"]
    assert canonical(reader.Dataset.from_file(file)) == canonical(written)
    other = classes(reader)["rows"](cache_dir=str(tmp_path / "r"))
    assert canonical(opened(other, "train", output_dir=out)) == canonical(written)


@pytest.mark.parametrize("name", ["x.txt", "x.txt.gz", "x.zip", "x.tar.xz", "*.txt"])
def test_files_that_are_downloaded_and_extracted(both, tmp_path, name):
    (tmp_path / "x.txt").write_text("one\ntwo\n")
    (tmp_path / "x.txt.gz").write_bytes(compressed(b"one\ntwo\n", "gz"))
    for extension in (".zip", ".tar.xz"):
        (tmp_path / f"x{extension}").write_bytes(archive_of([("d/b", b"3\n"), ("a", b"1\n2"), (".h", b"4")], extension))
    both(lambda library, make: opened(make("tables", data_files={"train": str(tmp_path / name)})))


def test_archives_that_are_iterated(both, tmp_path):
    (tmp_path / "x.tar.gz").write_bytes(
        archive_of([("b", b"22"), ("d/a", b"1"), (".h", b"4"), ("__x", b"")], ".tar.gz")
    )
    both(lambda library, make: opened(make("members", data_dir=str(tmp_path)), "train"))


def test_what_is_not_prepared_cannot_be_opened(both):
    both(lambda library, make: make("rows").as_dataset())


@pytest.mark.parametrize("shape", [str, lambda path: [path], lambda path: {"a": [path, path]}, lambda path: (path,)])
@pytest.mark.parametrize("method", ["download", "extract", "download_and_extract"])
def test_shapes_of_paths(tmp_path, shape, method):
    path = tmp_path / "a.txt"
    path.write_text("text")
    if method != "download" and isinstance(shape("a"), tuple):
        pytest.skip("Hugging Face takes a tuple of paths for one path here")

    def of(library):
        manager = HOMES[library][1].DownloadManager(base_path=str(tmp_path))
        return (
            getattr(manager, method)(shape(str(path))),
            manager.get_recorded_sizes_checksums(),
            manager.downloaded_size,
        )

    same_outcome(lambda: of(hf), lambda: of(ours))


@pytest.mark.parametrize(
    "kwargs", [{}, {"x": 1}, {"b": "a b", "a": 2.5}, {"data_dir": "/d"}, {"version": "1.0.0"}, {"x": True}], ids=str
)
def test_config_ids(kwargs):
    same_outcome(
        lambda: hf.BuilderConfig("n").create_config_id(kwargs),
        lambda: crucible_datasets.builder.BuilderConfig("n").create_config_id(kwargs),
    )
