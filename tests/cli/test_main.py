"""The `crucible` command: what holds for all of its commands."""

import json
import os
import pty
import subprocess
import sys
import termios

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command import CRUCIBLE, crucible, done, every_command, process
from support.hostile import TERMINAL, shown_safely

import crucible_datasets
from crucible_datasets import exceptions
from crucible_datasets.cli import COMMANDS, cache, escaped, exit_codes
from crucible_datasets.cli.escaping import EscapingStream, escaped_json, transliterated
from crucible_datasets.cli.output import Message, json_text


def test_version():
    assert process("--version").stdout == f"crucible-datasets {crucible_datasets.__version__}\n"


def test_without_a_command_it_says_which_there_are():
    run = process()
    assert run.returncode == exit_codes.USAGE
    assert "COMMAND" in run.stderr
    words = " ".join(done("--help").out.split())
    assert all(name in words and command.help in words for name, command in COMMANDS.items())


def test_help_is_also_a_word():
    assert done("help").out == done("--help").out
    assert done("help", "results", "show").out == done("results", "show", "--help").out
    assert crucible("help", "demonstrate").code == exit_codes.USAGE


def test_an_unknown_command_is_refused():
    run = crucible("demonstrate")
    assert run.code == exit_codes.USAGE
    assert all(name in run.err for name in COMMANDS)


@pytest.mark.parametrize("words", list(every_command()), ids=" ".join)
def test_every_command_has_help_and_answers_programs(words):
    told = done(*words, "--help").out
    assert "--json" in told
    assert told.splitlines()[2 if not words[1:] else 0]


def test_a_command_that_is_called_wrongly_tells_people_and_programs():
    ran = crucible("head", "--rows", "few")
    assert ran.code == exit_codes.USAGE and ran.out == ""
    assert ran.err.startswith("usage: crucible head") and "crucible head: error: " in ran.err
    for words in [(), *every_command()]:
        if words == ("run",):
            continue  # what stands behind it belongs to another program
        ran = crucible(*words, "--no-such-option", "--json")
        told = json.loads(ran.err)["error"]
        assert (ran.code, ran.out, told["exit_code"]) == (exit_codes.USAGE, "", exit_codes.USAGE), words
        assert told["type"] == "UsageError"
        assert told["message"].startswith(f"{' '.join(['crucible', *words])}: error: ")


def test_help_imports_nothing_heavy():
    script = "import sys; from crucible_datasets.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    script += "print(sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"pyarrow", "numpy", "msgspec", "fsspec", "huggingface_hub", "tqdm"} & set(eval(ran.stderr))


def test_env_shows_versions_and_the_cache():
    lines = process("env", HF_DATASETS_CACHE="/some/cache", CRUCIBLE_RESULTS_DIR="/some/runs").stdout.splitlines()
    facts = dict(line.split(maxsplit=1) for line in lines)
    assert facts["crucible-datasets"] == crucible_datasets.__version__
    assert facts["python"] == ".".join(map(str, sys.version_info[:3]))
    assert (facts["cache"], facts["results"]) == ("/some/cache", "/some/runs")
    assert {"platform", "pyarrow", "numpy", "huggingface-hub", "torch", "polars"} <= set(facts)
    assert done("env", "--json").json["python"] == facts["python"]


def test_a_reader_that_stops_early_is_no_error(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("n\n" + "\n".join(map(str, range(20_000))))
    with subprocess.Popen(
        [CRUCIBLE, "head", path, "-n", "20000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_closed_stream_is_no_error(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("n\n1\n")
    for command, code in (
        (f"{CRUCIBLE} head {path} >&-", exit_codes.OK),
        (f"{CRUCIBLE} head none.csv 2>&-", exit_codes.NOT_FOUND),
    ):
        ran = subprocess.run(command, shell=True, capture_output=True, check=False)
        assert (ran.returncode, ran.stdout, ran.stderr) == (code, b"", b"")


def test_options_without_an_action_are_those_of_the_default_one():
    asked = ("--domain", "math", "--json")
    listed = done("benchmarks", "list", *asked).json
    assert done("benchmarks", *asked).json == done("benchmarks", "--json", *asked[:2]).json == listed != []


def test_only_words_that_are_near_are_said_to_be_meant():
    assert "Did you mean --columns?" in crucible("head", "x.csv", "--colums", "n").err
    assert "Did you mean" not in crucible("benchmarks", "head", "gsm8k", "--limit", "1").err


def test_a_terminal_of_another_alphabet_gets_its_answer_too(tmp_path):
    path = tmp_path / "words.jsonl"
    path.write_text('{"word": "Grüße"}\n', "utf-8")
    assert json.loads(process("head", path, "--json", PYTHONIOENCODING="ascii").stdout) == [{"word": "Grüße"}]
    assert escaped("Grüße", "ascii") == r"Gr\xfc\xdfe"
    path.write_text(json.dumps({"word": "─" * 3, "long": "x" * 300}, ensure_ascii=False), "utf-8")
    shown = process("head", path, PYTHONIOENCODING="ascii", COLUMNS="40").stdout.splitlines()
    # What this program draws is transliterated in other signs; what is in the data is not changed, but written out.
    assert shown[0] == "-- 0 " + "-" * 35
    assert shown[1] == "word  " + r"\u2500" * 3 and shown[2].endswith("x...")


@given(st.text())
def test_signs_of_another_alphabet_are_spelt_for_it_alone(text):
    assert transliterated(text, "utf-8") == text
    assert not set("─…–−→≤·") & set(transliterated(text, "ascii"))
    assert [each for each in transliterated(text, "ascii") if not each.isascii()] == [
        each for each in text if not each.isascii() and each not in "─…–−→≤·"
    ]


# Exit codes


def test_every_error_of_the_library_has_an_exit_code():
    def below(kind):
        return {kind}.union(*(below(child) for child in kind.__subclasses__()))

    assert all(hasattr(exceptions, name) for name in exceptions.__all__)  # which loads them
    codes = {kind.__name__: exit_codes.code_of_kind(kind) for kind in below(exceptions.DatasetsError)}
    assert exit_codes.DEFECT not in codes.values() and exit_codes.OK not in codes.values()
    assert codes["DataFilesNotFoundError"] == codes["RunNotFoundError"] == exit_codes.NOT_FOUND
    assert codes["IncomparableRunsError"] == exit_codes.NOT_COMPARABLE
    assert codes["MissingPackageError"] == exit_codes.MISSING_PACKAGE
    assert codes["OfflineError"] == codes["DownloadError"] == exit_codes.UNREACHABLE
    assert codes["ArrowFileError"] == codes["FileFormatError"] == codes["PredictionsError"] == exit_codes.BAD_DATA
    assert codes["ArgumentTypeError"] == codes["CodeExecutionRefusedError"] == exit_codes.USAGE
    assert codes["StorageError"] == exit_codes.STORAGE


def test_every_name_of_an_error_with_an_exit_code_exists():
    import builtins

    import httpx2
    from huggingface_hub import errors

    from crucible_datasets import splits

    for _, names in exit_codes._CODES:
        for name in names:
            assert any(hasattr(home, name) for home in (exceptions, splits, builtins, errors, httpx2)), name


def test_every_exit_code_has_a_meaning():
    codes = {value for name, value in vars(exit_codes).items() if name.isupper() and isinstance(value, int)}
    assert codes == set(exit_codes.MEANINGS)


@pytest.mark.parametrize(
    ("error", "code"),
    [(ZeroDivisionError("a\x1b[31mb"), exit_codes.DEFECT), (KeyboardInterrupt(), exit_codes.INTERRUPTED)],
)
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_defect_is_told_without_control_characters(monkeypatch, error, code, more):
    def fail():
        raise error

    monkeypatch.setattr(cache, "_cache", fail)
    ran = crucible("cache", "ls", *more)
    assert ran.code == code and ran.out == ""
    assert shown_safely(ran.err) and (r"\x1b[31m" in ran.err or code == exit_codes.INTERRUPTED or more)


def test_errors_have_one_shape_for_programs(tmp_path):
    ran = crucible("head", tmp_path / "none.csv", "--json")
    assert ran.code == exit_codes.NOT_FOUND
    assert ran.out == ""
    told = json.loads(ran.err)["error"]
    assert told["type"] == "FileNotFoundDatasetsError" and told["exit_code"] == 3 and "none.csv" in told["message"]


# Inert


def test_control_characters_reach_the_terminal_written_out():
    printed = process("env", HF_DATASETS_CACHE="/cache/\x1b[31mred\x07\u202egnol").stdout
    assert r"/cache/\x1b[31mred\x07\u202egnol" in printed
    assert shown_safely(printed)


@pytest.mark.parametrize("code", [*range(32), *range(127, 160), 0x00AD, 0x200B, 0x2028, 0x202E, 0x2066, 0xFEFF, 0xD800])
def test_inert_text_has_nothing_a_terminal_acts_on(code):
    assert code == ord("\n") or escaped(f"a{chr(code)}b").isprintable()


@pytest.mark.parametrize("text", ["", "plain\nlines", "Grüße, 世界 🙂", r"\x1b"])
def test_inert_leaves_what_can_be_read(text):
    assert escaped(text) == text


@given(st.text())
def test_inert_text_stays_as_it_is(text):
    assert escaped(escaped(text)) == escaped(text)
    assert shown_safely(escaped(text))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@given(values, st.sampled_from(["utf-8", "ascii", "latin-1"]))
def test_inert_json_is_the_same_json(value, encoding):
    text = escaped_json(json_text(value), encoding)
    assert json.loads(text) == value
    assert shown_safely(text)
    text.encode(encoding)


@pytest.mark.parametrize("text", TERMINAL)
def test_what_is_said_beside_the_answer_is_inert_too(text):
    ran = crucible("hub", "serve", f"/nowhere/{text}")
    assert ran.code == exit_codes.USAGE and shown_safely(ran.err)


def test_a_progress_bar_may_move_and_nothing_else(tmp_path):
    class Written(list):
        encoding = "utf-8"
        write = list.append

    stream = EscapingStream(written := Written(), shows_bars=True)
    for text in ("\r 10%|█", "\x1b[A", "\n", "\r\x1b[2J\x1b[A"):
        stream.write(text)
    assert written == ["\r 10%|█", "\x1b[A", "\n", "\r\\x1b[2J\\x1b[A"]
    plain = EscapingStream(written := Written())
    for text in ("\rx", "\x1b[A"):
        plain.write(text)
    assert written == ["\\rx", "\\x1b[A"]


def test_a_terminal_gets_bars_and_answers_apart(tmp_path):
    """On a real terminal: bars on standard error, the answer on standard output, nothing else."""
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps({"a": TERMINAL[number % len(TERMINAL)]}) + "\n" for number in range(50)))
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    command = [CRUCIBLE, "convert", path, tmp_path / "out.csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as process:
        answer = process.stdout.read().decode()
        assert process.wait(60) == 0
    os.close(theirs)
    assert "out.csv" in answer and shown_safely(answer)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    assert b"Writing CSV" in seen
    assert shown_safely(seen.decode().replace("\r", "").replace("\x1b[A", ""))


def test_a_sentence_without_words_prints_nothing():
    assert list(Message("", {}).lines()) == []
