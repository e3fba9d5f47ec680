"""A state belongs to its data and its steps: loaded into others it is an error that says what differs."""

from __future__ import annotations

import copy
import io
import itertools
import json
import pickle
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.streams import as_worker, read, saved

import crucible_datasets as ours
from crucible_datasets.exceptions import DamagedStateError, ForeignStateError

NUMBERS = list(range(12))
OTHERS = [*NUMBERS[:6], -1, *NUMBERS[7:]]  # the rows that were read are equal


def _write(path: Path, numbers: list[int]) -> str:
    rows = [{"x": number} for number in numbers]
    match path.suffix:
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case ".csv":
            path.write_text("x\n" + "".join(f"{number}\n" for number in numbers))
        case ".txt":
            path.write_text("".join(f"{number}\n" for number in numbers))
        case ".parquet":
            pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=4)
        case ".arrow":
            table = pa.Table.from_pylist(rows)
            with pa.ipc.new_stream(str(path), table.schema) as writer:
                writer.write_table(table)
        case ".tar":
            with tarfile.open(path, "w") as archive:
                for key, number in enumerate(numbers):
                    info = tarfile.TarInfo(f"{key:02}.txt")
                    info.size = len(text := f"{number:4}".encode())
                    archive.addfile(info, io.BytesIO(text))
    return str(path)


FORMATS = {"jsonl": "json", "csv": "csv", "txt": "text", "parquet": "parquet", "arrow": "arrow", "tar": "webdataset"}


def _stream(paths: list[str], **options: Any) -> Any:
    name = FORMATS[paths[0].rsplit(".", 1)[1]]
    return ours.load_dataset(name, data_files=paths, split="train", streaming=True, **options)


def _refused(stream: Any, state: Any, match: str) -> ForeignStateError:
    with pytest.raises(ForeignStateError, match=match) as caught:
        stream.load_state_dict(state)
    assert pickle.loads(pickle.dumps(caught.value)).differences == caught.value.differences
    return caught.value


def _state_of(stream: Any) -> Any:
    read(stream, 3)
    return saved(stream)


def _rest_of(stream: Any, state: Any) -> list[Any]:
    stream.load_state_dict(state)
    return _rows_of(stream)


def _rows_of(stream: Any) -> list[Any]:
    return [{name: value for name, value in row.items() if name != "__url__"} for row in stream]


@pytest.mark.parametrize("extension", FORMATS)
def test_files_are_known_by_their_content_wherever_they_are(extension, tmp_path):
    first, second = (_write(tmp_path / f"{name}.{extension}", NUMBERS) for name in "ab")
    changed = _write(tmp_path / f"c.{extension}", OTHERS)
    shorter = _write(tmp_path / f"d.{extension}", NUMBERS[:5])
    state = _state_of(_stream([first, shorter]))
    expected = _rows_of(_stream([first, shorter]))[3:]
    assert _rest_of(_stream([first, shorter]), state) == expected
    assert _rest_of(_stream([second, shorter]), state) == expected
    _refused(_stream([changed, shorter]), state, rf"c\.{extension} has other content")
    _refused(_stream([shorter, first]), state, rf"in another order, beginning with .*d\.{extension}")
    _refused(_stream([first]), state, "had 2 files or shards, and has 1 now")
    # also the same stream, whose file was replaced by one of the same size meanwhile
    stream = _stream([first, shorter])
    shutil.copy(changed, first)
    _refused(stream, state, rf"a\.{extension} has other content")


def test_files_are_read_with_the_same_options(tmp_path):
    path = _write(tmp_path / "a.parquet", NUMBERS)
    state = _state_of(_stream([path]))
    for options in (
        {"columns": ["x"]},
        {"filters": [("x", ">", 1)]},
        {"features": ours.Features(x=ours.Value("int8"))},
    ):
        _refused(_stream([path], **options), state, "other options, columns, filters or features")
    assert len(_rest_of(_stream([path], on_bad_files="skip"), state)) == 9
    _refused(_stream([path]).reshard(), state, "had 1 files or shards, and has 3 now")


def test_of_large_files_and_many_some_are_looked_at(tmp_path):
    paths = [_write(tmp_path / f"{number:03}.jsonl", [number]) for number in range(100)]
    state = _state_of(_stream(paths))
    assert len(json.dumps(state)) < 1500
    _write(Path(paths[50]), [-5])
    error = _refused(_stream(paths), state, "one of the 4 from .*048.jsonl to .*051.jsonl has other content")
    assert len(error.differences) == 1
    large = tmp_path / "large.txt"
    large.write_bytes(b"row\n" * 500_000)
    state = _state_of(_stream([str(large)]))
    with large.open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"ROW\n" * 250_000)
    _refused(_stream([str(large)]), state, "large.txt has other content")


def test_damaged_rows_have_no_identity_but_a_state(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": list(range(4000))}), path, row_group_size=1000, compression="zstd")
    dataset = ours.Dataset.from_parquet(str(path))
    damaged = tmp_path / "damaged.parquet"
    data = bytearray(path.read_bytes())
    start = pq.read_metadata(path).row_group(3).column(0).data_page_offset
    data[start : start + 500] = bytes(500)
    damaged.write_bytes(data)
    stream = ours.Dataset.from_parquet(str(damaged)).to_iterable_dataset()
    state = _state_of(stream)
    assert [row["x"] for row in read(dataset.to_iterable_dataset(), 3)] == [0, 1, 2]
    stream.load_state_dict(state)
    assert next(iter(stream)) == {"x": 3}


def test_media_count_by_their_content(tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    for name in "abc":
        (tmp_path / "here").mkdir(exist_ok=True)
        pillow.new("RGB", (2, 2), (ord(name), 0, 0)).save(tmp_path / "here" / f"{name}.png")

    def folder(name: str) -> Any:
        return ours.load_dataset("imagefolder", data_dir=str(tmp_path / name), split="train", streaming=True)

    state = _state_of(folder("here"))
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    folder("there").load_state_dict(state)
    pillow.new("RGB", (2, 2), (0, 0, 9)).save(tmp_path / "there" / "c.png")
    _refused(folder("there"), state, "rows are others")


def _dataset(numbers: list[int] = NUMBERS, shards: int = 3) -> Any:
    return ours.Dataset.from_dict({"x": numbers}).to_iterable_dataset(num_shards=shards)


def _rows(numbers: list[int], offset: int = 0) -> Any:
    return ({"x": number + offset} for number in numbers)


def _generated(numbers: list[int] = NUMBERS, offset: int = 0) -> Any:
    parts = [numbers[:6], numbers[6:]]
    return ours.IterableDataset.from_generator(_of_parts, gen_kwargs={"parts": parts, "offset": offset})


def _of_parts(parts: list[list[int]], offset: int) -> Any:
    return itertools.chain.from_iterable(_rows(part, offset) for part in parts)


def _plus(number: int) -> Any:
    return lambda row: {"x": row["x"] + number}


def _add(row: Any, number: int) -> Any:
    return {"x": row["x"] + number}


def _interleaved(*parts: Any, chances: Any = (0.5, 0.5), seed: int = 1) -> Any:
    return ours.interleave_datasets(list(parts), probabilities=list(chances), seed=seed)


CHANGES: dict[str, Any] = {
    "rows of a dataset": (lambda: _dataset(), lambda: _dataset(OTHERS), "rows are others"),
    "number of shards": (lambda: _dataset(), lambda: _dataset(shards=4), "had 3 .* has 4 now"),
    "selection": (
        lambda: ours.Dataset.from_dict({"x": [0] * 20}).select(range(15)).to_iterable_dataset(),
        lambda: ours.Dataset.from_dict({"x": [0] * 20}).select(range(5, 20)).to_iterable_dataset(),
        "other content",
    ),
    "rows": (
        lambda: ours.IterableDataset.from_list([{"x": number} for number in NUMBERS]),
        lambda: ours.IterableDataset.from_list([{"x": number} for number in OTHERS]),
        "rows are others",
    ),
    "arguments of a generator": (lambda: _generated(), lambda: _generated(OTHERS), "shard 1 has other content"),
    "one argument of a generator": (lambda: _generated(), lambda: _generated(offset=1), "shard 0 has other content"),
    "generator": (
        lambda: ours.IterableDataset.from_generator(_rows, gen_kwargs={"numbers": (*NUMBERS,)}),
        lambda: ours.IterableDataset.from_generator(
            lambda numbers: _rows(numbers), gen_kwargs={"numbers": (*NUMBERS,)}
        ),
        "Source: the function, or an argument of it, is another",
    ),
    "second of two": (
        lambda: ours.concatenate_datasets([_dataset(), _generated()]),
        lambda: ours.concatenate_datasets([_dataset(), _generated(OTHERS)]),
        "step 2 of 3, Source: shard 1",
    ),
    "interleaved": (
        lambda: _interleaved(_dataset(), _generated()),
        lambda: _interleaved(_dataset(), _generated(OTHERS)),
        "step 2 of 3, Source: shard 1",
    ),
    "probabilities": (
        lambda: _interleaved(_dataset(), _generated()),
        lambda: _interleaved(_dataset(), _generated(), chances=(0.4, 0.6)),
        "step 3 of 3, Interleaved: probabilities",
    ),
    "seed of drawing": (
        lambda: _interleaved(_dataset(), _generated()),
        lambda: _interleaved(_dataset(), _generated(), seed=2),
        "step 3 of 3, Interleaved: the seed",
    ),
    "seed of a shuffle": (
        lambda: _generated().shuffle(seed=1, buffer_size=3),
        lambda: _generated().shuffle(seed=2, buffer_size=3),
        "Shuffled: the seed",
    ),
    "buffer": (
        lambda: _generated().shuffle(seed=1, buffer_size=3),
        lambda: _generated().shuffle(seed=1, buffer_size=4),
        "Shuffled: buffer_size was 3, and is 4 now",
    ),
    "function": (lambda: _dataset().map(_plus(1)), lambda: _dataset().map(_plus(2)), "Mapped: the function"),
    "arguments of a function": (
        lambda: _dataset().map(_add, fn_kwargs={"number": 1}),
        lambda: _dataset().map(_add, fn_kwargs={"number": 2}),
        "Mapped: the function, or an argument of it",
    ),
    "filter": (
        lambda: _dataset().filter(lambda row: row["x"] > -1),
        lambda: _dataset().filter(lambda row: row["x"] > -2),
        "Filtered: the function",
    ),
    "batches of a function": (
        lambda: _dataset().map(lambda batch: batch, batched=True, batch_size=2),
        lambda: _dataset().map(lambda batch: batch, batched=True, batch_size=3),
        "MappedBatches: batch_size was 2, and is 3 now",
    ),
    "batch": (lambda: _dataset().batch(2), lambda: _dataset().batch(3), "Grouped: batch_size was 2, and is 3"),
    "take": (lambda: _dataset().take(5), lambda: _dataset().take(6), "Taken: num_rows was 5, and is 6"),
    "skip": (lambda: _dataset().skip(1), lambda: _dataset().skip(2), "Skipped: num_rows was 1, and is 2"),
    "repeat": (lambda: _dataset().repeat(2), lambda: _dataset().repeat(None), "Repeated: times was 2, and is None"),
    "column": (
        lambda: _dataset().add_column("y", NUMBERS),
        lambda: _dataset().add_column("y", OTHERS),
        "Mapped: the function, or an argument",
    ),
    "types": (
        lambda: _dataset().cast(ours.Features(x=ours.Value("int8"))),
        lambda: _dataset().cast(ours.Features(x=ours.Value("int16"))),
        "Cast: features",
    ),
    "names": (
        lambda: _dataset().rename_column("x", "y"),
        lambda: _dataset().rename_column("x", "z"),
        "Renamed: names",
    ),
    "format": (lambda: _generated(), lambda: _generated().with_format("numpy"), "its features or its format"),
    "strategy": (
        lambda: ours.distributed.split_dataset_by_node(_dataset(), 0, 2, strategy="examples"),
        lambda: ours.distributed.split_dataset_by_node(_dataset(), 0, 2),
        "strategy of machines was examples, and is auto",
    ),
}


@pytest.mark.parametrize(("build", "build_other", "difference"), CHANGES.values(), ids=CHANGES)
def test_every_change_is_told(build, build_other, difference):
    state = _state_of(build())
    assert _rest_of(build(), state) == list(build())[3:]
    _refused(build_other(), state, difference)
    # states of earlier versions do not say what they belong to
    del state["fingerprint"]
    build_other().load_state_dict(state)


calls: list[int] = []
count, model = 0, None


class Tokenizer:
    """An object that changes when it is used."""

    def __init__(self) -> None:
        self.cache: dict[Any, Any] = {}
        self.calls = 0

    def __call__(self, row: Any) -> Any:
        self.calls += 1
        return self.cache.setdefault(row["x"], {"x": row["x"]})


def _counting(row: Any) -> Any:
    global count, model
    count += 1
    model = model or Tokenizer()
    calls.append(count)
    return model(row)


@pytest.mark.parametrize("function", [_counting, Tokenizer(), Tokenizer().__call__, lambda row: calls.append(1) or row])
def test_what_calls_change_is_no_difference(function):
    state = _state_of(_dataset().map(function))
    assert len(_rest_of(_dataset().map(function), state)) == 9
    other = Tokenizer() if isinstance(function, Tokenizer) else function
    _dataset().map(other).load_state_dict(state)


def test_a_shuffle_without_a_seed_goes_on_if_the_order_of_shards_is_the_same():
    state = _state_of(_dataset(shards=1).shuffle(buffer_size=4))
    read_before = set(NUMBERS) - {row["x"] for row in _rest_of(_dataset(shards=1).shuffle(buffer_size=4), state)}
    assert len(read_before) == 3
    many = ours.IterableDataset.from_generator(_of_parts, gen_kwargs={"parts": [[n] for n in range(9)], "offset": 0})
    state = _state_of(many.shuffle(seed=1))
    _refused(many.shuffle(), state, "another order")


SCRIPT = """
import json, sys
import crucible_datasets as datasets
paths, state = json.loads(sys.argv[1]), json.loads(sys.argv[2])
stream = datasets.load_dataset("json", data_files=paths, split="train", streaming=True)
stream = stream.map(lambda row: {"x": row["x"] + 1}).shuffle(seed=3, buffer_size=4)
if state is None:
    rows = iter(stream)
    next(rows), next(rows)
    print(json.dumps([stream.state_dict(), [row["x"] for row in rows]]))
else:
    stream.load_state_dict(state)
    print(json.dumps([None, [row["x"] for row in stream]]))
"""


def _in_process(paths: list[str], state: Any, hash_seed: int) -> Any:
    command = [sys.executable, "-c", SCRIPT, json.dumps(paths), json.dumps(state)]
    environment = {"PYTHONHASHSEED": str(hash_seed), "PATH": "/usr/bin:/bin"}
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def test_a_state_goes_to_another_process_and_another_place(tmp_path):
    (tmp_path / "moved").mkdir()
    paths = [_write(tmp_path / f"{name}.jsonl", NUMBERS) for name in "ab"]
    state, rest = _in_process(paths, None, 1)
    moved = [shutil.copyfile(path, tmp_path / "moved" / Path(path).name) for path in paths]
    assert _in_process([str(path) for path in moved], state, 2)[1] == rest


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda stream: pickle.loads(pickle.dumps(stream))])
def test_copies_of_a_stream_accept_its_states(copied, tmp_path):
    stream = _stream([_write(tmp_path / "a.parquet", NUMBERS)]).map(_add, fn_kwargs={"number": 1})
    expected = list(stream)
    assert _rest_of(copied(stream), _state_of(stream)) == expected[3:]


def test_states_of_workers_belong_to_their_data():
    with as_worker(1, 2):
        state = _state_of(_dataset(shards=4))
        assert len(_rest_of(_dataset(shards=4), state)) == 3
        _refused(_dataset(OTHERS, shards=4), state, "rows are others")


def test_states_of_several_readers_are_all_checked():
    parts = [ours.distributed.split_dataset_by_node(_dataset().with_workers(), rank, 2) for rank in range(2)]
    other = ours.distributed.split_dataset_by_node(_dataset(OTHERS).with_workers(), 0, 2)
    _dataset().with_workers().load_state_dict([_state_of(part) for part in parts])
    _refused(_dataset().with_workers(), [_state_of(parts[1]), _state_of(other)], "rows are others")


def test_a_damaged_fingerprint_is_no_other_stream():
    state = _state_of(_dataset())
    state["fingerprint"]["steps"][0]["shards"] = 4
    with pytest.raises(DamagedStateError):
        _dataset().load_state_dict(state)


def test_functions_of_another_python_and_facts_of_another_version_are_not_compared():
    from crucible_datasets.streams import identity

    stream = _dataset().map(_plus(1))._stream
    saved_by = copy.deepcopy(stream.identity)
    saved_by["steps"][1]["function"] = "3.9 " + "0" * 16
    assert identity.differences(saved_by, stream.identity, stream.stage) == []
    saved_by["steps"][0]["shards"] = 99
    assert identity.differences({**saved_by, "version": 0}, stream.identity, stream.stage) == []


def test_arrays_among_arguments_count():
    def build(first: int) -> Any:
        values = np.arange(first, first + 12)
        return ours.IterableDataset.from_generator(lambda values: _rows(values.tolist()), gen_kwargs={"values": values})

    state = _state_of(build(0))
    build(0).load_state_dict(state)
    _refused(build(1), state, "shard 0 has other content")
