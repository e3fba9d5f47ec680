"""The `crucible` command, run as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import crucible_datasets
from crucible_datasets.cli import COMMANDS, inert

CRUCIBLE = Path(sys.executable).with_name("crucible")


def crucible(*arguments, **environment):
    variables = {**os.environ, "PYTHONWARNINGS": "error", "PYTHONIOENCODING": "utf-8", **environment}
    return subprocess.run([CRUCIBLE, *arguments], env=variables, capture_output=True, encoding="utf-8", timeout=60)


@pytest.fixture(scope="module")
def tour(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    run = crucible("demo", HOME=str(home), HF_HUB_OFFLINE="1")
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert not list(home.iterdir()), "the demo wrote files"
    return run.stdout


def test_version():
    assert crucible("--version").stdout == f"crucible-datasets {crucible_datasets.__version__}\n"


def test_without_a_command_it_says_which_there_are():
    run = crucible()
    assert run.returncode == 2
    assert "COMMAND" in run.stderr
    listed = crucible("--help").stdout
    words = " ".join(listed.split())
    assert all(name in words and command.__doc__ in words for name, command in COMMANDS.items())


def test_an_unknown_command_is_refused():
    run = crucible("demonstrate")
    assert run.returncode == 2
    assert all(name in run.stderr for name in COMMANDS)


def test_env_shows_versions_and_the_cache():
    facts = dict(
        line.split(maxsplit=1) for line in crucible("env", HF_DATASETS_CACHE="/some/cache").stdout.splitlines()
    )
    assert facts["crucible-datasets"] == crucible_datasets.__version__
    assert facts["python"] == ".".join(map(str, sys.version_info[:3]))
    assert facts["cache"] == "/some/cache"
    assert {"platform", "pyarrow", "numpy", "huggingface-hub", "torch", "polars"} <= set(facts)


def test_the_demo_takes_all_its_steps_within_80_columns(tour):
    assert [line.split()[1] for line in tour.splitlines() if line.startswith("──")] == list("123456789")
    assert max(map(len, tour.splitlines())) <= 80


def test_the_demo_prints_its_results(tour):
    assert "num_rows: 48" in tour
    assert "'test': Counter({'arithmetic': 5, 'geometry': 4, 'algebra': 3})" in tour
    assert "[10, 10, 10, 9, 9]" in tour
    assert "arithmetic  20    0.850" in tour
    assert "A rectangle is 9 cm by 12 cm. What is its area?" in tour


def test_the_demo_is_the_same_every_time(tour):
    assert crucible("demo", PYTHONHASHSEED="1").stdout == tour


def test_a_terminal_of_another_alphabet_gets_the_demo_too():
    run = crucible("demo", PYTHONIOENCODING="ascii")
    assert run.returncode == 0, run.stderr
    assert "num_rows: 48" in run.stdout


def test_a_reader_that_stops_early_is_no_error():
    with subprocess.Popen([CRUCIBLE, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def test_control_characters_reach_the_terminal_written_out():
    printed = crucible("env", HF_DATASETS_CACHE="/cache/\x1b[31mred\x07\u202egnol").stdout
    assert r"/cache/\x1b[31mred\x07\u202egnol" in printed
    assert all(character.isprintable() for character in printed.replace("\n", ""))


@pytest.mark.parametrize("code", [*range(32), *range(127, 160), 0x00AD, 0x200B, 0x2028, 0x202E, 0x2066, 0xFEFF, 0xD800])
def test_inert_text_has_nothing_a_terminal_acts_on(code):
    assert code == ord("\n") or inert(f"a{chr(code)}b").isprintable()


@pytest.mark.parametrize("text", ["", "plain\nlines", "Grüße, 世界 🙂", r"\x1b"])
def test_inert_leaves_what_can_be_read(text):
    assert inert(text) == text
