"""Runs of other programs: what their own readers say of their logs is what is read here."""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from crucible_datasets import load_dataset
from crucible_datasets.evaluation import ResultStore, compare, from_inspect_log, from_lm_eval_samples, read_log
from crucible_datasets.exceptions import FileFormatError, FileNotFoundDatasetsError, LimitExceededError
from crucible_datasets.formats import eval_members

VALUES = ["C", "I", "P", "N", 0.25, True]


# inspect_ai


@pytest.fixture(scope="module")
def log():
    """A log as inspect_ai itself makes it."""
    logs = pytest.importorskip("inspect_ai.log")
    from inspect_ai.model import ChatMessageUser, ModelOutput
    from inspect_ai.scorer import Score

    def sample(place, value, epoch):
        said = f"answer {place} of {epoch} " + "long " * 100
        score = Score(value=value, answer=f"a{place}", explanation="because")
        both = {"match": score, "graded": Score(value={"style": 0.5, "facts": place})}
        given = f"question {place}" if place % 2 else [ChatMessageUser(content=f"question {place}")]
        return logs.EvalSample(
            id=place, epoch=epoch, input=given, target=["t", "u"], metadata={"n": place},
            output=ModelOutput.from_content("m", said), scores=both,
        )  # fmt: skip

    rows = [sample(place, value, epoch) for epoch in (2, 1) for place, value in enumerate(VALUES)]
    rows.append(
        logs.EvalSample(
            id="x",
            epoch=1,
            input="q",
            target="t",
            error=logs.EvalError(message="it broke", traceback="", traceback_ansi=""),
        )
    )
    spec = logs.EvalSpec(
        created="2026-11-16T03:00:00+00:00", task="adding", model="org/m", tags=["a"],
        dataset=logs.EvalDataset(name="d"), config=logs.EvalConfig(), packages={"inspect_ai": "0.3"},
    )  # fmt: skip
    return logs.EvalLog(eval=spec, samples=rows, status="success")


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_a_log_of_inspect_is_read(log, tmp_path, ending):
    from inspect_ai.log import write_eval_log

    path = tmp_path / f"log.{ending}"
    write_eval_log(log, str(path))
    found = read_log(path)
    assert (found.info.model, found.info.dataset, found.info.tags) == ("org/m", "adding", ["a"])
    assert found.info.created_at == "2026-11-16T03:00:00.000000+00:00" and found.info.num_samples == len(VALUES) + 1
    assert found.info.metrics == ["inspect/match@0.3", "inspect/graded/style@0.3", "inspect/graded/facts@0.3"]
    by_place = {(one.id, one.epoch + 1): one for one in found.samples}
    for sample in (one for one in log.samples if one.error is None):
        one = by_place[str(sample.id), sample.epoch]
        assert (
            one.prediction == sample.output.completion
            and one.target == sample.target
            and one.metadata == sample.metadata
        )
        assert one.outcomes["inspect/match@0.3"].extracted == sample.scores["match"].answer
    match = [by_place[str(place), 1].outcomes["inspect/match@0.3"] for place in range(len(VALUES))]
    assert [one.value for one in match] == [1.0, 0.0, 0.5, 0.0, 0.25, 1.0] and match[3].status == "unparsed"
    failed = by_place["x", 1].outcomes["inspect/match@0.3"]
    assert (failed.value, failed.status, failed.detail) == (None, "error", {"error": "it broke"})
    assert (
        by_place["0", 1].input == [{"role": "user", "content": "question 0"}] and by_place["1", 1].input == "question 1"
    )


def test_imported_runs_are_stored_and_compared(log, tmp_path):
    from inspect_ai.log import write_eval_log

    write_eval_log(log, str(tmp_path / "log.eval"))
    one, other = from_inspect_log(tmp_path / "log.eval"), from_inspect_log(tmp_path / "log.eval", model="other")
    store = ResultStore(tmp_path / "store")
    assert (
        list(store.load(store.save(one)).samples) == list(one.samples)
        and one.info.dataset_hash == other.info.dataset_hash
    )
    assert str(compare(one, other))


def test_a_log_of_today_is_a_dataset_too(log, tmp_path):
    from inspect_ai.log import write_eval_log

    write_eval_log(log, str(tmp_path / "log.eval"))
    assert len(load_dataset(str(tmp_path / "log.eval"), split="train")) == 2 * len(VALUES) + 1


def zipped(members, method=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as made:
        for name, value in members.items():
            made.writestr(name, json.dumps(value))
    return stream.getvalue()


SAMPLE = {"id": 1, "epoch": 1, "input": "attachment://" + "0" * 32, "target": "t", "scores": {"s": {"value": "C"}}}
START = {"eval": {"task": "t", "model": "m"}}


def test_an_interrupted_log_and_attachments_are_read(tmp_path):
    sample = {**SAMPLE, "attachments": {"0" * 32: "long text"}}
    (tmp_path / "a.eval").write_bytes(zipped({"_journal/start.json": START, "samples/1_epoch_1.json": sample}))
    assert read_log(tmp_path / "a.eval").samples[0].input == "long text"


def test_broken_logs_are_typed_errors(tmp_path, monkeypatch):
    whole = zipped({"header.json": START, "samples/1_epoch_1.json": SAMPLE})
    broken = [whole[:cut] for cut in range(0, len(whole), 7)]
    broken += [
        zipped({}),
        zipped({"header.json": START}),
        zipped({"header.json": [1], "samples/1_epoch_1.json": SAMPLE}),
    ]
    broken += [
        zipped({"header.json": START, "samples/1_epoch_1.json": one})
        for one in ([], 1, {"id": 1, "scores": 3}, {"epoch": 1})
    ]
    for content in broken:
        (tmp_path / "a.eval").write_bytes(content)
        with pytest.raises(FileFormatError):
            read_log(tmp_path / "a.eval")
    (tmp_path / "a.eval").write_bytes(whole)
    monkeypatch.setattr(eval_members, "LARGEST", 10)
    with pytest.raises(LimitExceededError):
        read_log(tmp_path / "a.eval")
    with pytest.raises(FileNotFoundDatasetsError, match=r"none\.eval: there is no such file"):
        read_log(tmp_path / "none.eval")


def test_damaged_zstd_is_noticed(log, tmp_path):
    from inspect_ai.log import write_eval_log

    write_eval_log(log, str(tmp_path / "a.eval"))
    whole = bytearray((tmp_path / "a.eval").read_bytes())
    with zipfile.ZipFile(tmp_path / "a.eval") as archive:
        member = next(one for one in archive.infolist() if one.filename.startswith("samples/"))
        assert member.compress_type == 93
    for place in range(member.header_offset, member.header_offset + 60, 3):
        damaged = bytes(whole[:place]) + bytes([whole[place] ^ 0x55]) + bytes(whole[place + 1 :])
        (tmp_path / "a.eval").write_bytes(damaged)
        try:
            found = read_log(tmp_path / "a.eval")
        except FileFormatError:
            continue
        assert len(found) == 2 * len(VALUES) + 1  # in parts of the header that the end of the file says again


@pytest.fixture(scope="module")
def inspect_runs(tmp_path_factory):
    """The logs of real evaluations with inspect_ai, which leaves streams open, so in a process of its own."""
    pytest.importorskip("inspect_ai")
    script = Path(__file__).parents[1] / "support" / "inspect_runs.py"
    command = [sys.executable, str(script), str(tmp_path_factory.mktemp("inspect"))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", ["none", "all", "mode", "at_least_2"])
def test_scores_are_those_of_inspect_whatever_failed_and_however_epochs_were_reduced(name, inspect_runs, tmp_path):
    from inspect_ai.log import read_eval_log

    log, run = read_eval_log(inspect_runs[name]), read_log(inspect_runs[name])
    expected = {}
    for score in log.results.scores:
        reducer = "" if score.reducer in (None, "mean") else f",{score.reducer}"
        facts = score.metrics
        value = facts["accuracy" if score.name == "letter" else "mean"].value
        expected[f"inspect/{score.name}{reducer}@{log.eval.packages['inspect_ai']}"] = (value, facts["stderr"].value)
    found = {key: (summary.value, summary.stderr) for key, summary in run.summary.items()}
    assert list(found) == list(expected)
    for key, figures in expected.items():
        assert found[key] == pytest.approx(figures), key
    assert run.summary[run.key()].counts["error"] >= 5
    store = ResultStore(tmp_path / "store")
    assert store.load(store.save(run)).value() == run.value()


def test_a_failed_log_is_imported_as_failed_with_its_reason(inspect_runs, tmp_path):
    run = read_log(inspect_runs["failed"])
    assert run.info.options["failed"] == "ValueError('the server is gone') (after 5 of 15 samples)"
    store = ResultStore(tmp_path / "store")
    for shown in (run, store.load(store.save(run))):
        assert "the run failed: ValueError('the server is gone')" in str(shown)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"status": "error", "error": {"message": "no key"}}, "no key"),
        ({"status": "cancelled"}, "cancelled"),
        ({"status": "started"}, "it was interrupted"),
    ],
)
def test_a_log_without_samples_says_why(header, reason, tmp_path):
    (tmp_path / "a.eval").write_bytes(zipped({"header.json": {**START, **header}}))
    with pytest.raises(FileFormatError, match=f"no samples: {reason}"):
        read_log(tmp_path / "a.eval")


# lm-eval


def test_metrics_over_all_samples_are_those_of_lm_eval_in_its_direction(tmp_path):
    """BLEU, chrF, TER and the Brier score, as its own functions compute them from what it logs."""
    metrics = pytest.importorskip("lm_eval.api.metrics")
    from lm_eval.utils import handle_non_serializable, softmax

    pairs = [("the cat sat on the mat", "the cat is on the mat"), ("a dog", "a dog"), ("it rains today", "it snows")]
    lls = [(-1.0, -2.5, -0.3), (-4.0, -0.1, -3.0), (-2.0, -2.1, -1.9)]
    golds = [2, 0, 1]
    computed = {
        "bleu": (metrics.bleu(pairs), True), "chrf": (metrics.chrf(pairs), True), "chrf++": (metrics.chrfpp(pairs), True),
        "ter": (metrics.ter(pairs), False),
        "brier_score": (metrics.brier_score([(gold, softmax(ll)) for gold, ll in zip(golds, lls, strict=True)]), False),
    }  # fmt: skip
    with open(tmp_path / "a.jsonl", "w") as file:
        for place, (pair, gold, ll) in enumerate(zip(pairs, golds, lls, strict=True)):
            line = {
                "doc_id": place, "doc": {}, "target": pair[0], "resps": [[[value, False]] for value in ll],
                "filtered_resps": [(value, False) for value in ll], "filter": "none", "metrics": [*computed, "mcc"],
                **dict.fromkeys(("bleu", "chrf", "chrf++", "ter"), pair), "brier_score": (gold, softmax(ll)), "mcc": (1, 0),
            }  # fmt: skip
            file.write(json.dumps(line, default=handle_non_serializable) + "\n")
    run = read_log(tmp_path / "a.jsonl")
    store = ResultStore(tmp_path / "store")
    for found in (run, store.load(store.save(run))):
        for name, (value, higher) in computed.items():
            summary = found.summary[f"lm-eval/{name},none@0"]
            assert (summary.value, summary.higher_is_better) == (pytest.approx(value), higher), name
        assert found.summary["lm-eval/mcc,none@0"].counts == {"error": 3}
    rows = compare({"one": run, "two": read_log(tmp_path / "a.jsonl", model="two")}, metric=[*run.summary][:5])
    assert [row.first_value for row in rows] == pytest.approx([value for value, _ in computed.values()])
    assert all(row.difference == 0 for row in rows)


def lines():
    for place in range(3):
        for chosen, answer, value in (
            ("strict-match", "[invalid]" if place == 2 else str(place), float(place == 0)),
            ("flexible-extract", str(place), 1.0),
        ):
            yield {
                "doc_id": place, "doc": {"question": f"q{place}"}, "target": str(place),
                "arguments": {"gen_args_0": {"arg_0": f"Question: q{place}", "arg_1": {"until": ["\n"]}}},
                "resps": [[f"so {place}"]], "filtered_resps": [answer], "filter": chosen, "metrics": ["exact_match"],
                "doc_hash": "x", "exact_match": value,
            }  # fmt: skip


def test_samples_of_lm_eval_are_read(tmp_path):
    path = tmp_path / "samples_gsm8k_2026-11-16T03-00-00.123456.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines()))
    results = {"model_name": "org/m", "versions": {"gsm8k": 3.0}, "git_hash": "abc"}
    (tmp_path / "results_2026-11-16T03-00-00.123456.json").write_text(json.dumps(results))
    found = read_log(path)
    strict, flexible = "lm-eval/exact_match,strict-match@3.0", "lm-eval/exact_match,flexible-extract@3.0"
    assert (found.info.model, found.info.dataset, found.info.metrics) == ("org/m", "gsm8k", [strict, flexible])
    assert found.info.rules == ["lm-eval/strict-match@3.0", "lm-eval/flexible-extract@3.0"]
    assert found.value(strict) == pytest.approx(1 / 3) and found.value(flexible) == 1.0
    assert found.summary[strict].counts == {"ok": 2, "unparsed": 1}
    first = found.samples[0]
    assert (first.prediction, first.input, first.target) == ("so 0", "Question: q0", "0")
    assert from_lm_eval_samples(path, model="mine", task="other").info.dataset == "other"


def test_older_lines_and_log_likelihoods_are_read(tmp_path):
    line = {"doc_id": 0, "doc": {}, "target": 1, "arguments": [["q", "a"], ["q", "b"]], "resps": [[[-1.5, False]], [[-0.5, True]]],
            "filtered_resps": [[-1.5, False], [-0.5, True]], "acc": 1, "acc_norm": 0.0}  # fmt: skip
    (tmp_path / "a.jsonl").write_text(json.dumps(line))
    found = read_log(tmp_path / "a.jsonl")
    assert found.info.metrics == ["lm-eval/acc,none@0", "lm-eval/acc_norm,none@0"] and found.value() == 1.0
    assert found.samples[0].input == "q" and found.info.model == "unknown"


@pytest.mark.parametrize("text", ["", "{}", "[]", "nonsense", '{"doc_id": [1]}'])
def test_other_lines_are_refused(tmp_path, text):
    (tmp_path / "a.jsonl").write_text(text)
    reason = "these are no samples of lm-eval: there is no field 'doc_id'" if text == "{}" else "(?!.*Error)"
    with pytest.raises(FileFormatError, match=rf"a\.jsonl: {reason}"):
        read_log(tmp_path / "a.jsonl")
