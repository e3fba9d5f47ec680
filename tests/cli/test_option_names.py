"""Errors speak of options as they are typed: every argument of every command, and the advice of the library."""

import argparse
import json

import pytest
from support.command import crucible, every_command

from crucible_datasets.cli import exit_codes, parser
from crucible_datasets.cli.option_names import option_names, with_option_names
from crucible_datasets.exceptions import (
    ArgumentError,
    CodeExecutionRefusedError,
    ConfigNotFoundError,
    MissingPredictionsError,
    SplitNotFoundError,
)

WHOLE = parser()


def parser_of(words):
    found = WHOLE
    for word in words:
        (below,) = (action for action in found._actions if isinstance(action, argparse._SubParsersAction))
        found = below.choices[word]
    return found


@pytest.mark.parametrize("value", ["x", "two words", "", None, True, -1, 0.5])
def test_every_argument_is_called_as_it_is_typed(value):
    commands = [parser_of(words) for words in every_command()]
    for command, action in ((each, action) for each in commands for action in each._actions):
        told = with_option_names(str(ArgumentError(action.dest, value, "no.")), option_names(command))
        typed = action.option_strings or [action.metavar or action.dest]
        assert told.startswith(tuple(typed)) and f"{action.dest}=" not in told and told.endswith(": no.")


def test_advice_of_the_library_is_one_for_the_command():
    words = option_names(parser_of(["eval"]))
    told = with_option_names(str(MissingPredictionsError(["a"], 2)), words)
    assert "Pass --missing wrong to count such samples as wrong, or --missing ignore to leave them out." in told
    told = with_option_names(str(CodeExecutionRefusedError("pass_at_k@1")), words)
    assert "Pass --allow-code-execution to run it" in told
    assert with_option_names("Pass id_column=, or prediction_column='a'.", words) == "Pass --id-column, or --column a."
    found = with_option_names(str(SplitNotFoundError("dev", ["train"])), words)
    assert found == "There is no split 'dev'. Available: train."
    export = option_names(parser_of(["results", "export"]))
    assert with_option_names("path='a.x': … Or pass format=.", export) == "--output 'a.x': … Or pass --format."
    assert with_option_names("as fields={'target': 'gold'}, or", words) == "as --field target=gold, or"
    assert with_option_names("as fields={'target': 'gold'}", export) == "as --field target=gold of `crucible eval`"
    assert with_option_names("say so with remote=True (--allow-remote).", export) == "say so with --allow-remote."
    assert with_option_names("as fields={'target': 'gold'}", {}) == "as fields={'target': 'gold'}"


def test_arguments_with_another_name_in_the_library_are_called_as_options(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n')
    assert crucible("sample", tmp_path / "a.jsonl", "-n", 10).err.startswith("--rows 10: ")
    assert crucible("sample", tmp_path / "a.jsonl", "--json").json == [{"a": 1}]
    assert crucible("sample", tmp_path / "a.jsonl", "-n", "many").err.startswith("--rows 'many': ")
    assert crucible("split", tmp_path / "a.jsonl", "--folds", 5, "-o", tmp_path / "{split}.csv").err.startswith(
        "--folds 5: "
    )
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n' * 3)
    wrong = crucible("split", tmp_path / "a.jsonl", "--parts", "train=0.5,test=0.9", "-o", tmp_path / "{split}.csv")
    assert wrong.err.startswith("--parts train=0.5,test=0.9: together they are 140 % of the rows; leave out train")
    monkeypatch.setattr("crucible_datasets.sources.backoff._NEVER_REACHED", 0.0)
    unheard = crucible("hub", "mirror", "acme/rows", tmp_path, "--endpoint", "http://127.0.0.1:9")
    assert unheard.code == exit_codes.UNREACHABLE and "http://127.0.0.1:9" in unheard.err


def test_a_configuration_is_named_as_the_command_takes_it():
    told = str(ConfigNotFoundError("openai/gsm8k", None, ["main", "socratic"]))
    assert "as in --config main. Available" in with_option_names(told, option_names(parser_of(["head"])))
    assert "as in NAME:main. Available" in with_option_names(told, option_names(parser_of(["lock"])))


def test_what_is_no_argument_of_the_command_stays_as_it_is():
    words = option_names(parser_of(["eval"]))
    for text in (
        "f(x=1)",
        "train=0.8,test=0.2",
        "x.missing='wrong'",
        "sub-missing='wrong'",
        "a == b",
        "missing = 'wrong'",
    ):
        assert with_option_names(text, words) == text


def test_the_command_says_so_to_people_and_programs(tmp_path):
    (tmp_path / "few.jsonl").write_text('{"id": "gsm8k/main/test/0", "prediction": "x"}\n')
    asked = ("eval", "gsm8k", tmp_path / "few.jsonl", "--synthetic", "--no-store")
    ran = crucible(*asked)
    assert ran.code == exit_codes.BAD_DATA and "--missing wrong" in ran.err and "missing=" not in ran.err
    assert "--missing wrong" in json.loads(crucible(*asked, "--json").err)["error"]["message"]
    ran = crucible("eval", "ifeval", tmp_path / "few.jsonl", "--synthetic", "--no-store")
    assert ran.err.startswith("BENCHMARK 'ifeval': this library lacks its metric, ")
    assert ran.err.endswith("Pass a metric of your own, in Python.\n")


def test_files_that_are_there_are_named_by_the_argument_that_names_them(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n')
    assert crucible("convert", path, path).err.startswith(f"FILE {str(path)!r}: it is there already; --force")
    assert crucible("sample", path, "-n", 1, "-o", path).err.startswith(f"--output {str(path)!r}: ")
    assert crucible("load", path, "--save", tmp_path).err.startswith(f"--save {str(tmp_path)!r}: ")
