"""No module reads bytes in a way that could run what they say.

Workers of this program talk to it in pickles; everything else that is read may come from strangers. The same
promise, watched while hostile files are read, is in test_hostile_files.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import crucible_datasets

ROOT = Path(crucible_datasets.__file__).parent
OWN_WORKERS = ROOT / "executors"
MODULES = sorted(path for path in ROOT.rglob("*.py") if OWN_WORKERS not in path.parents)

UNSAFE_MODULES = {"pickle", "_pickle", "cPickle", "dill", "marshal", "shelve", "cloudpickle", "joblib", "jsonpickle"}
UNSAFE_BUILTINS = {"eval", "exec", "compile", "__import__"}
UNSAFE_CALLS = {
    "torch.load",
    "yaml.load_all",
    "yaml.unsafe_load",
    "yaml.unsafe_load_all",
    "yaml.full_load",
    "yaml.full_load_all",
    "pandas.read_pickle",
    "pd.read_pickle",
    "os.system",
    "runpy.run_path",
    "runpy.run_module",
    "importlib.util.spec_from_file_location",
}
SAFE_LOADERS = {"SafeLoader", "CSafeLoader"}


# What is no code of data: that of candidates is run in a process that can do nothing else; a class is made of the names
# of its fields; `py_utils` only writes; and pickles in tar shards are opened where the caller has said `allow_pickle=True`.
EXCEPTIONS = {
    "evaluation/sandbox/inside/examiner.py": {"compile", "exec"},
    "evaluation/sandbox/inside/program.py": {"compile", "exec"},
    "records.py": {"exec"},
    "dropin/datasets/utils/py_utils.py": {"cloudpickle"},
    "formats/webdataset/decoders.py": {"pickle"},
    "formats/webdataset/shards.py": {"allow_pickle"},
}


def unsafe(source: str) -> Iterator[str]:
    """What in a module could run code that its data holds."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found = {name.name.partition(".")[0] for name in node.names} & UNSAFE_MODULES
        elif isinstance(node, ast.ImportFrom):
            found = {(node.module or "").partition(".")[0]} & UNSAFE_MODULES
        elif isinstance(node, ast.Call):
            found = set(unsafe_calls(node))
        else:
            continue
        yield from (f"line {node.lineno}: {name}" for name in sorted(found))


def unsafe_calls(call: ast.Call) -> Iterator[str]:
    name = ast.unparse(call.func)
    if name in UNSAFE_BUILTINS or name in UNSAFE_CALLS:
        yield name
    if name == "yaml.load" and not any(loader in ast.unparse(call) for loader in SAFE_LOADERS):
        yield name
    named = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    if named.get("allow_pickle", "False") != "False":
        yield "allow_pickle"
    if named.get("trust_remote_code", "False") == "True":
        yield "trust_remote_code"
    texts = [given.value for given in call.args[:1] if isinstance(given, ast.Constant)]
    if name.rpartition(".")[2] in ("import_module", "need", "__import__"):
        yield from {str(text).partition(".")[0] for text in texts} & UNSAFE_MODULES


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_data_is_never_code(module):
    found = {one.rpartition(" ")[2] for one in unsafe(module.read_text())}
    assert found == EXCEPTIONS.get(str(module.relative_to(ROOT)), set())


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "def read():\n    from dill import loads",
        "import marshal as quick",
        "import_module('shelve')",
        "need('cloudpickle', extra='x')",
        "value = eval(text)",
        "exec(compile(text, name, 'exec'))",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=flag)",
        "torch.load(path)",
        "yaml.load(text)",
        "yaml.load(text, Loader=yaml.Loader)",
        "yaml.unsafe_load(text)",
        "load_dataset(name, trust_remote_code=True)",
    ],
)
def test_what_is_unsafe_is_found(source):
    assert list(unsafe(source))


@pytest.mark.parametrize(
    "source",
    ["re.compile(text)", "np.load(path)", "np.load(path, allow_pickle=False)", "yaml.load(text, yaml.SafeLoader)"],
)
def test_what_is_safe_is_left_alone(source):
    assert not list(unsafe(source))
