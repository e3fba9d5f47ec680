"""The manual is true and complete: its examples run, and what is public is in it.

Fenced ```python blocks of README.md and docs/ are doctests: they run in order, in one
namespace for each page, and a wrong output fails. A word after `python` names a package
that the block needs, as in ```python torch.
"""

import ast
import doctest
import importlib
import pkgutil
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

import crucible_datasets
from crucible_datasets import (
    Column,
    Dataset,
    DatasetDict,
    Features,
    IterableDataset,
    IterableDatasetDict,
    cli,
    config,
    exceptions,
    fingerprint,
    logging,
    progress,
)
from crucible_datasets.decoders.base import DECODERS
from crucible_datasets.executors.base import EXECUTORS
from crucible_datasets.features.serialized import FEATURE_TYPES
from crucible_datasets.formats.base import FORMATS
from crucible_datasets.ops.groups import FUNCTIONS
from crucible_datasets.ops.join import HOWS
from crucible_datasets.ops.search.metrics import METRICS
from crucible_datasets.outputs.base import OUTPUTS

ROOT = Path(__file__).parents[1]
PACKAGE = Path(crucible_datasets.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DOCS = {page.name: page.read_text() for page in sorted((ROOT / "docs").glob("*.md"))}
PAGES = {"README.md": (ROOT / "README.md").read_text(), **DOCS}
OTHERS = {name: (ROOT / name).read_text() for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")}


# Examples


class Block(NamedTuple):
    """A fenced piece of code: its language, what it needs, where it begins."""

    language: str
    needs: str
    code: str
    line: int


def blocks_of(text):
    fences = re.finditer(r"^```(\w*) *([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(*fence.groups(), text[: fence.start()].count("\n") + 1) for fence in fences]


EXAMPLES = {name: [block for block in blocks_of(text) if block.language == "python"] for name, text in PAGES.items()}
NEEDS = sorted({(name, block.needs) for name, blocks in EXAMPLES.items() for block in blocks if block.needs})


@pytest.fixture
def fresh_state(tmp_path, monkeypatch):
    """What an example may change: the folder, the cache, settings, registered outputs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(config, "HF_DATASETS_DISABLE_PROGRESS_BARS", None)
    monkeypatch.setattr(progress, "_disabled", False)
    monkeypatch.setattr(fingerprint, "_caching_enabled", True)
    monkeypatch.setattr(OUTPUTS, "entries", {name: OUTPUTS[name] for name in OUTPUTS})


def run_examples(name, needs=""):
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    names, report = {"__name__": "__main__"}, []
    for block in EXAMPLES[name]:
        if block.needs in ("", needs):
            example = doctest.DocTestParser().get_doctest(block.code, names, name, name, block.line)
            runner.run(example, out=report.append, clear_globs=False)
            names = example.globs
    return "".join(report)


@pytest.mark.usefixtures("fresh_state")
@pytest.mark.parametrize("name", [name for name, blocks in EXAMPLES.items() if blocks])
def test_every_example_gives_the_output_that_is_shown(name):
    assert not (failures := run_examples(name)), failures


@pytest.mark.usefixtures("fresh_state")
@pytest.mark.parametrize(("name", "needs"), NEEDS)
def test_every_example_that_needs_a_package_gives_the_output_that_is_shown(name, needs):
    pytest.importorskip(needs)
    assert not (failures := run_examples(name, needs)), failures


@pytest.mark.usefixtures("fresh_state")
def test_every_example_in_a_docstring_gives_the_output_that_is_shown():
    """What fails is on stdout."""
    attempted = 0
    for path in (path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text()):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        # The name under which they share their classes.
        name = name.replace("crucible_datasets.dropin.datasets", "crucible_datasets")
        found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
        assert not found.failed, name
        attempted += found.attempted
    assert attempted


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_python_block_shows_prompts(name):
    for block in EXAMPLES[name]:
        assert doctest.DocTestParser().get_examples(block.code), f"{name}:{block.line} has no >>>"


@pytest.mark.parametrize("name", OTHERS)
def test_code_in_the_other_pages_is_python(name):
    for block in blocks_of(OTHERS[name]):
        if block.language == "python":
            ast.parse(block.code)


def prose_of(text):
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors_of(text):
    headings = re.findall(r"^#+ (.*)$", prose_of(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", [*PAGES, *OTHERS])
def test_every_link_leads_somewhere(name):
    page = ROOT / ("docs" if name in DOCS else "") / name
    for link in re.findall(r"\[[^]]*\]\(([^)]+)\)", re.sub(r"`[^`\n]*`", "`code`", prose_of(page.read_text()))):
        if not link.startswith("https://"):
            target, _, anchor = link.partition("#")
            file = (page.parent / target) if target else page
            assert file.exists(), f"{name} links to {link}"
            assert not anchor or anchor in anchors_of(file.read_text()), f"{name} links to {link}"


@pytest.mark.parametrize("name", [*PAGES, *OTHERS])
def test_every_file_that_is_named_exists(name):
    page = ROOT / ("docs" if name in DOCS else "") / name
    for path in re.findall(r"`(\w[\w./]*/[\w./]*\.(?:py|md|toml))`", prose_of(page.read_text())):
        assert any((place / path).exists() for place in (ROOT, PACKAGE, ROOT / "tests")), f"{name} names {path}"


# Documented or fail


def spans_of(text):
    """Every piece of inline code."""
    return re.findall(r"`([^`\n]+)`", prose_of(text))


def words_of(*pages):
    """Every word in inline code."""
    return {word for page in pages for span in spans_of(page) for word in re.findall(r"[\w]+", span)}


def public(kind, base=object):
    return {name for name in dir(kind) if not name.startswith("_")} - set(dir(base))


def subclasses(kind):
    return {kind}.union(*(subclasses(child) for child in kind.__subclasses__()))


def all_modules():
    found = pkgutil.walk_packages(crucible_datasets.__path__, "crucible_datasets.")
    return [importlib.import_module(module.name) for module in found]


def settings():
    stated = {name for name in vars(config) if name.isupper() and not name.startswith("_")}
    asked = {f"{kind}_AVAILABLE" for kind in config._PACKAGES} | {f"{kind}_VERSION" for kind in config._DISTRIBUTIONS}
    return stated | asked | {"PY_VERSION"}


def environment_variables():
    calls = r'(?:environ\.get|environ\[|_switch|_folder)\(?"(\w+)"'
    return {name for file in PACKAGE.rglob("*.py") for name in re.findall(calls, file.read_text())}


def names_of(registry):
    return {word for name in registry for word in (name, *registry[name].aliases)}


@pytest.mark.parametrize(
    ("page", "names"),
    [
        pytest.param("index.md", set(crucible_datasets.__all__), id="public names"),
        pytest.param("index.md", set(PROJECT["optional-dependencies"]), id="extras"),
        pytest.param("cli.md", set(cli.COMMANDS), id="commands"),
        pytest.param("features.md", set(FEATURE_TYPES), id="feature types"),
        pytest.param("features.md", {name for name in vars(Features) if not name.startswith("_")}, id="Features"),
        pytest.param("datasets.md", public(Column), id="Column"),
        pytest.param("datasets.md", set(FUNCTIONS), id="aggregations"),
        pytest.param("datasets.md", set(HOWS), id="joins"),
        pytest.param("formats.md", names_of(OUTPUTS), id="outputs"),
        pytest.param("loading.md", names_of(FORMATS), id="formats"),
        pytest.param("media.md", names_of(DECODERS), id="decoders"),
        pytest.param("scaling.md", names_of(EXECUTORS), id="executors"),
        pytest.param("search.md", set(METRICS), id="metrics"),
        pytest.param("settings.md", settings(), id="settings"),
        pytest.param("settings.md", environment_variables(), id="environment variables"),
        pytest.param("settings.md", {name for name in logging.__all__ if name.islower()}, id="logging"),
    ],
)
def test_the_page_names(page, names):
    assert not names - words_of(DOCS[page]), f"not in docs/{page} as `code`"


@pytest.mark.parametrize("kind", [Dataset, DatasetDict, IterableDataset, IterableDatasetDict])
def test_every_method_is_documented(kind):
    names = public(kind, dict if issubclass(kind, dict) else object)
    pages = ("datasets.md", "transforming.md", "formats.md", "search.md", "streaming.md", "hub.md")
    assert not names - words_of(*(DOCS[page] for page in pages))


def test_every_error_is_documented_with_its_parents():
    all_modules()
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \|", DOCS["errors.md"], re.MULTILINE)
    documented = {name: re.findall(r"`(\w+)`", parents) for name, parents in rows}
    kinds = {kind for kind in subclasses(exceptions.DatasetsError) if not issubclass(kind, exceptions.ArrowTwin)}
    assert documented == {kind.__name__: [base.__name__ for base in kind.__bases__] for kind in kinds}


def test_the_tree_of_errors_is_that_of_the_classes():
    drawn, above = {}, {}
    for indent, name, others in re.findall(r"^([ │├└─]+)(\w+)(?: \((.*)\))?$", exceptions.__doc__, re.MULTILINE):
        above[len(indent)] = name
        drawn[name] = [above.get(len(indent) - 4, "Exception"), *filter(None, others.split(", "))]
    all_modules()
    kinds = [kind for kind in subclasses(exceptions.DatasetsError) if kind.__module__ == exceptions.__name__]
    kinds = [kind for kind in kinds if not issubclass(kind, exceptions.ArrowTwin)]
    assert drawn == {kind.__name__: [base.__name__ for base in kind.__bases__] for kind in kinds}
    assert all(getattr(exceptions, kind.__name__) is kind for kind in kinds)


def test_the_list_of_missing_names_is_true():
    datasets = pytest.importorskip("datasets")
    section = DOCS["migrating.md"].split("## What is not here yet")[1]
    theirs = public(datasets.Dataset) | public(datasets.DatasetDict, dict) | exported(datasets)
    ours = public(Dataset) | public(DatasetDict, dict) | set(crucible_datasets.__all__)
    assert {span for span in spans_of(section) if span != "AttributeError"} == theirs - ours


def exported(module):
    """The public functions and classes of a package without `__all__`."""
    names = (name for name in dir(module) if not name.startswith("_"))
    return {name for name in names if type(getattr(module, name)).__name__ != "module"}


def test_every_extra_that_an_error_names_exists():
    named = {extra for file in PACKAGE.rglob("*.py") for extra in re.findall(r'extra="(\w+)"', file.read_text())}
    assert not named - set(PROJECT["optional-dependencies"])


def test_settings_that_are_said_to_change_nothing_are_read_nowhere():
    section = DOCS["settings.md"].split("## Kept for programs that read them")[1].split("\n## ")[0]
    names = {span for span in spans_of(section) if span.isupper()}
    files = [file.read_text() for file in PACKAGE.rglob("*.py") if "dropin" not in file.parts]
    assert names and not names & {name for text in files for name in re.findall(r"\bconfig\.([A-Z]\w+)", text)}


# The map


def tree():
    (block,) = [block.code for block in blocks_of(OTHERS["ARCHITECTURE.md"]) if "src/crucible_datasets/" in block.code]
    return block


def test_the_tree_has_a_line_for_every_file_and_folder():
    lines = re.findall(r"^  (\w+(?:\.py|/)) ", tree(), re.MULTILINE)
    found = {path.name + "/" * path.is_dir() for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert sorted(lines) == sorted(found - {"__pycache__/"})


def named_modules(folder):
    """The words that say what is in a folder: its part of the tree, and the maps in the docstrings above it."""
    part = re.search(rf"^ +{folder.name}/ (.*?)(?=^ {{2,4}}\w|^\w)", tree(), re.MULTILINE | re.DOTALL)
    maps = [above / "__init__.py" for above in (folder, *folder.parents) if PACKAGE in above.parents]
    maps = [file for file in maps if file.exists()]
    texts = [part[1] if part else "", *(ast.get_docstring(ast.parse(file.read_text())) or "" for file in maps)]
    return set(re.findall(r"\w+", " ".join(texts)))


def test_the_tree_names_every_module_in_its_folder():
    for file in PACKAGE.rglob("__init__.py"):
        if file.parent != PACKAGE:
            missing = (
                {one.stem for one in file.parent.glob("*.py")} - {"__init__", "__main__"} - named_modules(file.parent)
            )
            assert not missing, f"{file.parent.name}/ lacks in ARCHITECTURE.md and in its docstring {missing}"


def test_every_core_dependency_is_justified():
    rows = re.findall(r"^\| (\w+) \| \w", OTHERS["ARCHITECTURE.md"].split("## Dependencies")[1], re.MULTILINE)
    declared = [re.split(r"[^\w-]", line)[0] for line in PROJECT["dependencies"]]
    assert sorted(rows) == sorted([*declared, "package"])


def test_the_changelog_has_the_version():
    assert f"## {crucible_datasets.__version__}" in OTHERS["CHANGELOG.md"]
