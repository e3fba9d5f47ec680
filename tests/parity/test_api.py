"""Every public name of Hugging Face `datasets` is here with the same parameters; `surface` has the exceptions."""

from __future__ import annotations

import inspect

import pytest
from support.compatibility import FILE, page
from support.surface import (
    INSIDES,
    MISSING,
    NOT_HERE,
    absent,
    differs,
    found,
    hf,
    members,
    modules,
    names,
    ours,
    top_level,
)


def test_every_public_name_is_here_with_the_same_parameters():
    wrong = {name: told for name in names() if (told := differs(name))}
    assert not wrong


def test_names_that_are_not_here_are_names_of_hugging_face():
    assert set(NOT_HERE) <= set(names())


def test_attributes_are_attributes_and_methods_are_methods():
    for name, theirs in top_level():
        if not isinstance(theirs, type) or (own := found(ours, name)) is MISSING:
            continue
        for member in sorted(set(members(theirs))):
            if f"{name}.{member}" not in NOT_HERE:
                kinds = [callable(getattr(each, member)) for each in (own, theirs)]
                assert kinds[0] == kinds[1], f"{name}.{member}"
                if kinds[0]:
                    bound = [
                        isinstance(inspect.getattr_static(each, member), (staticmethod, classmethod))
                        for each in (own, theirs)
                    ]
                    assert bound[0] == bound[1], f"{name}.{member}"


def test_errors_are_caught_by_the_same_clauses():
    """An error of ours is an instance of the counterparts of all classes that theirs is one of."""
    for name in [name for name, _ in top_level() if name.startswith("exceptions.")]:
        wanted = {base.__name__ for base in found(hf, name).__mro__}
        assert wanted <= {base.__name__ for base in found(ours, name).__mro__}, name


def test_every_module_is_here_with_its_names_or_there_is_a_reason():
    lacking = {name.split(".")[0] for name in modules() if absent(name) != []}
    assert lacking == set(INSIDES)


def test_the_page_of_compatibility_is_up_to_date():
    pytest.importorskip("torch", reason="Hugging Face has some names only where torch is installed")
    assert FILE.read_text() == page(), "run: python tests/support/compatibility.py"
