"""Logging, progress bars and configuration: what users switch, and what the environment decides."""

import importlib.util
import io
import json
import logging as stdlib_logging
import os
import subprocess
import sys

import pytest

from crucible_datasets import config, logging, progress

HEAVY = ["pyarrow", "numpy", "pandas", "fsspec", "huggingface_hub", "torch", "polars", "tqdm"]
MODULES = ["splits", "version", "info", "fingerprint", "hashing", "logging", "progress", "config"]


def in_new_process(code, **environment):
    names = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "USE_", "XDG_", "DATASETS_"))
    }
    script = f"import json\n{code}\nprint(json.dumps(result))"
    run = subprocess.run(
        [sys.executable, "-c", script], env={**names, **environment}, capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout), run.stderr


def test_importing_the_settings_imports_nothing_heavy():
    code = f"import sys\nfor name in {MODULES}: __import__('crucible_datasets.' + name)\n"
    result, _ = in_new_process(code + f"result = [name for name in {HEAVY} if name in sys.modules]")
    assert result == []


def setting(name, **environment):
    value, _ = in_new_process(f"from crucible_datasets import config\nresult = str(config.{name})", **environment)
    return value


@pytest.mark.parametrize(
    ("name", "environment", "expected"),
    [
        ("HF_DATASETS_CACHE", {"HF_HOME": "/h"}, "/h/datasets"),
        ("HF_DATASETS_CACHE", {"XDG_CACHE_HOME": "/x"}, "/x/huggingface/datasets"),
        ("HF_DATASETS_CACHE", {"HF_DATASETS_CACHE": "/c", "HF_HOME": "/h"}, "/c"),
        ("HF_DATASETS_CACHE", {"HF_DATASETS_CACHE": "~/c", "HOME": "/me"}, "/me/c"),
        ("EXTRACTED_DATASETS_PATH", {"HF_DATASETS_CACHE": "/c"}, "/c/downloads/extracted"),
        ("DOWNLOADED_DATASETS_PATH", {"HF_DATASETS_DOWNLOADED_DATASETS_PATH": "/d"}, "/d"),
        ("HF_DATASETS_OFFLINE", {}, "False"),
        ("HF_DATASETS_OFFLINE", {"HF_DATASETS_OFFLINE": "yes"}, "True"),
        ("HF_DATASETS_OFFLINE", {"HF_HUB_OFFLINE": "1"}, "True"),
        ("HF_DATASETS_OFFLINE", {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "0"}, "False"),
        ("HUB_DATASETS_URL", {"HF_ENDPOINT": "http://h"}, "http://h/datasets/{repo_id}/resolve/{revision}/{path}"),
        ("IN_MEMORY_MAX_SIZE", {"HF_DATASETS_IN_MEMORY_MAX_SIZE": "1e3"}, "1000.0"),
        ("HF_UPDATE_DOWNLOAD_COUNTS", {"HF_UPDATE_DOWNLOAD_COUNTS": "0"}, "False"),
        ("TORCH_AVAILABLE", {"USE_TORCH": "0"}, "False"),
        ("TORCH_AVAILABLE", {"USE_TF": "1"}, "False"),
        ("TORCH_VERSION", {"USE_TORCH": "0"}, "N/A"),
        ("JAX_AVAILABLE", {"USE_JAX": "no"}, "False"),
    ],
)
def test_the_environment_fills_the_settings(name, environment, expected):
    assert setting(name, **environment) == expected


def test_what_is_installed_is_found_without_importing_it():
    assert config.PIL_AVAILABLE == (importlib.util.find_spec("PIL") is not None)
    assert config.PYARROW_VERSION.major > 0 and config.PY_VERSION.major == 3
    result, _ = in_new_process(
        "import sys\nfrom crucible_datasets import config\nconfig.TORCH_AVAILABLE\nresult = 'torch' in sys.modules"
    )
    assert result is False


def test_a_setting_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="NOTHING_AVAILABLE"):
        config.NOTHING_AVAILABLE


def test_settings_can_be_set(monkeypatch):
    monkeypatch.setattr(config, "POLARS_AVAILABLE", False, raising=False)
    assert config.POLARS_AVAILABLE is False


@pytest.fixture
def verbosity():
    before = logging.get_verbosity()
    yield
    logging.set_verbosity(before)
    logging.enable_propagation()


@pytest.mark.usefixtures("verbosity")
def test_verbosity_is_one_level_for_the_whole_library():
    for name, level in logging.log_levels.items():
        if name != "critical":
            getattr(logging, f"set_verbosity_{name}")()
            assert logging.get_verbosity() == level == logging.get_logger("crucible_datasets.x").getEffectiveLevel()
    logging.set_verbosity(logging.CRITICAL)
    assert logging.get_verbosity() == stdlib_logging.CRITICAL


@pytest.mark.usefixtures("verbosity")
def test_propagation_can_be_switched():
    logging.disable_propagation()
    assert logging.get_logger().propagate is False
    logging.enable_propagation()
    assert logging.get_logger().propagate is True


@pytest.mark.parametrize(("asked", "level"), [("info", 20), ("DEBUG", 10), ("", 30), ("loud", 30)])
def test_the_environment_sets_the_verbosity(asked, level):
    code = "from crucible_datasets import logging\nresult = logging.get_verbosity()"
    result, messages = in_new_process(code, DATASETS_VERBOSITY=asked)
    assert result == level
    assert ("DATASETS_VERBOSITY=loud is not a level" in messages) == (asked == "loud")


@pytest.mark.parametrize("configured", [False, True])
def test_a_message_is_shown_once(configured):
    code = "import logging as stdlib\nfrom crucible_datasets import logging\n"
    code += "stdlib.basicConfig()\n" if configured else ""
    _, messages = in_new_process(code + "logging.get_logger('crucible_datasets.x').warning('careful')\nresult = 0")
    assert messages.count("careful") == 1


@pytest.fixture
def bars():
    yield
    progress.enable_progress_bars()


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.usefixtures("bars")
@pytest.mark.parametrize(
    ("file", "enabled", "shown"), [(Terminal, True, True), (Terminal, False, False), (io.StringIO, True, False)]
)
def test_bars_are_shown_on_a_terminal_while_enabled(file, enabled, shown):
    (progress.enable_progress_bars if enabled else progress.disable_progress_bars)()
    assert progress.are_progress_bars_disabled() != enabled == progress.is_progress_bar_enabled()
    screen = file()
    assert list(progress.tqdm(range(3), file=screen, desc="rows")) == [0, 1, 2]
    assert ("rows" in screen.getvalue()) == shown


def test_a_bar_asked_for_outright_is_shown_anywhere():
    screen = io.StringIO()
    list(progress.tqdm(range(3), file=screen, disable=False))
    assert "3/3" in screen.getvalue()


@pytest.mark.parametrize(("value", "disabled"), [("1", True), ("0", False)])
def test_the_environment_decides_about_bars(value, disabled):
    code = """
import warnings
from crucible_datasets import progress
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    seen = [progress.are_progress_bars_disabled()]
    for switch in (progress.enable_progress_bar, progress.disable_progress_bar):
        switch()
        seen.append(progress.are_progress_bars_disabled())
result = seen, len(caught)
"""
    result, _ = in_new_process(code, HF_DATASETS_DISABLE_PROGRESS_BARS=value)
    assert result == [[disabled] * 3, 1]
