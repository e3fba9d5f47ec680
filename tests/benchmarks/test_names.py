"""The public names of the package: declared, importable, told to type checkers, and cheap."""

import ast
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from crucible_datasets.benchmarks import (
    Comparison,
    Conversation,
    FewShot,
    FieldMapping,
    LabeledComparison,
    Message,
    Part,
    Picture,
    Prompt,
    Provenance,
    Rubric,
    Sample,
    Samples,
    StreamedSamples,
    Template,
)

PACKAGES = ["crucible_datasets.benchmarks", "crucible_datasets.benchmarks.rendering"]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_is_there_and_in_the_stub(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        assert getattr(module, name) is not None
    stub = ast.parse(Path(f"{module.__file__}i").read_text())
    told = {alias.name for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert told == set(module.__all__)
    with pytest.raises(AttributeError):
        _ = module.nothing


def test_types_need_no_arrow():
    code = "import json, sys\nfrom crucible_datasets.benchmarks import Sample, LabeledComparison, to_openai, conversation\n"
    ran = subprocess.run(
        [sys.executable, "-c", code + "print(json.dumps(sorted(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"pyarrow", "numpy", "pandas"} & set(json.loads(ran.stdout))


def test_the_map_of_the_package_names_every_module():
    """The docstring of the package is its map; each folder's own docstring tells its modules again."""
    package = importlib.import_module("crucible_datasets.benchmarks")
    folder = Path(package.__file__).parent
    told = dict(re.findall(r"^    (\w+)/ (.*?)(?=^    \w+/ |^\S|\Z)", package.__doc__, re.MULTILINE | re.DOTALL))
    assert set(told) == {one.parent.name for one in folder.glob("*/__init__.py")}
    assert {one.stem for one in folder.glob("*.py")} == {"__init__"}
    for name, text in told.items():
        modules = {one.stem for one in (folder / name).glob("*.py")} - {"__init__"}
        own = importlib.import_module(f"{package.__name__}.{name}").__doc__
        for place in (text, own):
            assert not modules - set(re.findall(r"\w+", place)), name


DOCS = Path(__file__).parents[2] / "docs"


def words(*pages):
    """Every word in inline code of pages of the manual."""
    text = "".join(
        re.sub(r"^```.*?^```$", "", (DOCS / page).read_text(), flags=re.MULTILINE | re.DOTALL) for page in pages
    )
    return {word for span in re.findall(r"`([^`\n]+)`", text) for word in re.findall(r"\w+", span)}


def test_every_name_is_documented():
    package = importlib.import_module("crucible_datasets.benchmarks")
    pages = "".join(page.read_text() for page in DOCS.glob("*.md"))
    assert not set(package.__all__) - set(re.findall(r"\w+", pages))


@pytest.mark.parametrize(
    "kind",
    [
        Samples,
        StreamedSamples,
        Sample,
        Message,
        Part,
        Picture,
        Conversation,
        Comparison,
        LabeledComparison,
        Rubric,
        Provenance,
        FieldMapping,
        FewShot,
        Prompt,
        Template,
    ],
)
def test_every_method_and_field_is_documented(kind):
    inherited = set(dir(Sequence)) | {"texts", "pattern"}
    names = {name for name in (*vars(kind), *getattr(kind, "__dataclass_fields__", ())) if not name.startswith("_")}
    assert not names - inherited - words("samples.md")
