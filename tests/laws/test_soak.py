"""All laws for an hour."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_laws_hold_for_an_hour(capfd):
    runner = Path(__file__).with_name("soak.py")
    done = subprocess.run([sys.executable, runner], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    with capfd.disabled():
        sys.stderr.write(f"\n{done.stdout.rpartition('first seed')[0][-200:]}{done.stdout.rpartition('first seed')[2]}")
    assert done.returncode == 0, done.stdout
