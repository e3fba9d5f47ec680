"""Pages of runs say what the store and `compare` say."""

from itertools import product
from urllib.parse import quote

import pytest
from support.runs import run_of
from support.viewers import served

from crucible_datasets import Dataset, ResultStore, compare, evaluate
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.results.differences import difference
from crucible_datasets.viewer.results.judging import counted

MODELS = {"small": 5, "medium": 7, "large": 3}


def values(step):
    return [None if number % (step + 4) == 0 else int(number * step % 11 > 4) for number in range(80)]


def fields(number):
    text = f"So it is answer {number}; yes, answer {number} 🙂"
    metadata = {"topic": ["sums", "shapes"][number % 2], "level": number % 3}
    return {"id": f"quiz/{number}?a#b%20&{number}", "prediction": text, "metadata": metadata, "target": str(number)}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = ResultStore(tmp_path_factory.mktemp("store"))
    for number, (model, step) in enumerate(MODELS.items()):
        made.save(run_of(model, values(step), samples=fields, info={"created_at": f"2026-01-0{number + 1}T00:00:00Z"}))
    return made


@pytest.fixture(scope="module")
def asking(store):
    with served(store) as made:
        yield made


def test_the_table_is_the_list_of_the_store(store, asking):
    told = asking.json("/results/0.json")["runs"]
    assert [each["run"] for each in told] == [run.info.run_id for run in store.list()]
    for each, run in zip(told, store.list(), strict=True):
        (score,) = each["scores"].values()
        (summary,) = run.summary.values()
        ends = (summary.interval.low, summary.interval.high)
        assert (score["value"], score["low"], score["high"], score["n"]) == (summary.value, *ends, summary.n)


def test_a_run_tells_how_it_came_about(store, asking):
    run = store.load("small-run")
    told = asking.json("/results/0/run/small-run.json")
    assert told["info"]["dataset_hash"] == "h1" and told["info"]["rules"] == run.info.rules
    assert told["statuses"] == {key: one.counts for key, one in run.summary.items()}
    groups = {
        each["field"]: {part["name"]: part["scores"]["0"]["value"] for part in each["groups"]}
        for each in told["groups"]
    }
    for field in ("topic", "level"):
        expected = run.by(f"metadata.{field}")
        assert groups[field] == {str(name): next(iter(one.values())).value for name, one in expected.items()}
    wrong = told["kinds"]["all"] - told["kinds"].get("both_right", 0)
    assert wrong == told["kinds"]["both_wrong"] == round((1 - run.value()) * len(run))


def test_a_comparison_is_that_of_compare(store, asking):
    names = [f"{model}-run" for model in MODELS]
    told = asking.json(f"/results/0/compare.json?runs={','.join(names)}")
    rows = compare(*(store.load(name) for name in names))
    assert [
        (row["b"], row["a"], row["difference"], row["p"], row["p_adjusted"], row["low"], row["high"])
        for row in told["differences"]
    ] == [
        (row.first, row.second, row.difference, row.p_value, row.p_adjusted, row.interval.low, row.interval.high)
        for row in rows
    ]
    assert [each["run"] for each in told["runs"]] == names


@pytest.mark.parametrize("pair", [("small", "large"), ("large", "medium"), ("small", "small")])
def test_samples_are_of_the_kinds_that_the_store_tells(store, asking, pair):
    first, second = (f"{model}-run" for model in pair)
    difference = store.diff(first, second)
    query = f"runs={first},{second}"
    kinds = asking.json(f"/results/0/compare.json?{query}")["kinds"]
    for kind in ("fixed", "broken", "both_right", "both_wrong"):
        ids = [row.id for row in difference.of(kind)]
        found = asking.json(f"/results/0/samples.json?{query}&kind={kind}")
        assert [each["id"] for each in found["samples"]] == ids and found["total"] == len(ids) == kinds.get(kind, 0)
        pages = [
            asking.json(f"/results/0/samples.json?{query}&kind={kind}&offset={at}&limit=7") for at in range(0, 80, 7)
        ]
        assert [each["id"] for page in pages for each in page["samples"]] == ids
    unread = {
        one for name in (first, second) for one, outcome in outcomes(store.load(name)) if outcome.status == "unparsed"
    }
    found = asking.json(f"/results/0/samples.json?{query}&kind=unparsed")["samples"]
    assert {each["id"] for each in found} == unread


def test_samples_without_a_value_are_uncounted_as_the_store_tells():
    pairs = list(product(["yes", "no", None], repeat=2))
    asked = Dataset.from_dict({"input": list(range(9)), "target": ["yes"] * 9})
    first, second = (evaluate([pair[at] for pair in pairs], asked, missing="ignore") for at in (0, 1))
    told = {kind: number for kind, number in difference(first, second).counts.items() if number}
    assert counted([first, second]) == {**told, "all": 9, "differing": 2} and told["uncounted"] == 5


def outcomes(run):
    return zip(run.samples.ids(), run.samples.outcomes(run.key()), strict=True)


def test_a_sample_is_told_whole_and_knows_its_neighbours(store, asking):
    query = "runs=small-run,large-run&kind=fixed"
    listed = [each["id"] for each in asking.json(f"/results/0/samples.json?{query}")["samples"]]
    run = store.load("large-run")
    samples = {sample.id: sample for sample in run.samples}
    for place, one in enumerate(listed):
        told = asking.json(f"/results/0/sample/{quote(one, safe='')}.json?{query}")
        assert (told["id"], told["place"], told["total"]) == (one, place, len(listed))
        assert told["previous"] == (listed[place - 1] if place else None)
        assert told["next"] == (listed[place + 1] if place + 1 < len(listed) else None)
        answer = told["answers"][1]
        assert answer["prediction"] == samples[one].prediction and told["target"] == samples[one].target
        (outcome,) = samples[one].outcomes.values()
        assert (
            isinstance(outcome, Outcome) and outcome.extracted == next(iter(answer["outcomes"].values()))["extracted"]
        )
        marked = [answer["prediction"][start:end] for start, end in answer["marks"]]
        assert marked == [outcome.extracted]
        assert told["metadata"] == samples[one].metadata


def test_what_is_not_there_is_said(asking):
    for path, status in {
        "/results/0/run/nothing.json": (400, 404),
        "/results/0/compare.json?runs=small-run": (400,),
        "/results/0/compare.json": (400,),
        "/results/0/samples.json?runs=small-run&kind=odd": (400,),
        "/results/0/samples.json?runs=small-run&metric=odd": (400,),
        "/results/0/sample/none.json?runs=small-run": (404,),
        "/results/9.json": (404,),
    }.items():
        answer = asking(path)
        assert answer.status in status and answer.error["message"], (path, answer)


def test_a_result_alone_has_the_same_pages():
    with served(run_of("a", [1, 0], info={"run_id": "no/name, for an address?"})) as asking:
        (run,) = asking.json("/results/0.json")["runs"]
        assert asking.json(f"/results/0/run/{run['run']}.json")["model"] == "a"
        assert asking.json(f"/results/0/samples.json?runs={run['run']}")["total"] == 2
