"""The metrics that run code: off unless asked for in the call (R29), and right on the forms of three benchmarks."""

import msgspec
import pytest
from support.isolation import needs_isolation

from crucible_datasets.benchmarks import Sample, samples_from
from crucible_datasets.evaluation import EvaluationResult, evaluate
from crucible_datasets.evaluation.metrics import METRICS
from crucible_datasets.evaluation.results.rescoring import rescored
from crucible_datasets.evaluation.sandbox import box, boxes
from crucible_datasets.evaluation.sandbox.outputs import same_output
from crucible_datasets.evaluation.sandbox.tasks import CodeTask, task_of
from crucible_datasets.exceptions import CodeExecutionRefusedError, CodeTestsError, SandboxUnavailableError

HUMANEVAL = Sample(
    id="0",
    input='import math\n\ndef root(x):\n    """The integer root.\n    >>> root(9)\n    3\n    """\n',
    target="    return math.isqrt(x)\n",
    metadata={
        "tests": "def check(candidate):\n    assert candidate(9) == 3\n    assert math.isqrt(16) == candidate(16)\n",
        "entry_point": "root",
    },
)
MBPP = Sample(
    id="1",
    input="Write a function.",
    target="def area(r):\r\n  return 3 * r",
    metadata={"tests": "assert area(2) == 6\nassert math.isclose(area(1), 3)", "setup": "import math"},
)
STDIN = Sample(
    id="2",
    input="Read x.",
    target="if __name__ == '__main__':\n    print(int(input()) + 1)",
    metadata={
        "tests": [{"type": "stdin", "input": "1\n", "output": "2\n"}, {"type": "stdin", "input": "-1", "output": "0"}]
    },
)
CALL = Sample(
    id="3",
    input="Two.",
    target="class Solution:\n    def two(self, x):\n        return (x, x)\n",
    metadata={"tests": [{"type": "call", "function": "two", "input": "[[1]]", "output": "[[1], [1]]"}]},
)
SAMPLES = [HUMANEVAL, MBPP, STDIN, CALL]
WRONG = ["    return x\n", "def area(r): return 7", "print(2)", "class Solution:\n    def two(self, x): return x"]
METRIC = METRICS["code_execution"]


@pytest.mark.parametrize("name", ["code_execution", "pass_at_k"])
@pytest.mark.parametrize(
    "asked", [{}, {"allow_code_execution": False}, {"allow_code_execution": 1}, {"allow_code_execution": "True"}]
)
def test_code_is_refused_unless_the_call_allows_it(name, asked, monkeypatch):
    """Neither the environment nor the data has a say, and no box is opened."""
    for variable in ("HF_ALLOW_CODE_EVAL", "CRUCIBLE_ALLOW_CODE_EXECUTION", "ALLOW_CODE_EXECUTION", "HUMAN_EVAL_ALLOW"):
        monkeypatch.setenv(variable, "1")
    monkeypatch.setattr(box.Box, "__init__", lambda self: pytest.fail("a box was opened"))
    boxes.close_all()
    sample = Sample(id="0", input="Do it.", target="", metadata={"tests": "assert True", "allow_code_execution": True})
    given = ["x = 1"] if name == "pass_at_k" else "x = 1"
    with pytest.raises(CodeExecutionRefusedError, match="allow_code_execution=True"):
        METRICS[name].score(given, "", sample=sample, **asked)
    with pytest.raises(CodeExecutionRefusedError):
        METRICS[name].score_many([given], [""], samples=[sample], **asked)


@needs_isolation
def test_a_stored_run_cannot_allow_code(tmp_path):
    """Neither what `evaluate` keeps, nor what somebody wrote into the run, gives leave to run it again."""
    asked = {"model": "m", "metrics": "code_execution", "metric_options": {"code_execution": {"timeout": 30.0}}}
    run = evaluate([str(MBPP.target)], samples_from([MBPP]), allow_code_execution=True, **asked)
    assert "allow_code_execution" not in str(run.info.options)
    leave = {"metric_options": {"code_execution@1": {"timeout": 30.0, "allow_code_execution": True}}}
    forged = EvaluationResult(msgspec.structs.replace(run.info, options=leave), run.samples, run.summary)
    for stored in (run, forged):
        with pytest.raises(CodeExecutionRefusedError):
            rescored(stored)
        assert rescored(stored, allow_code_execution=True).result.summary["code_execution@1"].value == 1.0


def test_code_is_not_run_where_it_cannot_be_isolated(monkeypatch):
    def refuses(control):
        monkeypatch.undo()
        control.send(b'{"refused": "PermissionError: unshare"}')
        return box.subprocess.Popen(["true"])

    boxes.close_all()
    monkeypatch.setattr(box, "_server", refuses)
    with pytest.raises(SandboxUnavailableError, match="unshare"):
        METRIC.score("x = 1", "", tests="assert True", allow_code_execution=True)


@needs_isolation
def test_canonical_solutions_pass_and_wrong_ones_do_not():
    solutions = [sample.target for sample in SAMPLES]
    right = METRIC.score_many(solutions, solutions, samples=SAMPLES, allow_code_execution=True, timeout=30.0)
    wrong = METRIC.score_many(WRONG, solutions, samples=SAMPLES, allow_code_execution=True, timeout=30.0)
    assert [outcome.value for outcome in right] == [1.0] * 4, right
    assert [outcome.value for outcome in wrong] == [0.0] * 4, wrong
    assert all(outcome.status == "ok" and outcome.detail["reason"] for outcome in wrong)


@needs_isolation
def test_a_completion_is_cut_where_something_new_begins():
    run_on = "    return math.isqrt(x)\n\ndef root(x):\n    return 0\n"
    options = {"sample": HUMANEVAL, "allow_code_execution": True, "timeout": 30.0}
    assert METRIC.score(run_on, "", **options).value == 0.0
    assert METRIC.score(run_on, "", extract="humaneval@1", **options).value == 1.0


@needs_isolation
@pytest.mark.parametrize(
    "tests", ["assert root(9) == 3", ["assert root(9) == 3"], "def check(candidate):\n    assert candidate(9) == 3\n"]
)
def test_a_task_in_plain_words_is_not_run_as_code(tests):
    sample = Sample(id="0", input="Write root(x).", metadata={"tests": tests, "entry_point": "root"})
    whole = "def root(x): return int(x**0.5)"
    assert METRIC.score(whole, "", sample=sample, allow_code_execution=True, timeout=30.0).value == 1.0


@pytest.mark.parametrize("prompt", ["a." * 100_000 + "b", "-" * 200_000 + "1", "(" * 500])
def test_a_task_that_no_parser_takes_is_no_code(prompt):
    known = {"tests": "def check(candidate): ...", "entry_point": "root"}
    assert task_of(Sample(id="0", input=prompt, metadata=known), {}).prompt == ""


def test_a_head_with_escapes_that_are_none_is_code_and_warns_nobody():
    known = {"tests": "def check(candidate): ...", "entry_point": "root"}
    head = 'def root(x):\n    """As \\d."""\n'
    assert task_of(Sample(id="0", input=head, metadata=known), {}).prompt == head


@needs_isolation
def test_code_in_a_fenced_block_is_found_unless_no_rule_is_wanted():
    fenced = [f"Here it is:\n```python\n{MBPP.target}\n```"]
    asked = {"metrics": "code_execution", "allow_code_execution": True}
    read = evaluate(fenced, samples_from([MBPP]), **asked)
    assert (read.value(), read.info.rules) == (1.0, ["strip_thinking@2 | code/fenced@2"])
    bare = evaluate(fenced, samples_from([MBPP]), extract=False, **asked)
    assert (bare.value(), bare.info.rules) == (0.0, [])
    assert rescored(bare, allow_code_execution=True).result.info.rules == []


@needs_isolation
def test_endless_code_is_a_timeout():
    outcome = METRIC.score("while True: pass", "", tests="assert True", allow_code_execution=True, timeout=0.3)
    assert (outcome.value, outcome.status) == (0.0, "timeout")
    case = [{"input": "", "output": ""}]
    outcome = METRIC.score("while True: pass", "", tests=case, allow_code_execution=True, timeout=0.3)
    assert (outcome.value, outcome.status) == (0.0, "timeout")


@needs_isolation
def test_broken_tests_do_not_count():
    outcome = METRIC.score("x = 1", "", tests="import numpy", allow_code_execution=True, timeout=30.0)
    assert (outcome.value, outcome.status) == (None, "error")


@needs_isolation
def test_pass_at_k_runs_every_completion():
    completions = ["def f(x): return x", "def f(x): return x + 1", "nonsense(", None]
    options = {"tests": "assert f(1) == 2", "allow_code_execution": True, "timeout": 30.0}
    outcome = METRICS["pass_at_k"].score(completions, "", k=2, **options)
    assert outcome.value == 0.5
    assert outcome.detail == {"n": 4, "c": 1, "k": 2}


@needs_isolation
def test_completions_without_a_verdict_do_not_count_for_pass_at_k():
    right, wrong, error = "def f(x): return x + 1", "def f(x): return x", "import numpy\ndef f(x): return x + 1"
    options = {"tests": "assert f(1) == 2", "allow_code_execution": True, "timeout": 30.0}
    outcome = METRICS["pass_at_k"].score([right, wrong, error], "", k=1, **options)
    assert (outcome.value, outcome.detail["n"], outcome.detail["errors"]) == (0.5, 2, 1)
    outcome = METRICS["pass_at_k"].score([right, error], "", k=2, **options)
    assert (outcome.value, outcome.status) == (None, "error")


@needs_isolation
@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("import subprocess; subprocess.run(['true'])", "error"),
        ("from multiprocessing import Process; Process(target=print).start()", "error"),
        ("import numpy", "error"),
        ("open('/dev/stdout', 'w').write('a')", "error"),
        ("open('/etc/hostname')", "error"),
        ("import no_such_module", "ok"),
        ("raise PermissionError('mine')", "ok"),
        ("open('no such file')", "ok"),
        ("print('b')", "ok"),
    ],
)
def test_what_the_sandbox_lacks_is_an_error_and_not_a_wrong_answer(code, status):
    cases = [{"input": "", "output": "a"}]
    for form, tests in ((code, cases), (f"def f():\n    {code}\n", "f()\nassert False"), (code, "assert False")):
        outcome = METRIC.score(form, "", tests=tests, allow_code_execution=True, timeout=30.0)
        assert (outcome.value, outcome.status) == (0.0 if status == "ok" else None, status), form


@needs_isolation
def test_every_completion_is_run_once_for_all_k(monkeypatch):
    """Six completions of which three pass, as in the example of HumanEval: pass@1 is 0.5."""
    completions = ["    return math.isqrt(x)\n"] * 3 + ["    return x\n", "    return (\n", "    pass\n"]
    ran, judge = [], CodeTask.judge
    monkeypatch.setattr(CodeTask, "judge", lambda self, text, limits: (ran.append(text), judge(self, text, limits))[1])
    asked = {"metrics": ["pass@1", "pass@2", "pass@6"], "timeout": 30.0}
    run = evaluate([completions], samples_from([HUMANEVAL]), model="m", allow_code_execution=True, **asked)
    values = {key: summary.value for key, summary in run.summary.items()}
    assert values == {"pass_at_1@1": 0.5, "pass_at_2@1": pytest.approx(0.8), "pass_at_6@1": 1.0}
    assert sorted(ran) == sorted(completions)


@needs_isolation
@pytest.mark.parametrize(
    "tests",
    [None, "", [], ["x"], [{"input": "1"}], [{"type": "call", "function": "a b", "input": "[]", "output": "1"}]],
)
def test_samples_without_tests_are_an_error_or_fail(tests):
    """No test means no verdict, never a pass."""
    try:
        outcome = METRIC.score("x = 1", "", tests=tests, allow_code_execution=True, timeout=30.0)
    except CodeTestsError:
        return
    assert tests == ["x"]
    assert outcome.value == 1.0


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [("1\n2\n", "1\n2", True), ("1 2", "1\n2", False), ("1.50", "1.5", True), (" a \n", "a", True), ("nan", "nan", True), ("", "1", False), ("1", "", False), ("YES", "yes", False)],
)  # fmt: skip
def test_outputs_are_compared_by_line_and_by_number(printed, expected, same):
    assert same_output(printed, expected) is same
