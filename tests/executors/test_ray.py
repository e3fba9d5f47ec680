"""Maps and filters on a Ray cluster: what they give, and what is left when workers, nodes and programs die."""

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import cloudpickle
import pytest
from PIL import Image as Pictures
from support import rays

from crucible_datasets import Dataset, DatasetDict, Features, Image, Value, config, load_dataset
from crucible_datasets.exceptions import ClusterError, FileFormatError, WorkerDiedError
from crucible_datasets.executors.base import Once, Task
from crucible_datasets.executors.ray import RayExecutor
from crucible_datasets.ops.mapping.away import AwayShard
from crucible_datasets.ops.mapping.calls import Call
from crucible_datasets.ops.mapping.shards import FilterShard

pytestmark = pytest.mark.usefixtures("ray_cluster")


@pytest.fixture
def numbers():
    return Dataset.from_dict({"n": list(range(1000)), "t": [None if n % 7 == 0 else f"text {n}" for n in range(1000)]})


def same(one, other):
    assert (one.features, one.to_dict()) == (other.features, other.to_dict())


# What comes back


def doubled(row, index):
    return {"twice": row["n"] * 2, "place": index, "parts": [row["t"]]}


def counted(batch, indices):
    return {"size": [len(batch["n"])] * len(batch["n"]), "first": [indices[0]] * len(batch["n"])}


def fails_at_77(row):
    if row["n"] == 77:
        raise ValueError("no 77")
    return {"half": row["n"] / 2}


CALLS = {
    "rows": lambda ds, **how: ds.map(doubled, with_indices=True, **how),
    "batches": lambda ds, **how: ds.map(counted, batched=True, batch_size=37, with_indices=True, **how),
    "fewer rows": lambda ds, **how: ds.map(
        lambda batch: {"n": batch["n"][::2]}, batched=True, batch_size=9, remove_columns=["t"], **how
    ),
    "one batch": lambda ds, **how: ds.map(
        lambda b: {"sum": [sum(b["n"])] * len(b["n"])}, batched=True, batch_size=-1, **how
    ),
    "columns": lambda ds, **how: ds.map(lambda n: {"n": str(n)}, input_columns="n", **how),
    "filter": lambda ds, **how: ds.filter(lambda row: row["n"] % 3 == 0, **how),
    "filter batches": lambda ds, **how: ds.filter(
        lambda n: [one % 5 > 1 for one in n], input_columns="n", batched=True, batch_size=64, **how
    ),
    "skip": lambda ds, **how: ds.map(fails_at_77, on_error="skip", **how),
    "collect": lambda ds, **how: ds.map(fails_at_77, on_error="collect", **how),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_result_is_that_of_serial_and_has_its_place_in_the_cache(call, numbers):
    for dataset in (numbers, numbers.shuffle(seed=3).select(range(5, 600))):
        here = CALLS[call](dataset, load_from_cache_file=False)
        away = CALLS[call](dataset, load_from_cache_file=False, executor="ray")
        same(here, away)
        assert away._fingerprint == here._fingerprint
        assert away.cache_files == CALLS[call](dataset).cache_files
        if call == "collect":
            assert (
                away.errors.remove_columns("traceback").to_dict() == here.errors.remove_columns("traceback").to_dict()
            )
            assert "no 77" in away.errors[0]["traceback"]


def test_what_is_in_the_cache_is_not_done_again(numbers, tmp_path):
    def noted(row):
        with open(tmp_path / "calls", "a") as file:
            file.write(".")
        return {"m": row["n"]}

    first = numbers.map(noted, executor="ray")
    assert len((tmp_path / "calls").read_text()) == 1000
    same(numbers.map(noted, executor="ray"), first)
    same(numbers.map(noted), first)
    assert len((tmp_path / "calls").read_text()) == 1000


def test_ranks_tell_shards_apart(numbers):
    away = numbers.map(lambda row, rank: {"rank": rank}, with_rank=True, executor="ray", num_proc=3)
    here = numbers.map(lambda row, rank: {"rank": rank}, with_rank=True, num_proc=3, load_from_cache_file=False)
    assert away["rank"][:] == here["rank"][:]
    assert set(away["rank"]) == {0, 1, 2}


def test_every_split_and_the_setting(numbers, monkeypatch):
    splits = DatasetDict(a=numbers, b=numbers.select([]), c=numbers.take(10))
    monkeypatch.setattr(config, "CRUCIBLE_EXECUTOR", "ray")
    away = splits.map(lambda row: {"pid": os.getpid()}).filter(lambda row: row["n"] < 5)
    assert {name: split["n"][:] for name, split in away.items()} == {
        "a": [0, 1, 2, 3, 4],
        "b": [],
        "c": [0, 1, 2, 3, 4],
    }
    assert os.getpid() not in {*away["a"]["pid"], *away["c"]["pid"]}


def test_errors_name_the_row(numbers):
    with pytest.raises(ValueError, match="no 77") as found:
        numbers.map(fails_at_77, executor="ray")
    with pytest.raises(ValueError, match="no 77") as expected:
        numbers.map(fails_at_77)
    assert found.value.__notes__ == expected.value.__notes__
    assert "77" in found.value.__notes__[0]


# Media


@pytest.fixture
def pictures(tmp_path):
    paths = []
    for number in range(5):
        paths.append(str(tmp_path / f"{number}.png"))
        Pictures.new("RGB", (number + 1, 2)).save(paths[-1])
    paths.insert(3, str(tmp_path / "missing.png"))
    return Dataset.from_dict({"n": list(range(6)), "image": paths}, Features({"n": Value("int64"), "image": Image()}))


def test_files_of_media_travel_and_missing_ones_are_errors_of_their_rows(pictures, tmp_path):
    def width(row):
        return {"width": row["image"].size[0]}

    away = pictures.map(width, executor="ray", on_error="collect")
    here = pictures.map(width, on_error="collect", load_from_cache_file=False)
    assert away["width"][:] == here["width"][:] == [1, 2, 3, 4, 5]
    assert away.errors["index"][:] == [3]
    assert away.errors["exception"][:] == here.errors["exception"][:]
    assert away.cast_column("image", Image(decode=False))[0]["image"]["path"] == str(tmp_path / "0.png")


def test_what_travels_needs_no_file_of_this_machine(pictures, tmp_path):
    call = Call(lambda row: row["n"] == 3 or row["image"].size[0] > 2, on_error="skip")
    shard = FilterShard(pictures._view, range(1, 6), call, "")
    sent = cloudpickle.dumps(AwayShard(shard, Once(call)))
    for file in tmp_path.iterdir():
        file.unlink()
    (facts,), files = pickle.loads(sent)(0, lambda rows: None)
    assert (facts["start"], facts["stop"], len(files)) == (1, 6, 1)


# What is lost when something dies


class Calls:
    """Which process has worked on which rows, noted in files before each row."""

    def __init__(self, folder):
        self.folder = folder

    def note(self, row):
        with open(self.folder / str(os.getpid()), "a") as file:
            file.write(f"{row}\n")

    def pids(self):
        return [int(file.name) for file in self.folder.iterdir()]

    def rows(self):
        return Counter(int(row) for file in self.folder.iterdir() for row in file.read_text().splitlines())


def slowly(calls, row):
    calls.note(row["n"])
    time.sleep(0.01)
    return {"next": row["n"] + 1}


def wait_until(true, seconds=60):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def meanwhile(do):
    thread = threading.Thread(target=do)
    thread.start()
    yield
    thread.join()


@contextmanager
def more_nodes(ray, count):
    """The cluster with other nodes, each with one processor."""
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    cluster.head_node = ray._private.worker._global_node
    options = ray._raylet.GcsClientOptions.create(
        cluster.head_node.gcs_address, None, allow_cluster_id_nil=True, fetch_cluster_id_if_nil=False
    )
    cluster.global_state._initialize_global_state(options)
    nodes = [cluster.add_node(num_cpus=1) for _ in range(count)]
    try:
        yield cluster, nodes
    finally:
        for node in list(cluster.worker_nodes):
            cluster.remove_node(node, allow_graceful=False)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_a_dead_worker_and_a_dead_node_cost_their_unfinished_shards(seed, ray_cluster, tmp_path):
    chance, calls, rows = random.Random(seed), Calls(tmp_path), 480
    with more_nodes(ray_cluster, 2) as (cluster, nodes):
        assert len([node for node in ray_cluster.nodes() if node["Alive"]]) == 3
        shard = rows // (RayExecutor().workers() * 4) + 1

        def kill():
            wait_until(lambda: len(calls.pids()) >= 3)
            time.sleep(chance.random())
            os.kill(chance.choice(calls.pids()), signal.SIGKILL)
            time.sleep(chance.random())
            cluster.remove_node(chance.choice(nodes), allow_graceful=False)

        with meanwhile(kill):
            done = Dataset.from_dict({"n": list(range(rows))}).map(partial(slowly, calls), executor="ray")
    assert done["next"][:] == list(range(1, rows + 1))
    assert sum(calls.rows().values()) - rows <= 2 * shard


def test_a_task_that_keeps_dying_is_an_error_with_its_rows(numbers, tmp_path):
    calls = Calls(tmp_path)

    def dies_at_600(row):
        if row["n"] == 600:
            calls.note(600)
            os.kill(os.getpid(), signal.SIGKILL)
        return {"m": 1}

    with pytest.raises(WorkerDiedError) as found:
        numbers.map(dies_at_600, executor=RayExecutor(retries=1))
    assert 600 in found.value.rows
    assert len(found.value.rows) < 1000
    assert calls.rows()[600] == 2


PROGRAM = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[2]]
from test_ray import Calls, until_400
from crucible_datasets.executors.ray import RayExecutor

until_400(Calls(Path(sys.argv[3])), RayExecutor(address=sys.argv[1]))
"""


def until_400(calls, executor):
    return Dataset.from_dict({"n": list(range(400))}).map(
        partial(slowly, calls), executor=executor, cache_key="until 400"
    )


def test_a_killed_program_leaves_its_finished_shards(ray_cluster, tmp_path):
    def finished():
        files = set(Path(config.HF_DATASETS_CACHE).rglob("rows-*.part.json")) - of_others
        return [json.loads(file.read_text())["facts"] for file in files]

    calls, of_others = Calls(tmp_path), set(Path(config.HF_DATASETS_CACHE).rglob("rows-*.part.json"))
    address = ray_cluster.get_runtime_context().gcs_address
    folders = [str(Path(__file__).parent), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, address, *folders], env=environment)
    wait_until(lambda: len(finished()) >= 2)
    program.kill()
    program.wait()
    kept = sum(part["stop"] - part["start"] for part in finished())
    others = calls.pids()
    wait_until(lambda: not any(map(is_alive, others)))
    before = sum(calls.rows().values())
    done = until_400(calls, "ray")
    assert done["next"][:] == list(range(1, 401))
    assert kept > 0
    assert sum(calls.rows().values()) - before == 400 - kept


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


# The cluster


def test_a_cluster_of_ours_listens_to_this_machine_only(ray_cluster):
    mine = rays.listeners() - rays.listeners_before
    assert mine
    assert not [address for address, _ in mine if not rays.is_loopback(address)]
    assert ray_cluster._private.worker._global_node.webui_url in (None, "")


def test_a_hostile_file_is_the_same_error_there(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1" + os.urandom(64) + b"\xff\xff\xff\x7fPAR1")

    def work(rank, advance):
        return len(load_dataset("parquet", data_files=str(tmp_path / "bad.parquet"), split="train"))

    def raised(run):
        with pytest.raises(FileFormatError) as found:
            run()
        return type(found.value), str(found.value)

    nothing = lambda rows: None  # noqa: E731
    task = Task(work, range(0))
    assert raised(lambda: list(RayExecutor().run([task], 1, nothing))) == raised(lambda: work(None, nothing))


def test_what_the_cluster_has_no_room_for_is_told():
    with pytest.raises(ClusterError, match="1000 CPU"):
        list(RayExecutor(num_cpus=1000).run([Task(lambda rank, advance: 1, range(0))], 1, lambda rows: None))


def test_resources_are_asked_for(ray_cluster, numbers):
    with pytest.raises(ClusterError, match="1 GPU"):
        numbers.map(lambda row: {"m": 1}, executor=RayExecutor(num_gpus=1))
    executor = RayExecutor(num_cpus=0.5, resources={"memory": 1})
    assert executor.workers() == 2 * int(ray_cluster.cluster_resources()["CPU"])


def test_a_run_that_is_left_starts_no_cluster_when_it_is_forgotten(ray_cluster, tmp_path):
    program = """
import gc, sys, ray
from crucible_datasets.executors.base import Task
from crucible_datasets.executors.ray import RayExecutor
run = RayExecutor(sys.argv[1]).run([Task(lambda rank, advance: rank, range(0))] * 9, 2, lambda rows: None)
assert next(run) == 0
ray.shutdown()
del run
gc.collect()
assert not ray.is_initialized()
again = RayExecutor(sys.argv[1]).run([Task(lambda rank, advance: rank, range(0))] * 3, 2, lambda rows: None)
assert list(again) == [0, 1, 2]
"""
    address = ray_cluster.get_runtime_context().gcs_address
    subprocess.run([sys.executable, "-c", program, address], check=True, timeout=120)
