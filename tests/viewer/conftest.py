"""One browser for the pages of data and the pages of runs."""

from pathlib import Path

import pytest
from support.browser import REFUSED, let_in, shared, silent

HERE = Path(__file__).parent


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    yield
    if nextitem is None or HERE not in nextitem.path.parents:
        shared.close()


@pytest.fixture(scope="module")
def context(viewer):
    """A place in a browser that is open already where tests before these had one; `viewer` is the module's."""
    with let_in(shared(), viewer) as made:
        yield made


@pytest.fixture
def page(context, viewer):
    """A page that says nothing, and asks nobody but its server."""
    with silent(context.new_page(), f"{viewer.origin}/") as opened:
        yield opened


@pytest.fixture
def refused_page(context, viewer):
    """The same for tests that ask wrong questions, which the server refuses."""
    with silent(context.new_page(), f"{viewer.origin}/", excused=REFUSED) as opened:
        yield opened
