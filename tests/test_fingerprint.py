"""Digests that agree between processes and notice every change; fingerprints that wait until asked."""

import collections
import copy
import dataclasses
import enum
import functools
import gc
import json
import logging
import operator
import os
import pathlib
import pickle
import random
import re
import subprocess
import sys
import textwrap
import threading
import types
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets import fingerprint as fingerprint_module
from crucible_datasets.fingerprint import (
    Fingerprint,
    Hasher,
    UnhashableError,
    disable_caching,
    enable_caching,
    is_caching_enabled,
    set_caching_enabled,
)

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=4)
        | st.frozensets(st.integers() | st.text(max_size=3), max_size=4)
    ),
    max_leaves=8,
)


@given(plain)
def test_a_copy_has_the_same_digest(value):
    assert Hasher.hash(value) == Hasher.hash(pickle.loads(pickle.dumps(value)))
    assert re.fullmatch("[0-9a-f]{16}", Hasher.hash(value))


@given(plain, plain)
def test_different_values_have_different_digests(one, other):
    if repr(one) != repr(other) and one != other:
        assert Hasher.hash(one) != Hasher.hash(other)


def test_values_that_only_look_alike_differ():
    alike = [
        1,
        1.0,
        True,
        "1",
        b"1",
        [1],
        (1,),
        {1},
        frozenset([1]),
        {1: None},
        np.int64(1),
        np.array(1),
        pathlib.Path("1"),
    ]
    alike += [
        pa.scalar(1),
        pa.array([1]),
        pa.chunked_array([[1]]),
        bytearray(b"1"),
        ["", "1"],
        ["1", ""],
        [[], []],
        [[[]]],
    ]
    assert len({Hasher.hash(value) for value in alike}) == len(alike)


@given(st.dictionaries(st.text(max_size=3) | st.integers() | st.none(), st.integers(), max_size=6), st.randoms())
def test_the_order_of_dicts_and_sets_does_not_matter(value, random_order):
    items = list(value.items())
    random_order.shuffle(items)
    assert Hasher.hash(dict(items)) == Hasher.hash(value)
    assert Hasher.hash({key for key, _ in items}) == Hasher.hash(set(value))


def test_the_order_of_features_does_matter():
    features = pytest.importorskip("crucible_datasets.features")
    one, other = features.Value("int8"), features.Value("string")
    assert Hasher.hash(features.Features(a=one, b=other)) != Hasher.hash(features.Features(b=other, a=one))
    assert Hasher.hash(features.Features(a=one)) == Hasher.hash(features.Features(a=one))


def test_one_list_twice_is_like_two_equal_lists():
    once = [1]
    assert Hasher.hash([once, once]) == Hasher.hash([[1], [1]])


def test_cycles_end():
    endless: list = [1]
    endless.append(endless)
    node = types.SimpleNamespace(name="a")
    node.itself = node
    assert Hasher.hash(endless) != Hasher.hash([1, [1]])
    assert Hasher.hash(node) == Hasher.hash(copy.deepcopy(node))


def function_of(source, **names):
    namespace = {"__name__": "somewhere", **names}
    exec(textwrap.dedent(source), namespace)
    return namespace["f"]


SAME_FUNCTIONS = {
    "file and line": ("def f(x): return x + 1", "\n\n\ndef f(x):\n\n    return x + 1"),
    "comments": ("def f(x): return x + 1", "def f(x):  # more\n    return x + 1"),
    "annotations": ("def f(x): return x + 1", "def f(x: int) -> int: return x + 1"),
    "unused globals": ("def f(x): return x", "unused = 1\ndef f(x): return x"),
    "names of attributes": ("def f(x): return x.upper", "upper = 1\ndef f(x): return x.upper"),
}
CHANGED_FUNCTIONS = {
    "constants": ("def f(x): return x + 1", "def f(x): return x + 2"),
    "code": ("def f(x): return x + 1", "def f(x): return x - 1"),
    "names": ("def f(x): return x.a", "def f(x): return x.b"),
    "defaults": ("def f(x=1): return x", "def f(x=2): return x"),
    "keyword defaults": ("def f(*, x=1): return x", "def f(*, x=2): return x"),
    "globals": ("k = 1\ndef f(x): return k", "k = 2\ndef f(x): return k"),
    "globals of inner functions": (
        "k = 1\ndef f(x): return [k for _ in (lambda: k)()]",
        "k = 2\ndef f(x): return [k for _ in (lambda: k)()]",
    ),
    "functions it calls": (
        "def g(x): return x + 1\ndef f(x): return g(x)",
        "def g(x): return x + 2\ndef f(x): return g(x)",
    ),
    "functions those call": (
        "def h(): return 1\ndef g(x): return h()\ndef f(x): return g(x)",
        "def h(): return 2\ndef g(x): return h()\ndef f(x): return g(x)",
    ),
    "closures": (
        "def make(k):\n    def f(x): return x + k\n    return f\nf = make(1)",
        "def make(k):\n    def f(x): return x + k\n    return f\nf = make(2)",
    ),
    "nested constants": (
        "def f(x): return (lambda y: y + 1)(x)",
        "def f(x): return (lambda y: y + 2)(x)",
    ),
    "classes it names": (
        "class A:\n    def go(self): return 1\ndef f(x): return A().go()",
        "class A:\n    def go(self): return 2\ndef f(x): return A().go()",
    ),
    "base classes": (
        "class B:\n    k = 1\nclass A(B): pass\ndef f(x): return A.k",
        "class B:\n    k = 2\nclass A(B): pass\ndef f(x): return A.k",
    ),
    "properties": (
        "class A:\n    @property\n    def go(self): return 1\ndef f(x): return A().go",
        "class A:\n    @property\n    def go(self): return 2\ndef f(x): return A().go",
    ),
    "cached functions": (
        "from functools import cache\n@cache\ndef g(): return 1\ndef f(x): return g()",
        "from functools import cache\n@cache\ndef g(): return 2\ndef f(x): return g()",
    ),
    "partial arguments": (
        "from functools import partial\nf = partial(int, base=2)",
        "from functools import partial\nf = partial(int, base=8)",
    ),
    "bound objects": (
        "class A:\n    def __init__(self, k): self.k = k\n    def go(self): return self.k\nf = A(1).go",
        "class A:\n    def __init__(self, k): self.k = k\n    def go(self): return self.k\nf = A(2).go",
    ),
    "exception handling": (
        "def f(x):\n    try:\n        return x.a\n    except KeyError:\n        return 1",
        "def f(x):\n    try:\n        return x.a\n    except ValueError:\n        return 1",
    ),
}


@pytest.mark.parametrize("pair", SAME_FUNCTIONS.values(), ids=SAME_FUNCTIONS)
def test_a_function_stays_the_same_when_only_its_looks_change(pair):
    assert Hasher.hash(function_of(pair[0])) == Hasher.hash(function_of(pair[1]))


@pytest.mark.parametrize("pair", CHANGED_FUNCTIONS.values(), ids=CHANGED_FUNCTIONS)
def test_a_function_changes_with_everything_it_depends_on(pair):
    assert Hasher.hash(function_of(pair[0])) != Hasher.hash(function_of(pair[1]))
    assert Hasher.hash(function_of(pair[0])) == Hasher.hash(function_of(pair[0]))


def test_a_function_changes_with_the_users_module_it_calls_into():
    digests = set()
    for k in (1, 2):
        helpers = types.ModuleType("helpers")
        exec(f"def g(): return {k}\ndef unrelated(): return {random.random()}", vars(helpers))
        digests.add(Hasher.hash(function_of("def f(x): return helpers.g()", helpers=helpers)))
        digests.add(Hasher.hash(function_of("def f(x): return helpers.g()", helpers=helpers)))
    assert len(digests) == 2


def test_running_a_function_does_not_change_it():
    function = function_of("def f(x):\n    return [y * 2 for y in range(x)]")
    before = Hasher.hash(function)
    for _ in range(200):
        function(5)
    assert Hasher.hash(function) == before


def test_installed_code_goes_by_name():
    # The module behind json.dumps holds caches and encoders that have nothing to do with its identity.
    assert Hasher.hash(json.dumps) != Hasher.hash(json.loads)
    assert Hasher.hash(function_of("import json, numpy as np\ndef f(x): return json.dumps(np.mean(x))"))


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Point:
    x: int = 0
    y: list = dataclasses.field(default_factory=list)


class Guarded:
    """An object that says itself what of it counts."""

    def __init__(self, k):
        self.k, self.lock = k, threading.Lock()

    def __getstate__(self):
        return {"k": self.k}

    def __call__(self, x):
        return x + self.k


Pair = collections.namedtuple("Pair", "a b")
MANY = {
    "enum": lambda: Color.RED,
    "dataclass": lambda: Point(1, [2]),
    "object": lambda: Guarded(3),
    "method": lambda: Guarded(3).__call__,
    "named tuple": lambda: Pair(1, 2),
    "ordered dict": lambda: collections.OrderedDict(a=1, b=2),
    "default dict": lambda: collections.defaultdict(list, a=[1]),
    "path": lambda: pathlib.Path("a") / "b",
    "pattern": lambda: re.compile("a+"),
    "logger": lambda: logging.getLogger("some.name"),
    "partial": lambda: functools.partial(operator.add, 1),
    "itemgetter": lambda: operator.itemgetter("a"),
    "builtin": lambda: len,
    "bound builtin": lambda: "-".join,
    "module": lambda: json,
    "type": lambda: int,
    "none type": lambda: type(None),
    "generic": lambda: list[int],
    "random": lambda: random.Random(5),
    "array": lambda: np.arange(6).reshape(2, 3),
    "object array": lambda: np.array([None, "a"], object),
    "string array": lambda: np.array(["a", "bb"], np.dtypes.StringDType()),
    "masked array": lambda: np.ma.masked_array([1, 2], [0, 1]),
    "empty array": lambda: np.zeros((0, 3)),
    "generator": lambda: np.random.default_rng(3),
    "dtype": lambda: np.dtype("int8"),
    "table": lambda: pa.table({"a": [1, None], "b": ["x", "y"]}),
    "batch": lambda: pa.record_batch({"a": [1, 2]}),
    "arrow array": lambda: pa.array([[1], None]),
    "arrow type": lambda: pa.list_(pa.int8()),
    "field": lambda: pa.field("a", pa.int8(), metadata={"k": "v"}),
    "schema": lambda: pa.schema({"a": pa.int8()}),
    "buffer": lambda: pa.py_buffer(b"abc"),
    "huge int": lambda: 10**5000,
    "half a surrogate": lambda: "\ud800",
}


@pytest.mark.parametrize("make", MANY.values(), ids=MANY)
def test_many_kinds_of_values(make):
    assert Hasher.hash(make()) == Hasher.hash(make())
    others = [Hasher.hash(other()) for other in MANY.values() if other is not make]
    assert Hasher.hash(make()) not in others


def test_digests_agree_between_processes():
    script = f"""
        import importlib.util, json, sys
        spec = importlib.util.spec_from_file_location("elsewhere", {__file__!r})
        module = importlib.util.module_from_spec(spec)
        sys.modules["elsewhere"] = module
        spec.loader.exec_module(module)
        print(json.dumps(module.digests()))
    """
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
        )
        for seed in ("1", "2")
    ]
    for run in runs:
        found, _ = run.communicate()
        assert json.loads(found) == digests()


def digests():
    sources = {source: Hasher.hash(function_of(source)) for pair in CHANGED_FUNCTIONS.values() for source in pair}
    return sources | {name: Hasher.hash(make()) for name, make in MANY.items()}


@pytest.mark.parametrize("package", ["torch", "pandas", "polars"])
def test_values_of_other_packages(package):
    module = pytest.importorskip(package)
    if package == "torch":
        makes = [lambda k=k: module.full((2, 2), k, dtype=module.bfloat16) for k in (1, 2)]
        makes += [lambda k=k: module.Generator().manual_seed(k) for k in (1, 2)]
    else:
        makes = [lambda k=k: module.DataFrame({"a": [k], "b": ["x"]}) for k in (1, 2)]
    assert [Hasher.hash(make()) for make in makes] == [Hasher.hash(make()) for make in makes]
    assert len({Hasher.hash(make()) for make in makes}) == len(makes)


def test_an_array_is_its_values_however_they_lie_in_memory():
    values = np.arange(12).reshape(3, 4)
    assert (
        Hasher.hash(values)
        == Hasher.hash(np.asfortranarray(values))
        == Hasher.hash(np.arange(24)[::2].reshape(3, 4) // 2)
    )
    assert Hasher.hash(values) != Hasher.hash(values.reshape(4, 3))
    assert Hasher.hash(pa.table({"a": [0, 1, None, 3]}).slice(1, 2)) == Hasher.hash(pa.table({"a": [1, None]}))


def locked(lock):
    def f(x):
        with lock:
            return x

    return f


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (locked(threading.Lock()), "closure variable 'lock' of function f"),
        ({"a": [threading.Lock()]}, "item 0 of a list, in item 'a' of a dict"),
        (types.SimpleNamespace(k=threading.Lock()), "attribute 'k' of SimpleNamespace"),
        (Point(x=threading.Lock()), "attribute 'x' of Point"),
        (functools.partial(len, threading.Lock()), "an argument of partial len"),
        (function_of("def f(x): return lock", lock=threading.Lock()), "global 'lock' of function f"),
        (
            function_of("def g(): return lock\ndef f(x): return g()", lock=threading.Lock()),
            "'lock' of function g, in global 'g'",
        ),
        (threading.Lock(), "the value"),
        ((i for i in ()), "the value: builtins.generator"),
    ],
)
def test_what_has_no_content_is_named(value, path):
    with pytest.raises(UnhashableError, match=re.escape(path)) as caught:
        Hasher.hash(value)
    assert isinstance(caught.value, TypeError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_nesting_that_is_too_deep_is_an_error_of_its_own():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(UnhashableError, match="nested this deeply"):
        Hasher.hash(deep)
    while deep:
        deep = deep.pop()


def test_the_surface_third_parties_use():
    assert Hasher.hash_bytes(b"a") == "d24ec4f1a98c6e5b"
    assert Hasher.hash_bytes([b"a", b"b"]) == Hasher.hash_bytes(b"ab")
    hasher = Hasher()
    hasher.update("a")
    assert hasher.hexdigest() == Hasher.hash("a")
    hasher.update("b")
    assert hasher.hexdigest() not in (Hasher.hash("a"), Hasher.hash("ab"))


def test_a_fingerprint_waits_until_it_is_asked():
    table = pa.table({"a": [1]})
    fingerprint = Fingerprint.of_table(table).derive("select", indices=[0])
    assert repr(fingerprint) == "Fingerprint(not computed)"
    assert str(fingerprint) == str(Fingerprint.of_table(pa.table({"a": [1]})).derive("select", indices=[0]))
    assert repr(fingerprint) == f"Fingerprint({str(fingerprint)!r})"


def test_a_settled_fingerprint_lets_go_of_what_it_knew():
    class Fact:
        pass

    fact, parent = Fact(), Fingerprint.of_table(pa.table({"a": [1]}))
    child = parent.derive("map", fact=fact)
    gone = weakref.ref(fact)
    del fact
    gc.collect()
    assert gone() is not None
    str(child)
    gc.collect()
    assert gone() is None


@given(st.integers(0, 3), st.integers(0, 3), st.sampled_from("ab"), st.sampled_from("ab"))
def test_a_fingerprint_changes_with_parent_operation_and_facts(one, other, operation, another):
    left = Fingerprint.fixed(f"p{one}").derive(operation, k=other)
    right = Fingerprint.fixed(f"p{other}").derive(another, k=one)
    assert (left == right) == (one == other and operation == another)


def test_the_order_of_facts_does_not_matter_and_their_names_do():
    parent = Fingerprint.fixed("p")
    assert parent.derive("map", a=1, b=2) == parent.derive("map", b=2, a=1)
    assert parent.derive("map", a=1) != parent.derive("map", b=1) != parent.derive("map")


def test_a_long_chain_needs_no_deep_stack():
    fingerprint = Fingerprint.fixed("p")
    for step in range(5000):
        fingerprint = fingerprint.derive("step", step=step)
    assert len(str(fingerprint)) == 16


def test_facts_without_content_give_a_random_fingerprint_and_one_warning(monkeypatch):
    warnings: list[str] = []
    monkeypatch.setattr(fingerprint_module.logger, "warning", warnings.append)
    monkeypatch.setattr(fingerprint_module, "_warned", set())
    parent = Fingerprint.fixed("p")
    one, other = (parent.derive("map", function=locked(threading.Lock())) for _ in range(2))
    settled = str(one)
    assert str(one) == settled != str(other)
    [warning] = warnings
    assert "closure variable 'lock' of function f, in function of map: _thread.lock" in warning


def test_all_threads_get_the_same_answer():
    fingerprint = Fingerprint.fixed("p").derive("map", function=locked(threading.Lock())).derive("filter")
    barrier = threading.Barrier(8)

    def ask(_):
        barrier.wait()
        return str(fingerprint)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1


def test_a_fingerprint_is_its_text():
    fingerprint = Fingerprint.of_table(pa.table({"a": [1]}))
    assert pickle.loads(pickle.dumps(fingerprint)) == fingerprint == str(fingerprint)
    assert copy.deepcopy(fingerprint) is fingerprint and copy.copy(fingerprint) is fingerprint
    assert {fingerprint: 1}[Fingerprint.fixed(str(fingerprint))] == 1
    assert fingerprint != 3
    assert Hasher.hash(fingerprint) == Hasher.hash(Fingerprint.fixed(str(fingerprint)))


@pytest.mark.parametrize("text", ["", "a" * 65, "a/b", "a:b", "a*", None, 3])
def test_a_chosen_fingerprint_must_fit_into_a_file_name(text):
    with pytest.raises(ValueError, match="1 to 64 characters"):
        Fingerprint.fixed(text)


def test_caching_is_on_until_switched_off():
    assert is_caching_enabled()
    try:
        disable_caching()
        assert not is_caching_enabled()
        set_caching_enabled(True)
        assert is_caching_enabled()
    finally:
        enable_caching()


@pytest.mark.parametrize("size", [10, 100, 5_100])  # as they are; by columns; by columns, in two turns
def test_many_rows_are_told_apart_as_few_are(size):
    """Long lists are read column by column; what makes a difference is the same."""
    rows = [{"text": f"t{i}", "turns": [{"role": "user", "n": i}], "score": i / 7} for i in range(size)]

    def changed(**fields):
        return [*rows[:-1], {**rows[-1], **fields}]

    different = [
        rows,
        rows[:-1],
        changed(text="other"),
        changed(text=None),
        changed(score=1),
        changed(score=1.0),
        changed(turns=[]),
        changed(turns=[{"role": "user"}]),
        changed(turns=({"role": "user", "n": size - 1},)),
        changed(more=None),
        [tuple(row.items()) for row in rows],
        tuple(rows),
    ]
    assert len({Hasher.hash(value) for value in different}) == len(different)
    assert Hasher.hash(rows) == Hasher.hash([dict(reversed(row.items())) for row in rows])
