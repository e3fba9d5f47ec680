"""The rules that keep the tree small: layers, thin facades, no cycles, a cheap import."""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import crucible_datasets

PACKAGE = Path(crucible_datasets.__file__).parent
HEAVY = {
    "pyarrow",
    "numpy",
    "pandas",
    "torch",
    "polars",
    "fsspec",
    "huggingface_hub",
    "jax",
    "tensorflow",
    "tqdm",
    "yaml",
}
FACADES = {"arrow_dataset.py": 1149, "dataset_dict.py": 521, "search.py": 450}
# Functions of a facade file that are not methods may work; methods only introduce.
STATEMENTS = 3


def test_imports_point_one_way():
    """The layers of pyproject.toml hold."""
    ran = subprocess.run(
        [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports_command as c; sys.exit(c())"],
        cwd=PACKAGE.parent.parent,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_module_stands_in_a_layer():
    config = (PACKAGE.parent.parent / "pyproject.toml").read_text()
    names = [module.name for module in pkgutil.iter_modules([str(PACKAGE)])]
    missing = [name for name in names if f"crucible_datasets.{name}" not in config]
    assert not missing, f"add to the layers in pyproject.toml: {missing}"


def _module_imports() -> dict[str, set[str]]:
    """Module → modules of the package that it imports when it is imported itself."""
    modules = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in PACKAGE.rglob("*.py")
    }
    found: dict[str, set[str]] = {}
    for name, path in modules.items():
        found[name] = set()
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("crucible_datasets"):
                deeper = {f"{node.module}.{alias.name}" for alias in node.names} & set(modules)
                found[name] |= deeper or {node.module}
    return found


def test_no_module_imports_itself_by_a_detour():
    imports = _module_imports()
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " → ".join([*trail, name])
        if name not in done:
            for other in imports.get(name, ()):
                visit(other, (*trail, name))
            done.add(name)

    for name in imports:
        visit(name, ())


def _methods(path: Path):
    for cls in ast.walk(ast.parse(path.read_text())):
        if isinstance(cls, ast.ClassDef):
            for node in cls.body:
                if isinstance(node, ast.FunctionDef):
                    yield cls.name, node


@pytest.mark.parametrize("file", sorted(FACADES))
def test_a_facade_method_is_a_signature_a_docstring_and_at_most_three_statements(file):
    for cls, method in _methods(PACKAGE / file):
        body = method.body[1:] if ast.get_docstring(method) else method.body
        assert len(body) <= STATEMENTS, f"{file}: {cls}.{method.name} has {len(body)} statements"
        if not method.name.startswith("_"):
            working = [node for node in ast.walk(method) if isinstance(node, (ast.For, ast.While, ast.Try))]
            assert not working, f"{file}: {cls}.{method.name} works instead of introducing"


@pytest.mark.parametrize("file", sorted(FACADES))
def test_a_facade_stays_small(file):
    lines = len((PACKAGE / file).read_text().splitlines())
    assert lines <= FACADES[file], f"{file} has {lines} lines"


def test_what_stands_beside_the_api_looks_into_no_dataset():
    """`internal_api` does it for them."""
    inner = {"_view", "_stream", "_set_view"}
    packages = [PACKAGE / name for name in ("viewer", "benchmarks", "evaluation")]
    for path in [*(path for package in packages for path in package.rglob("*.py")), PACKAGE / "demo.py"]:
        looks = [
            f"{path.name}:{node.lineno}"
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Attribute)
            and (node.attr in inner or ast.unparse(node) in {"Dataset._of", "IterableDataset._of"})
        ]
        assert not looks, looks


def test_no_utils():
    named = [path for path in PACKAGE.rglob("*") if path.stem in {"utils", "helpers", "common", "misc"}]
    # `dropin` has the names of Hugging Face's modules, and forwards.
    assert not [path for path in named if "dropin" not in path.parts]


def test_exported_names_are_the_declared_ones():
    assert list(crucible_datasets.__all__) == sorted(set(crucible_datasets.__all__))
    for name in crucible_datasets.__all__:
        assert getattr(crucible_datasets, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Datasett'"):
        _ = crucible_datasets.Datasett


def test_the_stub_declares_the_same_names():
    """Editors and type checkers read `__init__.pyi`; at run time names come from `__getattr__`."""
    declared = {"__version__"}
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text()).body:
        if isinstance(node, ast.ImportFrom):
            home = importlib.import_module(node.module)
            for alias in node.names:
                assert getattr(home, alias.name, home) is getattr(crucible_datasets, alias.name)
                declared.add(alias.name)
    assert declared == set(crucible_datasets.__all__)


def _loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(ran.stdout))


def test_importing_the_package_loads_nothing_heavy():
    assert not _loaded_by("import crucible_datasets") & HEAVY


def test_a_dataset_loads_no_framework():
    """Making and reading a dataset needs pyarrow and numpy, and what pyarrow itself tries, which is pandas."""
    loaded = _loaded_by("import crucible_datasets as d; d.Dataset.from_dict({'a': [1]})[0]")
    assert not loaded & (HEAVY - {"pyarrow", "numpy", "pandas", "tqdm"})
