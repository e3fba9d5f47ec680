"""`import datasets` gives this library: in a program and its children, with Hugging Face's installed or not, and back."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import subprocess
import sys
import venv
from functools import partial
from pathlib import Path

import datasets as hugging_face
import pytest
from support.command import crucible

import crucible_datasets
from crucible_datasets import _sharing, shim

SITE = os.path.dirname(os.path.dirname(hugging_face.__file__))
SOURCE = str(Path(crucible_datasets.__file__).parents[1])

PROGRAM = """
import importlib, importlib.metadata, importlib.util, json, multiprocessing, pickle, subprocess, sys

def where(_):
    import datasets.utils.logging
    return datasets.__file__

if __name__ == "__main__":
    assert importlib.util.find_spec("datasets") is not None
    import datasets
    import crucible_datasets
    assert datasets.Dataset is crucible_datasets.Dataset
    assert datasets.__version__ == importlib.metadata.version("datasets") == "5.2.0"
    assert "datasets" in importlib.metadata.packages_distributions()["datasets"]
    datasets.utils.logging.set_verbosity_error()  # by attribute, without an import of the module
    assert crucible_datasets.logging.get_verbosity() == datasets.logging.ERROR
    for name in {modules}:
        assert importlib.import_module("datasets." + name) is importlib.import_module("crucible_datasets." + name)
    from datasets.builder import DatasetGenerationError
    assert DatasetGenerationError is datasets.exceptions.DatasetGenerationError
    rows = datasets.Dataset.from_dict({{"a": [1, 2, 3]}})
    assert isinstance(pickle.loads(pickle.dumps(rows)), datasets.arrow_dataset.Dataset)
    places = rows.map(lambda row: {{"place": datasets.__file__}}, num_proc=2)["place"][:]
    for method in sys.argv[1].split(","):
        with multiprocessing.get_context(method).Pool(1) as pool:
            places += pool.map(where, [0])
    places.append(subprocess.check_output([sys.executable, "-c", "import datasets; print(datasets.__file__, end='')"], text=True))
    try:
        import datasets.no_such_module
    except ModuleNotFoundError as error:
        assert error.name == "datasets.no_such_module"
    assert not any(hasattr(datasets, name) for name in ("no_such_name", "no.such", "__main__", ""))
    assert all(hasattr(datasets, name) for name in dir(datasets))
    starred = dict()
    exec("from datasets import *", starred)
    assert starred.keys() >= set(datasets.__all__) and starred["Dataset"] is datasets.Dataset
    assert not hasattr(datasets.load, "no_such_name")
    print(json.dumps([datasets.__file__, *places]))
"""


def forwarded():
    """The modules of the package `datasets` that is put in place of Hugging Face's."""
    found = pkgutil.walk_packages([os.path.join(shim.FOLDER, "datasets")])
    return [module.name for module in found] + ["arrow_dataset", "features.features", "builder", "splits", "config"]


def program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM.format(modules=forwarded()))
    return str(tmp_path / "program.py")


def run(*command, **more):
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, **more)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def of_ours(places):
    return {os.path.dirname(os.path.dirname(place)) for place in places} == {shim.FOLDER}


def test_a_program_and_its_children_get_this_library(tmp_path):
    told = run(
        sys.executable, "-m", "crucible_datasets.cli", "run", program(tmp_path), "spawn,forkserver,fork", cwd=tmp_path
    )
    assert of_ours(json.loads(told)) and len(json.loads(told)) == 8


def test_without_hugging_face(tmp_path):
    """The same where no distribution called `datasets` is installed, after `install_as_datasets`."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for entry in os.scandir(SITE):
        if not entry.name.startswith(("datasets", "__editable__")) and not entry.name.endswith(".pth"):
            os.symlink(entry.path, packages / entry.name)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([SOURCE, str(packages)])}
    start = (
        "import crucible_datasets as c, runpy, sys; c.install_as_datasets(); c.install_as_datasets(); sys.argv.pop(0)"
    )
    code = f"{start}; runpy.run_path(sys.argv[0], run_name='__main__')"
    told = run(sys.executable, "-S", "-c", code, program(tmp_path), "fork", env=environment)
    assert of_ours(json.loads(told)[:5])


def test_a_whole_environment_is_switched_and_switched_back(tmp_path):
    # What this shell puts on the path is not of that environment.
    asked = partial(run, env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"})
    venv.create(tmp_path / "there", with_pip=False, symlinks=True)
    python = str(tmp_path / "there" / "bin" / "python")
    (folder,) = (tmp_path / "there" / "lib").glob("*/site-packages")
    (folder / "others.pth").write_text(f"{SITE}\n{SOURCE}\n")
    ask = "import importlib.metadata as m, importlib.util as u; print(u.find_spec('datasets').origin, m.version('datasets'))"
    before = asked(python, "-c", ask)
    assert before.split() == [hugging_face.__file__, hugging_face.__version__]
    switch = (python, "-m", "crucible_datasets.cli", "switch", "--json")
    assert json.loads(asked(*switch, "--on"))["datasets"] == "crucible-datasets"
    assert of_ours(asked(python, "-c", ask).split()[:1])
    (folder / "others.pth").write_text(f"{SITE}\n")  # the library is uninstalled, its sources stay
    assert asked(python, "-c", ask) == before
    (folder / "others.pth").write_text(f"{SITE}\n{SOURCE}\n")
    assert json.loads(asked(*switch, "--off")) == json.loads(asked(*switch, "--status"))
    assert asked(python, "-c", ask) == before
    assert [file.name for file in folder.glob("*.pth")] == ["others.pth"]


def test_too_late():
    """Where Hugging Face's library is imported already, nothing is changed."""
    path, environment = list(sys.path), dict(os.environ)
    with pytest.raises(shim.AlreadyImportedError, match="before the first import"):
        crucible_datasets.install_as_datasets()
    importlib.import_module("crucible_datasets.dropin.datasets")  # as tools do that import all modules of a package
    assert (sys.path, dict(os.environ)) == (path, environment)
    assert not any(isinstance(finder, _sharing.SharedModules) for finder in sys.meta_path)
    assert importlib.import_module("datasets") is hugging_face


def test_a_program_that_does_not_exist(tmp_path):
    ran = crucible("run", str(tmp_path / "nothing"))
    assert ran.code == 3 and "nothing" in ran.err
    assert "usage" in crucible("run", "--help").out


def test_what_modules_promise_is_there():
    for name in forwarded():
        module = _sharing.shared(name)
        assert all(hasattr(module, each) for each in getattr(module, "__all__", ())), name
