"""A database answers as the files do: the same queries, on SQLite and on a real PostgreSQL."""

from itertools import product

import pytest
from support.postgres import server

from crucible_datasets.cli import exit_codes
from crucible_datasets.evaluation import EvaluationResult, Outcome, ResultStore, RunInfo, SampleResult, SqlMirror
from crucible_datasets.evaluation.runs.record import MetricSummary
from crucible_datasets.exceptions import (
    ArgumentError,
    DatabaseError,
    FileFormatError,
    MissingPackageError,
    StorageError,
)

MODELS = ["org/small", "Org/Small", "a.b*c", "100%_x", "quote'\"", "größe", "\\d+"]


@pytest.fixture(scope="module")
def postgres():
    with server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    return str(tmp_path / "mirror.db") if request.param == "sqlite" else request.getfixturevalue("postgres")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = ResultStore(tmp_path_factory.mktemp("store"))
    for number, model in enumerate(MODELS):
        info = RunInfo(
            run_id=f"{'aBz'[number % 3]}-{number}",
            model=model,
            dataset="gsm8k" if number % 2 else "math",
            split=None if number % 3 else "test",
            revision=f"r{number}",
            created_at=f"2026-11-{10 + number // 2:02d}T00:00:0{number}.000000+00:00",
            tags=["x"] * (number % 2) + ["y"] * (number % 3),
            metrics=["exact_match@2"],
        )
        value = None if number == 5 else number / 6
        summary = {"exact_match@2": MetricSummary(value, 1), "f1@2": MetricSummary(1.0, 1)}
        sample = SampleResult("1", "said\0", "t", {"exact_match@2": Outcome(value, "got")})
        made.save(EvaluationResult(info, [sample], summary))
    return made


def questions():
    models = [None, "org/small", "org/*", "*", "a.b*c", "*_x", "größe", "\\d+", [], ["Org/Small", "quote'\""]]
    scores = [
        None,
        {"exact_match": 0.5},
        {"exact_match@2": (None, 0.5)},
        {"f1": (0, 1), "exact_match": (0.1, 0.9)},
        {"f1@1": 0},
    ]
    dates = [
        {},
        {"since": "2026-11-11"},
        {"until": "2026-11-12"},
        {"since": "2026-11-11", "until": "2026-11-12T00:00:04"},
    ]
    for model, score, when in product(models, scores, dates):
        yield {"model": model, "scores": score, **when}
    yield from ({"tags": tags} for tags in ("x", ["x", "y"], "z"))
    yield from ({"dataset": "gsm8k", "split": "test"}, {"revision": ["r1", "r2"]}, {"limit": 3}, {"limit": 0}, {})


def test_a_mirror_answers_as_the_store(store, url):
    with SqlMirror(url) as mirror:
        assert mirror.sync(store) == (len(MODELS), 0)
        for asked in questions():
            assert mirror.query(**asked) == store.query(**asked), asked
        assert mirror.sync(store) == (0, 0)


def test_a_mirror_follows_the_store(tmp_path, store, url):
    own = ResultStore(tmp_path / "own")
    own.save(EvaluationResult(RunInfo(run_id="only", model="m", dataset="d", metrics=[]), [], {}))
    with SqlMirror(url) as mirror:
        mirror.sync(store)
        assert mirror.sync(own) == (1, len(MODELS)) and [run.info.run_id for run in mirror.list()] == ["only"]
        own.delete("only")
        assert mirror.sync(own) == (0, 1) and mirror.list() == []


def test_samples_can_be_asked_for_in_sql(store, url):
    with SqlMirror(url) as mirror:
        mirror.sync(store)
        mirror.sync(store, samples=True)
        counted = mirror.sql("SELECT COUNT(*), MIN(prediction) FROM crucible_samples WHERE value >= ?", 0.5)
        assert counted == [(3, "said�")]
        assert mirror.sql("SELECT '?%', COUNT(*) FROM crucible_runs WHERE run_id = ?", "a-0") == [("?%", 1)]


def test_two_mirrors_of_one_database_agree(store, url):
    with SqlMirror(url) as one, SqlMirror(url) as other:
        one.sync(store)
        assert other.sync(store)[0] == 0 and other.list() == one.list()


def test_the_mirror_of_a_store_lies_in_it(tmp_path):
    store = ResultStore(tmp_path)
    store.save(EvaluationResult(RunInfo(run_id="r", model="m", dataset="d", metrics=[]), [], {}))
    with store.mirror() as mirror:
        assert len(mirror.list()) == 1 and (tmp_path / "mirror.sqlite").exists()


def test_the_password_of_a_database_is_not_shown(postgres):
    with SqlMirror(postgres.replace("tester@", "tester:s3cret@")) as mirror:
        assert "s3cret" not in repr(mirror)


def test_postgres_needs_its_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingPackageError, match="postgres"):
        SqlMirror("postgresql://nobody@127.0.0.1/none")


def test_what_is_wrong_with_a_database_is_told(tmp_path, store):
    with pytest.raises(ArgumentError, match="mysql://host/db"):
        SqlMirror("mysql://me:s3cret@host/db")
    (tmp_path / "text.db").write_text("this is no database, and longer than a header of one would be" * 99)
    with pytest.raises(FileFormatError, match=r"text\.db.*not a database"):
        SqlMirror(str(tmp_path / "text.db"))
    with pytest.raises(DatabaseError, match="unable to open"):
        SqlMirror(str(tmp_path))
    with SqlMirror(str(tmp_path / "mirror.db")) as mirror:
        with pytest.raises(DatabaseError, match="no such table"):
            mirror.sql("SELECT * FROM absent")
        mirror.sql("PRAGMA max_page_count = 1")  # as on a disk that is full
        with pytest.raises(StorageError, match=r"mirror\.db: No space left"):
            mirror.sync(store, samples=True)
        kept = len(mirror.list())
        mirror.sql("PRAGMA max_page_count = 100000")
        assert mirror.sync(store, samples=True) == (len(MODELS) - kept, 0) and kept < len(MODELS)


def test_a_server_that_is_not_there_is_told_without_its_password():
    pytest.importorskip("psycopg")
    with pytest.raises(DatabaseError) as told:
        SqlMirror("postgresql://me:s3cret@127.0.0.1:9/db")
    assert exit_codes.code_of(told.value) == exit_codes.UNREACHABLE and "s3cret" not in str(told.value)
