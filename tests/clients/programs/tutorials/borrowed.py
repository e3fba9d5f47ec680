"""Functions and classes of inner modules that programs borrow: readers, writers, files anywhere, patterns, packed files."""

import bz2
import gzip
import os
import tarfile
import zipfile

import datasets
import datasets.fingerprint as fingerprint
import datasets.utils.file_utils as files
import datasets.utils.py_utils as small
import numpy as np
import PIL.Image
from datasets import Dataset, NamedSplit, Split
from datasets.data_files import DataFilesDict, resolve_pattern, sanitize_patterns
from datasets.download.streaming_download_manager import xgetsize, xjoin, xopen, xPath
from datasets.features.image import encode_np_array, encode_pil_image, image_to_bytes, objects_to_list_of_image_dicts
from datasets.io.csv import CsvDatasetReader, CsvDatasetWriter
from datasets.io.generator import GeneratorDatasetInputStream
from datasets.io.json import JsonDatasetReader, JsonDatasetWriter
from datasets.io.parquet import ParquetDatasetReader, ParquetDatasetWriter
from datasets.io.sql import SqlDatasetReader, SqlDatasetWriter
from datasets.io.text import TextDatasetReader
from datasets.packaged_modules.csv.csv import Csv
from datasets.packaged_modules.json.json import Json
from datasets.utils._dill import Pickler, dumps
from datasets.utils.extract import Extractor, GzipExtractor, TarExtractor
from datasets.utils.sharding import _distribute_shards, _merge_gen_kwargs, _split_gen_kwargs

data = Dataset.from_dict({"a": [1, 2], "t": ["x", "y"]})
print(JsonDatasetWriter(data, "a.jsonl").write(), JsonDatasetReader("a.jsonl").read()[:])
print(
    CsvDatasetWriter(data, "a.csv", index=False).write(),
    CsvDatasetReader("a.csv", split=NamedSplit("dev")).read().split,
)
print(
    CsvDatasetReader({"train": "a.csv", "dev": ["a.csv"]}).read(),
    list(CsvDatasetReader("a.csv", streaming=True).read()),
)
print(ParquetDatasetWriter(data, "a.parquet").write() > 0, ParquetDatasetReader(["a.parquet"], columns=["a"]).read()[:])
print(
    SqlDatasetWriter(data, "rows", "sqlite:///a.db").write(),
    SqlDatasetReader("select t from rows", "sqlite:///a.db").read()[:],
)
print(TextDatasetReader("a.csv").read()[:], GeneratorDatasetInputStream(lambda: iter([{"x": 1}])).read()[:])
for kind, file in ((Csv, "a.csv"), (Json, "a.jsonl")):
    builder = kind(cache_dir=os.path.abspath("cache"), data_files={"train": [os.path.abspath(file)]})
    builder.download_and_prepare()
    print(builder.name, builder.as_dataset(split="train")[:])

os.makedirs("d/e")
with open("d/e/f.txt", "w") as file:
    file.write("text")
place = xPath("d") / "e" / "f.txt"
print(
    place.exists(), place.is_file(), place.open().read(), place.name, xPath("a.tar.gz").suffix, str(xPath("d/e").parent)
)
print(
    str(xPath("hf://datasets/a/b") / "c.txt"), str(xPath("https://a/b/c.txt").parent), xPath("https://a/b/c.txt").stem
)
print(xgetsize("a.csv"), xopen(xjoin("d", "e", "f.txt")).read(), list(files.xwalk("d")), files.xsplit("s3://a/b/c"))
print(
    files.xisfile("a.csv"),
    files.xisdir("d"),
    files.xrelpath("d/e", "d"),
    files.xpandas_read_csv("a.csv").to_dict("list"),
)
np.save("n.npy", np.arange(3))
print(files.xnumpy_load("n.npy").tolist(), files.xpyarrow_parquet_read_table("a.parquet").num_rows)

print([sanitize_patterns(given) for given in ("a", ["a", "b"], {"train": "a", "test": ["b", "c"]}, {Split.TRAIN: "q"})])
print([os.path.basename(file) for file in resolve_pattern("*.csv", os.getcwd())])
print({split: len(found) for split, found in DataFilesDict.from_patterns({"train": ["**/*.txt"]}, os.getcwd()).items()})

for opened, name in ((gzip.open, "a.gz"), (bz2.open, "a.bz2")):
    with opened(name, "wt") as packed:
        packed.write("hello " * 10)
with tarfile.open("a.tar.gz", "w:gz") as packed, zipfile.ZipFile("a.zip", "w") as zipped:
    packed.add("d")
    zipped.write("a.csv")
for name in ("a.gz", "a.bz2", "a.zip"):
    Extractor.extract(name, os.path.abspath(f"out-{name}"), Extractor.infer_extractor_format(name))
    print(name, os.path.isdir(f"out-{name}"), Extractor.is_extractable(name), GzipExtractor.is_extractable(name))
TarExtractor.extract("a.tar.gz", os.path.abspath("out-tar"))
print(
    open("out-a.gz").read(),
    os.listdir("out-a.zip"),
    os.listdir("out-tar/d/e"),
    Extractor.infer_extractor_format("a.csv"),
)

picture = PIL.Image.new("RGB", (2, 2), (1, 2, 3))
print(
    sorted(encode_pil_image(picture)),
    encode_np_array(np.zeros((2, 2), "uint8"))["bytes"][:4],
    image_to_bytes(picture)[:4],
)
print(
    [sorted(each.items()) for each in objects_to_list_of_image_dicts(["a.png"])],
    objects_to_list_of_image_dicts([picture])[0]["path"],
)

for wrong in ("a/b", "a" * 65, ""):
    try:
        print(fingerprint.validate_fingerprint(wrong))
    except ValueError:
        print("no fingerprint", wrong[:3])
print(
    fingerprint.validate_fingerprint("abc"),
    fingerprint._CACHING_ENABLED,
    fingerprint.format_transform_for_fingerprint(gzip.open, "1"),
)
print(small.string_to_dict("data/a-1.csv", "data/{name}-{n}.csv"), small.string_to_dict("x", "y{z}"))
print(
    small.first_non_null_non_empty_value([None, [], "", 3]),
    small.no_op_if_value_is_null(str)(None),
    small.glob_pattern_to_regex("a/*.c?"),
)
print([_split_gen_kwargs({"a": [1, 2, 3], "b": 7}, jobs) for jobs in (1, 2, 9)], _split_gen_kwargs({"a": 3}, 4))
print(_distribute_shards(5, 3), _merge_gen_kwargs([{"a": [1], "b": 2}, {"a": [3], "b": 2}]))
with open("pickled", "wb") as file:
    Pickler(file, recurse=True).dump(lambda row: row)
print(len(dumps(print)) > 0, os.path.getsize("pickled") > 0, datasets.logging.is_progress_bar_enabled())
