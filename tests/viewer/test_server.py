"""The viewer over HTTP: every page is also JSON, every error has one shape, and no question breaks it."""

import json
import re
from pathlib import Path
from urllib.parse import quote, urlencode, urljoin
from urllib.request import Request, urlopen

import pytest
from support.runs import run_of
from support.viewers import PIXEL, served

from crucible_datasets import Dataset, DatasetDict, Features, Image, IterableDataset, List, ResultStore, Value, view
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.viewer.addresses import ADDRESSES, FILES, json_paths
from crucible_datasets.viewer.query import PARAMETERS

PAGES = {  # with the query that each needs
    "/": "",
    "/data/0": "",
    "/data/0/rows": "",
    "/data/0/row/1": "",
    "/data/0/place/1": "",
    "/data/0/summary": "?column=n",
    "/results/1": "",
    "/results/1/run/a-run": "",
    "/results/1/compare": "?runs=a-run,b-run",
    "/results/1/samples": "?runs=a-run,b-run",
    "/results/1/sample/q0": "?runs=a-run,b-run",
}


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    rows = [
        {"n": number, "text": "x" * number, "images": [{"bytes": PIXEL, "path": None}] * (number % 3)}
        for number in range(300)
    ]
    features = Features({"n": Value("int64"), "text": Value("string"), "images": List(Image())})
    store = ResultStore(tmp_path_factory.mktemp("store"))
    for model in "ab":
        store.save(run_of(model, [1, 0, None]))
    with served(Dataset.from_list(rows, features=features), store) as made:
        yield made


def test_every_page_is_also_json(asking):
    for page, query in PAGES.items():
        shown, told = asking(page + query), asking(f"{page}.json{query}")
        assert (shown.status, told.status) == (200, 200), (shown, told)
        assert shown.body.startswith(b"<!doctype html>") and isinstance(told.json, dict)
        assert shown.headers["content-type"].startswith("text/html")
        assert told.headers["content-type"] == "application/json"


def test_the_first_page_has_two_addresses(asking):
    assert asking.json("/.json") == asking.json("/index.json")


def test_every_address_is_in_the_manual_with_its_parameters():
    manual = (Path(__file__).parents[2] / "docs" / "viewer.md").read_text().split("## JSON API")[1]
    rows = [line.split(" | ") for line in manual.splitlines() if line.startswith("| `/")]
    documented = {
        address: set(re.findall(r"`(\w+)`", row[-1])) | (set(PARAMETERS) if "the query" in row[-1] else set())
        for row in rows
        for address in re.findall(r"`(/[^`]*)`", row[0])
    }
    known = {path: set(each.parameters) for each in ADDRESSES for path in json_paths(each)}
    known |= {each.path: set(each.parameters) for each in FILES}
    assert documented == {path.replace(":anything", ""): parameters for path, parameters in known.items()}


def test_an_address_that_does_not_exist_names_those_that_do(asking):
    for path in ("/nothing.json", "/data/0/nothing", "/data/0/rows.json/1", "/results.json"):
        answer = asking(path)
        assert answer.status == 404 and answer.error["type"] == "NotFound"
        assert answer.error["message"] == f"There is nothing at {path}."
        for known in ("/index.json", "/data/{id}/rows.json", "/results/{id}/run/{run}.json", "/sample/{sample}.json"):
            assert known in answer.error["hint"]
    assert "there are 0." in asking("/data/7.json").error["message"]
    assert "there are 1." in asking("/results/0.json").error["message"]


def test_every_script_and_style_of_the_page_is_there(asking):
    """Also those that scripts import, however deep."""
    waiting, seen = re.findall(r'(?:src|href)="(/assets/[^"]+)"', asking("/").body.decode()), set()
    while waiting:
        address = waiting.pop()
        if address in seen:
            continue
        seen.add(address)
        answer = asking(address)
        assert answer.status == 200, address
        if address.endswith(".js"):
            found = re.findall(r'(?:from|import\()\s*"(\.[^"]+)"', answer.body.decode())
            waiting += [urljoin(address, each) for each in found if "/vendor/" not in address]
    assert {"/assets/app/main.js", "/assets/report/charts.js", "/assets/app/results/compare.js"} <= seen


def test_a_parameter_that_a_page_does_not_have_is_refused(asking):
    for page, query in PAGES.items():
        address = f"{page}.json{query}{'&' if query else '?'}"
        answer = asking(f"{address}limti=1")
        assert answer.status == 400 and answer.error["type"] == "UnknownParameterError", page
        assert "'limti'" in answer.error["message"] and "Available: " in answer.error["message"]
        assert asking(f"{address}token=that-of-another-viewer").status == 200, page
    assert "Did you mean 'limit'?" in asking("/data/0/rows.json?limti=1").error["message"]
    assert asking("/data/0/download.csv?formula_save=false").error["type"] == "UnknownParameterError"


def test_a_column_that_does_not_exist_is_refused(asking):
    for page in ("/data/0.json", "/data/0/rows.json", "/data/0/download.csv"):
        for columns in ("txet", "n,txet", "__crucible_row__"):
            answer = asking(f"{page}?columns={columns}")
            assert answer.status == 400 and answer.error["type"] == "ColumnNotFoundError", (page, answer)
            assert "Available: n, text, images." in answer.error["message"]
        answer = asking(f"{page}?columns=n,n")
        assert answer.status == 400 and answer.error["message"].endswith("Existing columns: n, text, images.")


HOSTILE = ["-1", "0", "1e9", "NaN", "inf", "1" * 30, "9" * 5000, "x", "{", "[]", "null", "\0", "' or 1=1 --", "é\u202e", "%", "((" * 2000, "a" * 20_000, "n" + "+n" * 3000, ",,,", "-", "--n", "__row__", "text", "select", "select * from self limit 0", "select n as __row__ from self", "n", "self", "n > ", "n > 1 order by n", "1 = 1) or (1 = 1"]  # fmt: skip
NAMES = ["offset", "limit", "seed", "sort", "where", "sql", "q", "columns", "config", "split", "column", "row", "runs", "kind", "metric"]  # fmt: skip


def test_no_question_breaks_it(asking):
    statuses = set()
    for name, value in ((name, value) for name in NAMES for value in HOSTILE):
        page = "/data/0/summary" if name == "column" else "/results/1/samples" if name in NAMES[-3:] else "/data/0/rows"
        given = {"limit": "3"} | ({"runs": "a-run"} if name in ("kind", "metric") else {}) | {name: value}
        statuses |= _asked_well(asking, f"{page}.json?{urlencode(given)}")
    for value in HOSTILE:
        for path in ("data/0/row/{}.json", "data/{}.json", "results/{}.json", "results/1/run/{}.json"):
            statuses |= _asked_well(asking, "/" + path.format(quote(value, safe="")))
        for path in (
            "data/0/media/-/train/{}/images/0",
            "data/0/media/{}/train/0/images/0",
            "data/0/media/-/train/2/{}",
        ):
            statuses |= _asked_well(asking, "/" + path.format(quote(value, safe="")))
        statuses |= _asked_well(asking, f"/results/1/sample/{quote(value, safe='')}.json?runs=a-run")
    assert statuses >= {200, 400, 404}


def _asked_well(asking, path):
    answer = asking(path)
    assert answer.status < 500 and b"Traceback" not in answer.body and b'File \\"' not in answer.body, (path, answer)
    if answer.status >= 400 and "doctype" not in answer.body.decode("latin-1"):
        assert set(answer.json) == {"error"} and set(answer.error) == {"type", "message", "hint"}, (path, answer)
        assert answer.error["message"], path
    return {answer.status}


def test_an_error_of_ours_says_nothing_of_the_inside(asking, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("/home/somebody/inside.py")

    monkeypatch.setattr("crucible_datasets.viewer.rows.DatasetRows.page", broken)
    answer = asking("/data/0/rows.json")
    assert answer.status == 500 and answer.error["type"] == "ViewerError" and b"inside" not in answer.body


def test_answers_are_bounded(asking):
    assert len(asking.json("/data/0/rows.json?limit=100000")["rows"]) == 200
    cells = asking.json("/data/0/rows.json?sort=-n&limit=1&columns=text")["rows"][0]["cells"]
    assert cells == [{"t": "text", "v": "x" * 299}]


def test_everything_that_can_be_seen_has_a_view(tmp_path):
    rows = Dataset.from_dict({"n": [1, 2]})
    run = run_of("a", [1])
    store = ResultStore(tmp_path)
    store.save(run)
    for thing, page in (
        (rows, "/data/0.json"),
        (DatasetDict({"train": rows}), "/data/0.json"),
        (IterableDataset.from_list([{"n": 1}]), "/data/0.json"),
        (run, "/results/0.json"),
        (store, "/results/0.json"),
    ):
        with thing.view(browser=False) as viewer:
            asked = Request(viewer.url.split("?")[0].rstrip("/") + page, headers={"X-Crucible-Token": viewer.token})
            with urlopen(asked) as answer:
                assert json.load(answer)
            assert viewer.token not in viewer.url and viewer.url in viewer._repr_html_()
    with pytest.raises(ArgumentError, match="expected a name"):
        view(7, browser=False)
