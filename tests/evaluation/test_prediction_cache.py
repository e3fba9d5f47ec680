"""Answers survive the process that got them, are shared by processes, and stay few files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crucible_datasets.benchmarks import Message, Part, Picture, Sample, samples_from
from crucible_datasets.evaluation import evaluate
from crucible_datasets.evaluation.predictions import cache as caches
from crucible_datasets.evaluation.predictions.cache import PredictionCache

PROGRAM = """
import os, signal, sys
from crucible_datasets.benchmarks import samples_from
from crucible_datasets.evaluation import evaluate

def answer(sample):
    with open(sys.argv[2], "a") as calls:
        calls.write(f"{sample.id}\\n")
    if sample.id == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    return sample.target

data = samples_from([{"id": n, "input": f"q{n}", "target": f"t{n}"} for n in range(20)])
print(evaluate(answer, data, model="m", cache=sys.argv[1]).value())
"""


def test_a_killed_run_goes_on_in_another_process(tmp_path):
    calls = tmp_path / "calls"
    for dies_at, status in ((7, -9), (99, 0)):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, tmp_path / "cache", calls, str(dies_at)],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == status, done.stderr
    assert done.stdout == "1.0\n"
    asked = [int(line) for line in calls.read_text().split()]
    assert asked == [*range(8), *range(7, 20)]


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "cache")


def test_processes_share_what_they_know(folder):
    with PredictionCache(folder) as one, PredictionCache(folder) as other:
        one.put("q", 0, "a")
        other.put("q", 1, ["b", None])
    with PredictionCache(folder) as both:
        assert (
            both.get("q", 0) == (True, "a")
            and both.get("q", 1) == (True, ["b", None])
            and both.get("q", 2) == (False, None)
        )


def test_journals_of_dead_processes_become_one(folder, monkeypatch):
    monkeypatch.setattr(caches, "_MOST_JOURNALS", 3)
    for number in range(4):
        with PredictionCache(folder) as cache:
            cache.put("q", number, str(number))
    living = len(os.listdir(folder))
    assert len(PredictionCache(folder)) == 4 and len(os.listdir(folder)) == living  # their writer, this process, lives
    for place, name in enumerate(sorted(os.listdir(folder))):
        machine, _, rest = name.split("-", 2)
        os.rename(os.path.join(folder, name), os.path.join(folder, f"{machine}-{2**22 + place}-{rest}"))
    for _ in range(2):
        assert len(PredictionCache(folder)) == 4 and len(os.listdir(folder)) == 1


def test_nothing_in_a_cache_is_a_program(folder):
    with PredictionCache(folder) as cache:
        cache.put(Sample(id=1, input="q"), 0, "said")
    [path] = Path(folder).iterdir()
    _, text = path.read_bytes().split(b" ", 1)
    assert json.loads(text)["answer"] == "said"


# Each is the source of a function `answer` with a value in it. They have the same name and answer with that value.
HOLDERS = {
    "constant": "def answer(sample): return VALUE",
    "constant of an inner function": "def answer(sample): return (lambda: VALUE)()",
    "default": "def answer(sample, text=VALUE): return text",
    "keyword default": "def answer(sample, *, text=VALUE): return text",
    "global": "prompt = VALUE\ndef answer(sample): return prompt",
    "global dict": "prompts = {'x': [VALUE]}\ndef answer(sample): return prompts['x'][0]",
    "function that it calls": "def prompt(): return VALUE\ndef answer(sample): return prompt()",
    "closure": "def make(text):\n def answer(sample): return text\n return answer\nanswer = make(VALUE)",
    "partial": "from functools import partial\ndef ask(sample, text): return text\nanswer = partial(ask, text=VALUE)",
    "attribute": (
        "class Model:\n def __init__(self, text): self.text = text\n def answer(self, sample): return self.text\n"
        "answer = Model(VALUE).answer"
    ),
    "slot": (
        "class Model:\n __slots__ = ['text']\n def __init__(self, text): self.text = text\n"
        " def __call__(self, sample): return self.text\nanswer = Model(VALUE)"
    ),
    "attribute of an attribute": (
        "class Client:\n def __init__(self, text): self.text = text\n"
        "class Model:\n def __init__(self): self.client = Client(VALUE)\n"
        " def __call__(self, sample): return self.client.text\nanswer = Model()"
    ),
    "class attribute": "class Model:\n text = VALUE\n def __call__(self, sample): return self.text\nanswer = Model()",
    "method of a base class": (
        "class Base:\n def text(self): return VALUE\nclass Model(Base):\n"
        " def __call__(self, sample): return self.text()\nanswer = Model()"
    ),
    "wrapped function": (
        "import functools\ndef same(function):\n @functools.wraps(function)\n"
        " def call(sample): return function(sample)\n return call\n@same\ndef answer(sample): return VALUE"
    ),
    "async function": "async def answer(sample): return VALUE",
    # These cannot be hashed.
    "client with a lock": (
        "import threading\nclass Client:\n def __init__(self, text): self.text, self.lock = text, threading.Lock()\n"
        "client = Client(VALUE)\ndef answer(sample): return client.text"
    ),
    "client in a closure": (
        "import socket\ndef make(text):\n connection = socket.socket()\n connection.close()\n"
        " def answer(sample): return (connection, text)[1]\n return answer\nanswer = make(VALUE)"
    ),
    "client of an instance": (
        "import threading\nclass Model:\n def __init__(self, text): self.text, self.local = text, threading.local()\n"
        " def __call__(self, sample): return self.text\nanswer = Model(VALUE)"
    ),
}
QUESTIONS = [{"id": 1, "input": "q", "target": "t"}]


def function_that_answers(holder, value):
    names = {"__name__": "__main__"}
    exec(HOLDERS[holder].replace("VALUE", repr(value)), names)
    return names["answer"]


@pytest.mark.parametrize("holder", HOLDERS)
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.text(min_size=1) | st.integers(), min_size=2, max_size=3, unique=True))
def test_a_changed_function_is_called_again(holder, values, folder):
    for value in [*values, values[0]]:
        result = evaluate(function_that_answers(holder, value), QUESTIONS, model="m", cache=folder)
        assert result.samples[0].prediction == value


# Each reads the variable CRUCIBLE_TEST_PROMPT of the environment.
READERS = {
    "text": "import os\ndef answer(sample): return os.environ['CRUCIBLE_TEST_PROMPT']",
    "global": "import os\nname = 'CRUCIBLE_TEST_PROMPT'\ndef answer(sample): return os.getenv(name)",
    "default": "from os import environ\ndef answer(sample, name='CRUCIBLE_TEST_PROMPT'): return environ[name]",
    "argument": (
        "import os\ndef read(name): return os.environ.get(name)\n"
        "def answer(sample): return read('CRUCIBLE_TEST_PROMPT')"
    ),
    "attribute": (
        "import os\nclass Model:\n def __init__(self, name): self.name = name\n"
        " def __call__(self, sample): return os.environ[self.name]\nanswer = Model('CRUCIBLE_TEST_PROMPT')"
    ),
    "part of a text": "import os\ndef answer(sample): return os.path.expandvars('$CRUCIBLE_TEST_PROMPT')",
}


@pytest.mark.parametrize("reader", READERS)
def test_a_function_that_reads_another_environment_is_called_again(reader, folder, monkeypatch):
    for prompt in ("one", "other", "one"):
        monkeypatch.setenv("CRUCIBLE_TEST_PROMPT", prompt)
        monkeypatch.setenv("CRUCIBLE_TEST_OTHER", f"not {prompt}")
        names = {"__name__": "__main__"}
        exec(READERS[reader], names)
        result = evaluate(names["answer"], QUESTIONS, model="m", cache=folder)
        assert result.samples[0].prediction == prompt
    assert len(os.listdir(folder)) == 2


def test_a_client_with_other_settings_is_asked_again(folder, monkeypatch, tmp_path):
    """Clients take addresses from variables of their package and of the environment, which no code names."""
    package = tmp_path / "site-packages" / "madeupai"
    package.mkdir(parents=True)
    package.joinpath("__init__.py").write_text(
        "import os\nbase_url = 'one'\napi_key = 'k'\n"
        "def ask(): return f\"{base_url} {os.environ.get('MADEUPAI_BASE_URL')}\""
    )
    monkeypatch.syspath_prepend(str(package.parent))
    import madeupai

    def asked():
        def answer(sample):
            return madeupai.ask()

        evaluated = evaluate(answer, QUESTIONS, model="m", cache=folder).samples[0].prediction
        assert evaluated == madeupai.ask()
        return len(os.listdir(folder))

    assert asked() == asked() == 1
    monkeypatch.setattr(madeupai, "base_url", "other")
    assert asked() == 2
    monkeypatch.setenv("MADEUPAI_BASE_URL", "another")
    assert asked() == 3
    monkeypatch.setenv("MADEUPAI_API_KEY", "another")  # who asks does not change the answer
    monkeypatch.setattr(madeupai, "api_key", "another")
    assert asked() == 3


def test_a_function_that_cannot_be_hashed_is_cached_under_a_key_only(folder, caplog):
    asked = []
    answer = function_that_answers("client with a lock", "x")

    class Counted:
        def __init__(self):
            self.lock = answer.__globals__["client"].lock

        def __call__(self, sample):
            asked.append(sample.id)
            return "x"

    for _ in range(2):
        evaluate(Counted(), QUESTIONS, cache=folder)
    assert len(asked) == 2 and "not cached: pass cache_key=" in caplog.text and not os.path.exists(folder)
    for _ in range(2):
        evaluate(Counted(), QUESTIONS, cache=folder, cache_key="v1")
    assert len(asked) == 3


def test_pictures_are_noted_and_not_copied():
    picture = Picture(b"\x89PNG" + b"0" * 10_000)
    asked = [Message("user", [Part("text", "what is it?"), Part("image", image=picture)])]
    found = evaluate(["cat"], samples_from([Sample(id=1, input=asked, target="cat")])).samples[0].input
    assert found[0]["content"][0] == {"type": "text", "text": "what is it?"}
    assert found[0]["content"][1]["image"]["path"].startswith("sha256:") and len(str(found)) < 300


SEALED = """
import os, signal, sys
from pathlib import Path
from crucible_datasets.evaluation import ResultStore, evaluate
from crucible_datasets.evaluation.results import finishing

store, ending = sys.argv[1:3]
if ending == "killed when sealed":
    finishing.complete = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)

def answer(sample):
    with open(f"{store}/asked", "a") as file:
        file.write(f"{sample.id}\\n")
    if sample.id == 1 and ending != "healed":
        raise RuntimeError("out of order")
    return sample.target

data = [{"id": n, "input": f"q{n}", "target": f"t{n}"} for n in range(3)]
call = {"missing": "ignore", "cache": False, "model": "m", "run_id": "r", "resume": True}
print(evaluate(answer, data, store=store, **call).summary["exact_match"].n, ResultStore(store).load("r").value())
"""


@pytest.mark.parametrize("before", [[], ["finished"]], ids=["new run", "finished run"])
def test_a_run_that_was_killed_when_it_was_sealed_is_resumed(before, tmp_path):
    endings = [*before, "killed when sealed", "healed"]
    command = [sys.executable, "-c", SEALED, str(tmp_path)]
    done = [subprocess.run([*command, ending], capture_output=True, text=True, timeout=120) for ending in endings]
    assert [run.returncode for run in done] == [0] * len(before) + [-9, 0], done[-1].stderr
    assert done[-1].stdout == "3 1.0\n"
    assert (tmp_path / "asked").read_text().split() == ["0", "1", "2"] + ["1"] * len(before) + ["1"]
    assert not os.listdir(tmp_path / "open")
