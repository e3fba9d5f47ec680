"""The maths grader is bounded and the same in any thread (R28)."""

import asyncio
import multiprocessing
import os
import subprocess
import sys

import pytest

from crucible_datasets.evaluation.maths import worker, workers
from crucible_datasets.evaluation.maths.equivalence import VERIFY

AMPLE = 30.0  # seconds, for pairs that need a fraction of one, on a machine that does much else

HOSTILE = {
    "tower of powers": "9^{9^{9^{9}}}",
    "small tower": "2^{2^{2^{2^{2^{2}}}}}",
    "factorials": "(((10^{10})!)!)!",
    "a factorial": "10000000!",
    "parentheses": "(" * 3000 + "1" + ")" * 3000,
    "long polynomial": "+".join(f"{n}x^{{{n}}}" for n in range(5000)),
    "power of a sum": "(x+y+z+w)^{400}",
    "product": r"\prod_{i=1}^{10000000} i",
    "integral": r"\int_0^{10^{10}} e^{x^{x^x}} dx",
    "fractions": r"\frac{" * 500 + "1" + "}{2}" * 500,
    "letters": "x" * 100_000,
    "code": "__import__('os').system('touch {place}')",
    "code in a formula": r"$\operatorname{__import__('os').system('touch {place}')}$",
    "code in numbers": "1+open('{place}','w').write('1')",
    "code in a box": r"\boxed{exec(\"open('{place}','w')\")}",
    "code that sympy reads": "(lambda: ().__class__.__base__.__subclasses__())()",
}
SOME = ("tower of powers", "parentheses", "code", "code in a formula", "code in numbers")


def _bounded(name: str, place: str, seconds: float) -> None:
    text = HOSTILE[name].replace("{place}", place)
    VERIFY.judge("x+1", "1+x", AMPLE)  # the fork server has started
    for target, answer in (("2", text), (text, "2"), (text, text + "+2")):
        said = VERIFY.judge(target, answer, seconds)
        assert not said.equal or answer != text
        assert said.status in ("ok", "unparsed", "timeout", "error")
    assert not os.path.exists(place)
    assert VERIFY.judge("x+1", "1+x", AMPLE).equal, "the next pair is judged as ever"


@pytest.mark.parametrize("name", SOME)
def test_hostile_answers_are_bounded(name, tmp_path):
    _bounded(name, str(tmp_path / "made"), seconds=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_all_hostile_answers_are_bounded(name, tmp_path):
    _bounded(name, str(tmp_path / "made"), workers.SECONDS)


def test_a_tower_is_a_timeout_and_not_a_wrong_answer_of_the_usual_kind():
    said = VERIFY.judge("2", HOSTILE["tower of powers"], seconds=0.5)
    assert (said.equal, said.status) == (False, "timeout")


TOWER = ("2", "9^{9^{9^{9}}}")
PAIRS = [("x+1", "1+x"), (r"\sqrt{8}", r"2\sqrt{2}"), ("(1,2)", "1<x<2"), TOWER, ("y+5", "5+y")]


def _verdicts() -> list[tuple[bool, str]]:
    said = [VERIFY.judge(*pair, seconds=0.5 if pair is TOWER else AMPLE) for pair in PAIRS]
    return [(judgement.equal, judgement.status) for judgement in said]


EXPECTED = [(True, "ok"), (True, "ok"), (False, "ok"), (False, "timeout"), (True, "ok")]


def test_threads_and_event_loops_get_the_same_verdicts():
    """In the loop's own thread, where signals would work, and in others, where they would not."""

    async def everywhere() -> list[list[tuple[bool, str]]]:
        here = _verdicts()
        return [here, *await asyncio.gather(asyncio.to_thread(_verdicts), asyncio.to_thread(_verdicts))]

    assert asyncio.run(everywhere()) == [EXPECTED] * 3


def _in_a_child(connection) -> None:
    connection.send(_verdicts())


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_other_processes_get_the_same_verdicts(method):
    """Spawned ones, and copies of a process that has workers already."""
    assert VERIFY.judge("x+1", "1+x", AMPLE).equal
    context = multiprocessing.get_context(method)
    mine, theirs = context.Pipe()
    process = context.Process(target=_in_a_child, args=(theirs,))
    process.start()
    assert mine.recv() == EXPECTED
    process.join()
    assert process.exitcode == 0


def test_a_lost_keeper_is_replaced():
    assert VERIFY.judge("x+1", "1+x", AMPLE).equal
    workers._server.process.kill()
    for idle in workers._idle:
        idle.link.shutdown(2)
    assert VERIFY.judge("x+1", "1+x", AMPLE).equal


def _said_by(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_a_worker_has_little_memory_and_may_do_nothing():
    """What a worker puts on before it reads the first pair."""
    said = _said_by(
        "import os, socket, subprocess, sys\n"
        "from crucible_datasets.evaluation.maths import worker\n"
        "worker._limit(); sys.addaudithook(worker._refuse)\n"
        "def attempt(what, *arguments):\n"
        "    try: what(*arguments)\n"
        "    except Exception as error: print(type(error).__name__)\n"
        "    else: print('done')\n"
        "attempt(bytearray, worker.MEMORY)\n"
        "attempt(os.system, 'true'); attempt(subprocess.run, ['true']); attempt(open, '/dev/null', 'w')\n"
        "attempt(socket.create_connection, ('127.0.0.1', 9)); attempt(os.fork); attempt(os.remove, '/none')\n"
        "attempt(lambda: __import__('ctypes').CDLL(None))\n"
    )
    assert said.split() == ["MemoryError", *["PermissionError"] * 7]
    assert worker.MEMORY <= 512 << 20 and workers.SECONDS <= 2


def test_texts_that_look_like_code_run_nothing():
    """No event of a process, a socket or a file for writing, and no compiled text with a name of Python in it."""
    texts = [text for name, text in HOSTILE.items() if name.startswith("code")]
    said = _said_by(
        "import sys\n"
        "from crucible_datasets.evaluation.maths import worker\n"
        "worker._warm_up()\n"
        "def note(event, arguments):\n"
        "    try: worker._refuse(event, arguments)\n"
        "    except PermissionError: print(event, arguments)\n"
        "sys.addaudithook(note)\n"
        f"for text in {texts!r}: worker.judged('$2$', text, 'verify'); worker.judged(f'${{text}}$', '2', 'verify')\n"
    )
    assert said == ""
