"""The extra `viewer` is enough for the whole viewer: whatever else is installed here is hidden from it."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGES = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["viewer"]]
PROGRAM = r"""
import sys
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

def needed(requirements):
    found, waiting = {"crucible-datasets"}, [Requirement(each) for each in requirements]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        try:
            waiting += [Requirement(each) for each in requires(name) or ()]
        except PackageNotFoundError:
            pass
    return found

installed, known = packages_distributions(), needed(sys.argv[1:])
hidden = {name for name, owners in installed.items() if not known & set(map(canonicalize_name, owners))}

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Finder

from urllib.request import Request, urlopen
from crucible_datasets import Dataset
from crucible_datasets.viewer.searching import rows_with

rows = Dataset.from_dict({"level": [1, 2, 3], "text": ["a", "=b", None], "share": [0.5, None, 1.0]})
with rows.view(browser=False) as viewer:
    for page in (
        "rows.json?where=level%3E2", "rows.json?sql=select+level+from+self", "rows.json?q=b&sort=-level&seed=1",
        "summary.json?column=text", "row/1.json", "download.csv", "download.jsonl", "download.parquet",
    ):
        address = f"http://127.0.0.1:{viewer.port}/data/0/{page}"
        urlopen(Request(address, headers={"X-Crucible-Token": viewer.token})).read()
# The viewer leaves these to another process, from which nothing is hidden.
rows.filter("level > 2").sql("select level from self")
rows_with(rows, "b")
print("pandas" in hidden, "duckdb" in sys.modules, "polars" in sys.modules)
"""


def test_the_extra_is_enough_for_filters_queries_and_downloads():
    command = [sys.executable, "-c", PROGRAM, *PACKAGES]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "True True False\n", done.stderr[-2000:]
