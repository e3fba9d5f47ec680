"""The HTML report: one file, its own script and no other, all of its data, within its bounds."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import ALL_TERMINAL, ALL_XSS, XSS
from support.runs import METRIC, hostile_run, run_of

from crucible_datasets.evaluation import html_report, write_report
from crucible_datasets.evaluation.report.choosing import chosen
from crucible_datasets.evaluation.report.texts import plain
from crucible_datasets.exceptions import ArgumentError


class Parsed(HTMLParser):
    """The tags and attributes of a page, and what its script elements hold."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.held, self._inside = [], [], {}, None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        self._inside = (tag, dict(attributes).get("id"))

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside:
            self.held[self._inside] = self.held.get(self._inside, "") + data


def data_of(page):
    return json.loads(Parsed(page).held["script", "data"])


@pytest.fixture(scope="module")
def page():
    return html_report([run_of("first", [1, 0, 1, None]), run_of("second", [1, 1, 1, 0])])


@pytest.fixture(scope="module")
def hostile():
    return html_report([hostile_run("a"), hostile_run("b")], title=ALL_XSS)


def test_everything_that_was_measured_is_in_the_page(page):
    told = data_of(page)
    assert [run["model"] for run in told["runs"]] == ["first", "second"]
    first = told["runs"][0]["summary"][METRIC]
    assert (first["value"], first["n"], first["unparsed_rate"]) == (0.5, 4, 0.25)
    assert first["low"] < 0.5 < first["high"] and first["level"] == 0.95
    (row,) = told["comparisons"]
    assert (row["a"], row["b"], row["difference"], row["n"]) == ("second", "first", 0.25, 4)
    assert [sample["id"] for sample in told["samples"]] == ["q0", "q1", "q2", "q3"]
    assert told["samples"][3]["answers"][0]["outcomes"][METRIC] == [0.0, "unparsed", None]


@pytest.mark.parametrize("name", ["page", "hostile"])
def test_nothing_in_the_page_is_active_but_its_own_script(request, name):
    page = request.getfixturevalue(name)
    parsed = Parsed(page)
    wanted = "html head meta meta meta meta meta title style body main noscript script script"
    assert " ".join(parsed.tags).replace("meta " * 5, "meta meta meta meta meta ") == wanted
    assert not [each for each in parsed.attributes if each[1].startswith("on") or each[1] in ("href", "src", "style")]
    assert page.count("<script") == page.count("</script>") == 2 and page.count("<!--") == 0


@pytest.mark.parametrize("name", ["page", "hostile"])
def test_the_policy_names_the_one_script_and_the_one_style(request, name):
    parsed = Parsed(request.getfixturevalue(name))
    policy = next(value for tag, key, value in parsed.attributes if value and value.startswith("default-src"))
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))

    def digest(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules == {
        "default-src": "'none'",
        "script-src": digest(parsed.held["script", None]),
        "style-src": digest(parsed.held["style", None]),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_hostile_data_arrives_as_it_is(hostile):
    told = data_of(hostile)
    assert told["title"] == ALL_XSS
    inputs = {sample["input"] for sample in told["samples"] if isinstance(sample["input"], str)}
    assert len(inputs) > 80 and inputs <= {*XSS, ALL_TERMINAL}


def test_the_page_loads_nothing(page):
    outside = re.findall(
        r"""(?:https?:)?//[\w.]+|@import|url\(|\bfetch\b|XMLHttpRequest|WebSocket|\beval\b|innerHTML""", page
    )
    assert set(outside) <= {"http://www.w3.org"} and not re.search(r"new Function|document\.write|insertAdjacent", page)


def test_one_run_needs_no_comparison():
    told = data_of(html_report(run_of("alone", [1, 0])))
    assert told["comparisons"] == [] and len(told["runs"]) == 1


def test_runs_that_cannot_be_compared_are_shown_with_the_reason():
    told = data_of(html_report([run_of("a", [1, 0]), run_of("b", [1, 1], info={"rules": ["other@1"]})]))
    assert told["comparisons"] == [] and "rules" in told["comparison_note"]


def test_runs_on_several_benchmarks_stay_apart():
    told = data_of(html_report([run_of("a", [1, 0]), run_of("a", [1, 1], dataset="other")]))
    assert [one["runs"] for one in told["datasets"]] == [[0], [1]]
    assert len(told["samples"]) == 4


def test_runs_of_one_model_are_told_apart():
    again = run_of("a", [1, 1], info={"run_id": "again"})
    told = data_of(html_report([run_of("a", [1, 0]), again, run_of("a", [1, 1], dataset="other")]))
    assert [run["model"] for run in told["runs"]] == ["a (a-run)", "a (again)", "a"]
    assert [run["series"] for run in told["runs"]] == [0, 1, 2] and told["models"] == ["a (a-run)", "a (again)", "a"]
    assert (told["comparisons"][0]["a"], told["comparisons"][0]["b"]) == ("a (again)", "a (a-run)")


PNG = b"\x89PNG\r\n\x1a\n\x00\x00"


@pytest.mark.parametrize("content", [PNG, base64.b64encode(PNG).decode()])
def test_pictures_are_shown_if_they_are_pictures_and_small(content):
    assert plain({"bytes": content, "path": None}) == f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert plain({"bytes": b"<svg onload=alert(1)>"}) == {"bytes": "21 bytes"}
    assert plain({"bytes": PNG * 100_000}) == "a picture (png, 1,000,000 bytes), too large for this page"


def test_groups_are_those_of_the_metadata():
    def fields(number):
        return {"metadata": {"level": number % 3, "unique": number, "constant": 1}}

    values = [number % 2 for number in range(60)]
    told = data_of(html_report([run_of("a", values, samples=fields), run_of("b", [1] * 60, samples=fields)]))
    (group,) = told["groups"]
    assert group["field"] == "level" and [row["name"] for row in group["groups"]] == ["0", "1", "2"]
    assert group["groups"][0]["scores"]["1"]["value"] == 1.0 and group["groups"][0]["n"] == 20


def test_a_page_without_runs_is_refused():
    with pytest.raises(ArgumentError):
        html_report([])


def test_a_report_is_written_whole(tmp_path):
    path = write_report(str(tmp_path / "report.html"), run_of("a", [1, 0]), title="Mine")
    assert "<title>Mine</title>" in Path(path).read_text("utf-8")
    with Path(path).open() as reader:  # who has it open reads on
        write_report(path, run_of("a", [1, 0]), title="Other")
        assert "<title>Mine</title>" in reader.read()
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


# Bounds


def test_a_large_run_gives_a_small_page():
    def fields(number):
        return {"prediction": "word " * 50_000 if number % 50 == 0 else "short"}

    big = run_of("big", [number % 3 == 0 for number in range(5000)], samples=fields)
    page = html_report(big, max_samples=300, max_bytes=2 << 20)
    told = data_of(page)
    assert len(page) < (2 << 20) + 100_000
    assert 100 < len(told["samples"]) <= 300 and "of 5,000 samples" in told["sample_note"]
    assert told["runs"][0]["summary"][METRIC]["n"] == 5000
    assert max(len(sample["answers"][0]["prediction"]) for sample in told["samples"]) < 21_000


def test_a_page_may_hold_no_samples():
    told = data_of(html_report(run_of("a", [1, 0, 1]), max_bytes=0))
    assert told["samples"] == [] and told["runs"][0]["summary"][METRIC]["n"] == 3


@given(st.integers(0, 200), st.integers(1, 3), st.integers(0, 60), st.integers(0, 9))
def test_so_many_samples_are_chosen_and_models_that_differ_come_first(rows, runs, most, seed):
    values = np.random.default_rng(seed).integers(0, 2, (rows, runs)).astype(float)
    picked = chosen(values, most)
    assert len(picked) == min(rows, most)
    assert list(picked) == sorted(set(picked.tolist()))
    if rows > most:
        differ = (values != values[:, :1]).any(axis=1)
        assert differ[picked].sum() >= min(differ.sum(), most // 2)


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(st.characters()) | st.binary() | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3) | st.tuples(inner),
    max_leaves=10,
)


@given(anything)
def test_every_value_can_stand_in_a_page(value):
    page = html_report(run_of("a", [1], samples=lambda _: {"input": value, "target": value, "metadata": {"x": value}}))
    assert len(data_of(page)["samples"]) == 1


def test_values_of_every_depth_and_length_are_cut():
    deep = "end"
    for _ in range(500):
        deep = [deep]
    assert json.dumps(plain(deep))
    assert plain("x" * 30_000).endswith("(10,000 more characters)")
    assert len(plain(list(range(10_000)))) == 500
