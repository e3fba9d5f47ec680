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
import numpy as np
import pytest
from PIL import Image as Pictures
from support import rays
from support.command import CRUCIBLE

from crucible_datasets import Dataset, DatasetDict, Features, Image, Value, config, load_dataset
from crucible_datasets.evaluation import evaluate
from crucible_datasets.evaluation.results.openrun import samples_in
from crucible_datasets.evaluation.results.store import ResultStore
from crucible_datasets.exceptions import ClusterError, FileFormatError, WorkerDiedError, WorkerError
from crucible_datasets.executors.base import Once, Task
from crucible_datasets.executors.ray import RayExecutor
from crucible_datasets.executors.rayobjects import RayTaskPickler
from crucible_datasets.ops.mapping.calls import Call
from crucible_datasets.ops.mapping.remote import RemoteShard
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


async def later(row):
    return {"m": row["t"]}


class Held(ValueError):
    """What cannot be pickled."""

    def __init__(self, *said):
        super().__init__(*said)
        self.lock = threading.Lock()


def fails_at_77(row):
    if row["n"] == 77:
        raise Held("no 77")
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
    "late columns": lambda ds, **how: ds.map(
        lambda row: {"late": row["n"] if row["n"] < 500 else str(row["n"])} if row["n"] > 300 else None, **how
    ),
    "last batch": lambda ds, **how: ds.with_format("numpy").map(
        lambda batch: {"m": batch["n"] * 2}, batched=True, batch_size=33, drop_last_batch=True, **how
    ),
    "awaited": lambda ds, **how: ds.map(later, remove_columns=["n", "t"], **how),
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


def fails_at_78(row):
    if row["n"] == 78:
        raise ValueError("no 78")


def test_errors_name_the_row(numbers):
    with pytest.raises(ValueError, match="no 78") as found:
        numbers.map(fails_at_78, executor="ray")
    with pytest.raises(ValueError, match="no 78") as expected:
        numbers.map(fails_at_78)
    assert found.value.__notes__ == expected.value.__notes__
    assert "78" in found.value.__notes__[0]
    with pytest.raises(WorkerError, match=r"(?s)Held: no 77.*row 77") as told:  # what it held cannot travel
        numbers.map(fails_at_77, executor="ray")
    assert told.value.said == "no 77"


def test_what_a_function_holds_travels_once(ray_cluster, numbers):
    much = np.zeros(1 << 22, dtype=np.uint8)
    call = Call(lambda row: much[row["n"]])
    once, pickler = Once(call), RayTaskPickler(ray_cluster)
    runs = [range(start, start + 100) for start in range(0, 1000, 100)]
    tasks = [RemoteShard(FilterShard(numbers._view, rows, call, ""), once) for rows in runs]
    sent = [pickler.packed(rank, Task(task, range(0))) for rank, task in enumerate(tasks)]
    assert len({str(shared) for _, shared in sent}) == 1
    assert max(len(pickle.dumps(ray_cluster.get(message))) for message, _ in sent) < 20_000


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
    sent = cloudpickle.dumps(RemoteShard(shard, Once(call)))
    for file in tmp_path.iterdir():
        file.unlink()
    (facts,), files = pickle.loads(sent)(0, lambda rows: None)
    assert (facts["start"], facts["stop"], len(files)) == (1, 6, 1)


# What is lost when something dies


class Calls:
    """Which process has worked on which rows, noted in files before each row."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(exist_ok=True)

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


def wait_until(true, seconds=300):
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
    """The cluster with other nodes, each with one processor, and the last one with what counts as a GPU."""
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    cluster.head_node = ray._private.worker._global_node
    options = ray._raylet.GcsClientOptions.create(
        cluster.head_node.gcs_address, None, allow_cluster_id_nil=True, fetch_cluster_id_if_nil=False
    )
    cluster.global_state._initialize_global_state(options)
    nodes = [cluster.add_node(num_cpus=1, num_gpus=int(number == count - 1)) for number in range(count)]
    try:
        assert len(alive(ray)) == count + 1
        yield cluster, nodes
    finally:
        for node in list(cluster.worker_nodes):
            cluster.remove_node(node)
        wait_until(lambda: len(alive(ray)) == 1)


def alive(ray):
    return [node for node in ray.nodes() if node["Alive"]]


class Model:
    """Adds one; notes what it was asked."""

    def __init__(self, calls):
        self.calls = calls

    def __call__(self, sample):
        self.calls.note(sample.id)
        time.sleep(0.02)
        return str(int(sample.id) + 1)


def evaluated(calls, store):
    samples = [{"id": str(n), "input": f"{n} + 1", "target": str(n + 1)} for n in range(120)]
    how = {"store": store, "run_id": "run", "cache": False, "executor": "ray"}
    return evaluate(partial(Model, calls), samples, "exact_match", **how)


def gpus(row):
    import ray

    return {"gpus": ray.get_gpu_ids(), "node": ray.get_runtime_context().get_node_id()}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_dead_workers_and_nodes_cost_what_is_unfinished(seed, ray_cluster, tmp_path):
    chance, rows = random.Random(seed), 300
    mapped, asked = Calls(tmp_path / "mapped"), Calls(tmp_path / "asked")
    with more_nodes(ray_cluster, 2) as (cluster, nodes):
        # What takes a GPU is done where one is.
        placed = Dataset.from_dict({"n": [1, 2]}).map(
            gpus, executor=RayExecutor(num_gpus=1), load_from_cache_file=False
        )
        assert {(tuple(row["gpus"]), row["node"]) for row in placed} == {((0,), nodes[1].node_id)}

        shard = rows // (RayExecutor().workers() * 4) + 1
        chance.shuffle(nodes)

        def kill():
            wait_until(lambda: len(mapped.pids()) >= 3)
            time.sleep(chance.random() / 2)
            os.kill(chance.choice(mapped.pids()), signal.SIGKILL)
            time.sleep(chance.random() / 2)
            cluster.remove_node(nodes[0], allow_graceful=False)

        with meanwhile(kill):
            done = Dataset.from_dict({"n": list(range(rows))}).map(partial(slowly, mapped), executor="ray")
        assert done["next"][:] == list(range(1, rows + 1))
        assert sum(mapped.rows().values()) - rows <= 2 * shard

        acknowledged, journal = [], tmp_path / "store" / "open" / "run"

        def kill_the_other():
            wait_until(lambda: journal.exists() and list(samples_in(str(journal))))
            time.sleep(chance.random() / 4)
            acknowledged.extend(int(one.id) for one in samples_in(str(journal)))
            cluster.remove_node(nodes[1], allow_graceful=False)

        with meanwhile(kill_the_other):
            result = evaluated(asked, tmp_path / "store")
    assert acknowledged
    assert {asked.rows()[one] for one in acknowledged} == {1}
    assert [int(one.id) for one in result.samples] == list(range(120))
    kept = ResultStore(tmp_path / "store").load("run")
    assert [one.outcomes for one in kept.samples] == [one.outcomes for one in result.samples]
    assert kept.value() == 1.0


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
import gc, ray, sys
from pathlib import Path
sys.path[:0] = [sys.argv[2]]
from test_ray import Calls, until_300
from crucible_datasets.executors.base import Task
from crucible_datasets.executors.ray import RayExecutor

run = RayExecutor(sys.argv[1]).run([Task(lambda rank, advance: rank, range(0))] * 3, 1, lambda rows: None)
assert next(run) == 0
ray.shutdown()
del run
gc.collect()
assert not ray.is_initialized(), "a run that was left has started a cluster when it was forgotten"
until_300(Calls(Path(sys.argv[3])), RayExecutor(sys.argv[1], num_cpus=float(sys.argv[4])))
"""


def until_300(calls, executor):
    return Dataset.from_dict({"n": list(range(300))}).map(
        partial(slowly, calls), executor=executor, cache_key="until 300"
    )


def test_a_killed_program_leaves_its_finished_shards(ray_cluster, tmp_path):
    def finished():
        files = set(Path(config.HF_DATASETS_CACHE).rglob("rows-*.part.json")) - of_others
        return [json.loads(file.read_text())["facts"] for file in files]

    calls, of_others = Calls(tmp_path), set(Path(config.HF_DATASETS_CACHE).rglob("rows-*.part.json"))
    address = ray_cluster.get_runtime_context().gcs_address
    # One worker at a time will do, and takes less time to start than several.
    given = [str(Path(__file__).parent), str(tmp_path), str(ray_cluster.cluster_resources()["CPU"])]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, address, *given], env=environment)
    wait_until(lambda: len(finished()) >= 2 or program.poll() is not None)
    assert program.poll() is None
    program.kill()
    program.wait()
    kept = sum(part["stop"] - part["start"] for part in finished())
    others = calls.pids()
    wait_until(lambda: not any(map(is_alive, others)))
    before = sum(calls.rows().values())
    done = until_300(calls, "ray")
    assert done["next"][:] == list(range(1, 301))
    assert kept > 0
    assert sum(calls.rows().values()) - before == 300 - kept


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


def test_a_program_has_one_cluster(ray_cluster):
    address = ray_cluster.get_runtime_context().gcs_address
    assert RayExecutor(address.replace("127.0.0.1", "localhost")).workers() == RayExecutor().workers()
    with pytest.raises(ClusterError, match="already, and asks for '127.0.0.1:1'"):
        RayExecutor("127.0.0.1:1").workers()


def test_what_the_cluster_has_no_room_for_is_told():
    with pytest.raises(ClusterError, match="1000 CPU"):
        list(RayExecutor(num_cpus=1000).run([Task(lambda rank, advance: 1, range(0))], 1, lambda rows: None))


def test_resources_are_asked_for(ray_cluster, numbers):
    with pytest.raises(ClusterError, match="1 GPU"):
        numbers.map(lambda row: {"m": 1}, executor=RayExecutor(num_gpus=1))
    executor = RayExecutor(num_cpus=0.5, resources={"memory": 1})
    assert executor.workers() == 2 * int(ray_cluster.cluster_resources()["CPU"])


@pytest.mark.parametrize("executor", ["processes", pytest.param("ray", marks=pytest.mark.slow)])
def test_a_program_that_knows_nothing_of_it_runs_on_an_executor(executor, ray_cluster, tmp_path):
    (tmp_path / "program.py").write_text(
        "import datasets, os, sys\n"
        f"data = datasets.Dataset.from_dict({{'n': ['{executor}'] * 4}})\n"
        "rows = data.map(lambda row: {'process': os.getpid()})\n"
        "print(sys.argv[1:], os.getpid() in rows['process'])\n"
    )
    environment = {**os.environ, "RAY_ADDRESS": ray_cluster.get_runtime_context().gcs_address}
    command = [CRUCIBLE, "run", "--executor", executor, tmp_path / "program.py", "--executor", "mine"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert "['--executor', 'mine'] False" in ran.stdout, ran.stderr
