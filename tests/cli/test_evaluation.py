"""`benchmarks`, `metrics`, `eval`, `compare`, `results`, `report`, `demo`, `completion`."""

import argparse
import json
import socket
import subprocess

import pytest
from support.command import crucible, done

from crucible_datasets import Dataset
from crucible_datasets.benchmarks.catalog.registry import Catalog
from crucible_datasets.benchmarks.loading.load import load_benchmark
from crucible_datasets.cli import COMMANDS, exit_codes, parser
from crucible_datasets.evaluation import ResultStore, compare, evaluate
from crucible_datasets.evaluation.metrics import METRICS
from crucible_datasets.evaluation.rules import RULES
from crucible_datasets.exceptions import ArgumentError


@pytest.fixture(scope="module")
def samples():
    return list(load_benchmark("gsm8k", synthetic=True))


@pytest.fixture(scope="module")
def files(tmp_path_factory, samples):
    """Predictions of two models: one knows every answer, the other every second."""
    folder = tmp_path_factory.mktemp("predictions")
    for name, step in {"good": 1, "half": 2}.items():
        lines = [
            {"id": sample.id, "prediction": f"#### {sample.target if number % step == 0 else 'none'}"}
            for number, sample in enumerate(samples)
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory, files):
    """A store with the runs of both."""
    folder = tmp_path_factory.mktemp("store")
    told = done(
        "eval",
        "gsm8k",
        files / "half.jsonl",
        files / "good.jsonl",
        "--synthetic",
        "--store",
        folder,
        "--tag",
        "t",
        "--json",
    )
    return folder, told.json


def test_eval_scores_compares_and_keeps(store, samples):
    folder, told = store
    scores = {row["model"]: row for row in told["scores"]}
    assert scores["good"]["value"] == 1.0 and scores["half"]["value"] == 0.5
    assert scores["good"]["metric"].startswith("exact_match@") and scores["half"]["n"] == len(samples)
    assert scores["half"]["interval"]["low"] < 0.5 < scores["half"]["interval"]["high"]
    (row,) = told["comparisons"]["rows"]
    assert row["difference"] == 0.5 and row["significant"]
    assert set(told["stored"]["runs"]) == set(ResultStore(folder))


def test_answers_of_a_run_are_shown_by_how_they_were_judged(store, samples):
    def shown(kind, *more):
        return done("results", "show", "half", "--store", store[0], "--samples", kind, *more, "--json").json["samples"]

    for kind, first in (("right", 0), ("wrong", 1), ("unparsed", 1)):
        assert [row["id"] for row in shown(kind, "--limit", 99)] == [sample.id for sample in samples[first::2]]
    assert len(shown("all", "--limit", 3)) == 3 and shown("failed") == []


@pytest.mark.parametrize("columns", ["40", "200"])
def test_answers_are_shown_whole_with_their_questions(tmp_path, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    question, said = "Who wrote it, " + "and when, " * 6, "Somebody, " * 6 + "long ago"
    rows = [{"id": "a", "input": question, "target": "Ann"}]
    run = evaluate([said], rows, "exact_match", model="m", store=ResultStore(tmp_path))
    out = done("results", "show", run.info.run_id, "--store", tmp_path, "--samples", "wrong").out
    assert question.strip() in out and said in out and "Ann" in out
    assert "samples without a prediction" in out


def test_what_is_misspelt_is_told():
    for words, meant in (
        (["evla"], "eval"),
        (["eval", "a", "b", "--metric", "f1", "--misssing", "wrong"], "--missing"),
    ):
        ran = crucible(*words)
        assert ran.code == exit_codes.USAGE and ran.err.rstrip().endswith(f"Did you mean {meant}?")


def test_who_names_no_command_sees_which_there_are():
    for words, name in (((), "convert"), (("hub",), "mirror")):
        ran = crucible(*words)
        assert (
            ran.code == exit_codes.USAGE
            and name in ran.err
            and ran.err.rstrip().endswith("required: COMMAND" if not words else "ACTION")
        )


@pytest.mark.parametrize("name", ["benchmarks", "metrics", "results"])
def test_without_an_action_they_list(name, tmp_path, monkeypatch):
    monkeypatch.setattr("crucible_datasets.config.CRUCIBLE_RESULTS_DIR", str(tmp_path))
    assert done(name).out == done(name, "list").out
    assert done(name, "--json").json == done(name, "list", "--json").json == done(name, "--json", "list").json


def test_runs_are_compared_on_groups_of_samples(store):
    folder, told = store
    ran = done("compare", *told["stored"]["runs"], "--store", folder, "--by", "metadata.answer", "--json").json
    assert len({row["group"] for row in ran["comparisons"]["rows"]}) > 1


def test_compare_is_that_of_the_library(store):
    folder, told = store
    half, good = told["stored"]["runs"]
    kept = ResultStore(folder)
    expected = compare(kept.load(half), kept.load(good)).to_dict()
    ran = done("compare", half, good, "--store", folder, "--json").json
    assert ran["comparisons"]["rows"] == json.loads(json.dumps(expected["rows"]))
    shown = done("compare", half, good, "--store", folder).out
    assert "+0.500" in shown and "95 % intervals" in shown


def test_runs_are_listed_shown_and_filtered(store):
    folder, told = store
    half, good = told["stored"]["runs"]
    assert {run["run_id"] for run in done("results", "list", "--store", folder, "--json").json} == {half, good}
    asked = ("results", "list", "--store", folder, "--json")
    assert [run["run_id"] for run in done(*asked, "--score", "exact_match=0.9:").json] == [good]
    assert [run["run_id"] for run in done(*asked, "--model", "half", "--tag", "t").json] == [half]
    assert done(*asked, "--tag", "other").json == []
    assert done("results", "show", half, "--store", folder, "--json").json["info"]["model"] == "half"
    assert "half" in done("results", "show", half, "--store", folder, "--by", "metadata.answer").out
    assert crucible("results", "show", "nothing", "--store", folder).code == exit_codes.NOT_FOUND
    assert crucible(*asked, "--score", "exact_match").code == exit_codes.USAGE


def test_diff_names_the_samples_that_changed(store, samples):
    folder, told = store
    half, good = told["stored"]["runs"]
    found = done("results", "diff", half, good, "--store", folder, "--json").json
    assert {row["id"] for row in found["samples"]} == {str(sample.id) for sample in samples[1::2]}
    assert {row["kind"] for row in found["samples"]} == {"fixed"}


def test_rescore_shows_what_moved(store):
    folder, told = store
    half = told["stored"]["runs"][0]
    ran = done(
        "results", "rescore", half, "--extract", "gsm8k/lm-eval-flexible", "--no-store", "--store", folder, "--json"
    )
    assert ran.json["stored"] is None and len(ran.json["scores"]) == 2
    assert (
        crucible("results", "rescore", half, "--extract", "none/such", "--store", folder).code == exit_codes.NOT_FOUND
    )


def test_a_report_is_written_for_stored_runs(store, tmp_path):
    folder, told = store
    path = tmp_path / "new" / "folder" / "page.html"
    done("report", *told["stored"]["runs"], "--store", folder, "-o", path, "--title", "Two models")
    assert "<title>Two models</title>" in path.read_text()


@pytest.mark.parametrize("name", ["runs.csv", "runs.jsonl", "runs.parquet", "runs.md", "runs.html", "runs.json"])
def test_runs_are_exported_by_the_name_of_the_file(store, tmp_path, name):
    folder, told = store
    runs = told["stored"]["runs"][: 1 if name == "runs.json" else 2]
    tmp_path = tmp_path / "new" / "folder"
    done("results", "export", *runs, "--store", folder, "-o", tmp_path / name)
    assert (tmp_path / name).stat().st_size
    if name.endswith((".csv", ".jsonl", ".parquet")):
        rows = done("head", tmp_path / name, "-n", 1000, "--json").json
        assert {row["model"] for row in rows} == {"half", "good"} and len(rows) == 64
    else:
        assert crucible("results", "export", "x", "-o", tmp_path / name, "--rows", "runs").code == exit_codes.USAGE


def test_a_database_mirrors_the_runs(store, tmp_path):
    folder, told = store
    found = done("results", "mirror", "--store", folder, "--url", f"sqlite:///{tmp_path / 'runs.db'}", "--json").json
    assert set(found["runs"]) == set(told["stored"]["runs"])


def test_logs_of_other_programs_are_imported(tmp_path):
    line = {"doc_id": 0, "doc": {"question": "2 + 2?"}, "target": "4", "arguments": [["2 + 2?"]], "resps": [["4"]]}
    line |= {"filtered_resps": ["4"], "exact_match": 1.0, "filter": "none", "metrics": ["exact_match"]}
    path = tmp_path / "samples_sums_2026-01-02T03-04-05.jsonl"
    path.write_text(json.dumps(line) + "\n")
    told = done("results", "import", path, "--store", tmp_path / "store", "--model", "other", "--json").json
    assert told["scores"][0]["value"] == 1.0 and len(ResultStore(tmp_path / "store")) == 1


def test_miniatures_are_repositories_for_a_hub(tmp_path):
    assert done("benchmarks", "miniatures", tmp_path, "gsm8k", "--json").json["repositories"] == ["openai/gsm8k"]


def test_runs_are_removed_by_their_full_names(files, tmp_path):
    done("eval", "gsm8k", files / "half.jsonl", "--synthetic", "--store", tmp_path, "--model", "mine")
    (run,) = ResultStore(tmp_path)
    assert crucible("results", "delete", "none", "--store", tmp_path).code == exit_codes.NOT_FOUND
    done("results", "delete", run, "--store", tmp_path)
    assert list(ResultStore(tmp_path)) == []


def test_a_score_below_what_was_asked_for_ends_with_code_1(files, tmp_path):
    asked = ("eval", "gsm8k", files / "half.jsonl", "--synthetic", "--no-store", "--fail-under")
    failed = crucible(*asked, "0.6")
    assert failed.code == exit_codes.CHECK_FAILED
    assert failed.out.endswith("half: exact_match@2 is below --fail-under 0.6\n")
    assert crucible(*asked, "0.5").code == exit_codes.OK


def test_data_of_ones_own_is_evaluated_too(tmp_path):
    (tmp_path / "quiz.jsonl").write_text(
        '{"id": "a", "input": "1+1?", "target": "2"}\n{"id": "b", "input": "1+2?", "target": "3"}\n'
    )
    (tmp_path / "answers.jsonl").write_text('{"id": "a", "prediction": "2"}\n{"id": "b", "prediction": "4"}\n')
    asked = (
        "eval",
        tmp_path / "quiz.jsonl",
        f"mine={tmp_path / 'answers.jsonl'}",
        "--metrics",
        "exact_match",
        "--no-store",
    )
    (row,) = done(*asked, "--report", tmp_path / "page.html", "--json").json["scores"]
    assert (row["model"], row["value"]) == ("mine", 0.5) and (tmp_path / "page.html").exists()


def test_predictions_that_do_not_fit_are_bad_data(files, tmp_path, samples):
    (tmp_path / "few.jsonl").write_text(json.dumps({"id": samples[0].id, "prediction": "x"}) + "\n")
    (tmp_path / "other.jsonl").write_text('{"id": "who", "prediction": "x"}\n')
    asked = ("--synthetic", "--no-store")
    assert crucible("eval", "gsm8k", tmp_path / "few.jsonl", *asked).code == exit_codes.BAD_DATA
    assert crucible("eval", "gsm8k", tmp_path / "other.jsonl", *asked).code == exit_codes.BAD_DATA
    done("eval", "gsm8k", tmp_path / "few.jsonl", *asked, "--missing", "ignore")
    assert crucible("eval", "gsm8k", files / "good.jsonl", files / "good.jsonl", *asked).code == exit_codes.USAGE
    assert crucible("eval", "gsm8k", tmp_path / "none.jsonl", *asked).code == exit_codes.NOT_FOUND


def test_runs_of_different_rules_are_not_compared(files, tmp_path):
    for more in ((), ("--extract", "gsm8k/lm-eval-flexible")):
        done("eval", "gsm8k", files / "half.jsonl", "--synthetic", "--store", tmp_path, *more)
    assert crucible("compare", *ResultStore(tmp_path), "--store", tmp_path).code == exit_codes.NOT_COMPARABLE


# What there is


def test_benchmarks_are_those_of_the_catalogue():
    assert [row["name"] for row in done("benchmarks", "list", "--json").json] == list(Catalog())
    assert "gsm8k" in {row["name"] for row in done("benchmarks", "list", "grade", "school", "--json").json}
    assert done("benchmarks", "--domain", "no such domain").out.startswith("no benchmark fits; ")
    assert done("benchmarks", "show", "gsm8k", "--json").json["source"] == "openai/gsm8k"
    assert crucible("benchmarks", "show", "gsm9k").code == exit_codes.NOT_FOUND
    counts = done("benchmarks", "summary", "--json").json
    assert sum(row["benchmarks"] for row in counts["domain"]) == len(Catalog())


def test_samples_of_a_benchmark_are_shown(samples):
    told = done("benchmarks", "head", "gsm8k", "--synthetic", "-n", "2", "--json").json
    assert [row["id"] for row in told] == [sample.id for sample in samples[:2]]


def test_metrics_and_rules_are_those_of_the_registries():
    assert {row["metric"] for row in done("metrics", "list", "--json").json} == set(METRICS)
    assert {row["rule"] for row in done("metrics", "rules", "--json").json} == set(RULES)
    assert done("metrics", "show", "exact_match", "--json").json["metric"] == METRICS["exact_match"].key
    assert crucible("metrics", "show", "exact_math").code == exit_codes.NOT_FOUND


def test_a_pair_is_scored_as_the_library_scores_it():
    told = done("metrics", "score", "exact_match", "so #### 4", "4", "--extract", "gsm8k/official", "--json").json
    assert (told["value"], told["extracted"], told["status"]) == (1.0, "4", "ok")
    assert done("metrics", "score", "exact_match", "5", "4", "5", "--json").json["value"] == 1.0


def test_rules_are_explained_by_what_they_read_and_why():
    text = "The answer is B. A common wrong answer is D."
    told = done("metrics", "explain", text, "B", "--rule", "choice/letter", "gsm8k/stated", "--json").json
    letters, numbers = told if isinstance(told, list) else told["rows"]
    assert (letters["reads"], letters["right"], letters["why"]) == ("B", True, "the last statement: The answer is B.")
    assert (numbers["reads"], numbers["status"], numbers["right"]) == (None, "unparsed", None)
    assert numbers["why"] == "no sentence states an answer; no line gives one by itself"
    (line,) = done("metrics", "explain", "So x = 38.", "38", "--rule", "gsm8k/stated", "--json").json
    assert (line["reads"], line["why"]) == ("38", "no sentence states an answer; a line gives one by itself")
    by_text = done(
        "metrics", "explain", "It is Rome.", "B", "--choices", "Paris", "Rome", "--rule", "choice/letter", "--json"
    ).json
    assert by_text[0]["right"] is True


# Demo and completion


def test_the_demo_evaluates_stores_compares_and_writes_a_report(tmp_path):
    told = done("demo", "-o", tmp_path / "demo", "--json").json
    values = {row["model"]: row["value"] for row in told["scores"]}
    assert len(values) == 3 and len(set(values.values())) == 3
    assert len(ResultStore(tmp_path / "demo" / "results")) == 3
    assert all(0 <= row["p_value"] <= 1 and row["interval"] for row in told["comparisons"]["rows"])
    assert (tmp_path / "demo" / "report.html").stat().st_size == told["report"]["size"]
    assert '"name":"gsm8k, test (miniature)"' in (tmp_path / "demo" / "report.html").read_text()


def test_the_demo_shows_its_code_and_results(tmp_path):
    shown = done("demo", "-o", tmp_path).out
    assert [line.split()[1] for line in shown.splitlines() if line.startswith("── ")] == list("12345")
    assert '>>> load_benchmark("gsm8k", synthetic=True)' in shown
    assert str(tmp_path / "report.html") in shown and "unparsed" in shown and "adjusted p" in shown


def all_words(of):
    """What can be typed: commands, actions, and long options."""
    for action in of._actions:
        yield from (each for each in action.option_strings if each.startswith("--"))
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield name
                yield from all_words(below)


def test_shells_complete_every_command_action_and_option():
    pytest.importorskip("shtab")
    words = set(all_words(parser()))
    assert {"results", "rescore", "--fail-under", "--json"} <= words
    for shell in ("bash", "zsh", "fish", "tcsh"):
        script = done("completion", shell).out
        # Fish names options without dashes, and tcsh knows two levels of commands and no options below them.
        known = {word.lstrip("-") for word in words} if shell == "fish" else words if shell != "tcsh" else set(COMMANDS)
        assert [word for word in [*known, *Catalog()] if word not in script] == [], shell
        assert script.strip() == done("completion", shell, "--json").json["script"].strip()


def test_bash_completes_commands_options_and_benchmarks():
    pytest.importorskip("shtab")
    script = done("completion", "bash").out
    ask = 'COMP_WORDS=(crucible {}); COMP_CWORD={}; _shtab_crucible; echo "${{COMPREPLY[@]}}"'
    for words, at, wanted in [
        ("con", 1, {"convert"}),
        ("results di", 2, {"diff"}),
        ("head --re", 2, {"--revision"}),
        ("eval gsm8", 2, {"gsm8k", "gsm8k_platinum"}),
        ("benchmarks show mmlu_", 3, {"mmlu_pro", "mmlu_stem"}),
    ]:
        ran = subprocess.run(
            ["bash", "-c", script + "\n" + ask.format(words, at)], capture_output=True, text=True, timeout=60
        )
        assert wanted <= set(ran.stdout.split()), (words, ran)


@pytest.mark.parametrize(
    "asked",
    [
        ("results", "show", "good"),
        ("results", "diff", "half", "good"),
        ("results", "rescore", "good"),
        ("results", "export", "good", "-o", "x.csv"),
        ("results", "mirror"),
        ("results", "delete", "good"),
        ("compare", "half", "good"),
        ("report", "good"),
    ],
)
def test_a_store_that_does_not_exist_is_no_empty_store(tmp_path, monkeypatch, asked):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    ran = crucible(*asked, "--store", "rums")
    assert ran.code == exit_codes.NOT_FOUND and "rums: there is no such folder. Did you mean 'runs'?" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


@pytest.mark.parametrize("more", [(), ("--unfinished",)])
def test_a_store_may_be_listed_before_its_first_run_but_that_is_said(tmp_path, more):
    ran = done("results", "list", "--store", tmp_path / "none", *more, "--json")
    assert ran.json == [] and "there is no such folder" in ran.err
    assert "there is no such folder" in done("results", "list", "--store", tmp_path / "none", *more).out
    assert not (tmp_path / "none").exists()


def test_missing_folders_of_outputs_are_created_by_every_command(tmp_path, store, files):
    folder, rows = store[0], files / "good.jsonl"
    for number, asked in enumerate(
        (
            ("convert", rows, "{}/x.csv"),
            ("sample", rows, "-o", "{}/x.csv"),
            ("split", rows, "-o", "{}/{{split}}.csv"),
            ("load", rows, "--save", "{}/x"),
            ("lock", rows, "--file", "{}/x.lock"),
            ("report", "good", "--store", folder, "-o", "{}/x.html"),
            ("results", "export", "good", "--store", folder, "-o", "{}/x.csv"),
            ("eval", "gsm8k", rows, "--synthetic", "--no-store", "--report", "{}/x.html"),
        )
    ):
        done(*(str(word).format(tmp_path / f"{number}" / "below") for word in asked))
        assert list((tmp_path / f"{number}" / "below").iterdir())


def test_a_file_is_no_store(files):
    path = files / "good.jsonl"
    for asked in (("results",), ("eval", "gsm8k", path, "--synthetic")):
        ran = crucible(*asked, "--store", path)
        assert ran.code == exit_codes.USAGE
        assert ran.err == f"--store '{path}': it is a file; runs are stored in a folder.\n"
    with pytest.raises(ArgumentError, match="it is a file"):
        ResultStore(path)


def test_runs_that_do_not_fit_are_not_said_to_be_missing(store, tmp_path):
    folder, _ = store
    assert done("results", "--store", tmp_path).out == f"no runs in {tmp_path}\n"
    told = done("results", "--store", folder, "--model", "god", "--dataset", "mmlu").out
    assert "none of the" in told and "models: good, half; benchmarks: gsm8k" in told
    assert done("results", "--store", folder, "--tag", "none").out.endswith("fits\n")
    assert done("results", "--store", folder, "--model", "god", "--json").json == []


def test_a_run_that_is_not_there_may_have_meant_a_model(store):
    folder, _ = store
    for words in (("show", "god"), ("diff", "half", "god"), ("rescore", "god")):
        ran = crucible("results", *words, "--store", folder)
        assert ran.code == exit_codes.NOT_FOUND and "Did you mean 'good'? Models: good, half." in ran.err


def test_diff_shows_as_many_samples_as_asked_for(store):
    folder, _ = store
    words = ("results", "diff", "half", "good", "--store", folder, "--json")
    everything = done(*words).json["samples"]
    assert len(everything) == 16
    assert done(*words, "--limit", "3").json["samples"] == everything[:3]
    assert crucible(*words, "--limit", "-1").code == exit_codes.USAGE


def test_of_several_files_the_one_that_is_wrong_is_named(files, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"id": "x", "said": "4", "at": 1}\n')
    ran = crucible("eval", "gsm8k", files / "good.jsonl", tmp_path / "bad.jsonl", "--synthetic", "--store", tmp_path)
    (kept,) = ResultStore(tmp_path)
    assert ran.code == exit_codes.NOT_FOUND and "Pass --column to name the column of the predictions." in ran.err
    assert ran.err.endswith(f"This is about the predictions of 'bad'. Kept before: {kept}.\n")


def test_a_prediction_that_cannot_be_judged_is_named(tmp_path):
    data = [{"id": f"q{n}", "input": "?", "target": "1"} for n in range(3)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in data))
    said = [{"id": row["id"], "prediction": {"said": 1} if row["id"] == "q1" else "1"} for row in data]
    (tmp_path / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in said))
    ran = crucible("eval", tmp_path / "data.jsonl", tmp_path / "said.jsonl", "--no-store")
    assert ran.code == exit_codes.BAD_DATA and ran.err.endswith("This is about the prediction for sample 'q1'.\n")


def test_code_is_scored_again_with_leave_only(tmp_path):
    tests = {"test": "def check(candidate):\n    assert candidate() == 1", "entry_point": "one"}
    row = {"id": "a", "input": "Write one().", "target": "1", "metadata": tests}
    (tmp_path / "data.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "said.jsonl").write_text(json.dumps({"id": "a", "prediction": "def one():\n    return 1"}) + "\n")
    done("eval", tmp_path / "data.jsonl", tmp_path / "said.jsonl", "--store", tmp_path / "runs")
    again = ("results", "rescore", "said", "--metrics", "code_execution", "--store", tmp_path / "runs", "--json")
    assert "--allow-code-execution" in crucible(*again).err
    assert done(*again, "--allow-code-execution").json["scores"][-1]["value"] == 1.0


def test_a_lock_that_is_not_there_is_a_file_that_does_not_exist(tmp_path):
    for words in ((), ("--check",), ("--update",)):
        ran = crucible("lock", *words, "--file", tmp_path / "crucible.lock")
        assert ran.code == exit_codes.NOT_FOUND and "`crucible lock NAME …` writes one" in ran.err


def test_a_port_that_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for port in (taken.getsockname()[1], 99999):
            ran = crucible("hub", "serve", tmp_path, "--port", port)
            assert ran.code == exit_codes.USAGE and ran.err.startswith(
                f"--port {port}: 127.0.0.1 cannot be listened on"
            )
            assert ran.err.endswith(". Choose another; 0 takes a free one.\n") and ".." not in ran.err


def test_run_without_a_program_says_what_it_takes():
    for words in ((), ("--executor", "serial")):
        ran = crucible("run", *words)
        assert (ran.code, ran.err[:8]) == (exit_codes.USAGE, "PROGRAM:")


def test_runs_that_differ_only_in_metadata_are_compared_if_asked(tmp_path):
    runs = []
    for name, level in (("a", "easy"), ("b", "hard")):
        rows = [
            {"id": str(place), "input": "q", "target": "x", "choices": None, "metadata": {"level": level}}
            for place in range(6)
        ]
        result = evaluate(["x"] * 6, Dataset.from_list(rows), "exact_match", model=name)
        runs.append(ResultStore(tmp_path).save(result))
    refused = crucible("compare", *runs, "--store", str(tmp_path))
    assert (refused.code, "--ignore-metadata" in refused.err) == (exit_codes.NOT_COMPARABLE, True)
    assert "0.000" in done("compare", *runs, "--store", str(tmp_path), "--ignore-metadata").out
