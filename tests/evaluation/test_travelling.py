"""What goes to the workers of an evaluation and comes back: samples, answers and results as Arrow, no row pickled."""

from io import BytesIO

import pytest
from PIL import Image as Pictures

from crucible_datasets import Dataset, Features, Image, List, Value
from crucible_datasets.benchmarks import samples_from
from crucible_datasets.benchmarks.samples.table import Samples
from crucible_datasets.evaluation import evaluate
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.runs.columns import columns_of, rows_of
from crucible_datasets.executors.rayobjects import opened, packed

SAMPLES = [
    {"id": f"question-{n}", "input": f"asked {n}", "target": f"right {n}", "metadata": {"level": f"grade {n}"}}
    for n in range(40)
]


class Posting:
    """An executor that packs what a cluster would be sent, opens it here, and does the same with results."""

    name, aliases, shares_disk = "posting", (), False

    def __init__(self, sees_files=False, before_opening=lambda: None):
        self.sees, self.before_opening = sees_files, before_opening
        self.pickled = b""

    def sees_files(self):
        return self.sees

    def workers(self):
        return 2

    def run(self, tasks, workers, advance):
        parcels = [self._packed(task.run) for task in tasks]
        self.before_opening()
        for task, parcel in zip(tasks, parcels, strict=True):
            yield task.taken(opened(self._packed(opened(parcel)(0, advance))))

    def _packed(self, value):
        content, buffers = packed(value)
        self.pickled += content
        return content, buffers


def facts(result):
    return list(result.samples), result.summary


def answered(sample):
    return f"right {sample.id.partition('-')[2]}" if sample.metadata["level"] < "grade 3" else sample.input


def explained(prediction, target):
    return Outcome(float(prediction == target), extracted=prediction, detail={"words": target.split()})


@pytest.mark.parametrize("sees_files", [False, True])
def test_no_row_is_pickled_on_either_way(sees_files):
    given = {one["id"]: ["right 7", f"given {one['id'][9:]}"] for one in SAMPLES}
    for predictions in (given, answered):
        posting = Posting(sees_files)
        away = evaluate(predictions, SAMPLES, ["exact_match", explained], executor=posting, cache=False)
        assert facts(away) == facts(evaluate(predictions, SAMPLES, ["exact_match", explained], cache=False))
        assert posting.pickled
        assert not any(text in posting.pickled for text in (b"asked 1", b"grade 1", b"given 1", b"question-1"))


def test_answers_that_were_known_are_not_asked_for_again_whatever_they_are(tmp_path):
    kinds = {0: 7, 1: ["a", "b"], 2: {"answer": "x"}, 3: 2**80, 4: "\ud800"}
    asked = tmp_path / "asked"

    def model(sample):
        with asked.open("a") as file:
            file.write(f"{sample.id}\n")
        return kinds[int(sample.id[9:]) % 5]

    how = {"metrics": "contains", "cache": tmp_path / "cache", "cache_key": "kinds"}
    first, again, here = (evaluate(model, SAMPLES, executor=who, **how) for who in (Posting(), Posting(), None))
    assert sorted(asked.read_text().split()) == sorted(one["id"] for one in SAMPLES)
    assert facts(again) == facts(here)
    assert [one.outcomes for one in first.samples] == [one.outcomes for one in here.samples]


def test_pictures_go_along_and_results_name_those_of_the_program(tmp_path):
    paths = [str(tmp_path / f"{width}.png") for width in (1, 2, 3)]
    for width, path in enumerate(paths, 1):
        Pictures.new("L", (width, 1)).save(path)
    part = {"type": Value("string"), "text": Value("string"), "image": Image()}
    features = Features(
        id=Value("int64"),
        input=List({"role": Value("string"), "content": List(part)}),
        target=Value("string"),
        choices=List(Value("string")),
        metadata={},
    )
    shown = [
        {"role": "user", "content": [{"type": "image", "text": None, "image": {"path": path, "bytes": None}}]}
        for path in paths
    ]
    columns = {"id": [1, 2, 3], "input": [[one] for one in shown], "target": ["1", "2", "3"]}
    data = Dataset.from_dict({**columns, "choices": [None] * 3, "metadata": [{}] * 3}, features=features)

    def width(sample):
        return str(Pictures.open(BytesIO(sample.messages[0].images[0].bytes)).size[0])

    here = evaluate(width, Samples(data), "exact_match", cache=False)
    unseen = Posting(before_opening=lambda: [(tmp_path / f"{n}.png").unlink() for n in (1, 2, 3)])
    away = evaluate(width, Samples(data), "exact_match", cache=False, executor=unseen)
    assert here.value() == away.value() == 1.0
    assert facts(away) == facts(here)


def test_columns_give_rows_back():
    rows = [("a", 1, 1.0, True, None, 2**70, {"x": 1}), (None, 2, float("inf"), None, None, 1, "t"), ("é", *[None] * 6)]
    assert list(rows_of(columns_of(rows))) == rows
    assert [type(one) for row in rows_of(columns_of(rows)) for one in row] == [type(one) for row in rows for one in row]
    assert list(rows_of(columns_of([]))) == []


def test_equal_outcomes_are_one_object():
    away = evaluate([one["target"] for one in SAMPLES], samples_from(SAMPLES), "exact_match", executor=Posting())
    assert len({id(one.outcomes["exact_match@2"]) for one in away.samples}) <= 8
