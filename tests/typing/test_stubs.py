"""Stubs say what modules are: the same names, each the very object that the stub points to, so that signatures agree too."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import crucible_datasets

PACKAGE = Path(crucible_datasets.__file__).parent
STUBS = sorted(PACKAGE.rglob("*.pyi"))


def module_of(stub: Path):
    parts = stub.relative_to(PACKAGE.parent).with_suffix("").parts
    return importlib.import_module(".".join(part for part in parts if part != "__init__"))


def kind_of(annotation: ast.expr) -> str:
    """The class that an annotation names, without what it holds."""
    return annotation.value.id if isinstance(annotation, ast.Subscript) else annotation.id


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_stubs_agree_with_modules(stub):
    """A stub holds imports, and the types of plain values: there is no signature in it that could be another."""
    module, declared = module_of(stub), set()
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            home = importlib.import_module(node.module)
            for alias in node.names:
                assert alias.asname == alias.name  # else type checkers take it for a private import
                there = getattr(home, alias.name, None) or importlib.import_module(f"{node.module}.{alias.name}")
                assert getattr(module, alias.name) is there, alias.name
                declared.add(alias.name)
        elif isinstance(node, ast.AnnAssign):
            assert type(getattr(module, node.target.id)).__name__ == kind_of(node.annotation)
            declared.add(node.target.id)
        else:
            assert isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant), ast.unparse(node)
    assert declared - {"__all__"} == set(module.__all__)


def test_names_that_come_when_first_used_are_in_a_stub():
    """Editors do not run `__getattr__`."""
    lazy = {path for path in PACKAGE.rglob("__init__.py") if "_HOMES" in path.read_text()}
    assert len(lazy) > 5 and {path.with_suffix(".pyi") for path in lazy} <= set(STUBS)
