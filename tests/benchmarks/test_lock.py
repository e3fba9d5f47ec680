"""Same name, same bytes: what is locked is what is loaded, and what moved is named (R21)."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.command import crucible, done, process

from crucible_datasets import Dataset, DatasetDict, Features, Image, Value, config
from crucible_datasets.benchmarks import (
    Lock,
    LockedDataset,
    check_lock,
    get_benchmark,
    load_benchmark,
    load_samples,
    lock_datasets,
    write_miniatures,
)
from crucible_datasets.benchmarks.locks.file import rows_hash
from crucible_datasets.cli import exit_codes
from crucible_datasets.exceptions import (
    ArgumentError,
    DatasetNotFoundError,
    LockFileError,
    LockMismatchError,
    NotLockedError,
    PinNotFoundError,
)
from crucible_datasets.localhub.folder import HubFolder
from crucible_datasets.localhub.server import serving

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

QUESTIONS = [{"question": f"What is {n} + 1?", "answer": f"It is {n + 1}.\n#### {n + 1}"} for n in range(6)]


@pytest.fixture(autouse=True)
def a_folder_and_caches_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "datasets-cache")
    monkeypatch.setattr(config, "CRUCIBLE_LOCK", "")
    # What is pushed here is at no commit that the entries of this library are pinned to.
    (tmp_path / "unpinned").mkdir()
    for name in ("gsm8k", "math_500", "hendrycks_math_train"):
        (tmp_path / "unpinned" / f"{name}.toml").write_text(f'extends = "{name}"\nrevision = ""')
    monkeypatch.setattr(config, "CRUCIBLE_BENCHMARKS", str(tmp_path / "unpinned"))
    monkeypatch.setenv("CRUCIBLE_BENCHMARKS", str(tmp_path / "unpinned"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def push(tmp_path, monkeypatch):
    """Puts rows on a Hub as those of GSM8K; the commit."""
    with serving(str(tmp_path / "hub")) as server:
        for name, value in {"HF_HUB_OFFLINE": False, "HF_HUB_DISABLE_XET": True}.items():
            monkeypatch.setattr(f"huggingface_hub.constants.{name}", value)
        monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(config, "HF_ENDPOINT", server.endpoint)
        monkeypatch.setenv("HF_TOKEN", next(iter(server.access.tokens)))
        yield lambda rows: Dataset.from_list(rows).push_to_hub("openai/gsm8k", "main", split="test").oid


def moved(error):
    return {what: (locked, found) for what, locked, found in error.value.moves}


# Pins of this library


def test_a_pin_is_what_is_loaded_whatever_the_branch_has(push, tmp_path, monkeypatch):
    """The same name gives the same bytes, from any Hub that has the commit; one without it is told apart."""
    monkeypatch.setattr(config, "CRUCIBLE_BENCHMARKS", "")
    pin, first = get_benchmark("gsm8k").revision, push(QUESTIONS)
    for streaming in (False, True):
        with pytest.raises(PinNotFoundError, match=f"'gsm8k' is pinned to commit {pin}.*revision='latest'") as told:
            load_benchmark("gsm8k", streaming=streaming)
    assert (told.value.source, told.value.pin, told.value.place) == ("openai/gsm8k", pin, config.HF_ENDPOINT)
    assert crucible("benchmarks", "head", "gsm8k").code == exit_codes.code_of(told.value)
    for asked in ("latest", "main", first):
        assert load_benchmark("gsm8k", revision=asked).provenance.revision == first
    with monkeypatch.context() as local:
        local.setattr(config, "CRUCIBLE_PINS", False)
        assert load_benchmark("gsm8k").provenance.revision == first
    assert "What is 0 + 1?" in done("benchmarks", "head", "gsm8k", "--revision", "latest").out
    with pytest.raises(DatasetNotFoundError, match="no revision 'f00'") as told:
        load_benchmark("gsm8k", revision="f00")
    assert not isinstance(told.value, PinNotFoundError), "that one was asked for, and is not of the entry"

    repo = HubFolder(str(tmp_path / "hub")).repo("openai/gsm8k")
    repo.adopt(replace(repo.find(first), id=pin), ["refs/heads/kept"])  # as `crucible hub mirror` does
    push(QUESTIONS[:2])
    for options in ({}, {"streaming": True}, {"revision": pin}):
        made = load_benchmark("gsm8k", **options)
        assert made.provenance.revision == pin and len(list(made)) == 6
    assert len(load_benchmark("gsm8k", revision="latest")) == 2
    lock_datasets("gsm8k")
    assert next(iter(Lock.read())).revision == pin and check_lock()[0][1] == []
    assert {move.what for move in check_lock(latest=True)[0][1]} == {"revision", "rows", "content"}


# What is loaded under a lock


def test_a_locked_benchmark_stays_as_it_was_while_the_repository_moves_on(push):
    first = push(QUESTIONS)
    locked = load_benchmark("gsm8k")
    lock_datasets("gsm8k")
    entry = next(iter(Lock.read()))
    assert (entry.revision, entry.rows, entry.sha256) == (first, 6, locked.content_hash)
    assert entry.rules == locked.entry.rules and entry.source == "openai/gsm8k"
    second = push([*QUESTIONS[:5], {"question": "New?", "answer": "#### 1"}, {"question": "More?", "answer": "#### 2"}])
    assert load_benchmark("gsm8k").provenance.revision == second
    for options in (
        {},
        {"streaming": True},
        {"split": "test"},
        {"split": "test[:2]"},
        {"limit": 2},
        {"revision": first},
    ):
        under = load_benchmark("gsm8k", lock=True, **options)
        assert under.provenance.revision == first
        assert list(under) == list(locked)[: len(list(under))] and len(list(under)) in (2, 6)
    assert len(load_benchmark("gsm8k", lock=True, revision="latest")) == 7
    assert len(load_benchmark("gsm8k", lock=False)) == 7


def test_another_commit_under_a_lock_is_an_error_that_says_what_moved(push):
    first = push(QUESTIONS)
    lock_datasets("gsm8k", "openai/gsm8k:main:test")
    second = push(QUESTIONS[:-1])
    with pytest.raises(LockMismatchError, match=r"gsm8k:main:test.*crucible\.lock") as error:
        load_benchmark("gsm8k", revision="main", lock="crucible.lock")
    assert set(moved(error)) == {"revision", "rows", "content"}
    assert moved(error)["revision"] == (first, second) and moved(error)["rows"] == (6, 5)
    assert error.value.dataset == "gsm8k:main:test" and "crucible lock --update gsm8k:main:test" in str(error.value)
    for options in ({"streaming": True}, {"split": "test[:1]"}, {"limit": 1}):
        with pytest.raises(LockMismatchError) as error:
            load_benchmark("gsm8k", lock=True, **{"revision": second, **options})
        assert moved(error)["revision"] == (first, second)
    with pytest.raises(LockMismatchError) as error:
        load_samples("openai/gsm8k", config="main", revision="main", lock=True)
    assert set(moved(error)) == {"revision", "rows", "content"}
    for options in ({}, {"streaming": True}):
        samples = load_samples("openai/gsm8k", config="main", lock=True, **options)
        assert samples.provenance.revision == first and len(list(samples)) == 6


def test_the_lock_is_checked_and_renewed(push):
    first = push(QUESTIONS)
    lock_datasets("gsm8k", "openai/gsm8k:main:test")
    second = push(QUESTIONS[1:])
    assert [moves for _, moves in check_lock()] == [[], []]
    assert done("lock", "--check", "--json").json == [
        {"dataset": "gsm8k:main:test", "state": "same", "moved": []},
        {"dataset": "openai/gsm8k:main:test", "state": "same", "moved": []},
    ]
    ran = crucible("lock", "--check", "--update", "gsm8k")
    assert ran.code == exit_codes.CHECK_FAILED and f"revision {first[:12]} → {second[:12]}; rows 6 → 5" in ran.out
    before = Lock.read().to_toml()
    done("lock", "gsm8k")  # what is there stays
    assert Lock.read().to_toml() == before
    done("lock", "--update")
    assert {entry.revision for entry in Lock.read()} == {second}
    assert len(load_benchmark("gsm8k", lock=True)) == 5


def test_a_mirror_need_only_hold_the_same(push, tmp_path):
    push(QUESTIONS)
    lock_datasets("gsm8k")
    DatasetDict({"test": Dataset.from_list(QUESTIONS)}).save_to_disk(tmp_path / "mirror")
    DatasetDict({"test": Dataset.from_list(QUESTIONS[::-1])}).save_to_disk(tmp_path / "other")
    assert len(load_benchmark("gsm8k", source=tmp_path / "mirror", lock=True)) == 6
    for options in ({}, {"streaming": True}):
        with pytest.raises(LockMismatchError) as error:
            load_benchmark("gsm8k", source=tmp_path / "other", lock=True, **options)
        assert set(moved(error)) == {"content"}


def test_other_rules_are_something_that_moved():
    lock = lock_datasets("gsm8k", synthetic=True)
    (entry,) = lock
    older = Lock([entry.replace(rules=["question/answer@0"])])
    with pytest.raises(LockMismatchError, match=r"rules was \['question/answer@0'\]") as error:
        load_benchmark("gsm8k", synthetic=True, lock=older)
    assert moved(error) == {"rules": (["question/answer@0"], entry.rules)}


def test_what_is_not_locked_is_not_loaded_under_a_lock():
    lock_datasets("gsm8k", synthetic=True)
    with pytest.raises(NotLockedError, match="mmlu:all:test is not in .*It has: gsm8k:main:test") as error:
        load_benchmark("mmlu", lock=True)
    assert error.value.available == ["gsm8k:main:test"]
    with pytest.raises(NotLockedError, match="data.jsonl"):
        load_samples("data.jsonl", lock=True)
    # Miniatures are part of this package: those that are not locked cannot move.
    assert len(load_benchmark("mmlu", synthetic=True, lock=True)) > 8
    assert crucible("lock", "--check", "mmlu").code == exit_codes.NOT_FOUND


def test_a_lock_counts_only_where_it_is_asked_for(monkeypatch):
    lock_datasets("gsm8k", synthetic=True)
    wrong = Lock([entry.replace(sha256="0" * 64) for entry in Lock.read()])
    wrong.write()
    assert len(load_benchmark("gsm8k", synthetic=True)) == 32  # the file in this folder was not asked for
    for asked in (True, "crucible.lock", os.path.abspath("crucible.lock"), wrong):
        with pytest.raises(LockMismatchError):
            load_benchmark("gsm8k", synthetic=True, lock=asked)
    monkeypatch.setattr(config, "CRUCIBLE_LOCK", os.path.abspath("crucible.lock"))
    with pytest.raises(LockMismatchError):
        load_benchmark("gsm8k", synthetic=True)
    assert len(load_benchmark("gsm8k", synthetic=True, lock=False)) == 32
    assert len(load_samples([{"input": "a"}])) == 1
    with pytest.raises(ArgumentError, match="in memory"):
        load_samples([{"input": "a"}], lock=True)


def test_what_a_benchmark_leaves_out_is_locked_with_it(tmp_path, push):
    """The training problems of MATH are those that MATH-500 does not have, as it was when it was locked."""
    write_miniatures(tmp_path / "hub", ["hendrycks_math"])
    load_benchmark("math_500", synthetic=True).raw.push_to_hub("HuggingFaceH4/MATH-500", split="test")
    name, one = "hendrycks_math_train", {"config": "algebra"}
    lock_datasets(f"{name}:algebra")
    before = list(load_benchmark(name, lock=True, **one))
    assert {entry.name for entry in Lock.read()} == {name, "math_500"}
    problem = {"problem": before[0].input, "solution": "x", "answer": "1", "subject": "a", "level": 1, "unique_id": "u"}
    Dataset.from_list([problem]).push_to_hub("HuggingFaceH4/MATH-500", split="test")
    assert list(load_benchmark(name, **one)) != before
    assert list(load_benchmark(name, lock=True, **one)) == before
    assert [moves for _, moves in check_lock()] == [[], []]
    assert all(moves for _, moves in check_lock(latest=True))
    # A lock of only the one does without the other.
    Lock([entry for entry in Lock.read() if entry.name == name]).write("one.lock")
    with pytest.raises(LockMismatchError):
        load_benchmark(name, lock="one.lock", **one)


# Files of one's own


@pytest.fixture
def data(tmp_path):
    def write(rows, folder="work"):
        path = tmp_path / folder / "data.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return path

    return write


def test_a_file_that_changed_is_an_error(data):
    data(QUESTIONS)
    lock_datasets("data.jsonl")
    assert len(load_samples("data.jsonl", lock=True)) == 6
    assert len(list(load_samples("data.jsonl", lock=True, streaming=True, split="train"))) == 6
    data([*QUESTIONS[:-1], {**QUESTIONS[-1], "answer": "#### 0"}])
    for options in ({}, {"streaming": True}, {"limit": 1}, {"split": "train[:1]"}):
        with pytest.raises(LockMismatchError) as error:
            load_samples("data.jsonl", lock=True, **options)
        assert set(moved(error)) == {"content"}
    ran = crucible("lock", "--check")
    assert ran.code == exit_codes.CHECK_FAILED and "data.jsonl::train" in ran.out


def test_files_go_by_their_place_beside_the_lock(data, tmp_path, monkeypatch):
    data(QUESTIONS)
    lock_datasets("data.jsonl")
    shutil.copytree(tmp_path / "work", tmp_path / "clone")
    monkeypatch.chdir(tmp_path)
    assert [moves for _, moves in check_lock(path="clone/crucible.lock")] == [[]]
    assert len(load_samples(tmp_path / "clone" / "data.jsonl", lock="clone/crucible.lock")) == 6
    lock_datasets(path="clone/crucible.lock", update=True)
    assert (tmp_path / "clone" / "crucible.lock").read_bytes() == (tmp_path / "work" / "crucible.lock").read_bytes()


def test_every_split_of_a_dataset_is_locked(tmp_path):
    parts = DatasetDict({"train": Dataset.from_list(QUESTIONS), "test": Dataset.from_list(QUESTIONS[:2])})
    parts.save_to_disk("saved")
    for name, rows in parts.items():
        rows.to_parquet(f"files/{name}.parquet")
    parts["test"].save_to_disk("one")
    lock_datasets("saved", "files", "one")
    entries = {entry.title: entry for entry in Lock.read()}
    assert list(entries) == ["files::test", "files::train", "one", "saved::test", "saved::train"]
    assert entries["files::train"].sha256 == entries["saved::train"].sha256
    assert entries["files::test"].sha256 == entries["saved::test"].sha256 == entries["one"].sha256
    assert [moves for _, moves in check_lock()] == [[]] * 5
    assert len(load_samples("saved", split="test", lock=True)) == len(load_samples("one", lock=True)) == 2


# The same on every machine


def test_two_processes_write_the_same_file(tmp_path, data):
    written = []
    for seed, home in (("1", "first"), ("2", "second")):
        data(QUESTIONS, home)
        file = tmp_path / home / "crucible.lock"
        environment = {"PYTHONHASHSEED": seed, "HF_HOME": str(tmp_path / home / "cache"), "TZ": f"UTC+{seed}"}
        names = ["gsm8k", "hh_rlhf", str(tmp_path / home / "data.jsonl")][:: 1 if seed == "1" else -1]
        ran = process("lock", "--synthetic", "--file", str(file), *names, **environment)
        assert ran.returncode == 0, ran.stderr
        written.append(file.read_bytes())
    assert written[0] == written[1] and written[0].count(b"sha256") == 3


def test_hashes_do_not_change_between_versions():
    """These are in the locks of users; the rows are made here."""
    rows = Dataset.from_list([{"b": 1, "a": "é", "c": [1.5, None]}, {"b": None, "a": "", "c": []}])
    lines = '{"a":"é","b":1,"c":[1.5,null]}\n{"a":"","b":null,"c":[]}\n'
    assert rows_hash(rows) == (hashlib.sha256(lines.encode()).hexdigest(), 2)


tables = st.lists(st.tuples(st.text(max_size=4), st.integers(-9, 9) | st.none()), min_size=1, max_size=6)


@settings(max_examples=30)
@given(rows=tables, cut=st.integers(0, 6))
def test_the_hash_is_of_what_rows_hold_and_not_of_how_they_are_stored(rows, cut):
    texts, numbers = [text for text, _ in rows], [number for _, number in rows]
    plain = pa.table({"t": texts, "n": pa.array(numbers, pa.int64())})
    other = pa.table({"n": pa.array(numbers, pa.int8()), "t": pa.array(texts, pa.large_string())})
    whole = rows_hash(Dataset(plain))
    assert whole == rows_hash(Dataset(other)) == rows_hash(Dataset(pa.concat_tables([plain[:cut], plain[cut:]])))
    assert whole == rows_hash(Dataset(plain).to_iterable_dataset())
    again = Dataset(pa.concat_tables([plain, plain]))
    assert rows_hash(again.select(range(len(rows), 2 * len(rows)))) == whole
    changed = [
        (text + "x", number) if place == cut % len(rows) else (text, number)
        for place, (text, number) in enumerate(rows)
    ]
    assert rows_hash(Dataset.from_list([{"t": text, "n": number} for text, number in changed])) != whole


def test_no_value_is_taken_for_another():
    nan, inf = float("nan"), float("inf")
    cells = [
        None,
        nan,
        inf,
        -inf,
        0.0,
        [nan],
        [None],
        {"x": nan},
        {"x": None},
        1,
        "1",
        True,
        b"1",
        "",
        [],
        {"x": [inf]},
    ]
    hashes = [rows_hash(Dataset.from_dict({"a": [cell]}))[0] for cell in cells]
    assert len(set(hashes)) == len(cells)


def test_pictures_count_with_their_bytes_and_not_with_their_folder(tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    hashes = []
    for folder, colour in (("one", "red"), ("two", "red"), ("three", "blue")):
        (tmp_path / folder).mkdir()
        pillow.new("RGB", (4, 4), colour).save(tmp_path / folder / "a.png")
        kinds = Features({"image": Image(), "label": Value("int64")})
        rows = Dataset.from_dict({"image": [str(tmp_path / folder / "a.png")], "label": [1]}, features=kinds)
        hashes.append(rows_hash(rows)[0])
    assert hashes[0] == hashes[1] != hashes[2]


# The file


names = st.text(min_size=1, max_size=12)
entries = st.builds(
    LockedDataset,
    name=names,
    kind=st.sampled_from(["benchmark", "dataset"]),
    config=st.none() | names,
    split=st.none() | names,
    synthetic=st.booleans(),
    source=st.none() | names,
    revision=st.none() | names,
    rules=st.lists(names, max_size=2),
    rows=st.integers(0, 2**40),
    sha256=st.text("0123456789abcdef", min_size=64, max_size=64),
)


@settings(max_examples=50)
@given(several=st.lists(entries, max_size=5, unique_by=lambda entry: entry.key), data=st.data())
def test_what_is_written_is_read_back_and_the_order_of_locking_does_not_matter(several, data):
    lock = Lock(several)
    assert Lock(data.draw(st.permutations(several))).to_toml() == lock.to_toml()
    lock.write("written.lock")
    assert list(Lock.read("written.lock")) == list(lock) and Lock.read("written.lock").to_toml() == lock.to_toml()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "version"),
        ("version = 2", "version"),
        ("version = [", "no TOML"),
        ("version = 1\ndataset = 5", "dataset"),
        ("version = 1\n[[model]]\nname = 'a'", "model"),
        ("version = 1\n[[dataset]]\nname = 'a'", "rows"),
        ("version = 1\n[[dataset]]\nname = 'a'\nrows = 'x'\nsha256 = ''", "rows"),
        ("version = 1\n[[dataset]]\nname = 'a'\nrows = 1\nsha256 = ''\nsize = 3", "size"),
    ],
)
def test_a_file_that_is_no_lock_is_an_error_that_names_it(text, reason):
    with open("bad.lock", "w") as file:
        file.write(text)
    with pytest.raises(LockFileError, match=rf"bad\.lock: .*{reason}"):
        Lock.read("bad.lock")
    assert crucible("lock", "--file", "bad.lock").code == exit_codes.BAD_DATA


def test_no_file_is_an_error_that_says_how_to_make_one():
    with pytest.raises(LockFileError, match="crucible lock"):
        load_benchmark("gsm8k", synthetic=True, lock=True)


def test_the_command_shows_what_is_locked():
    ran = done("lock", "gsm8k", "--synthetic")
    assert done("lock").out == ran.out and "gsm8k:main:test" in ran.out
    assert done("lock", "--json").json[0]["sha256"] == load_benchmark("gsm8k", synthetic=True).content_hash


def test_rows_that_do_not_fit_are_left_out_when_asked(push):
    push([*QUESTIONS, {"question": "", "answer": "no hashes"}])
    assert crucible("lock", "gsm8k").code == exit_codes.BAD_DATA and not os.path.exists("crucible.lock")
    done("lock", "gsm8k", "--on-bad-rows", "skip")
    assert next(iter(Lock.read())).rows == 6
    done("lock", "--check")
    assert len(load_benchmark("gsm8k", lock=True, on_bad_rows="skip")) == 6


def test_a_whole_folder_of_miniatures_is_locked_from_a_hub(tmp_path, push):
    write_miniatures(tmp_path / "hub", ["math_500", "caltech101"])
    done("lock", "math_500", "caltech101")
    assert done("lock", "--check").code == 0
    for name in ("math_500", "caltech101"):
        assert len(load_benchmark(name, lock=True)) > 8
