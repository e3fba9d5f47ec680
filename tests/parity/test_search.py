"""The same searches on Hugging Face `datasets` and here."""

from __future__ import annotations

import inspect

import datasets
import faiss
import numpy as np
import pytest

from crucible_datasets import search as ours
from crucible_datasets.arrow_dataset import Dataset

RANDOM = np.random.default_rng(11)
VECTORS = RANDOM.normal(size=(120, 8)).astype(np.float32)
QUERIES = RANDOM.normal(size=(30, 8)).astype(np.float32)
LIBRARIES = [datasets.Dataset, Dataset]
METHODS = [name for name in vars(datasets.search.IndexableMixin) if not name.startswith("_")]


@pytest.fixture(autouse=True)
def quiet():
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


def both(column=None):
    rows = VECTORS.tolist() if column is None else column
    return [library.from_dict({"v": rows, "n": list(range(len(rows)))}) for library in LIBRARIES]


def raised(call):
    """Whatever the call raises: which kind is what the tests ask."""
    try:
        call()
    except Exception as error:
        return error
    pytest.fail("nothing was raised")


def check_same(expected, found):
    """Equal named tuples of arrays, lists and batches, of equal types."""
    assert type(found).__name__ == type(expected).__name__
    assert found._fields == expected._fields
    for theirs, mine in zip(expected, found, strict=True):
        assert type(mine) is type(theirs)
        np.testing.assert_equal(mine, theirs)
        assert getattr(mine, "dtype", None) == getattr(theirs, "dtype", None)


@pytest.mark.parametrize("name", METHODS)
def test_signatures(name):
    theirs, mine = (inspect.signature(getattr(library, name)).parameters.values() for library in LIBRARIES)
    assert [(p.name, p.kind, p.default) for p in mine] == [(p.name, p.kind, p.default) for p in theirs]


@pytest.mark.parametrize("name", ["BaseIndex", "FaissIndex", "ElasticSearchIndex", "SearchResults"])
def test_every_name_of_a_class_is_here(name):
    assert {n for n in dir(getattr(datasets.search, name)) if n[0] != "_"} <= set(dir(getattr(ours, name)))


OPTIONS = {
    "flat": {},
    "inner product": {"metric_type": faiss.METRIC_INNER_PRODUCT},
    "l1": {"string_factory": "Flat", "metric_type": faiss.METRIC_L1},
    "hnsw": {"string_factory": "HNSW8,Flat"},
    "trained": {"string_factory": "IVF2,Flat", "train_size": 100},
    "train size from the end": {"string_factory": "IVF2,Flat", "train_size": -5},
    "more training than rows": {"string_factory": "IVF2,Flat", "train_size": 10_000},
    "batches": {"batch_size": 7, "faiss_verbose": False},
    "half": {"dtype": np.float16},
    "double": {"dtype": np.float64},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_searches(options):
    theirs, mine = both()
    for one in (theirs, mine):
        assert one.add_faiss_index("v", index_name="i", **options) is one
    for k in (5, 200):
        check_same(theirs.search("i", QUERIES[0], k), mine.search("i", QUERIES[0], k))
        check_same(
            theirs.search("i", QUERIES[:1].astype(np.float64), k), mine.search("i", QUERIES[:1].astype(float), k)
        )
        check_same(theirs.search_batch("i", QUERIES, k), mine.search_batch("i", QUERIES, k))
        check_same(theirs.get_nearest_examples("i", QUERIES[0], k), mine.get_nearest_examples("i", QUERIES[0], k))
        check_same(
            theirs.get_nearest_examples_batch("i", QUERIES[:3], k), mine.get_nearest_examples_batch("i", QUERIES[:3], k)
        )
    fortran = np.asfortranarray(QUERIES)
    check_same(theirs.search_batch("i", fortran, 3), mine.search_batch("i", fortran, 3))
    check_same(theirs.search_batch("i", QUERIES[:0], 3), mine.search_batch("i", QUERIES[:0], 3))


def test_search_options_reach_faiss():
    chosen = faiss.SearchParameters(sel=faiss.IDSelectorRange(4, 6))
    theirs, mine = (one.add_faiss_index("v") for one in both())
    check_same(theirs.search("v", QUERIES[0], 5, params=chosen), mine.search("v", QUERIES[0], 5, params=chosen))
    check_same(
        theirs.get_nearest_examples("v", QUERIES[0], 5, params=chosen),
        mine.get_nearest_examples("v", QUERIES[0], 5, params=chosen),
    )


def test_custom_indexes():
    theirs, mine = both()
    for one in (theirs, mine):
        index = faiss.IndexFlatIP(8)
        one.add_faiss_index("v", custom_index=index)
        assert index.ntotal == 120
        assert one.get_index("v").faiss_index is index
    check_same(theirs.search("v", QUERIES[0]), mine.search("v", QUERIES[0]))


def test_binary_indexes():
    bits = RANDOM.integers(0, 256, size=(40, 2)).astype(np.uint8)
    found = []
    for one in both(bits.tolist()):
        one.add_faiss_index("v", custom_index=faiss.IndexBinaryFlat(16), dtype=np.uint8)
        found.append(one.search_batch("v", bits[:5], 3))
    check_same(*found)


def test_external_arrays():
    theirs, mine = both()
    for one in (theirs, mine):
        assert one.add_faiss_index_from_external_arrays(VECTORS[:, :3] * 2, "e", batch_size=50) is None
        assert one.list_indexes() == ["e"]
    check_same(theirs.search("e", QUERIES[0, :3]), mine.search("e", QUERIES[0, :3]))


@pytest.mark.parametrize("place", ["index.faiss", "new/folder/index.faiss", "memory://parity/index.faiss"])
def test_each_reads_what_the_other_saved(place, tmp_path):
    file = place if "://" in place else tmp_path / place
    theirs, mine = (one.add_faiss_index("v") for one in both())
    for writer, reader in ((theirs, mine), (mine, theirs)):
        writer.save_faiss_index("v", file)
        assert reader.load_faiss_index("w", file) is None
        check_same(theirs.search("v", QUERIES[0]), ours.SearchResults(*reader.search("w", QUERIES[0])))


MISTAKES = {
    "no such column": lambda one: one.add_faiss_index("nope"),
    "not a list": lambda one: one.add_faiss_index("n"),
    "two kinds": lambda one: one.add_faiss_index("v", string_factory="Flat", custom_index=faiss.IndexFlatL2(8)),
    "unknown factory": lambda one: one.add_faiss_index("v", string_factory="Nope"),
    "not trained": lambda one: one.add_faiss_index("v", string_factory="IVF2,Flat"),
    "nothing to train on": lambda one: one.add_faiss_index("v", train_size=0),
    "wrong width": lambda one: one.add_faiss_index("v", custom_index=faiss.IndexFlatL2(5)),
    "batch size": lambda one: one.add_faiss_index("v", batch_size=0),
    "gpu": lambda one: one.add_faiss_index("v", device=0),
    "device": lambda one: one.add_faiss_index("v", device="0"),
    "drop unknown": lambda one: one.drop_index("nope"),
    "two queries": lambda one: one.search("i", QUERIES[:2]),
    "column query": lambda one: one.search("i", QUERIES[:1].T),
    "short query": lambda one: one.search("i", QUERIES[0, :3]),
    "short queries": lambda one: one.search_batch("i", QUERIES[:, :3]),
    "one of many": lambda one: one.search_batch("i", QUERIES[0]),
    "k of 0": lambda one: one.search("i", QUERIES[0], 0),
    "k of 2.0": lambda one: one.search("i", QUERIES[0], 2.0),
    "unknown option": lambda one: one.search("i", QUERIES[0], nonsense=1),
    "no such file": lambda one: one.load_faiss_index("w", "/nowhere/at/all"),
    "two clients": lambda one: one.add_elasticsearch_index("n", host="localhost", es_client=object()),
    "nothing to save": lambda one: ours.BaseIndex().save("x"),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_mistakes_raise_what_callers_catch(mistake):
    theirs, mine = (raised(lambda one=one: mistake(one.add_faiss_index("v", "i"))) for one in both())
    assert isinstance(mine, type(theirs))


@pytest.mark.parametrize("rows", [[[1.0, 2.0], None], [[1.0, 2.0], [3.0]], [[[1.0]], [[2.0]]]])
def test_rows_that_are_no_vectors(rows):
    theirs, mine = (raised(lambda one=one: one.add_faiss_index("v")) for one in both(rows))
    assert isinstance(mine, type(theirs))


def test_an_index_of_another_size(tmp_path):
    theirs, mine = (one.add_faiss_index("v") for one in both())
    mine.save_faiss_index("v", tmp_path / "index")
    errors = [raised(lambda one=one: one.load_faiss_index("w", tmp_path / "index")) for one in both([[1.0] * 8])]
    assert isinstance(errors[1], type(errors[0]))
    assert isinstance(raised(lambda: mine.get_index("nope")), ours.MissingIndex)
    assert isinstance(raised(lambda: theirs.get_index("nope")), datasets.search.MissingIndex)
