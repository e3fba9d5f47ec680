"""What leaves is whole, complete, and harmless to the programs that open it."""

import csv
import hashlib
import io
import json
from html.parser import HTMLParser

import pyarrow.parquet as pq
import pytest
from support.hostile import TERMINAL, XSS

from crucible_datasets.benchmarks import samples_from
from crucible_datasets.evaluation import (
    EvaluationResult,
    MetricSummary,
    Outcome,
    ResultStore,
    RunInfo,
    SampleResult,
    evaluate,
    export,
)
from crucible_datasets.evaluation.exports import EXPORTS
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, UnknownEntryError

FORMULAS = [
    "=1+1",
    "+1",
    "-1+cmd|' /C calc'!A0",
    "@SUM(1)",
    "\t=1",
    "\n=1",
    "\r=1",
    "＝1",
    '=HYPERLINK("http://x","y")',
]
STEERING = ["\x1b[31mred", "\x1b]8;;http://x\x07", "\u202eesrever", "\u2066x", "a\x00b", "\x9b31m", "\ud800"]
HOSTILE = [*XSS, *TERMINAL, *FORMULAS, *STEERING]
DATA = [{"id": n, "input": f"q{n}", "target": str(n), "metadata": {"n": n}} for n in range(4)]


def hostile(text):
    """A run with a text in every place that a text can be in."""
    key = f"{text}@1"
    info = RunInfo(
        run_id="r", model=text, dataset=text, split=text, revision=text, rules=[text], tags=[text], metrics=[key],
        created_at="2026-11-16T00:00:00.000000+00:00", dataset_hash=text,
    )  # fmt: skip
    outcome = Outcome(0.5, text, "ok", {text: text})
    sample = SampleResult(text, text, [text], {key: outcome}, [{"role": text, "content": text}], [text], {text: text})
    return EvaluationResult(info, [sample], {key: MetricSummary(0.5, 1, signature=text)})


@pytest.fixture(scope="module")
def run():
    return evaluate(
        {0: "0", 1: "no", 2: None}, DATA, ["exact_match", "f1"], model="org/m", missing="wrong", tags=["a", "b"]
    )


@pytest.mark.parametrize("name", sorted(EXPORTS))
def test_every_export_is_chosen_by_name_and_by_ending(name, run, tmp_path):
    form = EXPORTS[name]
    for ending in form.extensions:
        assert export(run, tmp_path / f"a{ending}") == str(tmp_path / f"a{ending}")
        assert (tmp_path / f"a{ending}").stat().st_size > 0
    export(run, tmp_path / "b", format=name)
    with pytest.raises(ArgumentError, match="ending"):
        export(run, tmp_path / "a.xyz")
    with pytest.raises(UnknownEntryError):
        export(run, tmp_path / "a.csv", format="xls")


@pytest.mark.parametrize("name", sorted(EXPORTS))
def test_a_failed_export_leaves_what_was_there(name, run, tmp_path):
    path = tmp_path / f"a{EXPORTS[name].extensions[0]}"
    path.write_text("old")
    broken = EvaluationResult(run.info, run.samples, {**run.summary, "f1@1": None})
    with pytest.raises(AttributeError):
        export(broken, path, **({"rows": "runs"} if name in {"csv", "jsonl", "parquet"} else {}))
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def cells(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_rows_of_samples_say_the_same_in_every_form(run, tmp_path):
    export(run, tmp_path / "a.csv")
    export(run, tmp_path / "a.jsonl")
    export(run, tmp_path / "a.parquet")
    table = pq.read_table(tmp_path / "a.parquet").to_pylist()
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    for sample, cell, row, line in zip(run.samples, cells(tmp_path / "a.csv"), table, lines, strict=True):
        assert cell == {name: "" if value is None else str(value) for name, value in row.items()}
        assert row["id"] == line["id"] == sample.id and row["prediction"] == line["prediction"] == sample.prediction
        assert (
            row["exact_match@2"] == line["outcomes"]["exact_match@2"]["value"] == sample.outcomes["exact_match@2"].value
        )
        assert (
            row["f1@1 status"] == line["outcomes"]["f1@1"]["status"] and json.loads(row["metadata"]) == line["metadata"]
        )


def test_rows_of_runs_say_the_same_in_every_form(run, tmp_path):
    for ending in ("csv", "jsonl", "parquet"):
        export({"one": run, "two": run}, tmp_path / f"a.{ending}", rows="runs")
    table = pq.read_table(tmp_path / "a.parquet").to_pylist()
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert table == [{name: line[name] for name in table[0]} for line in lines] and len(table) == 4
    assert [cell["metric"] for cell in cells(tmp_path / "a.csv")] == ["exact_match@2", "f1@1"] * 2
    assert table[0]["value"] == run.value() and table[0]["low"] == run.summary["exact_match@2"].interval.low
    with pytest.raises(ArgumentError, match="samples, runs"):
        export(run, tmp_path / "a.csv", rows="all")


def test_runs_with_other_metrics_share_a_table(run, tmp_path):
    other = evaluate(["0"] * 4, DATA, "contains", model="other")
    export([run, other], tmp_path / "a.parquet")
    rows = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert rows[0]["contains@1"] is None and rows[4]["contains@1"] == 1.0 and rows[4]["f1@1"] is None


@pytest.mark.parametrize("rows", ["samples", "runs"])
def test_no_cell_is_a_formula_or_steers_a_terminal(tmp_path, rows):
    export(map(hostile, HOSTILE), tmp_path / "a.csv", rows=rows)
    content = (tmp_path / "a.csv").read_text(encoding="utf-8")
    lines = list(csv.reader(io.StringIO(content, newline="")))
    assert len(lines) == 1 + len(HOSTILE) > 100
    for cell in (cell for line in lines for cell in line):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝")), cell
    assert not {"\x1b", "\u202e", "\u2066", "\x00", "\x9b", "\r"} & set(content)


def test_numbers_stay_numbers_and_the_protection_can_be_left_out(tmp_path):
    run = evaluate(["=1", "-5"], DATA[:2], lambda prediction, target: -0.5, model="m")
    export(run, tmp_path / "safe.csv")
    export(run, tmp_path / "raw.csv", formula_safe=False)
    key = run.info.metrics[0]
    assert [(one["prediction"], one[key]) for one in cells(tmp_path / "safe.csv")] == [("'=1", "-0.5"), ("'-5", "-0.5")]
    assert [(one["prediction"], one[key]) for one in cells(tmp_path / "raw.csv")] == [("=1", "-0.5"), ("-5", "-0.5")]


class Tags(HTMLParser):
    """The elements of a page."""

    def __init__(self):
        super().__init__()
        self.found, self.text = set(), []

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)

    def handle_data(self, data):
        self.text.append(data)


def test_markdown_shows_names_and_nothing_else(tmp_path):
    markdown = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    table = {"h1", "h2", "table", "thead", "tbody", "tr", "th", "td"}
    own = [
        "a|b",
        "[x](http://x)",
        "![x](y)",
        "`x`",
        "*x*",
        "http://x.y",
        "<http://x>",
        "~~x~~",
        "# x",
        "&lt;b&gt;",
        "\\|",
    ]
    names = [*HOSTILE, *own]
    export(map(hostile, names), tmp_path / "a.md", title="".join(own))
    page = Tags()
    page.feed(markdown.render((tmp_path / "a.md").read_text(encoding="utf-8")))
    assert page.found <= table
    assert sum(part.strip() == "0.5000" for part in page.text) == len(names)


def test_markdown_is_sorted_and_grouped(run, tmp_path):
    worse = evaluate(["x"] * 4, DATA, model="a worse one")
    export([worse, run], tmp_path / "a.md", group_by=None)
    lines = (tmp_path / "a.md").read_text().splitlines()
    assert "org" in lines[4] and "worse" in lines[-1]
    export([worse, run], tmp_path / "a.md", group_by="metric", sort_by="model")
    assert [line for line in (tmp_path / "a.md").read_text().splitlines() if line.startswith("## ")] == [
        "## exact_match@2",
        "## f1@1",
    ]
    for wrong in ({"sort_by": "colour"}, {"group_by": "colour"}):
        with pytest.raises(ArgumentError):
            export(run, tmp_path / "a.md", **wrong)


# Every Eval Ever


def test_every_eval_ever_names_what_a_score_needs(run, tmp_path):
    export(run, tmp_path / "a.json", organization="us", relationship="third_party")
    found = json.loads((tmp_path / "a.json").read_text())
    first = found["evaluation_results"][0]
    assert found["model_info"]["id"] == "org/m" and found["source_metadata"]["evaluator_relationship"] == "third_party"
    assert first["score_details"]["score"] == run.value() and first["metric_config"]["metric_id"] == "exact_match@2"
    interval = first["score_details"]["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"]) == (
        run.summary["exact_match@2"].interval.low,
        run.summary["exact_match@2"].interval.high,
    )
    samples = found["detailed_evaluation_results"]
    lines = (tmp_path / samples["file_path"].rpartition("/")[2]).read_bytes()
    assert (
        samples["total_rows"] == 8 == len(lines.splitlines())
        and samples["checksum"] == hashlib.sha256(lines).hexdigest()
    )
    assert [json.loads(line)["evaluation"]["is_correct"] for line in lines.splitlines()] == [True, True, *[False] * 6]
    with pytest.raises(ArgumentError, match="one by one"):
        export([run, run], tmp_path / "a.json")
    with pytest.raises(ArgumentError, match="first_party"):
        export(run, tmp_path / "a.json", relationship="friend")


TEXT, NUMBER, TEXTS = (
    {"type": "string"},
    {"type": "number"},
    {"type": "object", "additionalProperties": {"type": "string"}},
)


def object_of(*required, extra=False, **fields):
    return {"type": "object", "required": list(required), "properties": fields, "additionalProperties": extra}


# What version 0.3.0 demands of the fields that are written here.
DOCUMENT = object_of(
    "schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info", "eval_library", "evaluation_results",
    schema_version=TEXT, evaluation_id=TEXT, retrieved_timestamp=TEXT, evaluation_timestamp=TEXT,
    source_metadata=object_of(
        "source_type", "source_organization_name", "evaluator_relationship", source_name=TEXT, source_organization_name=TEXT,
        source_type={"enum": ["documentation", "evaluation_run"]},
        evaluator_relationship={"enum": ["first_party", "third_party", "collaborative", "other"]},
    ),
    eval_library=object_of("name", "version", name=TEXT, version=TEXT),
    model_info=object_of("name", "id", "additional_details", name=TEXT, id=TEXT, additional_details=TEXTS),
    evaluation_results={"type": "array", "items": object_of(
        "evaluation_name", "source_data", "metric_config", "score_details",
        evaluation_result_id=TEXT, evaluation_name=TEXT, evaluation_timestamp=TEXT,
        source_data=object_of("dataset_name", "source_type", dataset_name=TEXT, source_type={"const": "other"}, additional_details=TEXTS),
        metric_config=object_of(
            "lower_is_better", "min_score", "max_score", lower_is_better={"type": "boolean"}, score_type={"const": "continuous"},
            metric_id=TEXT, metric_name=TEXT, additional_details=TEXTS,
            min_score={"type": ["number", "null"]}, max_score={"type": ["number", "null"]},
        ),
        score_details=object_of("score", score=NUMBER, details=TEXTS, uncertainty=object_of(
            num_samples={"type": "integer"}, standard_error=object_of("value", value=NUMBER, method=TEXT),
            confidence_interval=object_of("lower", "upper", lower=NUMBER, upper=NUMBER, confidence_level=NUMBER, method=TEXT),
        )),
    )},
    detailed_evaluation_results=object_of(
        "format", "file_path", format={"const": "jsonl"}, hash_algorithm={"const": "sha256"}, checksum=TEXT,
        total_rows={"type": "integer"}, file_path={"pattern": r"^data/[^/]+/[^/]+/[^/]+/[0-9a-f-]{14}4[0-9a-f-]{21}_samples\.jsonl$"},
    ),
)  # fmt: skip
INSTANCE = object_of(
    "schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id", "interaction_type", "input", "output",
    "answer_attribution", "evaluation",
    schema_version=TEXT, evaluation_id=TEXT, model_id=TEXT, evaluation_name=TEXT, evaluation_result_id=TEXT, sample_id=TEXT,
    interaction_type={"const": "single_turn"}, error={"type": ["string", "null"]}, metadata=TEXTS,
    input=object_of("raw", "reference", raw=TEXT, reference={"type": "array", "items": TEXT}, choices={"type": ["array", "null"], "items": TEXT}),
    output=object_of("raw", raw={"type": "array", "items": TEXT}),
    answer_attribution={"type": "array", "items": object_of(
        "turn_idx", "source", "extracted_value", "extraction_method", "is_terminal", turn_idx={"type": "integer"}, source=TEXT,
        extracted_value=TEXT, extraction_method=TEXT, is_terminal={"type": "boolean"},
    )},
    evaluation=object_of("score", "is_correct", score=NUMBER, is_correct={"type": "boolean"}),
)  # fmt: skip


def test_every_eval_ever_holds_to_its_schema(run, tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    whole, each = (jsonschema.Draft202012Validator(schema) for schema in (DOCUMENT, INSTANCE))
    for result in (run, *map(hostile, HOSTILE[::10])):
        export(result, tmp_path / "a.json")
        found = json.loads((tmp_path / "a.json").read_text())
        whole.validate(found)
        place = tmp_path / found["detailed_evaluation_results"]["file_path"].rpartition("/")[2]
        for line in place.read_text().split("\n")[:-1]:
            each.validate(json.loads(line))


def test_runs_that_a_store_lists_are_loaded(tmp_path):
    store = ResultStore(tmp_path / "runs")
    data = samples_from([{"id": n, "input": "?", "target": str(n)} for n in range(3)], "few")
    evaluate(["0", "1", "?"], data, store=store)
    [path, other] = [tmp_path / "listed.jsonl", tmp_path / "loaded.jsonl"]
    export(store.list(), path)
    export(store.load(store.list()[0].info.run_id), other)
    assert path.read_text() == other.read_text() and len(path.read_text().splitlines()) == 3
    with pytest.raises(ArgumentTypeError, match="expected results of `evaluate`"):
        export(["not a run"], path)
