"""`eval` and the runs it keeps: names of models and data, samples that are chosen, runs by the names of models."""

import gzip
import json

import pytest
from support.command import crucible, done

from crucible_datasets.benchmarks.loading.load import load_benchmark
from crucible_datasets.cli import exit_codes
from crucible_datasets.evaluation import ResultStore, evaluate
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.runs.record import SampleResult

GSM8K = list(load_benchmark("gsm8k", synthetic=True))


def answers(path, right=len(GSM8K), samples=GSM8K):
    lines = [
        {"id": str(one.id), "prediction": f"#### {one.target if number < right else 'none'}"}
        for number, one in enumerate(samples)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def own(tmp_path):
    (tmp_path / "my.quiz.jsonl").write_text('{"q": "1+1?", "gold": "2"}\n{"q": "1+2?", "gold": "3"}\n')
    (tmp_path / "said.csv").write_text("id,prediction\n1,2\n2,4\n")
    return tmp_path / "my.quiz.jsonl", tmp_path / "said.csv"


@pytest.mark.parametrize(
    ("name", "model"),
    [("llama-3.1-8b.jsonl", "llama-3.1-8b"), ("a.b.v2.jsonl.gz", "a.b.v2"), ("x.jsonl", "x"), ("csv.jsonl", "csv")],
)
def test_only_the_format_is_taken_off_the_name_of_a_model(tmp_path, name, model):
    path = answers(tmp_path / name)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(path.read_bytes()))
    told = done("eval", "gsm8k", path, "--synthetic", "--no-store", "--json").json
    assert [row["model"] for row in told["scores"]] == [model]
    assert evaluate(tmp_path / name, GSM8K, "exact_match").info.model == model


@pytest.mark.parametrize("more", [(), ("--synthetic",)])
def test_a_name_that_is_no_benchmark_is_told_at_once(tmp_path, more):
    ran = crucible("eval", "gsm9k", answers(tmp_path / "a.jsonl"), "--no-store", *more)
    assert ran.code == exit_codes.NOT_FOUND and "Did you mean 'gsm8k'?" in ran.err


@pytest.mark.parametrize("name", ["nothere.jsonl", "nothere.csv.gz", "folder/nothere.parquet"])
def test_a_data_file_that_is_not_there_is_told_at_once(tmp_path, name):
    ran = crucible("eval", tmp_path / name, answers(tmp_path / "a.jsonl"), "--no-store")
    assert ran.code == exit_codes.NOT_FOUND and f"{tmp_path / name}: there is no such file." in ran.err


def test_own_data_is_called_as_its_file_and_may_have_other_columns(own):
    quiz, said = own
    told = done(
        "eval", quiz, said, "--input", "q", "--target", "gold", "--metrics", "exact_match", "--no-store", "--json"
    )
    (row,) = told.json["scores"]
    assert (row["benchmark"], row["value"]) == ("my.quiz", 0.5)
    ran = crucible("eval", quiz, said, "--input", "qq", "--target", "gold", "--metrics", "exact_match", "--no-store")
    assert ran.code == exit_codes.NOT_FOUND and "'qq'" in ran.err
    ran = crucible("eval", "gsm8k", said, "--synthetic", "--target", "gold", "--no-store")
    assert ran.code == exit_codes.USAGE and ran.err.startswith("--target 'gold'")


def test_ids_of_ones_own_data_are_named_by_their_column(tmp_path):
    quiz, said = tmp_path / "q.csv", tmp_path / "p.csv"
    quiz.write_text("qid,question,answer\nq7,1+1?,2\nq8,1+2?,3\n")
    said.write_text("qid,prediction\nq8,3\nq7,1\n")
    asked = ("eval", quiz, said, "--metrics", "exact_match", "--no-store")
    for more in ((), ("--id-column", "qid")):
        ran = crucible(*asked, *more)
        assert ran.code == exit_codes.BAD_DATA and "--field id=qid" in ran.err and "fields=" not in ran.err
    seen = done("benchmarks", "head", quiz, "--field", "id=qid", "--field", "metadata=question", "--json").json
    assert [(one["id"], one["metadata"]) for one in seen] == [
        ("q7", {"question": "1+1?"}),
        ("q8", {"question": "1+2?"}),
    ]
    named = ("--field", "id=qid", "--field", "metadata=question,answer")
    for header, more in (("qid", ()), ("whose", ("--id-column", "whose"))):
        said.write_text(f"{header},prediction\nq8,3\nq7,1\n")
        assert done(*asked, *named, *more, "--json").json["scores"][0]["value"] == 0.5
    said.write_text("prediction\n2\n3\n")
    assert done(*asked, "--json").json["scores"][0]["value"] == 1.0
    for wrong in ("qid", "ids=qid", "id="):
        ran = crucible(*asked, "--field", wrong)
        assert ran.code == exit_codes.USAGE and ran.err.startswith(f"--field '{wrong}': write FIELD=COLUMN")
    ran = crucible("eval", "gsm8k", said, "--synthetic", "--no-store", "--field", "id=qid")
    assert ran.code == exit_codes.USAGE and ran.err.startswith("--field 'id=qid'")


@pytest.mark.parametrize("form", ["jsonl", "csv", "json", "parquet"])
def test_predictions_for_samples_beyond_the_limit_are_left_out_and_counted(tmp_path, form):
    path, written = answers(tmp_path / "all.jsonl", right=3), tmp_path / f"whole.{form}"
    if form == "json":
        written.write_text(
            json.dumps({one["id"]: one["prediction"] for one in map(json.loads, path.read_text().splitlines())})
        )
    elif form != "jsonl":
        done("convert", path, written)
    else:
        written = path
    asked = ("eval", "gsm8k", f"m={written}", "--synthetic", "--no-store")
    told = done(*asked, "--limit", 5, "--json").json
    assert told["scores"][0]["n"] == 5 and told["scores"][0]["value"] == 0.6
    assert told["notes"] == [f"m: {len(GSM8K) - 5} predictions for other samples left out"]
    assert "predictions for other samples left out" in done(*asked, "--limit", 5).out
    assert "notes" not in done(*asked, "--json").json


def test_predictions_for_other_configurations_are_left_out(tmp_path):
    whole = list(load_benchmark("mmlu", synthetic=True))
    path = answers(tmp_path / "a.jsonl", samples=whole)
    part = [str(one.id) for one in load_benchmark("mmlu", config="stem", synthetic=True)]
    told = done("eval", "mmlu", path, "--config", "stem", "--synthetic", "--no-store", "--json").json
    assert told["scores"][0]["n"] == len(part) < len(whole)


def test_predictions_that_fit_no_sample_are_refused_also_with_a_limit(tmp_path):
    (tmp_path / "other.jsonl").write_text('{"id": "who", "prediction": "x"}\n')
    ran = crucible("eval", "gsm8k", tmp_path / "other.jsonl", "--synthetic", "--no-store", "--limit", 5)
    assert ran.code == exit_codes.BAD_DATA and "who" in ran.err
    answers(tmp_path / "all.jsonl")
    with (tmp_path / "all.jsonl").open("a") as file:
        file.write('{"id": "who", "prediction": "x"}\n')
    assert crucible("eval", "gsm8k", tmp_path / "all.jsonl", "--synthetic", "--no-store").code == exit_codes.BAD_DATA


def test_samples_without_a_prediction_are_told_and_not_counted_in_lists(tmp_path):
    path = answers(tmp_path / "few.jsonl", samples=GSM8K[:20])
    asked = ("eval", "gsm8k", path, "--synthetic", "--store", tmp_path / "runs", "--missing", "ignore")
    shown = done(*asked).out
    assert f"{len(GSM8K) - 20} missing, left out" in shown
    (run,) = done("results", "list", "--store", tmp_path / "runs", "--json").json
    assert run["n"] == 20
    assert "missing, left out" in done("results", "show", "few", "--store", tmp_path / "runs").out


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs of each of two models; the later ones know more."""
    folder = tmp_path_factory.mktemp("runs")
    for right in (4, 8):
        files = [answers(folder / "small.jsonl", right), answers(folder / "large.jsonl", 2 * right)]
        shown = done("eval", "gsm8k", *files, "--synthetic", "--store", folder / "store").out
    return folder / "store", shown


def test_eval_tells_the_names_of_its_runs(runs, monkeypatch):
    store, shown = runs
    monkeypatch.setenv("COLUMNS", "200")
    newest = [run.info.run_id for run in ResultStore(store).list()[:2]]
    assert all(run in shown for run in newest)
    told = (shown, *(done("results", *words, "--store", store).out for words in (["list"], ["show", "small"])))
    assert all("gsm8k (miniature)" in text for text in told)
    assert {run.info.dataset for run in ResultStore(store).list()} == {"gsm8k"}
    assert "'small' on 'gsm8k (miniature)'" in repr(ResultStore(store).query("small", limit=1))


def test_the_name_of_a_model_means_its_newest_run(runs):
    store, _ = runs
    told = done("compare", "small", "large", "--store", store, "--json").json
    assert {row["model"]: row["value"] for row in told["scores"]} == {"small": 8 / 32, "large": 16 / 32}
    assert done("results", "show", "small", "--store", store, "--json").json["scores"][0]["value"] == 8 / 32
    assert "fixed" in done("results", "diff", "small", "large", "--store", store).out
    assert crucible("compare", "small", "huge", "--store", store).code == exit_codes.NOT_FOUND


def test_rescore_tells_before_from_after_and_lists_name_rules(runs):
    store, _ = runs
    asked = ("results", "rescore", "small", "--extract", "gsm8k/lm-eval-flexible", "--store", store, "--no-store")
    rows = done(*asked, "--json").json["scores"]
    assert [row["scored"] for row in rows] == ["before", "after"] and rows[0]["rules"] != rows[1]["rules"]
    shown = done(*asked).out
    assert all(word in shown for word in ("before", "after", *rows[0]["rules"], *rows[1]["rules"]))
    listed = done("results", "list", "--store", store, "--json").json
    assert all(run["rules"] == rows[0]["rules"] for run in listed)


@pytest.mark.parametrize("words", [("report",), ("results", "export")])
def test_files_that_are_there_are_replaced_only_by_force(runs, tmp_path, words):
    store, _ = runs
    path = tmp_path / "page.html"
    path.write_text("mine")
    ran = crucible(*words, "small", "--store", store, "-o", path)
    assert ran.code == exit_codes.USAGE and path.read_text() == "mine"
    assert "1 run, " in done(*words, "small", "--store", store, "-o", path, "--force").out
    assert path.read_text() != "mine"


def test_a_report_that_is_there_is_told_before_anything_is_evaluated(tmp_path):
    (tmp_path / "page.html").write_text("mine")
    path = answers(tmp_path / "a.jsonl")
    asked = ("eval", "gsm8k", path, "--synthetic", "--store", tmp_path / "s", "--report", tmp_path / "page.html")
    assert crucible(*asked).code == exit_codes.USAGE and not len(ResultStore(tmp_path / "s"))
    done(*asked, "--force")


def test_what_cannot_be_removed_is_an_error(runs):
    store, _ = runs
    before = len(ResultStore(store))
    ran = crucible("results", "delete", "2026", "--store", store)
    assert ran.code == exit_codes.NOT_FOUND and not ran.out and "'2026'" in ran.err
    ran = crucible("results", "delete", "small", "--store", store)
    assert ran.code == exit_codes.NOT_FOUND and "small is a model" in ran.err
    assert all((run.info.run_id in ran.err) == (run.info.model == "small") for run in ResultStore(store).list())
    assert len(ResultStore(store)) == before


def test_without_a_network_the_miniature_is_pointed_at(tmp_path, monkeypatch):
    monkeypatch.setattr("crucible_datasets.config.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("crucible_datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    ran = crucible("eval", "gsm8k", answers(tmp_path / "a.jsonl"), "--no-store")
    assert ran.code == exit_codes.UNREACHABLE and "--synthetic" in ran.err
    ran = crucible("eval", "gsm8k", f"small={tmp_path / 'none.jsonl'}", "--no-store")
    assert ran.code == exit_codes.NOT_FOUND and f"{tmp_path / 'none.jsonl'}: there is no such file." in ran.err
    ran = crucible("view", tmp_path / "none.jsonl", "--no-browser")
    assert ran.code == exit_codes.NOT_FOUND and "there is no such file" in ran.err and not ran.out


def test_one_comparison_is_not_corrected_and_no_p_value_is_zero(runs):
    from crucible_datasets.cli.scores import probability

    store, _ = runs
    assert "1 comparison" not in done("compare", "small", "large", "--store", store).out
    assert probability(0.0) == "<1e-99" and float(probability(1e-99)) > 0


@pytest.mark.parametrize("broken", ["data", "predictions"])
@pytest.mark.parametrize("compressed", [False, True])
def test_a_quote_that_is_not_closed_is_an_error_that_names_the_file(tmp_path, broken, compressed):
    (tmp_path / "data.csv").write_text("id,input,target\na,1+1?,2\nb,1+2?,3\n")
    (tmp_path / "predictions.csv").write_text("id,prediction\na,2\nb,3\n")
    done("eval", tmp_path / "data.csv", tmp_path / "predictions.csv", "--metrics", "exact_match", "--no-store")
    path = tmp_path / f"{broken}.csv"
    text = path.read_text().replace("\na,", '\na,"')
    path = tmp_path / f"{broken}.csv.gz" if compressed else path
    path.write_bytes(gzip.compress(text.encode()) if compressed else text.encode())
    files = [path if broken == name else tmp_path / f"{name}.csv" for name in ("data", "predictions")]
    ran = crucible("eval", *files, "--metrics", "exact_match", "--no-store")
    place = "row 0, byte 16" if broken == "data" else "byte 14"
    assert ran.code == exit_codes.BAD_DATA and f"{path}, line 2, {place}: a quoted field is not closed" in ran.err


def test_runs_under_different_rules_are_told_apart_in_a_sentence(runs):
    store, _ = runs
    done("results", "rescore", "small", "--extract", "gsm8k/lm-eval-flexible", "--store", store)
    ran = crucible("compare", "small", "large", "--store", store)
    assert ran.code == exit_codes.NOT_COMPARABLE and "The rules of 'small' are " in ran.err and ", those of " in ran.err
    newest, *others = [run.info.run_id for run in ResultStore(store).query("small")]
    assert f"small means its newest run, {newest}. Write the name of another instead: {', '.join(others)}" in ran.err
    assert done("compare", others[0], "large", "--store", store).code == exit_codes.OK
    ran = crucible("benchmarks", "head", "gsm8k", "--synthetic", "--split", "validation")
    assert "There is no split 'validation' of gsm8k." in ran.err


def test_runs_that_are_not_finished_are_told(tmp_path):
    asked = ("results", "list", "--store", tmp_path)
    store = ResultStore(tmp_path)
    with store.open_run(model="tiny", dataset="d", metrics=["m@1"]) as run:
        run.extend(SampleResult(str(n % 3), "x", "y", {"m@1": Outcome(1.0)}) for n in range(4))
    assert done(*asked).out == f"no finished runs in {tmp_path}\n1 unfinished run, which --unfinished lists\n"
    assert done(*asked, "--json").json == []
    (listed,) = done(*asked, "--unfinished", "--json").json
    assert (listed["run_id"], listed["num_samples"]) == (run.run_id, 3) and ", 3 samples" in repr(store.unfinished())
    shown = ("results", "show", "tiny", "--store", tmp_path)
    assert done(*shown).out.startswith("unfinished: 3 samples so far") and done(*shown, "--json").json["state"]
    run.finish()
    assert "unfinished" not in done(*asked).out + done(*shown).out and "state" not in done(*shown, "--json").json


@pytest.mark.parametrize(("policy", "told"), [("wrong", "1 missing, counted as wrong"), ("ignore", "1 sample that")])
def test_a_comparison_does_not_hide_what_was_missing(tmp_path, policy, told):
    rows = [{"id": n, "input": f"{n}?", "target": str(n)} for n in range(4)]
    for name, answers in (("whole", rows), ("part", rows[1:])):
        evaluate({row["id"]: row["target"] for row in answers}, rows, model=name, missing=policy, store=tmp_path)
    assert told in done("compare", "whole", "part", "--store", tmp_path).out
    notes = done("compare", "whole", "part", "--store", tmp_path, "--json").json["notes"]
    assert [note.partition(":")[0] for note in notes] == ["part"]


@pytest.mark.parametrize(
    ("said", "metrics", "told"),
    [
        ("The answer is 2. It is even.", "exact_match", "--extract answer/stated reads the answer out of a sentence"),
        ("Here 1+1 is 2.", "exact_match", "compares whole texts; --metrics contains accepts it anywhere."),
        ("nobody knows", "numeric", "some answers could not be read, and count as wrong"),
        ("3", "exact_match", None),
    ],
)
def test_eval_tells_what_to_look_at_before_a_score_is_believed(tmp_path, said, metrics, told):
    (tmp_path / "quiz.jsonl").write_text('{"id": 1, "input": "1+1?", "target": "2"}\n')
    (tmp_path / "said.jsonl").write_text(json.dumps({"id": 1, "prediction": said}) + "\n")
    words = ["eval", tmp_path / "quiz.jsonl", tmp_path / "said.jsonl", "--metrics", metrics, "--store", tmp_path / "s"]
    advice = done(*words, "--json").json.get("advice", [])
    assert any(told in line for line in advice) if told else not advice
    (run,) = ResultStore(tmp_path / "s").list()
    assert (f"show {run.info.run_id} --samples unparsed" in str(advice)) == (metrics == "numeric")


def test_misspelt_files_of_data_and_predictions_are_suggested(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quiz.jsonl").write_text('{"id": "a", "input": "2 + 2?", "target": "4"}\n')
    (tmp_path / "small.jsonl").write_text('{"id": "a", "prediction": "4"}\n')
    for words, meant in ((("quizz.jsonl", "small.jsonl"), "quiz"), (("quiz.jsonl", "m=smal.jsonl"), "small")):
        ran = crucible("eval", *words, "--no-store")
        assert ran.code == exit_codes.NOT_FOUND and ran.err.endswith(f"Did you mean '{meant}.jsonl'?\n")
    for given in (("small.jsonl", "quizz.jsonl"), ("smal.jsonl", "quiz.jsonl")):
        with pytest.raises(FileNotFoundError, match="Did you mean '(quiz|small).jsonl'"):
            evaluate(*given)
