"""The identity of a function: any edit of its meaning changes it, no other edit does."""

import ast
import json
import os
import random
import re
import subprocess
import sys
import textwrap
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.function_edits import DIFFERENT, SAME

from crucible_datasets.hashing import Arguments, Hasher, UnhashableError

PROGRAM = """
import json, sys
from crucible_datasets.hashing import Hasher

def digest(folder):
    sys.path.insert(0, folder)
    try:
        import subject
        return Hasher.hash(subject.f)
    finally:
        sys.path.remove(folder)
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(folder):
                del sys.modules[name]

print(json.dumps({folder: digest(folder) for folder in json.load(sys.stdin)}))
"""


def written(folder, program):
    for name, text in ({"subject.py": program} if isinstance(program, str) else program).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(folder)


def digests(folders, seed):
    """What `f` of each program hashes to, in a process of its own with its own hash seed."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(folders),
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The digests of all programs: before the edit, after it, and before it again, elsewhere, in another process."""
    root = tmp_path_factory.mktemp("programs")
    cases = {
        (kind, name): case for kind, cases in (("same", SAME), ("different", DIFFERENT)) for name, case in cases.items()
    }
    folders = {}
    for number, ((kind, name), (before, after)) in enumerate(cases.items()):
        folders[kind, name] = (
            written(root / str(number) / "before", before),
            written(root / str(number) / "after", after),
            written(root / str(number) / "moved" / "deep", before),
        )
    one = digests([folder for three in folders.values() for folder in three[:2]], "1")
    other = digests([three[2] for three in folders.values()], "2")
    return {case: (one[before], one[after], other[moved]) for case, (before, after, moved) in folders.items()}


@pytest.mark.parametrize("name", SAME)
def test_an_edit_that_does_not_change_the_meaning_hits(found, name):
    before, after, moved = found["same", name]
    assert before == after == moved


@pytest.mark.parametrize("name", DIFFERENT)
def test_an_edit_of_the_meaning_misses(found, name):
    before, after, moved = found["different", name]
    assert before != after
    assert before == moved, "it depends on the place, the process or the order of sets"


# Random programs


@st.composite
def programs(draw):
    """Functions that call each other at random, each with a constant and a global; calls[i] are those that gi calls."""
    size = draw(st.integers(1, 7))
    calls = [draw(st.lists(st.integers(0, size - 1), max_size=3)) for _ in range(size)]
    kinds = [draw(st.sampled_from(sorted(SHAPES))) for _ in range(size)]
    return calls, kinds


SHAPES = {
    "plain": "def g{i}(x):\n    y = x + {c}\n    return [y, K{i}, {calls}]\n",
    "lambda": "g{i} = lambda x: [x + {c}, K{i}, {calls}]\n",
    "inner": "def g{i}(x):\n    def inner(): return [x + {c}, K{i}, {calls}]\n    return inner()\n",
    "comprehension": "def g{i}(x):\n    return [[y + {c}, K{i}, {calls}] for y in x]\n",
    "closure": "def make{i}(k):\n    def g{i}(x): return [x, k, K{i}, {calls}]\n    return g{i}\ng{i} = make{i}({c})\n",
    "default": "def g{i}(x, k={c}):\n    return [x, k, K{i}, {calls}]\n",
    "method": "class A{i}:\n    def go(self, x): return [x, {c}, K{i}, {calls}]\ndef g{i}(x): return A{i}().go(x)\n",
    "generator": "def g{i}(x):\n    yield {c}\n    yield from [K{i}, {calls}]\n",
    "async": "async def g{i}(x):\n    return [x, {c}, K{i}, {calls}]\n",
    "cached": "@functools.cache\ndef g{i}(x): return [x, {c}, K{i}, {calls}]\n",
}


def source(calls, kinds, constants, values, order=None, noise=""):
    parts = []
    for i in order or range(len(calls)):
        called = ", ".join(f"g{j}(x)" for j in calls[i])
        parts.append(f"K{i} = {values[i]!r}\n" + SHAPES[kinds[i]].format(i=i, c=constants[i], calls=called) + noise)
    return "import functools\n" + "".join(parts) + "f = g0\n"


def hashed(text):
    namespace = {"__name__": "somewhere"}
    exec(text, namespace)
    return Hasher.hash(namespace["f"])


def reachable(calls):
    seen, rest = set(), [0]
    while rest:
        i = rest.pop()
        if i not in seen:
            seen.add(i)
            rest += calls[i]
    return seen


@given(programs(), st.integers(0, 6), st.sampled_from(["constant", "global"]))
def test_a_change_counts_where_the_function_gets_to(program, place, what):
    calls, kinds = program
    place %= len(calls)
    constants, values = [100 + i for i in range(len(calls))], [{"k": i} for i in range(len(calls))]
    before = hashed(source(calls, kinds, constants, values))
    if what == "constant":
        constants[place] += 1000
    else:
        values[place] = {"k": -1}
    assert (hashed(source(calls, kinds, constants, values)) != before) == (place in reachable(calls))


@given(
    programs(),
    st.randoms(use_true_random=False),
    st.sampled_from(["", "\n\n# more\n", "def unused(x): return g0(x)\n"]),
)
def test_order_and_what_stands_between_functions_do_not_count(program, chance, noise):
    calls, kinds = program
    constants, values = [100 + i for i in range(len(calls))], [{"k": i} for i in range(len(calls))]
    order = list(range(len(calls)))
    chance.shuffle(order)
    plain = hashed(source(calls, kinds, constants, values))
    assert hashed(source(calls, kinds, constants, values, order, noise)) == plain
    assert hashed(ast.unparse(ast.parse(source(calls, kinds, constants, values)))) == plain


@given(programs(), st.integers(0, 6), st.integers(0, 6), st.sampled_from(sorted(SHAPES)))
def test_a_call_more_or_another_shape_counts_where_the_function_gets_to(program, place, target, shape):
    calls, kinds = program
    place, target = place % len(calls), target % len(calls)
    constants, values = [100 + i for i in range(len(calls))], [{"k": i} for i in range(len(calls))]
    before, counts = hashed(source(calls, kinds, constants, values)), place in reachable(calls)
    more = [[*each, target] if i == place else each for i, each in enumerate(calls)]
    assert (hashed(source(more, kinds, constants, values)) != before) == counts
    shapes = [shape if i == place else kind for i, kind in enumerate(kinds)]
    assert (hashed(source(calls, shapes, constants, values)) != before) == (counts and shapes != kinds)


@pytest.mark.parametrize("length", [3, 700])
def test_a_long_chain_of_calls_is_followed_to_its_end(length):
    def chain(k):
        calls = "".join(f"def g{i}(x): return g{i + 1}(x)\n" for i in range(length))
        return hashed(f"{calls}def g{length}(x): return {k}\nf = g0\n")

    limit = sys.getrecursionlimit()
    assert chain(1) == chain(1) != chain(2)
    assert sys.getrecursionlimit() == limit


# Where functions come from


@pytest.mark.parametrize("namespace", [{}, {"__name__": "__main__"}, {"__name__": "nowhere"}])
def test_functions_of_notebooks_and_exec_go_by_content(namespace):
    def made(k):
        names = dict(namespace)
        exec(f"k = {k}\ndef f(x): return x + k", names)
        return names["f"]

    assert Hasher.hash(made(1)) == Hasher.hash(made(1)) != Hasher.hash(made(2))


def test_a_script_and_a_module_agree(tmp_path):
    text = "from crucible_datasets.hashing import Hasher\nk = 3\ndef g(x): return x\ndef f(x): return g(x) + k\nprint(Hasher.hash(f))\n"
    (tmp_path / "script.py").write_text(text)
    runs = [["script.py"], ["-m", "script"], ["-c", "import script"], ["-c", text]]
    outputs = {subprocess.check_output([sys.executable, *run], cwd=tmp_path, text=True) for run in runs}
    assert len(outputs) == 1


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Writes a package where installed ones lie; gives the digest of a function that uses it."""
    place = tmp_path / "site-packages"
    monkeypatch.syspath_prepend(str(place))

    def digest(body, version, subject):
        written(place, {"installed_thing/__init__.py": f"__version__ = {version!r}\n{body}"})
        program = "import sys; sys.path.insert(0, sys.argv[1]); from crucible_datasets.hashing import Hasher\n"
        program += textwrap.dedent(subject) + "\nprint(Hasher.hash(f))"
        run = [sys.executable, "-B", "-c", program, str(place)]
        return subprocess.check_output(run, text=True)

    return digest


@pytest.mark.parametrize(
    "subject",
    [
        "import installed_thing\ndef f(x): return installed_thing.g(x)",
        "from installed_thing import g\ndef f(x): return g(x)",
        "from installed_thing import g as f",
        "import installed_thing as t\nk = {'t': t}\ndef f(x): return k['t'].g(x)",
        "from installed_thing import A\nf = A().go",
    ],
)
def test_installed_packages_go_by_name_and_version(package, subject):
    body = "def g(x): return {}\nclass A:\n    def go(self, x): return {}"
    first = package(body.format(1, 1), "1.0", subject)
    assert package(body.format(2, 2), "1.0", subject) == first
    assert package(body.format(1, 1), "1.1", subject) != first


def test_running_a_function_does_not_change_it():
    namespace = {}
    exec(
        "import re\np = re.compile('a+')\ndef g(x): return p.sub('', x)\ndef f(x): return [g(y) for y in x]", namespace
    )
    before = Hasher.hash(namespace["f"])
    for _ in range(300):
        namespace["f"](["aab", "c"])
    assert Hasher.hash(namespace["f"]) == before


def test_torch_modules_go_by_their_weights():
    torch = pytest.importorskip("torch")

    def made(seed):
        torch.manual_seed(seed)
        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        return lambda x: model(x)

    assert Hasher.hash(made(1)) == Hasher.hash(made(1)) != Hasher.hash(made(2))


def test_the_order_of_dicts_counts_in_arguments_and_that_of_arguments_does_not():
    one, other = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    digest = Hasher.hash(Arguments(x=one, y=1))
    assert digest == Hasher.hash(Arguments(y=1, x=one))
    assert digest not in {
        Hasher.hash(Arguments(x=other, y=1)),
        Hasher.hash(Arguments(x=one)),
        Hasher.hash({"x": one, "y": 1}),
    }
    with pytest.raises(UnhashableError, match="argument 'lock'"):
        Hasher.hash(Arguments(lock=threading.Lock()))


# What cannot be hashed

SUBJECTS = {
    "lock": ("import threading\nk = threading.Lock()", "global 'k' of function f"),
    "file": ("k = open(__import__('os').devnull)", "global 'k' of function f"),
    "socket": ("import socket\nk = socket.socket()", "global 'k' of function f"),
    "generator": ("k = (i for i in ())", "global 'k' of function f"),
    "inside": (
        "import threading\nk = {'a': [threading.Lock()]}",
        "item 0 of a list, in item 'a' of a dict, in global 'k'",
    ),
    "attribute": (
        "import threading\nclass A: pass\nk = A()\nk.lock = threading.Lock()",
        "attribute 'lock' of A, in A, in global 'k' of function f",
    ),
    "class": (
        "import threading\nclass k:\n    lock = threading.Lock()",
        "attribute 'lock' of class k, in global 'k' of function f",
    ),
}


@pytest.mark.parametrize("name", SUBJECTS)
def test_what_has_no_content_is_named(name):
    head, path = SUBJECTS[name]
    namespace = {}
    exec(head + "\ndef f(x): return k", namespace)
    try:
        with pytest.raises(UnhashableError, match=re.escape(path)):
            Hasher.hash(namespace["f"])
    finally:
        if hasattr(namespace["k"], "close"):
            namespace["k"].close()


def test_the_name_in_a_module_is_told(tmp_path, monkeypatch):
    written(tmp_path, {"helpers_with_lock.py": "import threading\nlock = threading.Lock()\ndef g(x): return lock"})
    monkeypatch.syspath_prepend(str(tmp_path))
    import helpers_with_lock

    namespace = {"helpers": helpers_with_lock}
    exec("def f(x): return helpers.g(x)", namespace)
    with pytest.raises(
        UnhashableError, match=re.escape("global 'lock' of function g, in global 'helpers.g' of function f")
    ):
        Hasher.hash(namespace["f"])


@settings(max_examples=max(settings.default.max_examples // 4, 5))  # each hashes 25,000 rows
@given(st.integers(0, 2**32))
def test_long_values_are_told_apart_as_short_ones(seed):
    chance = random.Random(seed)
    rows = [{"a": str(i), "b": [i]} for i in range(5001)]
    place = chance.randrange(len(rows))
    changed = [*rows]
    changed[place] = {"b": rows[place]["b"], "a": rows[place]["a"]}

    def function(k):
        return lambda x: k

    assert Hasher.hash(rows) == Hasher.hash(changed)
    assert (
        Hasher.hash(function(rows))
        == Hasher.hash(function([dict(row) for row in rows]))
        != Hasher.hash(function(changed))
    )
