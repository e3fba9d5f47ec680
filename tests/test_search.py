"""Exact answers, whatever the blocks; files that are whole or absent; errors that name the row."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.exceptions import (
    ArgumentError,
    ColumnNotFoundError,
    DatasetTransformationNotAllowedError,
    MissingIndexError,
    RowIndexError,
    UnknownEntryError,
)
from crucible_datasets.ops.search import ranking
from crucible_datasets.ops.search.errors import (
    IndexFileError,
    IndexKindError,
    IndexSizeError,
    NoGpuError,
    QueryError,
    VectorError,
)
from crucible_datasets.ops.search.exact import ExactIndex
from crucible_datasets.search import FaissIndex, IndexableMixin, MissingIndex, refuse_if_indexed

METRICS = ["cosine", "inner_product", "l2"]
RANDOM = np.random.default_rng(7)
VECTORS = RANDOM.normal(size=(50, 6)).astype(np.float32)


def dataset(vectors=VECTORS):
    rows = vectors.tolist() if hasattr(vectors, "tolist") else vectors
    return Dataset.from_dict({"vector": rows, "text": [f"row {i}" for i in range(len(rows))]})


def naive(vectors, query, metric, k):
    """Scores in double precision and rows, by definition."""
    vectors, query = vectors.astype(np.float64), query.astype(np.float64)
    scores = ((vectors - query) ** 2).sum(axis=1) if metric == "l2" else (vectors * query).sum(axis=1)
    if metric == "cosine":
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query)
        scores = np.divide(scores, lengths, out=np.zeros_like(scores), where=lengths > 0)
    with np.errstate(over="ignore"):
        scores = scores.astype(np.float32)
    order = np.argsort(scores if metric == "l2" else -scores, kind="stable")[:k]
    return scores[order], order


# Few distinct values, so that ties are common; far apart, so that single precision loses digits.
numbers = st.sampled_from([0.0, 1.0, -1.0, 2.0, 1e-3, 1000.0, 1000.125, -1e18, 1e30, 1e-30, 1e-42])
matrices = st.integers(1, 5).flatmap(
    lambda width: st.tuples(
        arrays.arrays(np.float32, st.tuples(st.integers(0, 40), st.just(width)), elements=numbers.map(np.float32)),
        arrays.arrays(np.float32, st.tuples(st.integers(0, 4), st.just(width)), elements=numbers.map(np.float32)),
    )
)


@pytest.mark.parametrize("metric", METRICS)
@settings(deadline=None, max_examples=40)
@given(data=matrices, k=st.integers(1, 50), block=st.integers(1, 2000))
def test_any_block_size_gives_the_defined_order(metric, data, k, block):
    vectors, queries = data
    index = ExactIndex(vectors, metric)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "BLOCK", block)
        found = index.search_batch(queries, k)
    assert found.total_scores.shape == found.total_indices.shape == (len(queries), min(k, len(vectors)))
    for query, scores, rows in zip(queries, *found, strict=True):
        expected_scores, expected_rows = naive(vectors, query, metric, k)
        if metric == "cosine":
            np.testing.assert_allclose(scores, expected_scores, rtol=1e-6, atol=1e-7)
            assert list(zip(-scores, rows, strict=True)) == sorted(zip(-scores, rows, strict=True))
        else:
            np.testing.assert_array_equal(scores, expected_scores)
            np.testing.assert_array_equal(rows, expected_rows)
        one = index.search(query, k)
        np.testing.assert_array_equal(one.scores, scores)
        np.testing.assert_array_equal(one.indices, rows)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_large_blocks_rank_like_the_definition(metric, dtype):
    vectors = RANDOM.normal(size=(20_000, 32)).astype(dtype)
    queries = RANDOM.normal(size=(300, 32)).astype(np.float32)
    found = ExactIndex(vectors, metric).search_batch(queries, 10)
    assert found.total_scores.dtype == (np.float64 if dtype is np.float64 else np.float32)
    for query, scores, rows in list(zip(queries, *found, strict=True))[::50]:
        expected_scores, expected_rows = naive(vectors, query, metric, 10)
        np.testing.assert_allclose(scores, expected_scores, rtol=1e-6)
        np.testing.assert_array_equal(rows, expected_rows)


small = st.integers(-8, 8).map(np.float32)
# Small integers are exact in single precision, so faiss and the exact index see the same ties.
exact_in_faiss = st.integers(1, 6).flatmap(
    lambda width: st.tuples(
        arrays.arrays(np.float32, st.tuples(st.integers(1, 60), st.just(width)), elements=small),
        arrays.arrays(np.float32, st.tuples(st.integers(1, 40), st.just(width)), elements=small),
    )
)


@pytest.mark.parametrize(("metric", "faiss_metric"), [("l2", 1), ("inner_product", 0)])
@settings(deadline=None, max_examples=40)
@given(data=exact_in_faiss, k=st.integers(1, 60))
def test_exact_agrees_with_flat_faiss(metric, faiss_metric, data, k):
    vectors, queries = data
    k = min(k, len(vectors))
    theirs = FaissIndex(metric_type=faiss_metric)
    theirs.add_vectors(vectors)
    exact, approximate = ExactIndex(vectors, metric).search_batch(queries, k), theirs.search_batch(queries, k)
    np.testing.assert_array_equal(exact.total_scores, approximate.total_scores)
    for scores, rows, faiss_rows in zip(*exact, approximate.total_indices, strict=True):
        better_than_last = scores != scores[-1]
        assert set(rows[better_than_last]) == set(faiss_rows[better_than_last])


def test_zero_vectors_have_no_direction():
    ours = dataset([[0.0, 0.0], [3.0, 0.0], [-1.0, 0.0]]).add_exact_index("vector")
    found = ours.search("vector", [5.0, 0.0])
    assert found.scores.tolist() == [1.0, 0.0, -1.0]
    assert found.indices.tolist() == [1, 0, 2]
    assert ours.search("vector", [0.0, 0.0]).indices.tolist() == [0, 1, 2]


def test_a_vector_is_at_distance_zero_from_itself_however_long():
    vectors = (VECTORS + 10_000).astype(np.float32)
    found = ExactIndex(vectors, "l2").search_batch(vectors, 1)
    assert found.total_scores.max() == 0
    assert found.total_indices[:, 0].tolist() == list(range(len(vectors)))


@pytest.mark.parametrize("add", ["add_exact_index", "add_faiss_index"])
@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_rows_are_those_the_dataset_shows(add, batch_size):
    ours = dataset().shuffle(seed=1)
    getattr(ours, add)("vector", batch_size=batch_size)
    found = ours.get_nearest_examples_batch("vector", VECTORS, k=1)
    assert [examples["text"] for examples in found.total_examples] == [[f"row {i}"] for i in range(50)]


def test_nearest_examples_are_as_many_as_there_are():
    ours = dataset().add_exact_index("vector", "near", metric="l2").add_faiss_index("vector")
    for name in ours.list_indexes():
        found = ours.get_nearest_examples(name, VECTORS[3], k=80)
        assert len(found.scores) == len(found.examples["text"]) == 50
        assert found.examples["text"][0] == "row 3"


def test_indexes_are_kept_by_name():
    ours = dataset()
    assert ours.add_exact_index("vector", index_name="a") is ours
    assert ours.add_exact_index_from_external_arrays(VECTORS[:, :2], "b", metric="l2") is None
    assert ours.list_indexes() == ["a", "b"]
    assert ours.is_index_initialized("a")
    assert not ours.is_index_initialized("vector")
    ours.drop_index("a")
    for call in (ours.get_index, ours.drop_index, lambda name: ours.search(name, VECTORS[0])):
        with pytest.raises(MissingIndex, match=r"There is no search index 'a'.*Attached: b"):
            call("a")
    assert MissingIndex is MissingIndexError


def test_external_arrays_are_copied():
    theirs = VECTORS.copy()
    ours = dataset()
    ours.add_exact_index_from_external_arrays(theirs, "e", metric="l2")
    theirs[:] = 0
    assert ours.search("e", VECTORS[5], k=1).scores.tolist() == [0.0]


@pytest.mark.parametrize("kind", ["exact", "faiss"])
@pytest.mark.parametrize("place", ["folder/index", "memory://search/index"])
def test_saved_indexes_are_read_back(kind, place, tmp_path):
    file = place if "://" in place else tmp_path / place
    ours = dataset()
    getattr(ours, f"add_{kind}_index")("vector")
    load = ours.load_index if kind == "exact" else ours.load_faiss_index
    for _ in range(2):
        ours.save_index("vector", file)
        load("again", file)
    first, second = (ours.search_batch(name, VECTORS, k=5) for name in ("vector", "again"))
    np.testing.assert_array_equal(first.total_indices, second.total_indices)
    np.testing.assert_array_equal(first.total_scores, second.total_scores)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ([] if "://" in place else ["index"])


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    ours = dataset().add_exact_index("vector")
    ours.save_index("vector", tmp_path / "index")
    before = (tmp_path / "index").read_bytes()

    def half(stream, **parts):
        stream.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", half)
    with pytest.raises(OSError, match="disk full"):
        ours.save_index("vector", tmp_path / "index")
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    assert (tmp_path / "index").read_bytes() == before


def test_damaged_or_foreign_files_are_refused(tmp_path):
    ours = dataset().add_exact_index("vector")
    ours.save_index("vector", tmp_path / "index")
    whole = (tmp_path / "index").read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    np.savez(tmp_path / "other.npz", vectors=VECTORS)
    np.save(tmp_path / "plain.npy", VECTORS)
    pickled = np.array([{"a": 1}], dtype=object)
    np.savez(tmp_path / "pickle.npz", header=pickled, vectors=pickled)
    (tmp_path / "short").write_bytes(whole[:-40])
    (tmp_path / "flipped").write_bytes(flipped)
    (tmp_path / "empty").write_bytes(b"")
    for name in ("other.npz", "plain.npy", "pickle.npz", "short", "flipped", "empty"):
        with pytest.raises(IndexFileError, match=name):
            ours.load_index("again", tmp_path / name)
    with pytest.raises(FileNotFoundError):
        ours.load_index("again", tmp_path / "absent")
    assert ours.list_indexes() == ["vector"]


def test_an_index_of_another_size_is_refused(tmp_path):
    ours = dataset().add_exact_index("vector").add_faiss_index("vector", "f")
    ours.save_index("vector", tmp_path / "exact")
    ours.save_index("f", tmp_path / "faiss")
    fewer = dataset(VECTORS[:10])
    for call in (
        lambda: fewer.load_index("x", tmp_path / "exact"),
        lambda: fewer.load_faiss_index("x", tmp_path / "faiss"),
        lambda: fewer.add_exact_index_from_external_arrays(VECTORS, "x"),
        lambda: fewer.add_faiss_index_from_external_arrays(VECTORS, "x"),
    ):
        with pytest.raises(IndexSizeError, match="Index 'x' has 50 entries, but the dataset has 10 rows"):
            call()
    with pytest.raises(IndexKindError, match=r"ExactIndex.*FaissIndex"):
        ours.save_faiss_index("vector", tmp_path / "no")


@pytest.mark.parametrize("add", ["add_exact_index", "add_faiss_index"])
@pytest.mark.parametrize("batch_size", [1, 2, 10])
@pytest.mark.parametrize(("row", "said"), [(None, "None"), ([1.0], "1 numbers"), ([1.0, 2.0, 3.0], "3 numbers")])
def test_a_row_that_is_no_vector_is_named(add, batch_size, row, said):
    ours = dataset([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], row])
    with pytest.raises(VectorError, match=f"Column 'vector', row 3: found {said}") as caught:
        getattr(ours, add)("vector", batch_size=batch_size)
    assert (caught.value.column, caught.value.row) == ("vector", 3)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert ours.list_indexes() == []


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), 1e60])
def test_an_exact_index_wants_finite_numbers(value):
    with pytest.raises(VectorError, match="Column 'vector', row 1: found NaN, None or infinity"):
        dataset([[1.0, 2.0], [1.0, value]]).add_exact_index("vector")
    with pytest.raises(VectorError, match="The arrays, row 0"):
        dataset([[1.0]]).add_exact_index_from_external_arrays(np.array([[np.nan]]), "e")


@pytest.mark.parametrize("add", ["add_exact_index", "add_faiss_index"])
def test_columns_that_cannot_be_indexed_are_refused(add):
    def attempt(rows, column="vector", **options):
        getattr(dataset(rows), add)(column, **options)

    with pytest.raises(ColumnNotFoundError):
        attempt(VECTORS, column="vectr")
    with pytest.raises(RowIndexError):
        getattr(dataset().take(0), add)("vector")
    with pytest.raises(ArgumentError, match="batch_size=0"):
        attempt(VECTORS, batch_size=0)
    for rows in ([1.0, 2.0], [["a"], ["b"]], [[[1.0]], [[2.0]]]):
        with pytest.raises(VectorError, match="an index needs lists of numbers"):
            attempt(rows)


def test_the_first_row_may_be_the_one_without_a_vector():
    with pytest.raises(VectorError, match="row 0: found None"):
        dataset([None, [1.0]]).add_exact_index("vector")


@pytest.mark.parametrize("rows", [[[1, 2], [3, 4]], [[True, False], [True, True]]])
def test_integers_and_booleans_are_numbers(rows):
    ours = dataset(rows).add_exact_index("vector", metric="l2").add_faiss_index("vector", "f")
    assert (
        ours.search("vector", rows[1], k=1).indices.tolist() == ours.search("f", rows[1], k=1).indices.tolist() == [1]
    )


@pytest.mark.parametrize("name", ["exact", "faiss"])
def test_queries_that_do_not_fit_are_refused(name):
    ours = dataset().add_exact_index("vector", "exact").add_faiss_index("vector", "faiss")
    for query in (VECTORS[:2], VECTORS[0, :3], VECTORS[0].reshape(6, 1), "text", None, []):
        with pytest.raises(QueryError, match="Cannot search with"):
            ours.search(name, query)
    for queries in (VECTORS[0], VECTORS[:, :3], VECTORS[:4].reshape(2, 2, 6), ["text"]):
        with pytest.raises(QueryError, match="Cannot search with"):
            ours.search_batch(name, queries)
    for k in (0, -1):
        with pytest.raises(QueryError, match="k to be 1 or more"):
            ours.search(name, VECTORS[0], k)
    for k in (2.0, None):
        with pytest.raises(TypeError):
            ours.search(name, VECTORS[0], k)
    with pytest.raises(TypeError, match="nonsense"):
        ours.search(name, VECTORS[0], nonsense=1)


def test_queries_of_an_exact_index_are_finite():
    with pytest.raises(QueryError, match="finite"):
        dataset().add_exact_index("vector").search("vector", [np.nan] * 6)


def test_options_that_do_not_exist_are_refused():
    with pytest.raises(UnknownEntryError, match="no metric 'euclid'"):
        dataset().add_exact_index("vector", metric="euclid")
    with pytest.raises(ArgumentError, match="dtype='int32'"):
        dataset().add_exact_index("vector", dtype=np.int32)
    with pytest.raises(ArgumentError, match="either string_factory or custom_index"):
        FaissIndex(string_factory="Flat", custom_index=object())
    with pytest.raises(ArgumentError, match="train_size=0"):
        dataset().add_faiss_index("vector", train_size=0)
    with pytest.raises(TypeError, match="device"):
        dataset().add_faiss_index("vector", device="0")
    for device in (0, -1, [0]):
        with pytest.raises(NoGpuError, match="no GPU support"):
            dataset().add_faiss_index("vector", device=device)


MOVES = {
    "select": lambda one: one.select([1, 0]),
    "sort": lambda one: one.sort("text"),
    "shuffle": lambda one: one.shuffle(seed=1),
    "train_test_split": lambda one: one.train_test_split(test_size=2),
}


@pytest.mark.parametrize("operation", MOVES)
def test_rows_do_not_move_under_an_index(operation):
    refuse_if_indexed({}, operation)
    ours = dataset().add_exact_index("vector")
    with pytest.raises(DatasetTransformationNotAllowedError, match=f"{operation} would change.*vector"):
        refuse_if_indexed(ours.list_indexes(), operation)
    with pytest.raises(DatasetTransformationNotAllowedError):
        MOVES[operation](ours)


@pytest.mark.parametrize("add", ["add_exact_index", "add_faiss_index"])
def test_indexes_survive_pickling(add):
    ours = getattr(dataset(), add)("vector")
    found = ours.search("vector", VECTORS[0])
    for again in (pickle.loads(pickle.dumps(ours)), copy.deepcopy(ours)):
        np.testing.assert_array_equal(again.search("vector", VECTORS[0]).indices, found.indices)


def test_the_mixin_only_introduces():
    """A method is a signature, a docstring and at most three statements."""
    import ast
    import textwrap

    tree = ast.parse(textwrap.dedent(inspect.getsource(IndexableMixin)))
    for function in (node for node in tree.body[0].body if isinstance(node, ast.FunctionDef)):
        assert (
            len([node for node in function.body if not isinstance(node, ast.Expr) or node is not function.body[0]]) <= 3
        )
        assert not [node for node in ast.walk(function) if isinstance(node, ast.For | ast.While | ast.Try)]
