"""The registry: what every entry must say, and how folders, files and installed packages add to it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from crucible_datasets import config
from crucible_datasets.benchmarks import BenchmarkEntry, Catalog, get_benchmark, list_benchmarks, load_benchmark
from crucible_datasets.benchmarks.loading.converting import needs
from crucible_datasets.benchmarks.miniatures.base import makers
from crucible_datasets.benchmarks.rules import RULES
from crucible_datasets.evaluation import rule_of
from crucible_datasets.evaluation.metrics import METRICS
from crucible_datasets.exceptions import BenchmarkFileError, UnknownEntryError

CATALOG = Catalog()
METRIC_NAMES = {key.partition("@")[0] for key in METRICS}
ASKED_FOR = """gsm8k math_500 hendrycks_math deepmath polaris mmlu humaneval tulu3_sft no_robots hh_rlhf helpsteer2
helpsteer3 ultrafeedback arena_140k tulu3_preference deepcoder open_thoughts3 feedback_collection caltech101
oxford_flowers102 oxford_iiit_pet stanford_cars ai2_arc hellaswag winogrande truthful_qa mmlu_pro gpqa ifeval mbpp bbh
aime gsm8k_platinum squad drop mmlu_stem""".split()
MINE = """
title = "Sums"
source = "acme/sums"
rule = "question/answer@1"
columns = { question = "q", answer = "a" }
miniature = "sums.jsonl"
metrics = ["exact_match"]
domain = "maths"
licence = "cc0-1.0"
tags = ["mine"]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sums.toml").write_text(MINE)
    (tmp_path / "sums.jsonl").write_text('{"q": "1 + 1", "a": 2}\n{"q": "2 + 2", "a": 4}\n')
    return tmp_path


def configured(name):
    """An entry for each of its configurations and groups."""
    entry = CATALOG[name]
    return [entry.of(config) for config in [*entry.config_names, *entry.group_names] or [None]]


def test_the_benchmarks_of_the_field_are_there():
    assert set(ASKED_FOR) <= set(CATALOG)
    assert len(get_benchmark("mmlu").config_names) == 58
    assert list(get_benchmark("mmlu").group_names) == ["stem", "humanities", "social_sciences", "other"]
    assert len(get_benchmark("hendrycks_math").config_names) == 7


def test_a_file_opens_with_its_source_and_a_row_and_fits_on_a_page():
    for name, entry in CATALOG.items():
        lines = Path(entry.place).read_text().splitlines()
        assert len(lines) <= 25, name
        assert lines[0] == f"# {entry.url}"
        assert lines[1].startswith("# {") and lines[1].endswith("}"), name
        assert tomllib.loads("\n".join(lines))["name"] == name == Path(entry.place).stem


def test_an_entry_is_pinned_and_says_by_whom_or_says_why_not():
    """R21. A pin is a whole commit; what extends another of the same repository has that one's."""
    pins = {}
    for name, entry in CATALOG.items():
        lines = Path(entry.place).read_text().splitlines()
        if not entry.revision:
            assert any(line.startswith("# Not verified: the revision.") for line in lines), name
            continue
        assert re.fullmatch("[0-9a-f]{40}", entry.revision), name
        stated = [line for line in lines if line.startswith("revision = ")]
        assert all("  # pinned by " in line for line in stated) and (stated or entry.extends), name
        assert pins.setdefault(entry.source, entry.revision) == entry.revision, name
    assert len(set(pins.values())) == len(pins) >= 32


def test_sizes_are_those_that_are_published():
    sizes = {"gsm8k": 1319, "gsm8k_platinum": 1209, "humaneval": 164, "math_500": 500}
    assert {name: CATALOG[name].size["test"] for name in sizes} == sizes


def test_an_entry_says_what_users_ask_for():
    for name, entry in CATALOG.items():
        facts = entry.title, entry.domain, entry.task_type, entry.licence, entry.citation, entry.tags
        assert all(facts), name
        assert entry.default_split.split("+")[0] in entry.splits_of(entry.of(None).config)


def test_every_name_in_an_entry_exists():
    for entry in [one for name in CATALOG for one in configured(name)]:
        assert RULES[entry.rule].kind == "row"
        assert not entry.target_rule or RULES[entry.target_rule].kind == "value"
        assert not entry.prepare or RULES[entry.prepare].kind == "table"
        assert all("@" in rule for rule in entry.rules), "a score must tell the version of its rules"
        assert set(entry.metrics) <= METRIC_NAMES
        assert not entry.extract or entry.extract == rule_of(entry.extract).key, "with its version"
        assert set(RULES[entry.rule].required) <= set(entry.columns) <= set(RULES[entry.rule].roles)


def test_a_miniature_has_the_columns_that_its_adapter_needs():
    for entry in [one for name in CATALOG for one in configured(name)]:
        members = entry.group_names.get(entry.config, [entry.config])
        for one in ["all"] if entry.group_column and entry.config in entry.group_names else members:
            columns = set(makers()[entry.source].features(one))
            if entry.prepare:
                assert set(entry.prepare_columns.values()) <= columns
                columns = set(RULES[entry.prepare].metadata)
            optional = {entry.columns[role] for role in set(entry.columns) - set(RULES[entry.rule].required)}
            assert set(needs(entry)) - optional <= columns


def test_the_manual_names_every_benchmark_and_every_field():
    manual = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text()
    named = set(re.findall(r"`(\w+)`", manual))
    assert set(CATALOG) <= named
    assert set(BenchmarkEntry.__struct_fields__) - {"place"} <= named


def test_a_benchmark_is_found_by_short_name_repository_and_spelling():
    for name in ("gsm8k", "GSM8K", "openai/gsm8k", "OpenAI/GSM8k"):
        assert get_benchmark(name).name == "gsm8k"
    assert get_benchmark("gsm8k-platinum").name == "gsm8k_platinum"
    # Several entries are of one repository: the one that the others extend is meant.
    assert get_benchmark("nvidia/HelpSteer2").name == "helpsteer2"
    assert get_benchmark("cais/mmlu").name == "mmlu"
    assert "openai/gsm8k" in CATALOG and "gsm9k" not in CATALOG


def test_an_unknown_name_lists_what_exists():
    with pytest.raises(UnknownEntryError, match=r"no benchmark 'gsm9k'. Did you mean 'gsm8k'\?"):
        get_benchmark("gsm9k")
    with pytest.raises(UnknownEntryError, match=r"configuration 'mian' of gsm8k. Did you mean 'main'\?"):
        load_benchmark("gsm8k", config="mian", synthetic=True)


def test_the_registry_is_searched_filtered_and_counted():
    assert [entry.name for entry in CATALOG.search("WORD problems gsm8k-platinum")] == ["gsm8k_platinum"]
    assert {entry.name for entry in CATALOG.filter(domain="code")} == {"humaneval", "mbpp", "deepcoder"}
    assert "squad" in list_benchmarks(task_type="question_answering")
    assert set(list_benchmarks(tag="preference", licence="CC-BY-4.0")) == {
        "arena_140k",
        "helpsteer2_pairs",
        "helpsteer3",
    }
    assert list_benchmarks() == sorted(CATALOG)
    for field, counts in CATALOG.summary().items():
        assert sum(counts.values()) == len(CATALOG), field


def test_an_entry_takes_from_the_one_it_extends_what_it_does_not_state():
    stem, mmlu = get_benchmark("mmlu_stem"), get_benchmark("mmlu")
    assert (stem.rule, stem.columns, stem.source) == (mmlu.rule, mmlu.columns, mmlu.source)
    assert (stem.config, stem.tags) == ("stem", ["exams", "stem"])


def test_a_folder_of_a_user_adds_benchmarks(folder, monkeypatch):
    assert "sums" not in Catalog()
    samples = load_benchmark("sums", synthetic=True, folders=folder)
    assert [(sample.id, sample.input, sample.target) for sample in samples] == [
        ("sums/train/0", "1 + 1", "2"),
        ("sums/train/1", "2 + 2", "4"),
    ]
    assert load_benchmark(folder / "sums.toml", synthetic=True).content_hash == samples.content_hash
    assert list_benchmarks(tag="mine", folders=[folder]) == ["sums"]
    monkeypatch.setattr(config, "CRUCIBLE_BENCHMARKS", str(folder))
    assert load_benchmark("acme/sums", synthetic=True).entry.title == "Sums"


def test_the_rows_of_a_user_may_be_anywhere(folder):
    (folder / "data").mkdir()
    (folder / "data" / "train.csv").write_text("q,a\n3 + 3,6\n")
    (folder / "plain").mkdir()
    (folder / "plain" / "train.jsonl").write_text('{"question": "3 + 3", "answer": "#### 6"}\n')
    made = load_benchmark("sums", source=folder / "data", folders=folder)
    assert (made[0].input, made[0].target, made.provenance.revision) == ("3 + 3", "6", None)
    assert load_benchmark("gsm8k", "train", source=folder / "plain", limit=1)[0].target == "6"
    made.raw.save_to_disk(folder / "saved")
    assert load_benchmark("sums", source=folder / "saved", folders=folder)[0] == made[0]


def test_a_file_may_extend_the_one_that_it_replaces(tmp_path):
    (tmp_path / "gsm8k.toml").write_text('extends = "gsm8k"\nconfig = "socratic"\n')
    changed = get_benchmark("gsm8k", folders=tmp_path)
    assert (changed.config, changed.source) == ("socratic", "openai/gsm8k")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = [", "it is no TOML"),
        ('source = "a/b"', "required field `rule`"),
        (MINE + "colums = 3", "unknown field `colums`"),
        (MINE.replace('"question/answer@1"', '"question/anser@1"'), "no rule 'question/anser@1' of benchmarks"),
        (MINE.replace('"question/answer@1"', '"text/stripped@1"'), "rule of a value, and a rule of a row is needed"),
        (MINE.replace("question =", "asked ="), "has the columns question, answer; given are asked, answer"),
        ('extends = "nothing"', "it extends 'nothing', which is no benchmark"),
        ('extends = "other"', "it extends itself by a detour"),
        ('name = "My-Sums"', "must be in small letters"),
        (MINE + 'groups = "moons"', "no list 'moons' of groups"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_the_file(folder, text, reason):
    (folder / "bad.toml").write_text(text)
    (folder / "other.toml").write_text('extends = "bad"')
    with pytest.raises(BenchmarkFileError, match=reason) as caught:
        load_benchmark(folder / "bad.toml", synthetic=True)
    assert caught.value.file.endswith(".toml")


def test_a_missing_folder_and_a_missing_file_are_told(tmp_path):
    with pytest.raises(BenchmarkFileError, match="folder of benchmarks does not exist"):
        Catalog(tmp_path / "none")
    with pytest.raises(BenchmarkFileError, match="it cannot be read"):
        get_benchmark(tmp_path / "none.toml")


def test_an_installed_package_adds_benchmarks_and_rules(tmp_path):
    """A real distribution on the path of another process, with a folder of files and a rule of its own."""
    package = tmp_path / "acme_sets"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "rules.py").write_text(
        textwrap.dedent('''
        from crucible_datasets.benchmarks.rules import rule

        @rule("acme/upper", version=2)
        def upper(q: str, a: int):
            """In capitals."""
            return {"input": q.upper(), "target": str(a)}
        ''')
    )
    mine = MINE.replace("question/answer@1", "acme/upper@2").replace("question =", "q =").replace("answer =", "a =")
    (package / "sums.toml").write_text(mine)
    (package / "sums.jsonl").write_text('{"q": "one and one", "a": 2}\n')
    known = tmp_path / "acme_sets-1.0.dist-info"
    known.mkdir()
    (known / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-sets\nVersion: 1.0\n")
    (known / "entry_points.txt").write_text(
        "[crucible_datasets.benchmarks]\nacme = acme_sets\n[crucible_datasets.benchmarks.rules]\nacme = acme_sets.rules\n"
    )
    code = (
        "import json; from crucible_datasets.benchmarks import load_benchmark\n"
        "made = load_benchmark('sums', synthetic=True)\n"
        "print(json.dumps([made[0].input, made[0].target, made.provenance.rules]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == ["ONE AND ONE", "2", ["acme/upper@2"]]


def test_the_files_are_in_the_wheel(tmp_path):
    """hatch takes the whole package: what is read by importlib.resources must be below it."""
    from importlib import resources

    entries = resources.files("crucible_datasets.benchmarks.catalog").joinpath("entries")
    assert sum(file.name.endswith(".toml") for file in entries.iterdir()) == len(CATALOG)
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["src/crucible_datasets"]
