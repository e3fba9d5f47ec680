"""R34: whatever data, names and files say, no command lets a terminal act on it, and its JSON stays JSON."""

import json
import os

import pytest
from msgspec.structs import replace
from support.command import crucible, every_command
from support.hostile import ALL_TERMINAL, TERMINAL, shown_safely
from support.runs import hostile_run

from crucible_datasets import Dataset, DatasetDict, config
from crucible_datasets.cache import default_cache
from crucible_datasets.cli import exit_codes
from crucible_datasets.evaluation import ResultStore

# A name of a file may have everything but a slash and a zero byte.
NAME = ALL_TERMINAL.replace("/", "").replace("\x00", "")[:120]
HOSTILE = {f"col{number} {text}": [text] * 3 for number, text in enumerate(TERMINAL)}


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A hostile dataset, hostile predictions, hostile runs, a hostile benchmark, in a folder with a hostile name."""
    folder = tmp_path_factory.mktemp("hostile") / NAME
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patched:
        made_in(folder, patched)
        yield folder


def made_in(folder, monkeypatch):
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", folder / "cache")
    monkeypatch.setattr(config, "CRUCIBLE_BENCHMARKS", str(folder / "benchmarks"))
    rows = Dataset.from_dict(HOSTILE)
    rows.to_json(folder / "data.jsonl")
    DatasetDict({"train": rows}).save_to_disk(folder / "saved")
    quiz = [{"id": f"{number}{text}", "input": text, "target": text} for number, text in enumerate(TERMINAL)]
    Dataset.from_list(quiz).to_json(folder / "quiz.jsonl")
    answers = [{"id": each["id"], "prediction": each["target"]} for each in quiz]
    Dataset.from_list(answers).to_json(folder / "answers.jsonl")
    store = ResultStore(folder / "store")
    for model in ("a", "b"):
        run = hostile_run(model, ALL_TERMINAL, TERMINAL)
        run.info = replace(run.info, run_id=f"run-{model}")
        store.save(run)
    (folder / "benchmarks").mkdir()
    entry = {"name": "bad", "source": "o/r", "rule": "question/answer@1", "title": ALL_TERMINAL, "tags": [ALL_TERMINAL]}
    toml = "\n".join(f"{key} = {json.dumps(value)}" for key, value in entry.items()).replace("\x7f", "\\u007F")
    toml += '\ncolumns = { question = "q", answer = "a" }\n'
    (folder / "benchmarks" / "bad.toml").write_text(toml)
    default_cache().made(f"key{TERMINAL[0]}".replace("/", "")[:20], lambda made: {"kind": ALL_TERMINAL, "rows": 1})
    monkeypatch.chdir(folder)


def commands(folder):
    """A call of every command with hostile data."""
    data, saved, store = folder / "data.jsonl", folder / "saved", ("--store", folder / "store")
    return {
        ("load",): [(saved,), (data, "--save", folder / "more")],
        ("head",): [(data,), (saved,), (folder / "none.csv",)],
        ("describe",): [(data,), (data, "--columns", ALL_TERMINAL)],
        ("convert",): [(data, folder / "out.csv"), (data, folder / "out.what"), (data, folder / "x.txt")],
        ("sample",): [(data, "-n", "2"), (data, "--stratify-by", ALL_TERMINAL)],
        ("split",): [
            (data, "-o", folder / "{split}.jsonl", "--parts", "train=1,test=2"),
            (data, "-o", "{split}.csv", "--parts", NAME),
        ],
        ("formats",): [()],
        ("benchmarks", "list"): [()],
        ("benchmarks", "show"): [("bad",), (ALL_TERMINAL,)],
        ("benchmarks", "head"): [(folder / "benchmarks" / "bad.toml",), (ALL_TERMINAL, "--synthetic")],
        ("benchmarks", "summary"): [()],
        ("benchmarks", "miniatures"): [(folder / "minis", "gsm8k"), (folder / "minis", ALL_TERMINAL)],
        ("lock",): [
            (data, "--file", folder / "a.lock"),
            ("--file", folder / "a.lock"),
            ("--check", "--file", folder / "a.lock"),
            (ALL_TERMINAL, "--file", folder / "a.lock"),
            ("--check", ALL_TERMINAL, "--file", folder / "a.lock"),
            ("--file", folder / NAME),
        ],
        ("overlap",): [(data, data), (data, data, "--columns", ALL_TERMINAL), (ALL_TERMINAL, data)],
        ("metrics", "list"): [()],
        ("metrics", "rules"): [()],
        ("metrics", "show"): [("exact_match",), (ALL_TERMINAL,)],
        ("metrics", "score"): [("exact_match", ALL_TERMINAL, ALL_TERMINAL, "--extract", "squad")],
        ("metrics", "explain"): [(ALL_TERMINAL, ALL_TERMINAL, "--choices", ALL_TERMINAL, "x")],
        ("eval",): [
            (folder / "quiz.jsonl", f"{NAME}={folder / 'answers.jsonl'}", "--metrics", "exact_match", "--no-store"),
            (folder / "quiz.jsonl", data, "--metrics", "exact_match", "--no-store"),
        ],
        ("compare",): [("run-a", "run-b", *store), (ALL_TERMINAL, *store)],
        ("results", "list"): [store],
        ("results", "show"): [("run-a", *store, "--by", "metadata.group")],
        ("results", "diff"): [("run-a", "run-b", *store)],
        ("results", "rescore"): [("run-a", "--metrics", "exact_match", "--extract", "squad", "--no-store", *store)],
        ("results", "export"): [("run-a", *store, "-o", folder / "e.csv"), ("run-a", *store, "-o", folder / "e.what")],
        ("results", "import"): [(folder / "answers.jsonl", *store), (folder / "none.eval", *store)],
        ("results", "mirror"): [store],
        ("results", "delete"): [("run-b", ALL_TERMINAL.replace("/", ""), *store)],
        ("report",): [("run-a", *store, "-o", folder / "page.html")],
        ("cache", "ls"): [()],
        ("cache", "du"): [()],
        ("cache", "clean"): [("--limit", ALL_TERMINAL), ("--all",)],
        ("cache", "verify"): [()],
        ("hub", "serve"): [(folder / "hub", "--port", "0"), (folder / "none",)],
        ("hub", "mirror"): [(f"o/{NAME}", folder / "hub", "--endpoint", "http://127.0.0.1:9")],
        ("run",): [(ALL_TERMINAL.replace("\x00", ""),)],
        ("switch",): [()],
        ("view",): [(folder / "none", "--host", "0.0.0.0")],
        ("env",): [()],
        ("demo",): [("-o", folder / "demo")],
        ("completion",): [("bash",)],
    }


def served_once(monkeypatch, folder):
    """A hub with a hostile name in it, which is interrupted at once."""
    os.makedirs(folder / "hub" / "org" / NAME[:60], exist_ok=True)
    from crucible_datasets.localhub.server import HubServer

    def interrupted(server):
        raise KeyboardInterrupt

    monkeypatch.setattr(HubServer, "serve_forever", interrupted)


def test_every_command_is_tried(places):
    assert set(commands(places)) == set(every_command())


@pytest.mark.parametrize("words", list(every_command()), ids=" ".join)
def test_nothing_that_a_terminal_acts_on_comes_out(words, places, monkeypatch):
    served_once(monkeypatch, places)
    for arguments in commands(places)[words]:
        for more in ((), ("--json",)):
            if "--save" in arguments or words in (("convert",), ("split",)):
                more = (*more, "--force")
            ran = crucible(*words, *arguments, *more)
            assert shown_safely(ran.out) and shown_safely(ran.err), (words, arguments)
            assert "Traceback" not in ran.err, ran.err
            if "--json" in more and ran.code in (exit_codes.OK, exit_codes.CHECK_FAILED):
                json.loads(ran.out)
            elif "--json" in more and words != ("run",):
                assert json.loads(ran.err[ran.err.index("{") :])["error"]["exit_code"] == ran.code != exit_codes.DEFECT
