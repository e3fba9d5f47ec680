"""Edits of programs, and whether they change what the function `f` in subject.py means.

Each program is a dict of files; a text alone is subject.py.
"""

HELPERS = "def g(x): return x + {k}\ndef other(x): return {other}\nK = {k}\nTABLE = {{'a': {k}}}\nLIST = [1, {k}]\n"


def pair(template, one="1", other="2"):
    """A program with K as one value, and with another."""
    return template.replace("K_", one), template.replace("K_", other)


def with_helpers(subject, change="k", **files):
    def program(k):
        values = {"k": 1, "other": 1, change: k}
        return {"subject.py": subject, "helpers.py": HELPERS.format(**values), **files}

    return program(1), program(2)


def in_package(subject, path, template="def g(x): return x + K_\n"):
    def program(k):
        files = {"pkg/__init__.py": "", "pkg/sub/__init__.py": "", "pkg/sub/deep.py": "", "subject.py": subject}
        return {**files, path: template.replace("K_", str(k))}

    return program(1), program(2)


SAME = {
    "comments": ("def f(x): return x + 1", "# more\ndef f(x):  # more\n    # more\n    return x + 1"),
    "line shifts": ("def f(x): return x + 1", "\n" * 300 + "def f(x):\n\n\n    return (\n        x\n        + 1\n    )"),
    "a docstring": ("def f(x): return x, None, 1", "def f(x):\n    'What it does.'\n    return x, None, 1"),
    "another docstring": ("def f(x):\n    'One.'\n    return x", "def f(x):\n    'Two.'\n    return x"),
    "the docstring of a function that is called": pair("def g(x):\n    'K_'\n    return x\ndef f(x): return g(x)"),
    "the docstring of a method": pair(
        "class A:\n    'K_'\n    def go(self):\n        'K_'\n        return 1\ndef f(x): return A().go()"
    ),
    "annotations": ("def f(x): return x + 1", "def f(x: int) -> int: return x + 1"),
    "postponed annotations": ("def f(x): return x + 1", "from __future__ import annotations\ndef f(x: int): return x + 1"),
    "names of local variables": ("def f(x):\n    y = x\n    return y", "def f(x):\n    long = x\n    return long"),
    "unused globals": pair("unused = K_\ndef f(x): return x"),
    "globals with names of attributes": pair("upper = K_\ndef f(x): return x.upper"),
    "functions that are not called": pair("def g(x): return K_\ndef f(x): return x"),
    "classes that are not used": pair("class A:\n    k = K_\ndef f(x): return x"),
    "imports that are not used": ("def f(x): return x", "import json, os.path as p\ndef f(x): return x"),
    "order of definitions": (
        "def g(x): return 1\nK = 3\ndef f(x): return g(x) + K",
        "K = 3\ndef f(x): return g(x) + K\ndef g(x): return 1",
    ),
    "written otherwise": ("def f(x): return 'ab'", "def f(x): return 'a' 'b'"),
    "folded constants": ("def f(x): return x * 3600", "def f(x): return x * (60 * 60)"),
    "quotes": ("def f(x): return 'a'", 'def f(x): return "a"'),
    "order of a set": ("K = {'a', 'b', 'c'}\ndef f(x): return x in K", "K = {'c', 'b', 'a'}\ndef f(x): return x in K"),
    "a helper in another file": (
        {"subject.py": "from one import g\ndef f(x): return g(x)", "one.py": "def g(x): return x"},
        {"subject.py": "from two import g\ndef f(x): return g(x)", "two.py": "\n\ndef g(x): return x"},
    ),
    "unrelated functions of a module": with_helpers("import helpers\ndef f(x): return helpers.g(x)", "other"),
    "unrelated functions of an imported module": with_helpers("def f(x):\n    import helpers\n    return helpers.g(x)", "other"),
    "unrelated functions beside an imported name": with_helpers("def f(x):\n    from helpers import g\n    return g(x)", "other"),
    "unrelated functions of a module in a closure": with_helpers(
        "def make():\n    import helpers\n    def f(x): return helpers.g(x)\n    return f\nf = make()", "other"
    ),
    "unrelated modules of a package": in_package(
        "import pkg.sub.deep, pkg.other\ndef f(x): return pkg.sub.deep.__name__", "pkg/other.py"
    ),
    "a class in a function, whose module has another name": (
        {"subject.py": "from one import f", "one.py": "def f(x):\n    class A:\n        k = x\n    return A.k"},
        {"subject.py": "from two import f", "two.py": "def f(x):\n    class A:\n        k = x\n    return A.k"},
    ),
}  # fmt: skip

DIFFERENT = {
    "constants": pair("def f(x): return x + K_"),
    "kinds of constants": pair("def f(x): return K_", "1", "1.0"),
    "true and one": pair("def f(x): return K_", "1", "True"),
    "signs of zero": pair("def f(x): return K_", "0.0", "-0.0"),
    "operators": pair("def f(x): return x K_ 1", "+", "-"),
    "comparisons": pair("def f(x): return x K_ 1", "<", "<="),
    "attributes": pair("def f(x): return x.K_", "a", "b"),
    "names of parameters": ("def f(x): return 1", "def f(y): return 1"),
    "order of parameters": ("def f(x, y): return x", "def f(y, x): return x"),
    "starred parameters": ("def f(*x): return x", "def f(**x): return x"),
    "defaults": pair("def f(x=K_): return x"),
    "mutable defaults": pair("def f(x, y=[K_]): return y"),
    "keyword defaults": pair("def f(*, x=K_): return x"),
    "globals": pair("k = K_\ndef f(x): return k"),
    "global dicts": pair("k = {'a': {'b': [K_]}}\ndef f(x): return k[x]"),
    "order of a global dict": ("k = {'a': 1, 'b': 2}\ndef f(x): return list(k)", "k = {'b': 2, 'a': 1}\ndef f(x): return list(k)"),
    "global lists": pair("k = [1, K_]\ndef f(x): return k"),
    "long global lists": pair("k = [{'a': i} for i in range(6000)]\nk[5999]['a'] = K_\ndef f(x): return k"),
    "long global dicts": pair("k = {str(i): i for i in range(6000)}\nk['5999'] = K_\ndef f(x): return k"),
    "globals of lambdas inside": pair("k = K_\ndef f(x): return (lambda: k)()"),
    "globals of comprehensions": pair("k = K_\ndef f(x): return [k for _ in x]"),
    "globals of generator expressions": pair("k = K_\ndef f(x): return sum(k for _ in x)"),
    "globals of classes inside": pair("k = K_\ndef f(x):\n    class A:\n        v = k\n    return A.v"),
    "lambdas": pair("f = lambda x: x + K_"),
    "functions inside": pair("def f(x):\n    def g(): return K_\n    return g()"),
    "generators": ("def f(x): return [x]", "def f(x): yield x"),
    "generator bodies": pair("def f(x):\n    yield x\n    yield K_"),
    "async functions": ("def f(x): return x", "async def f(x): return x"),
    "async bodies": pair("import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    return K_"),
    "functions it calls": pair("def g(x): return x + K_\ndef f(x): return g(x)"),
    "functions those call": pair("def h(): return K_\ndef g(x): return h()\ndef f(x): return g(x)"),
    "recursion": pair("def f(x): return f(x - 1) if x > K_ else x"),
    "mutual recursion": pair("def g(x): return f(x - 1) + K_\ndef f(x): return g(x) if x else 0"),
    "which function is called": ("def g(x): return 1\nh = g\ndef f(x): return g(x)", "def g(x): return 2\nh = g\ndef f(x): return g(x)"),
    "closures": pair("def make(k):\n    def f(x): return x + k\n    return f\nf = make(K_)"),
    "closures over lists": pair("def make(k):\n    def f(x): return k\n    return f\nf = make([{'a': K_}])"),
    "closures over functions": pair("def make(k):\n    def f(x): return k(x)\n    return f\nf = make(lambda x: K_)"),
    "nonlocal chains": pair(
        "def a():\n    n = K_\n    def b():\n        def f(x):\n            nonlocal n\n            n += 1\n            return n\n        return f\n    return b()\nf = a()"
    ),
    "decorators": pair(
        "import functools\ndef times(g):\n    @functools.wraps(g)\n    def wrapper(x): return g(x) * K_\n    return wrapper\n@times\ndef f(x): return x"
    ),
    "what is decorated": pair(
        "import functools\ndef times(g):\n    @functools.wraps(g)\n    def wrapper(x): return g(x)\n    return wrapper\n@times\ndef f(x): return x + K_"
    ),
    "arguments of decorators": pair(
        "def times(k):\n    def decorate(g):\n        return lambda x: g(x) * k\n    return decorate\n@times(K_)\ndef f(x): return x"
    ),
    "cached functions": pair("from functools import cache\n@cache\ndef g(): return K_\ndef f(x): return g()"),
    "generic functions": pair(
        "from functools import singledispatch\n@singledispatch\ndef g(x): return 1\n@g.register\ndef _(x: int): return K_\ndef f(x): return g(x)"
    ),
    "context managers": pair(
        "from contextlib import contextmanager\n@contextmanager\ndef g(): yield K_\ndef f(x):\n    with g() as k: return k"
    ),
    "arguments of partial": pair("from functools import partial\nf = partial(int, base=K_)", "2", "8"),
    "functions of partial": pair("from functools import partial\ndef g(k, x): return K_\nf = partial(g, 1)"),
    "methods of classes": pair("class A:\n    def go(self): return K_\ndef f(x): return A().go()"),
    "static methods": pair("class A:\n    @staticmethod\n    def go(): return K_\ndef f(x): return A.go()"),
    "class methods": pair("class A:\n    @classmethod\n    def go(cls): return K_\ndef f(x): return A.go()"),
    "properties": pair("class A:\n    @property\n    def go(self): return K_\ndef f(x): return A().go"),
    "attributes of classes": pair("class A:\n    k = K_\ndef f(x): return A.k"),
    "base classes": pair("class B:\n    k = K_\nclass A(B): pass\ndef f(x): return A.k"),
    "metaclasses": pair("class M(type):\n    def __len__(cls): return K_\nclass A(metaclass=M): pass\ndef f(x): return len(A)"),
    "slots": pair("class A:\n    __slots__ = ('K_',)\ndef f(x): return A.__slots__", "a", "b"),
    "callables": pair("class A:\n    def __init__(self, k): self.k = k\n    def __call__(self, x): return x + self.k\nf = A(K_)"),
    "code of callables": pair("class A:\n    def __call__(self, x): return x + K_\nf = A()"),
    "bound methods": pair("class A:\n    def __init__(self, k): self.k = k\n    def go(self, x): return self.k\nf = A(K_).go"),
    "states that objects tell": pair(
        "import threading\nclass Tokenizer:\n    def __init__(self, k): self.vocab, self.lock = {'a': k}, threading.Lock()\n    def __getstate__(self): return {'vocab': self.vocab}\n    def __call__(self, x): return self.vocab[x]\nt = Tokenizer(K_)\ndef f(x): return t(x)"
    ),
    "dataclasses": pair("from dataclasses import dataclass\n@dataclass\nclass A:\n    k: int = 0\na = A(K_)\ndef f(x): return a.k"),
    "defaults of dataclasses": pair("from dataclasses import dataclass\n@dataclass\nclass A:\n    k: int = K_\ndef f(x): return A().k"),
    "metadata of dataclasses": pair(
        "from dataclasses import dataclass, field, fields\n@dataclass\nclass A:\n    k: int = field(default=0, metadata={'k': K_})\ndef f(x): return fields(A)[0].metadata['k']"
    ),
    "defaults of pydantic models": pair("from pydantic import BaseModel\nclass A(BaseModel):\n    k: int = K_\ndef f(x): return A().k"),
    "descriptions in pydantic models": pair(
        "from pydantic import BaseModel, Field\nclass A(BaseModel):\n    k: int = Field(0, description='K_')\ndef f(x): return A.model_json_schema()"
    ),
    "validators of pydantic models": pair(
        "from pydantic import BaseModel, field_validator\nclass A(BaseModel):\n    k: int\n    @field_validator('k')\n    @classmethod\n    def ok(cls, v): return v + K_\ndef f(x): return A(k=1).k"
    ),
    "objects of pydantic models": pair("from pydantic import BaseModel\nclass A(BaseModel):\n    k: int = 0\na = A(k=K_)\ndef f(x): return a.k"),
    "members of enums": pair("import enum\nclass E(enum.Enum):\n    A = K_\ndef f(x): return E.A.value"),
    "which member": pair("import enum\nclass E(enum.Enum):\n    A = 1\n    B = 2\nk = E.K_\ndef f(x): return k", "A", "B"),
    "named tuples": pair("from typing import NamedTuple\nclass P(NamedTuple):\n    a: int = K_\ndef f(x): return P().a"),
    "regular expressions": pair("import re\nk = re.compile('K_+')\ndef f(x): return k.match(x)", "a", "b"),
    "flags of regular expressions": pair("import re\nk = re.compile('a', K_)\ndef f(x): return k.match(x)", "0", "re.I"),
    "numpy arrays": pair("import numpy as np\nk = np.array([1, K_])\ndef f(x): return k"),
    "types of numpy arrays": pair("import numpy as np\nk = np.array([1], np.K_)\ndef f(x): return k", "int8", "int16"),
    "arrow tables": pair("import pyarrow as pa\nk = pa.table({'a': [1, K_]})\ndef f(x): return k"),
    "functions in a table": pair("def g(x): return K_\nk = {'g': g}\ndef f(x): return k['g'](x)"),
    "attributes of functions": pair("def g(x): return x\ng.k = K_\ndef f(x): return g.k"),
    "exceptions that are caught": pair(
        "def f(x):\n    try:\n        return x.a\n    except K_:\n        return 1", "KeyError", "ValueError"
    ),
    "docstrings that the function hands on": pair("import inspect\ndef g(x):\n    'K_'\ndef f(x): return inspect.getdoc(g)"),
    "annotations that the function hands on": pair("def g(x: K_): pass\ndef f(x): return str(g.__annotations__)", "int", "str"),
    "docstrings of classes that are handed on": pair("class A:\n    'K_'\ndef f(x): return A.__doc__"),
    "names of variables that are seen": ("def f(x):\n    y = 1\n    return locals()", "def f(x):\n    z = 1\n    return locals()"),
    "docstrings that methods read": pair("class B:\n    def go(self): return self.__doc__\nclass A(B):\n    'K_'\ndef f(x): return A().go()"),
    "special names of one's own": pair("class A:\n    __prompt__ = 'K_'\n    def go(self): return self.__prompt__\ndef f(x): return A().go()"),
    "calls that are partial": pair(
        "import functools\nclass A:\n    def go(self, x, k): return k\n    __call__ = functools.partialmethod(go, k=K_)\nf = A()"
    ),
    "special methods that are partial": pair(
        "import functools\nclass A:\n    def go(self, x, k): return k\n    __getitem__ = functools.partialmethod(go, k=K_)\na = A()\ndef f(x): return a[x]"
    ),
    "functions put into installed modules": pair("import json\njson.loads = lambda text: K_\ndef f(x): return json.loads(x)"),
    "classes put into installed modules": pair(
        "import collections.abc\nclass A:\n    k = K_\ncollections.abc.A = A\ndef f(x): return collections.abc.A.k"
    ),
    "modules by import_module": with_helpers("import importlib\ndef f(x): return importlib.import_module('helpers').g(x)"),
    "modules by __import__": with_helpers("def f(x): return __import__('helpers').g(x)"),
    "modules by sys.modules": with_helpers("import sys, helpers\ndef f(x): return sys.modules['helpers'].g(x)"),
    "imported functions": with_helpers("from helpers import g\ndef f(x): return g(x)"),
    "functions of modules": with_helpers("import helpers\ndef f(x): return helpers.g(x)"),
    "functions of modules by another name": with_helpers("import helpers as h\ndef f(x): return h.g(x)"),
    "values of modules": with_helpers("import helpers\ndef f(x): return helpers.K"),
    "dicts of modules": with_helpers("import helpers\ndef f(x): return helpers.TABLE['a']"),
    "methods on values of modules": with_helpers("import helpers\ndef f(x): return helpers.LIST.count(2)"),
    "modules in variables": with_helpers("import helpers\ndef f(x):\n    h = helpers\n    return h.g(x)"),
    "modules by getattr": with_helpers("import helpers\ndef f(x): return getattr(helpers, 'g')(x)"),
    "modules in tables": with_helpers("import helpers\nk = {'h': helpers}\ndef f(x): return k['h'].g(x)"),
    "modules in closures": with_helpers(
        "def make():\n    import helpers\n    def f(x): return helpers.g(x)\n    return f\nf = make()"
    ),
    "modules in inner closures": with_helpers(
        "def make():\n    import helpers\n    def f(x): return [helpers.g(y) for y in x]\n    return f\nf = make()"
    ),
    "imports inside": with_helpers("def f(x):\n    import helpers\n    return helpers.g(x)"),
    "imports inside by another name": with_helpers("def f(x):\n    import helpers as h\n    return h.g(x)"),
    "imports of names inside": with_helpers("def f(x):\n    from helpers import g\n    return g(x)"),
    "imports inside of values that are handed on": with_helpers("def f(x):\n    import helpers\n    return vars(helpers)['K']"),
    "imports for functions inside": with_helpers("def f(x):\n    import helpers\n    return [helpers.g(y) for y in x]"),
    "imports inside, used at once": with_helpers("def f(x):\n    y = x\n    import helpers\n    return x(helpers.g, helpers)"),
    "functions of packages": in_package("import pkg.sub.deep\ndef f(x): return pkg.sub.deep.g(x)", "pkg/sub/deep.py"),
    "functions of packages imported inside": in_package(
        "def f(x):\n    import pkg.sub.deep\n    return pkg.sub.deep.g(x)", "pkg/sub/deep.py"
    ),
    "modules of packages imported inside": in_package(
        "def f(x):\n    from pkg.sub import deep\n    return deep.g(x)", "pkg/sub/deep.py"
    ),
    "modules of packages by another name inside": in_package(
        "def f(x):\n    import pkg.sub.deep as d\n    return d.g(x)", "pkg/sub/deep.py"
    ),
    "relative imports inside": (
        {"subject.py": "from pkg.one import f", "pkg/__init__.py": "", "pkg/two.py": "K = 1",
         "pkg/one.py": "def f(x):\n    from .two import K\n    return K"},
        {"subject.py": "from pkg.one import f", "pkg/__init__.py": "", "pkg/two.py": "K = 2",
         "pkg/one.py": "def f(x):\n    from .two import K\n    return K"},
    ),
    "what helpers import": (
        {"subject.py": "import a\ndef f(x): return a.g(x)", "a.py": "import b\ndef g(x): return b.h(x)", "b.py": "def h(x): return 1"},
        {"subject.py": "import a\ndef f(x): return a.g(x)", "a.py": "import b\ndef g(x): return b.h(x)", "b.py": "def h(x): return 2"},
    ),
    "modules named as one of Python's": (
        {"subject.py": "import this\ndef f(x): return this.g(x)", "this.py": "def g(x): return 1"},
        {"subject.py": "import this\ndef f(x): return this.g(x)", "this.py": "def g(x): return 2"},
    ),
    "attributes that modules make up": tuple(
        {"subject.py": "import a\ndef f(x): return a.anything", "a.py": f"def __getattr__(name): return {k}"} for k in (1, 2)
    ),
}  # fmt: skip
