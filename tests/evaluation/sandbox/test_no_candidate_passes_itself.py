"""Candidates that try to award themselves a pass (R31), against tests in the forms of HumanEval and MBPP."""

import sys

import pytest
from support.isolation import needs_isolation

from crucible_datasets.evaluation.sandbox.limits import Limits
from crucible_datasets.evaluation.sandbox.running import run_tests

pytestmark = needs_isolation

AMPLE = Limits(timeout=30.0)  # for checks of milliseconds, on a machine that does much else

HONEST = "def add(a, b):\n    return a + b\n"

CHECK = """
def check(candidate):
    assert candidate(1, 2) == 3
    assert candidate(-5, 5) == 0, "zero"
    for a in range(3):
        for b in range(3):
            assert candidate(a, b) == a + b

check(add)
"""
LOOP = "for found, sum in zip(map(add, [1, 2], [3, 4]), [4, 6]): assert found == sum"
FORMS = {
    "check": [CHECK],
    "loop": [LOOP],
    "in": ["assert 3 in [add(1, 2)]"],
    "asserts": ["assert add(1, 2) == 3", "assert add(2, 2) == 4", "assert not add(1, -1)"],
}

CHEATS = {
    "frame walk": """
import sys, gc
def add(a, b):
    frame = sys._getframe()
    while frame:
        for place in (frame.f_globals, frame.f_locals):
            for name in list(place):
                if "expected" in name or name in ("passed", "verdict", "result", "order", "tests"):
                    place[name] = True
        frame = frame.f_back
    for found in gc.get_objects():
        if isinstance(found, dict) and "tests" in found:
            found["tests"] = []
    return 7
""",
    "__eq__": """
class Anything:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return False
    def __hash__(self): return 0
def add(a, b): return Anything()
""",
    "__eq__ of an int": """
class Anything(int):
    def __eq__(self, other): return True
    def __bool__(self): return False
def add(a, b): return Anything(7)
""",
    "__bool__": """
class Truth:
    def __bool__(self): return True
    def __eq__(self, other): return self
def add(a, b): return Truth()
""",
    "sys.exit(0)": "import sys\ndef add(a, b): sys.exit(0)\n",
    "sys.exit(0) at once": "import sys\ndef add(a, b): return 7\nsys.exit(0)\n",
    "os._exit(0)": "import os\ndef add(a, b): os._exit(0)\n",
    "patched builtins": """
import builtins
builtins.AssertionError = type("AssertionError", (BaseException,), {"__init__": lambda *a: None})
builtins.__build_class__ = builtins.isinstance = lambda *a: True
builtins.compile = builtins.exec = builtins.print = lambda *a, **k: None
def add(a, b): return 7
""",
    "forged stdout": """
import json, os, sys
def add(a, b):
    print("passed"); print(json.dumps({"passed": 99, "reason": ""})); sys.stdout.flush()
    return 7
""",
    "forged files": """
import json, os
def add(a, b):
    for file in range(64):
        for text in (b'{"passed": 1, "reason": ""}', b'{"passed": 3, "reason": ""}'):
            try: os.write(file, text)
            except OSError: pass
    return 7
""",
    "forged answers": """
import json, os
def add(a, b):
    for message in (["answer", [None, []]], ["loaded", [], "", []], ["answer", [["list", [3, [], []]], []]], ["object", -1]):
        data = json.dumps(message).encode()
        os.write(4, len(data).to_bytes(8, "big") + data)
    return 7
""",
    "forged requests": """
import json, os
def add(a, b):
    for operation in ("call", "get", "set", "next", "global"):
        data = json.dumps(["ask", operation, [["list", [["object", -1], ["list", []], "__globals__", 1]], []]]).encode()
        os.write(4, len(data).to_bytes(8, "big") + data)
    return 7
""",
    "atexit": "import atexit, os\natexit.register(os._exit, 0)\ndef add(a, b): raise SystemExit(0)\n",
    "monkeypatched check": """
def check(candidate): pass
import sys
for module in list(sys.modules.values()):
    try: module.check = check
    except Exception: pass
def add(a, b): return 7
""",
    "patched link": """
import sys
for name, module in list(sys.modules.items()):
    if name.endswith(("examiner", "link", "values", "candidate")):
        for key in list(vars(module)):
            if callable(vars(module)[key]) and not key.startswith("__"):
                setattr(module, key, lambda *a, **k: True)
def add(a, b): return 7
""",
    "changed arguments": "def add(*given):\n    given = list(given)\n    given.clear()\n    return 7\n",
    "kills the tests": """
import os, signal
def add(a, b):
    for pid in [-1, 0, *range(2, 300)]:
        try: os.kill(pid, signal.SIGKILL)
        except OSError: pass
    return 7
""",
    "__contains__": "class A:\n    def __contains__(self, x): return True\n    def __iter__(self): return iter([7])\ndef add(a, b): return A()\n",
    "StopIteration": "def add(a, b): raise StopIteration\n",
    "ImportError": "def add(a, b): raise ImportError\n",
    "raises what tests catch": "def add(a, b): raise AssertionError\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_an_honest_solution_passes(form):
    verdict = run_tests(HONEST, FORMS[form], entry_point="add", limits=AMPLE)
    assert verdict.passed, verdict


@pytest.mark.parametrize("name", CHEATS)
def test_no_cheat_passes(name):
    for form, tests in FORMS.items():
        verdict = run_tests(CHEATS[name], tests, entry_point="add", limits=Limits(timeout=2.0))
        assert not verdict.passed, (form, verdict)
        assert not verdict.broken, (form, verdict)
        assert verdict.reason


FORGER = """
import json, os, random
draw = random.Random(SEED)
def value(depth=0):
    kinds = ["list", "tuple", "dict", "set", "int", "float", "str", "bytes", "decimal", "range", "deque", "object", "x",
             "namedtuple", "counter", "defaultdict", "class", "array", "namespace", "items", "slice"]
    plain = [None, True, 7, -1, 1.5, "", "7", "0x7", [], {}, 1 << 70]
    if depth > 3 or draw.random() < 0.5: return draw.choice(plain)
    return [draw.choice(kinds), draw.choice([[value(depth + 1) for _ in range(draw.randint(0, 4))], value(depth + 1)])]
def forged():
    kind = draw.choice(["answer", "error", "ask", "loaded", "x", None])
    states = [[draw.randint(-3, 3), draw.choice(["Point", "add", "x"]), value()] for _ in range(draw.randint(0, 2))]
    return [kind, *([value(), states] if draw.random() < 0.7 else value() for _ in range(draw.randint(0, 3)))]
def add(a, b):
    for _ in range(draw.randint(1, 4)):
        data = json.dumps(forged()).encode()
        data = data if draw.random() < 0.9 else os.urandom(20)
        os.write(4, draw.choice([len(data), len(data), len(data) - 1, 1 << 60]).to_bytes(8, "big") + data)
    return 7
"""


def _forged(seeds: range) -> None:
    for seed in seeds:
        verdict = run_tests(f"SEED = {seed}\n{FORGER}", [CHECK], limits=Limits(timeout=2.0))
        assert not verdict.passed, seed
        assert not verdict.broken, seed


def test_forged_messages_do_not_pass():
    _forged(range(20))


@pytest.mark.slow
def test_many_forged_messages_do_not_pass():
    _forged(range(20, 2000))


def test_tests_that_forgive_exceptions_do_not_forgive_an_early_end():
    forgiving = "for a in range(3):\n    try:\n        add(a, 1)\n    except Exception:\n        pass\n"
    assert run_tests("def add(a, b): raise ValueError", [forgiving], limits=AMPLE).passed
    assert not run_tests("import os\ndef add(a, b): os._exit(0)", [forgiving]).passed


@pytest.mark.parametrize("tests", ["import numpy\nassert add(1, 2) == 3", "assert add(1, 2) == = 3"])
def test_tests_that_cannot_be_run_are_nobodys_failure(tests):
    verdict = run_tests(HONEST, [tests], limits=AMPLE)
    assert verdict.broken
    assert not verdict.passed


def test_an_object_is_searched_by_its_parts():
    code = "class Bag:\n    def __contains__(self, x): return True\n    def __iter__(self): return iter([7])\ndef bag(): return Bag()\n"
    assert run_tests(code, ["assert 7 in bag()", "assert 8 not in bag()"], limits=AMPLE).passed


def test_what_the_prompt_defines_is_not_the_candidates_to_change():
    """HumanEval/32 and others judge with a helper of their prompt."""
    prompt = "def double(x):\n    return 2 * x\n\ndef half(x):\n    '''The half.'''\n"
    honest, cheat = prompt + "    return x / 2\n", prompt + "    return 0\n\ndef double(x):\n    return 4\n"
    tests = ["assert double(half(4)) == 4"]
    assert run_tests(honest, tests, prelude=prompt, entry_point="half", limits=AMPLE).passed
    assert not run_tests(cheat, tests, prelude=prompt, entry_point="half").passed


POINT = "class Point:\n    def __init__(self, x): self.x = x\n    def __eq__(self, other): return self.x == other.x\n"
HEAD = POINT + "def double(point):\n"
LIES = {
    "another class": "    return Point(7)\nclass Point:\n    def __init__(self, x): self.x = x\n    def __eq__(self, other): return True\n",
    "another method": "    return Point(7)\nPoint.__eq__ = lambda *_: True\n",
    "an attribute that is equal to all": "    return Point(type('A', (), {'__eq__': lambda *_: True})())\n",
    "an attribute for its class": "    p = Point(7); p.__dict__['__class__'] = p.__dict__['__eq__'] = int; return p\n",
    "a change of the argument": "    point.x = 7; return point\n",
    "a subclass": "    return type('Point', (Point,), {'__eq__': lambda *_: True})(7)\n",
}


@pytest.mark.parametrize("name", LIES)
def test_objects_of_the_prompts_classes_are_compared_by_the_prompt(name):
    """The candidate gives their attributes, and nothing else."""
    honest = HEAD + "    return Point(2 * point.x)\n"
    tests = ["p = Point(2); assert double(p) == Point(4)", "assert double(Point(5)) == Point(10)"]
    assert run_tests(honest, tests, prelude=HEAD, entry_point="double", limits=AMPLE).passed
    assert not run_tests(
        HEAD + LIES[name], tests, prelude=HEAD, entry_point="double", limits=Limits(timeout=2.0)
    ).passed


VALUES = [
    "None", "True", "-3", "2**200", "0.1", "float('inf')", "1j", "'é\\ud800'", "b'x'", "bytearray(b'x')", "[1, [2]]",
    "(1, (2,))", "{1: 'a', (2,): None}", "{1, 2}", "frozenset([1])", "range(3)", "Fraction(1, 3)", "Decimal('1.10')",
    "deque([1, 2], 5)", "Counter('aab')", "OrderedDict(a=1)", "defaultdict(int, a=1)", "Point(1, 2)",
    "datetime(2026, 1, 2, 3)", "date(2026, 1, 2)", "timedelta(1, 2)", "{'a': 1}.keys()",
]  # fmt: skip
NAMES = (
    "from fractions import Fraction\nfrom decimal import Decimal\nfrom datetime import *\nfrom collections import *\n"
    "Point = namedtuple('Point', 'x y')\n"
)


def test_plain_values_arrive_as_they_are():
    """What a function gets and gives is equal, on either side, to what it is in one process."""
    code = NAMES + "def same(value): return value\ndef values(): return [" + ", ".join(VALUES) + "]\n"
    tests = [f"assert same({value}) == {value}" for value in VALUES]
    tests += [f"assert values()[{at}] == {value}" for at, value in enumerate(VALUES)]
    verdict = run_tests(code, tests, prelude=NAMES, limits=AMPLE)
    assert verdict.passed, (verdict, tests[verdict.num_passed :][:1])


SOLUTIONS = {
    "changes its argument": ("def f(x): x.append(1); x.sort()", "x = [3, 2]; f(x); assert x == [1, 2, 3]"),
    "changes a dict": ("def f(x): x['a'] = 1", "x = {}; f(x); assert x == {'a': 1}"),
    "takes a function": ("def f(g, xs): return [g(x) for x in xs]", "assert f(lambda x: x + 1, [1, 2]) == [2, 3]"),
    "takes a builtin": ("def f(g, xs): return sorted(xs, key=g)", "assert f(len, ['bb', 'a']) == ['a', 'bb']"),
    "gives a function": ("def f(n): return lambda x: x + n", "assert f(2)(3) == 5"),
    "is a generator": ("def f(n):\n  yield from range(n)", "assert list(f(3)) == [0, 1, 2]; assert sum(f(4)) == 6"),
    "is endless": ("import itertools\ndef f(): return itertools.count()", "x = f(); next(x); assert next(x) == 1"),
    "is a class": (
        "class Stack:\n  def __init__(self): self.items = []\n  def push(self, x): self.items.append(x)\n"
        "  def __len__(self): return len(self.items)",
        "s = Stack(); s.push(1); s.push(2); assert len(s) == 2; assert s.items == [1, 2]",
    ),
    "nodes": (
        "class Node:\n  def __init__(self, v): self.v = v; self.next = None\n"
        "def total(n): return 0 if n is None else n.v + total(n.next)",
        "a = Node(1); a.next = Node(2); assert total(a) == 3",
    ),
    "nodes of the test": (
        "def total(n): return 0 if n is None else n.v + total(n.next)",
        "class Node:\n  def __init__(self, v, next=None): self.v, self.next = v, next\nassert total(Node(1, Node(2))) == 3",
    ),
    "raises": (
        "def f(x):\n  raise ValueError('no')",
        "try: f(1)\nexcept ValueError as error: assert str(error) == 'no'\nelse: assert False",
    ),
    "named arguments": ("def f(a, *, b=1): return a - b", "assert f(a=3, b=1) == 2"),
    "threads": (
        "import threading\ndef f():\n  out = []\n  t = threading.Thread(target=out.append, args=(1,)); t.start(); t.join()\n  return out",
        "assert f() == [1]",
    ),
    "deep recursion": (
        "import sys; sys.setrecursionlimit(100000)\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)",
        "assert f(20000) == 20000",
    ),
    "prints": ("def f(): print('hello'); return 1", "assert f() == 1"),
    "reads the time": (
        "import time, random\ndef f(): return time.time() > 0 and random.random() < 1",
        "assert f() is True",
    ),
}


@pytest.fixture
def usual_recursion():
    limit = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.parametrize("name", SOLUTIONS)
def test_solutions_of_every_shape_pass(name, usual_recursion):
    code, test = SOLUTIONS[name]
    exec(f"{code}\n{test}", {"__name__": "solution"})  # as they are meant, in one process
    verdict = run_tests(code, [test], limits=AMPLE)
    assert verdict.passed, verdict
