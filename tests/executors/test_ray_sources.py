"""What workers read where it is: the program fetches none of the data that a cluster works on."""

import json
import os
import pickle
import subprocess
import sys
from functools import partial

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.core import url_to_fs
from support.servers import store

from crucible_datasets import Dataset, concatenate_datasets, config, load_dataset
from crucible_datasets.executors.base import Once
from crucible_datasets.executors.ray import RayExecutor
from crucible_datasets.executors.rayversion import version_checked_worker
from crucible_datasets.localhub import server as hub_server
from crucible_datasets.ops.mapping.calls import Call
from crucible_datasets.ops.mapping.remote import RemoteShard
from crucible_datasets.ops.mapping.shards import FilterShard
from crucible_datasets.reading import background_downloads
from crucible_datasets.sources import cloud, web
from crucible_datasets.tables.portable import Journey

ROWS, FILES, GROUP = 1200, 3, 100


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files whose column `text` is most of their bytes."""
    folder = tmp_path_factory.mktemp("hub")
    (folder / "acme" / "data").mkdir(parents=True)
    noise = np.random.default_rng(0).bytes
    for number in range(FILES):
        rows = range(number * ROWS // FILES, (number + 1) * ROWS // FILES)
        table = pa.table({"n": rows, "text": [noise(200).hex() for _ in rows], "other": [noise(400) for _ in rows]})
        pq.write_table(table, folder / "acme" / "data" / f"{number}.parquet", row_group_size=GROUP)
    return folder


@pytest.fixture
def fetched(monkeypatch):
    """The bytes that this process fetches from anywhere; workers are other processes."""
    sizes = []

    def noted(fetch, *given, **more):
        for piece in fetch(*given, **more):
            sizes.append(len(piece))
            yield piece

    monkeypatch.setattr(web.Web, "body", partialmethod_of(noted, web.Web.body))
    monkeypatch.setattr(cloud, "_pieces", partial(noted, cloud._pieces))
    return sizes


def partialmethod_of(noted, method):
    return lambda self, *given, **more: noted(method, self, *given, **more)


@pytest.fixture(params=["hub", "s3"])
def data(request, folder, tmp_path, monkeypatch):
    """A dataset that stays where it is."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "datasets")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    if request.param == "hub":
        with hub_server.serving(str(folder)) as server:
            monkeypatch.setattr(config, "HF_ENDPOINT", server.endpoint)
            yield partial(load_dataset, "acme/data", split="train")
        return
    place = store("s3")
    system, base = url_to_fs(f"{place.root}/rays", **place.options, skip_instance_cache=True)
    system.put(str(folder / "acme" / "data"), base, recursive=True)
    yield partial(
        load_dataset, "parquet", data_files=f"{place.root}/rays/*.parquet", split="train", storage_options=place.options
    )
    system.rm(base, recursive=True)


def length(row):
    return {"length": len(row["text"])}


@pytest.mark.usefixtures("ray_cluster")
def test_workers_read_from_the_source_and_the_program_does_not(data, fetched):
    dataset = data(download=False)
    footers = sum(fetched)
    assert footers < FILES * (70 << 10)
    away = dataset.map(length, executor="ray")
    kept = dataset.filter(lambda n: n % 7 == 0, input_columns="n", executor=RayExecutor(shared_disk=False))
    assert away["length"][:] == [400] * ROWS
    assert sum(fetched) == footers
    streamed = data(streaming=True).map(length, executor="ray")
    assert sum(row["length"] for row in streamed) == ROWS * 400
    assert sum(fetched) < 3 * footers  # it looks at them on its own
    assert kept["n"][:] == list(range(0, ROWS, 7))
    assert dataset._fingerprint == data()._fingerprint  # so what was worked out is found again once the files are here


CHOICES = {
    "all": lambda data: data,
    "some": lambda data: data.select(range(150, 640)),
    "ascending": lambda data: data.select(range(3, 1200, 11)),
    "shuffled": lambda data: data.shuffle(seed=1),
    "columns": lambda data: data.rename_column("n", "m").select_columns(["m", "text"]).rename_column("m", "n"),
    "beside": lambda data: data.add_column("z", list(range(len(data)))),
    "under": lambda data: concatenate_datasets([data, Dataset.from_dict(data[:10], data.features)]),
}


@pytest.mark.parametrize("data", ["hub"], indirect=True)
def test_files_on_their_way_here_are_read_where_they_come_from(data, monkeypatch):
    monkeypatch.setattr(config, "CRUCIBLE_BACKGROUND_DOWNLOADS", 1)
    monkeypatch.setattr(
        background_downloads, "_start", lambda work: None
    )  # they do not come before somebody waits for them
    table = data()._view.table
    journey = Journey(False, lambda table: table)
    there, rows = journey.of(table, range(350, 650))
    assert rows == range(50, 350)
    sent = cloudpickle.dumps(there)
    assert len(sent) < 40_000
    assert there.read(rows, ["n"]).column(0).to_pylist() == list(range(350, 650))
    assert not any(os.path.exists(file) for file in table.files)
    assert table.read(range(350, 650), ["n"]).column(0).to_pylist() == list(range(350, 650))
    assert [os.path.exists(file) for file in table.files] == [True, True, False]
    assert len(cloudpickle.dumps(journey.of(table, range(350, 650))[0])) > 200_000  # now they are here, and go along


@pytest.mark.parametrize("data", ["hub"], indirect=True)
def test_what_travels_is_where_rows_are_and_gives_these_rows(data):
    def read(row):
        return row["n"] % 3 == 0

    for name, choice in CHOICES.items():
        view = choice(data(download=False))._view
        call = Call(read)
        for rows in (range(40), range(len(view) // 2, len(view))):
            shard = FilterShard(view, rows, call, "")
            sent = cloudpickle.dumps(RemoteShard(shard, Once(call)))
            facts, files = pickle.loads(sent)(0, lambda rows: None)
            kept = [np.load(pa.BufferReader(files[part["kept"]])) for part in facts]
            numbers = view.read(columns=["n"]).column(0).to_pylist()
            assert np.concatenate(kept).tolist() == [row for row in rows if numbers[row] % 3 == 0]
        table, _ = Journey(False, lambda table: table).of(view.table, view.rows)
        assert (len(cloudpickle.dumps(table)) < 40_000) == (name != "shuffled")


# Workers that are not fit for it


def shadow(folder, version):
    """A folder that comes before where this library is, with another one of its name, or with none."""
    (folder / "crucible_datasets" / "executors").mkdir(parents=True)
    (folder / "crucible_datasets" / "__init__.py").write_text(
        f"__version__ = {version!r}" if version else "import nowhere"
    )
    (folder / "crucible_datasets" / "executors" / "rayworker.py").write_text("def work(*given): return given")
    return {**os.environ, "PYTHONPATH": str(folder)}


@pytest.mark.parametrize(
    ("version", "said"), [("0.0.1", "has crucible_datasets 0.0.1"), (None, "does not have crucible_")]
)
def test_a_worker_without_this_library_says_so(version, said, tmp_path):
    (tmp_path / "work").write_bytes(cloudpickle.dumps(version_checked_worker("1.2.3")))
    program = "import json, pickle, sys; print(json.dumps(pickle.loads(open(sys.argv[1], 'rb').read())('task')))"
    run = [sys.executable, "-c", program, str(tmp_path / "work")]
    found = subprocess.run(run, env=shadow(tmp_path, version), check=True, capture_output=True, text=True).stdout
    kind, rows, reason = json.loads(found)
    assert (kind, rows) == ("unfit", 0)
    assert said in reason
    assert "1.2.3" in reason


@pytest.mark.slow
def test_a_cluster_without_this_library_is_an_error(ray_cluster, tmp_path):
    program = """
import ray, sys
from crucible_datasets import Dataset
from crucible_datasets.exceptions import ClusterError
ray.init(sys.argv[1], runtime_env={"env_vars": {"PYTHONPATH": sys.argv[2]}}, logging_level="ERROR")
try:
    Dataset.from_dict({"n": [1, 2]}).map(lambda row: {"m": 1}, executor="ray")
except ClusterError as error:
    print(error)
"""
    shadow(tmp_path, None)
    run = [sys.executable, "-c", program, ray_cluster.get_runtime_context().gcs_address, str(tmp_path)]
    found = subprocess.run(run, check=True, capture_output=True, text=True, timeout=300)
    assert "does not have crucible_datasets" in found.stdout


def test_a_class_is_loaded_once_by_each_worker_of_a_stream(ray_cluster, tmp_path):
    (tmp_path / "loads").mkdir()

    class Loaded:
        def __init__(self):
            (tmp_path / "loads" / f"{os.getpid()} {id(self)}").touch()

        def __call__(self, row):
            return {"pid": os.getpid()}

    data = Dataset.from_dict({"n": list(range(60))}).to_iterable_dataset(num_shards=20)
    rows = list(data.map(Loaded, executor="ray"))
    assert [row["n"] for row in rows] == list(range(60))
    assert len(list((tmp_path / "loads").iterdir())) == len({row["pid"] for row in rows})
