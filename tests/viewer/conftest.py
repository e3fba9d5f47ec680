"""One browser for the pages of data and the pages of runs."""

from pathlib import Path

import pytest
from support.browser import shared

HERE = Path(__file__).parent


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    yield
    if nextitem is None or HERE not in nextitem.path.parents:
        shared.close()


@pytest.fixture(scope="module")
def chromium():
    """A browser that is open already where tests before these had one."""
    return shared()
