"""What is stored is found again, as it was; several writers never lose or mix anything."""

import errno
import multiprocessing
import os
import pickle
import random
import re
import threading
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets import config
from crucible_datasets.benchmarks import load_samples
from crucible_datasets.evaluation import (
    Differences,
    EvaluationResult,
    OpenRun,
    Rescored,
    ResultStore,
    RunInfo,
    SampleResult,
    SqlMirror,
    compare,
    evaluate,
    export,
    write_report,
)
from crucible_datasets.evaluation.outcome import STATUSES, Outcome
from crucible_datasets.evaluation.results import finishing, index, journal, openrun
from crucible_datasets.evaluation.results.runfile import StoredRun
from crucible_datasets.evaluation.runs.record import SampleList
from crucible_datasets.exceptions import (
    ArgumentError,
    FileFormatError,
    IncomparableRunsError,
    RowIndexError,
    RunExistsError,
    RunFinishedError,
    RunNotFoundError,
    UnknownEntryError,
)

KEY = "exact_match@2"
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
outcomes = st.builds(
    Outcome,
    value=st.none() | st.floats(allow_nan=False, allow_infinity=False, width=32),
    extracted=st.none() | st.text(),
    status=st.sampled_from(STATUSES),
    detail=st.none() | st.dictionaries(st.text(), plain, max_size=2),
)
samples = st.lists(
    st.builds(
        SampleResult,
        id=st.text(),
        prediction=st.none() | st.text() | st.lists(st.text()) | plain,
        target=plain,
        outcomes=st.fixed_dictionaries({KEY: outcomes, "own@0.1": outcomes}),
        input=plain,
        choices=st.none() | st.lists(st.text(), max_size=4),
        metadata=st.dictionaries(st.text(), plain, max_size=2),
        epoch=st.integers(0, 3),
    ),
    unique_by=lambda sample: (sample.id, sample.epoch),
    max_size=8,
)


def info(run_id="run", **facts):
    return RunInfo(**{"run_id": run_id, "model": "m", "dataset": "d", "metrics": [KEY], **facts})


def scored(number, value=1.0, **fields):
    return SampleResult(str(number), f"answer {number}", "t", {KEY: Outcome(value)}, **fields)


def result(values, run_id="run", **facts):
    return EvaluationResult(info(run_id, **facts), [scored(n, value) for n, value in enumerate(values)], {})


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "store")


# What goes in comes out


@given(rows=samples)
def test_samples_of_any_shape_come_back_through_journal_and_file(tmp_path_factory, rows):
    store = ResultStore(tmp_path_factory.mktemp("store"))
    with store.open_run(info(metrics=[KEY, "own@0.1"])) as run:
        run.extend(rows)
        under_way = list(store.load("run").samples)
        run.finish()
    assert under_way == rows
    assert list(store.load("run").samples) == rows


@given(rows=samples)
def test_columns_of_stored_samples_are_those_of_samples_in_memory(tmp_path_factory, rows):
    store = ResultStore(tmp_path_factory.mktemp("store"))
    memory = EvaluationResult(info(metrics=[KEY, "own@0.1"]), rows, {})
    store.save(memory)
    kept = store.load("run").samples
    assert kept.ids() == memory.samples.ids() and len(kept) == len(rows)
    np.testing.assert_array_equal(kept.epochs(), memory.samples.epochs())
    for key in (KEY, "own@0.1"):
        np.testing.assert_array_equal(kept.values(key), memory.samples.values(key))
        assert kept.outcomes(key) == memory.samples.outcomes(key)
    for path in ("id", "epoch", "prediction", "target", "choices", "metadata", "metadata.a", "a.b"):
        assert kept.at(path) == memory.samples.at(path)


def test_a_stored_sample_is_read_without_the_others(store):
    store.save(result([number % 2 for number in range(12_000)]))
    kept = store.load("run").samples
    assert kept[11_999].id == kept[-1].id == "11999" and [one.id for one in kept[4_999:5_002]] == [
        "4999",
        "5000",
        "5001",
    ]
    assert pickle.loads(pickle.dumps(kept))[7] == kept[7]
    with pytest.raises(RowIndexError):
        kept[12_000]


def test_values_that_json_has_no_word_for_are_kept_as_text(store):
    odd = SampleResult(
        "1", "\ud800", {(1, 2): 3}, {KEY: Outcome(1.0, "\udcff")}, input=object, metadata={"n": np.arange(2)}
    )
    with store.open_run(info()) as run:
        run.append(odd)
        found = run.finish().samples[0]
    assert (
        found.prediction == "\\ud800" and found.target == {"(1, 2)": 3} and found.outcomes[KEY].extracted == "\\udcff"
    )
    assert found.metadata == {"n": [0, 1]} and found.input.startswith("<class")


# Runs under way


def test_a_run_is_one_file_in_the_end_and_nothing_else(store):
    with store.open_run(info()) as run:
        run.append(scored(1), scored(2))
        assert [one.info.run_id for one in store.unfinished()] == ["run"] and not len(store)
        assert store.load("run").info.num_samples == 2
        run.finish()
    assert list(store) == ["run"] and not store.unfinished()
    files = [path.name for path in Path(store.path).rglob("*") if path.is_file()]
    assert files == ["run.parquet"]


def test_a_sample_that_is_appended_again_replaces_the_earlier_one(store):
    with store.open_run(info()) as run:
        run.extend([scored(1, 0.0), scored(2, 0.0), scored(1, 1.0)])
        found = run.finish()
    assert found.samples.ids() == ["2", "1"] and found.value() == 0.5


def test_a_finished_run_takes_no_more_samples(store):
    with store.open_run(info()) as one, store.open_run(info(), resume=True) as other:
        one.append(scored(1))
        other.append(scored(2))
        one.finish()
        with pytest.raises(RunFinishedError):
            other.append(scored(3))
    assert store.load("run").samples.ids() == ["1", "2"]
    with pytest.raises(RunExistsError):
        store.open_run(info())
    with pytest.raises(RunExistsError):
        store.save(result([1.0]))


def test_a_run_is_only_continued_as_what_it_was(store):
    store.open_run(info()).close()
    with pytest.raises(RunExistsError, match="resume=True"):
        store.open_run(info())
    with pytest.raises(ArgumentError, match="another"):
        store.open_run(info(model="another"), resume=True)
    assert store.open_run(info(), resume=True).done() == {}


def test_a_torn_last_line_is_passed_over(store):
    run = store.open_run(info())
    run.append(scored(1), scored(2))
    run.close()
    [path] = journal.journals_in(run.folder)
    whole = Path(path).read_bytes()
    for cut in range(len(whole)):
        Path(path).write_bytes(whole[:cut])
        assert len(run.done()) == whole[:cut].count(b"\n")


def _append(path, first, number):
    with ResultStore(path).open_run(info(), resume=True) as run:
        for place in range(first, first + number):
            run.append(scored(place))


def test_many_processes_and_threads_write_one_run(store):
    store.open_run(info()).close()
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_append, args=(store.path, 100 * place, 20)) for place in range(2)]
    workers += [threading.Thread(target=_append, args=(store.path, 100 * place, 20)) for place in range(2, 5)]
    with store.open_run(info(), resume=True) as shared:
        workers += [threading.Thread(target=shared.append, args=(scored(1000 + place),)) for place in range(20)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        found = shared.finish().samples.ids()
    expected = {str(100 * place + number) for place in range(5) for number in range(20)}
    assert len(found) == 120 and set(found) == expected | {str(1000 + place) for place in range(20)}


def test_every_acknowledged_sample_is_in_the_run_whoever_finishes_it(store):
    """Writers append until they are refused, while another one finishes the run."""
    acknowledged, began = [], threading.Barrier(4)

    def write(place):
        with store.open_run(info(), resume=True) as run:
            began.wait()
            for number in range(10_000):
                try:
                    run.append(scored(f"{place}-{number}"))
                except RunFinishedError:
                    return
                acknowledged.append(f"{place}-{number}")

    store.open_run(info()).close()
    writers = [threading.Thread(target=write, args=(place,)) for place in range(3)]
    for writer in writers:
        writer.start()
    began.wait()
    while len(acknowledged) < 20:
        pass
    store.open_run(info(), resume=True).finish()
    for writer in writers:
        writer.join()
    assert set(acknowledged) <= set(store.load("run").samples.ids())


# Finding runs


def test_the_index_is_made_again_from_the_files(store):
    for number in range(30):
        store.save(result([1.0], f"run-{number:02d}", created_at=f"2026-01-{number + 1:02d}T00:00:00.000000+00:00"))
    everything = store.list()
    assert [run.info.run_id for run in everything] == [f"run-{number:02d}" for number in reversed(range(30))]
    path = Path(store.path, "index.jsonl")
    for damage in (b"", b"nonsense\n", path.read_bytes()[:-7], path.read_bytes().replace(b"2026", b"2036")):
        path.write_bytes(damage)
        assert store.list() == everything
    path.unlink()
    assert store.list() == everything
    store.delete("run-07")
    assert "run-07" not in store and len(store) == 29


def test_a_file_that_is_no_run_is_left_out(store, caplog):
    store.save(result([1.0]))
    pq.write_table(
        pq.read_table(Path(store.path, "runs", "run.parquet")).select(["id"]), Path(store.path, "runs", "other.parquet")
    )
    Path(store.path, "runs", "broken.parquet").write_bytes(b"PAR1")
    assert list(store) == ["run"]


def test_runs_are_found_by_what_they_are_like(store):
    from crucible_datasets.evaluation.runs.record import MetricSummary

    def save(run_id, value, **facts):
        made = result([value], run_id, **facts)
        made.summary = {KEY: MetricSummary(value, 1), "f1@2": MetricSummary(1 - value, 1)}
        store.save(made)

    save("a", 0.25, model="org/small", dataset="gsm8k", tags=["x", "y"], created_at="2026-11-15T23:00:00.000000+00:00")
    save(
        "b",
        0.75,
        model="org/large",
        dataset="gsm8k",
        tags=["x"],
        revision="r1",
        created_at="2026-11-16T01:00:00.000000+00:00",
    )
    save("c", 1.0, model="other", dataset="math", split="test", created_at="2026-11-17T00:00:00.000000+00:00")

    def found(**asked):
        return "".join(sorted(run.info.run_id for run in store.query(**asked)))

    assert found() == "abc" and found(model="org/*") == "ab" and found(model=["other", "org/small"]) == "ac"
    assert found(model="org/smal") == "" and found(dataset="gsm8k", tags="y") == "a" and found(tags=["x", "y"]) == "a"
    assert found(scores={"exact_match": 0.5}) == "bc" and found(scores={KEY: (None, 0.75)}) == "ab"
    assert found(scores={"exact_match": (0.5, 0.9), "f1": (0.2, None)}) == "b" and found(scores={"f1@1": 0}) == ""
    assert found(since="2026-11-16") == "bc" and found(until=date(2026, 11, 16)) == "a"
    assert found(since=datetime(2026, 11, 16, tzinfo=UTC) + timedelta(hours=1), until="2026-11-17") == "b"
    assert (
        found(since="2026-11-16T00:30:00+02:00") == "abc" and found(revision="r1") == "b" and found(split="test") == "c"
    )
    assert [run.info.run_id for run in store.query(limit=2)] == ["c", "b"]
    for wrong in ({"since": "yesterday"}, {"scores": {"f1": "high"}}):
        with pytest.raises(ArgumentError):
            store.query(**wrong)


def test_a_run_is_named_by_an_unambiguous_part(store):
    store.save(result([1.0], "2026-small-a1"))
    store.save(result([1.0], "2026-large-b2"))
    assert store.load("a1").info.run_id == "2026-small-a1" and store.load("2026-l").info.run_id == "2026-large-b2"
    for asked in ("2026", "nothing", "", "../2026-small-a1"):
        with pytest.raises(RunNotFoundError):
            store.load(asked)


def test_a_name_of_a_model_is_not_taken_for_the_end_of_a_digest(store):
    """`store.diff("a", "b")` once compared whichever runs had names that happened to end so."""
    store.save(result([1.0], "20260101T000000-b-sums-0000000a"))
    for asked in ("a", "0a", "00a", "2", "202"):
        with pytest.raises(RunNotFoundError):
            store.load(asked)
    assert store.load("000a").info.run_id == store.load("2026").info.run_id


def test_a_result_is_scored_again_like_the_run_of_its_name(store):
    run = evaluate(["so 4"], [{"id": 1, "input": "2 + 2", "target": "4"}], store=store, run_id="r")
    both = [store.rescore(given, "contains", save=False).result.value() for given in (run, "r")]
    assert both == [1.0, 1.0]


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    runs = {"small": result([1.0], "r")}
    assert export(runs, "~/new/runs.csv") == f"{tmp_path}/home/new/runs.csv"
    assert write_report("~/new/runs.html", runs) == f"{tmp_path}/home/new/runs.html"
    Path("home/said.jsonl").write_text('{"id": 1, "prediction": "4"}')
    assert evaluate("~/said.jsonl", [{"id": 1, "input": "2 + 2", "target": "4"}]).value() == 1.0
    assert sorted(os.listdir("home/new")) == ["runs.csv", "runs.html"] and not Path("~").exists()


@pytest.mark.parametrize("run_id", ["", ".", "..", "../x", "a/b", "/etc/passwd", "a\0", "-x", "x" * 151, "a\n", 7])
def test_a_run_id_is_never_a_path(store, run_id):
    for call in (
        store.open_run,
        lambda info: store.save(EvaluationResult(info, [], {})),
        lambda info: store.delete(run_id),
    ):
        with pytest.raises(ArgumentError):
            call(info(run_id))
    assert not list(Path(store.path).rglob("*.parquet"))


def test_deleting_is_idempotent_and_reaches_runs_under_way(store):
    store.save(result([1.0]))
    store.open_run(info("open")).close()
    assert store.delete("run") and not store.delete("run") and store.delete("open")
    assert not len(store) and not store.unfinished()


def test_the_store_is_where_the_settings_say(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CRUCIBLE_RESULTS_DIR", tmp_path / "own")
    ResultStore().save(result([1.0]))
    assert os.path.exists(tmp_path / "own" / "runs" / "run.parquet")


def test_a_store_that_may_only_be_read_is_read(store, monkeypatch):
    for number in range(12):
        store.save(result([1.0], f"r{number}"))

    def refuse(path, entries):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    monkeypatch.setattr(index, "_write", refuse)
    assert len(store.list()) == 12 and store.load("r3").samples.ids() == ["0"]
    assert not Path(store.path, "index.jsonl").exists()


# Comparing and scoring again


@given(pairs=st.lists(st.tuples(st.sampled_from([0.0, 1.0, None]), st.sampled_from([0.0, 1.0, None]))))
def test_every_sample_is_of_one_kind(tmp_path_factory, pairs):
    store = ResultStore(tmp_path_factory.mktemp("store"))
    one, other = (result([pair[place] for pair in pairs], f"r{place}") for place in range(2))
    for run in (one, other):
        run.summary = evaluate_summary(run)
    found = store.diff(one, other)
    right = [None if None in pair else tuple(value == 1.0 for value in pair) for pair in pairs]
    assert [row.id for row in found.of("uncounted")] == [str(n) for n, pair in enumerate(right) if pair is None]
    assert found.fixed == [str(n) for n, pair in enumerate(right) if pair == (False, True)]
    assert found.broken == [str(n) for n, pair in enumerate(right) if pair == (True, False)]
    assert found.both_right == [str(n) for n, pair in enumerate(right) if pair == (True, True)]
    assert found.both_wrong == [str(n) for n, pair in enumerate(right) if pair == (False, False)]
    assert sum(found.counts.values()) == len(pairs)


def evaluate_summary(run):
    from crucible_datasets.evaluation.runs.counting import Counting

    counting = Counting(run.info)
    counting.add(run.samples)
    return counting.summary()


def test_samples_of_one_run_only_are_told(store):
    one, other = result([1.0, 1.0], "a"), result([1.0, 1.0, 0.0], "b")
    one.summary, other.summary = evaluate_summary(one), evaluate_summary(other)
    found = store.diff(one, other)
    assert found.counts["only_second"] == 1 and "only second" in str(found)
    with pytest.raises(ArgumentError):
        found.of("better")


def test_runs_on_other_samples_are_not_compared(store):
    with pytest.raises(IncomparableRunsError, match="dataset hash"):
        store.diff(result([1.0], dataset_hash="x"), result([1.0], dataset_hash="y"))


def test_stored_answers_are_scored_again_under_another_rule(store):
    data = [{"id": n, "input": "?", "target": str(n)} for n in range(4)]
    said = ["so #### 0", "1", "I say 2.", "nothing"]
    first = evaluate(said, data, model="m", extract="gsm8k/official@1", store=store)
    assert first.value() == 0.25 and first.summary[KEY].counts == {"ok": 1, "unparsed": 3}
    again = store.rescore(first.info.run_id, extract="gsm8k/lm-eval-flexible@3")
    assert [move.id for move in again.moved] == ["1", "2"] == [move.id for move in again.up] and again.down == []
    assert again.result.value() == 0.75 and "0.25 → 0.75" in str(again)
    kept = store.load(again.run_id)
    assert kept.info.options["rescored_from"] == first.info.run_id and kept.info.rules == ["gsm8k/lm-eval-flexible@3"]
    assert kept.info.dataset_hash == first.info.dataset_hash
    same = store.rescore(first.info.run_id, save=False)
    assert same.moved == [] and same.run_id is None and same.result.info.rules == first.info.rules
    other = store.rescore(first.info.run_id, ["contains"], extract=False, save=False)
    assert other.result.info.metrics == ["contains@1"] and other.result.info.rules == []


# Results themselves


@given(values=st.lists(st.lists(st.sampled_from([0.0, 1.0, None]), min_size=1, max_size=4), max_size=6))
def test_values_are_means_over_repetitions(values):
    rows = [scored(n, value, epoch=epoch) for n, each in enumerate(values) for epoch, value in enumerate(each)]
    whole = EvaluationResult(info(), rows, evaluate_summary(EvaluationResult(info(), rows, {})))
    counting = [[one for one in each if one is not None] for each in values]
    expected = [np.mean(each) if each else np.nan for each in counting]
    np.testing.assert_allclose(whole.values(), expected)
    assert whole.ids == [str(n) for n in range(len(values))]
    padded = [[np.nan if one is None else one for one in each] for each in values]
    for line, each in zip(whole.repeats(), padded, strict=True):
        np.testing.assert_array_equal(line[: len(each)], each)
        assert np.isnan(line[len(each) :]).all()


def test_groups_are_summed_on_their_own():
    rows = [scored(n, float(n < 3), metadata={"topic": {"name": "ab"[n % 2]}}) for n in range(4)]
    whole = EvaluationResult(info(), rows, evaluate_summary(EvaluationResult(info(), rows, {})))
    groups = whole.by("topic.name")
    assert {name: (found[KEY].value, found[KEY].n) for name, found in groups.items()} == {"a": (1.0, 2), "b": (0.5, 2)}
    assert whole.column("metadata.topic.name") == ["a", "b", "a", "b"]


def test_an_unknown_metric_is_named_with_those_there_are():
    with pytest.raises(UnknownEntryError, match="exact_match@2"):
        EvaluationResult(info(), [], {KEY: None}).key("f1")


def test_shown_results_are_inert():
    hostile = "<script>alert(1)</script>\x1b[31m\u202e"
    whole = EvaluationResult(info(model=hostile, dataset=hostile, metrics=[hostile]), SampleList(), {})
    whole.summary = evaluate_summary(whole)
    assert "<script>" not in whole._repr_html_() and not {"\x1b", "\u202e"} & set(str(whole) + whole._repr_html_())


def test_a_run_whose_finisher_died_is_read_where_nothing_may_be_written(store, monkeypatch):
    run = store.open_run(info())
    run.append(scored(1), scored(2))
    run.close()
    seal = openrun.Seal(StoredRun(info()), owner="00000000-1-1")
    openrun._write_whole(os.path.join(run.folder, "sealed.json"), seal)
    day_before_yesterday = time.time() - 2 * 24 * 3600
    os.utime(os.path.join(run.folder, "sealed.json"), (day_before_yesterday, day_before_yesterday))

    def refuse(*arguments):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as patch:
        patch.setattr(finishing, "_write", refuse)
        assert store.list() == [] and store.load("run").samples.ids() == ["1", "2"]
    assert list(store) == ["run"] and store.load("run").samples.ids() == ["1", "2"] and not store.unfinished()


@pytest.mark.parametrize("kind", [ResultStore, OpenRun, EvaluationResult, Differences, Rescored, SqlMirror])
def test_everything_public_is_in_the_manual(kind):
    pages = [Path(__file__).parents[2] / "docs" / name for name in ("results.md", "evaluating.md")]
    spans = [span for page in pages for span in re.findall(r"`([^`\n]+)`|^>>> (.*)$", page.read_text(), re.MULTILINE)]
    words = {word for span in spans for word in re.findall(r"\w+", " ".join(span))}
    public = {name for name in dir(kind) if not name.startswith("_")} | set(getattr(kind, "__dataclass_fields__", ()))
    assert not public - words


@given(place=st.integers(0, 10**6), change=st.integers(1, 255), cut=st.integers(0, 10**6))
def test_a_damaged_journal_loses_the_damaged_lines_only(tmp_path_factory, place, change, cut):
    folder = tmp_path_factory.mktemp("journal")
    texts = [f'{{"n": {number}}}'.encode() for number in range(20)]
    written = journal.Journal(str(folder))
    written.append(texts)
    written.close()
    [path] = folder.iterdir()
    whole = bytearray(path.read_bytes())
    place %= len(whole)
    whole[place] ^= change
    path.write_bytes(whole[: max(cut % len(whole), place)])
    found = list(journal.lines_in(str(folder)))
    kept = bytes(whole[: max(cut % len(whole), place)]).count(b"\n")
    assert set(found) <= set(texts) and len(found) >= min(kept, len(texts)) - 2


def test_a_damaged_run_is_told_and_hides_no_other(store):
    values = [number % 3 / 2 for number in range(60)]
    store.save(result(values))
    other = store.save(result([1.0], "other"))
    path, chance = Path(store.path, "runs", "run.parquet"), random.Random(7)
    written, kept, told = path.read_bytes(), list(store.load("run").samples), 0
    for number in range(80):
        damaged, place = bytearray(written), chance.randrange(len(written))
        damaged[place : place + chance.choice([1, 40])] = b""
        if number % 2:
            damaged[place : place + 1] = bytes([written[place] ^ 1 << chance.randrange(8)])
        path.write_bytes(damaged)
        assert other in store and store.load(other).samples[0].outcomes[KEY].value == 1.0
        try:
            assert list(store.load("run").samples) == kept, f"damage {number} went unnoticed"
        except FileFormatError as error:
            assert str(path) in str(error)
            told += 1
    assert told > 40


def test_a_damaged_run_under_way_hides_no_other(store, caplog):
    for run_id in ("a", "b"):
        with store.open_run(info(run_id)) as run:
            run.append(scored(1))
    Path(store.path, "open", "a", "sealed.json").write_bytes(b'{"run": ')
    assert [run.info.run_id for run in store.unfinished()] == ["b", "a"] and len(store.load("a").samples) == 1
    Path(store.path, "open", "a", "info.json").write_bytes(b"")
    assert [run.info.run_id for run in store.unfinished()] == ["b"] and list(store) == []
    with pytest.raises(FileFormatError, match=r"info\.json"):
        store.load("a")


def test_a_run_under_way_whose_facts_are_damaged_is_an_error_that_names_them_and_stops_no_other(store):
    with store.open_run(info("other")) as run:
        run.append(scored(1))
        run.finish()
    with store.open_run(info("run")) as run:
        run.append(scored(1))
    path = Path(run.folder, "info.json")
    whole = path.read_bytes()
    for before, after in ((b"exact_match", b"exact_mbtch"), (b'"run_id":"run"', b'"run_id":"sun"'), (b"{", b"[")):
        assert before in whole
        path.write_bytes(whole.replace(before, after, 1))
        with pytest.raises(FileFormatError, match="run"):
            store.load("run")
        assert [one.info.run_id for one in store.list()] == ["other"]
    path.write_bytes(whole)
    assert len(store.load("run").samples) == 1


def test_the_least_error_is_right_where_lower_is_better(tmp_path):
    samples = load_samples([{"id": "a", "input": "q", "target": "1"}])
    one, other = (evaluate({"a": {"answer": "1", "confidence": sure}}, samples, "brier") for sure in (0.5, 1.0))
    assert ResultStore(tmp_path).diff(one, other).fixed == ["a"]


def test_old_runs_keep_the_versions_of_their_rules_and_metrics(tmp_path):
    rows = [{"id": str(n), "input": "?", "target": "B", "choices": ["x", "y"]} for n in range(2)]
    said = ["The answer is B. A common wrong answer is A.", "B is correct."]
    store = ResultStore(tmp_path)
    old = evaluate(said, rows, "multiple_choice@1", extract="choice/letter@1", store=store, run_id="old")
    assert (old.info.rules, list(old.summary)) == (["choice/letter@1"], ["multiple_choice@1"])
    again = store.rescore("old")
    assert again.moved == [] and again.result.info.rules == ["choice/letter@1"]
    new = store.rescore("old", metrics="multiple_choice", extract="choice/letter")
    assert (new.result.info.rules, list(new.result.summary)) == (["choice/letter@2"], ["multiple_choice@2"])
    assert old.value() < new.result.value() == 1.0
    with pytest.raises(IncomparableRunsError):
        compare([old, new.result])
