"""The environment variables of Hugging Face `datasets` mean the same here."""

from __future__ import annotations

import json
import os
import subprocess
import sys

TELL = """
import importlib, json, sys
config = importlib.import_module(sys.argv[1] + ".config")
names = [name for name in dir(config) if name.isupper()] if len(sys.argv) == 2 else sys.argv[2:]
told = {name: getattr(config, name, None) for name in names}
print(json.dumps({name: repr(sorted(each) if isinstance(each, set) else each) for name, each in told.items()}))
"""
SURROUNDINGS = {
    "HF_HOME": "~/home",
    "XDG_CACHE_HOME": "/x",
    "HF_DATASETS_CACHE": "/data",
    "HF_MODULES_CACHE": "/m",
    "HF_DATASETS_DOWNLOADED_DATASETS_PATH": "/down",
    "HF_DATASETS_EXTRACTED_DATASETS_PATH": "/out",
    "HF_DATASETS_OFFLINE": "yes",
    "HF_DATASETS_IN_MEMORY_MAX_SIZE": "1000",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "HF_UPDATE_DOWNLOAD_COUNTS": "0",
    "HF_ENDPOINT": "http://127.0.0.1:9",
    "USE_TORCH": "1",
}
# Settings that both libraries have and that differ: those of what is installed for one of them only.
OWN = {"DILL_VERSION"}


def told(library, surroundings, *names):
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "XDG_", "USE_"))}
    command = [sys.executable, "-c", TELL, library, *names]
    return json.loads(subprocess.check_output(command, env={**plain, **surroundings}, text=True, timeout=100))


def test_settings_are_those_of_hugging_face():
    theirs = told("datasets", SURROUNDINGS)
    ours = told("crucible_datasets", SURROUNDINGS, *theirs)
    shared = {name for name in ours if ours[name] != "None" or theirs[name] == "None"} - OWN
    assert len(shared) > 90
    assert {name: ours[name] for name in shared} == {name: theirs[name] for name in shared}
