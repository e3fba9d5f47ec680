"""`overlap` and `decontaminate` find what a loop over Python sets finds, whichever side is larger, however rows are given."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets import Dataset, DatasetDict
from crucible_datasets.benchmarks import (
    Message,
    Sample,
    decontaminate,
    load_benchmark,
    load_samples,
    overlap,
    samples_from,
)
from crucible_datasets.benchmarks.contamination import sources, words
from crucible_datasets.benchmarks.contamination.minhash import band_length
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, ColumnNotFoundError

# Few words, so that texts meet; some with more than one byte, some that differ in case or punctuation alone.
spoken = st.sampled_from(
    [
        "a",
        "b",
        "B",
        "c,",
        "42",
        "é",
        "É",
        "straße",
        "don't",
        "漢字",
        "the",
        "ก\u0e33ไ",
        "e\u0301",
        "①",
        "ﬁn",
        "数a学",
        "—",
        "İ",
        "🙂",
        "𠀀",
    ]
)
texts = st.lists(spoken, max_size=12).map(" ".join)
sides = st.lists(texts, max_size=8)
fewer = settings(max_examples=30)


ALONE = re.compile("[\u4e00-\u9fff\u0e00-\u0eff\U00020000-\U0002ffff]")


def words_in(text):
    """Words as a loop over characters finds them."""
    found, open_, alone = [], False, False
    for each in unicodedata.normalize("NFKC", text).casefold():
        kind = unicodedata.category(each)[0]
        if kind == "M" and open_:
            found[-1] += each
        elif kind in "LMN":
            own = bool(ALONE.match(each)) and kind != "M"
            if open_ and not own and not alone:
                found[-1] += each
            else:
                found.append(each)
            open_, alone = True, own
        else:
            open_ = alone = False
    return found


def runs_in(text, n):
    found = words_in(text)
    return [tuple(found[at : at + n]) for at in range(max(len(found) - n + 1, 1))] if found else []


def naive(train, test, n):
    """The share of each test row, the train rows of each, and the train rows that have anything."""
    everywhere = {run for text in train for run in runs_in(text, n)}
    shares, matches = [], []
    for text in test:
        runs = runs_in(text, n)
        shares.append(sum(run in everywhere for run in runs) / len(runs) if runs else 0.0)
        matches.append([row for row, other in enumerate(train) if set(runs) & set(runs_in(other, n))])
    return shares, matches, sorted({row for rows in matches for row in rows})


@fewer
@given(train=sides, test=sides, n=st.integers(1, 5))
def test_runs_of_words_are_those_of_a_loop(train, test, n):
    report = overlap(train, test, n, max_matches=100)
    shares, matches, train_rows = naive(train, test, n)
    assert report.shares.tolist() == pytest.approx(shares)
    assert [report.matches(row) for row in range(len(test))] == matches
    assert report.train_rows == train_rows
    assert report.contaminated == [row for row, share in enumerate(shares) if share]
    assert (report.num_train, report.num_test) == (len(train), len(test))


@fewer
@given(train=sides, test=sides, n=st.integers(1, 3), most=st.integers(1, 3))
def test_the_first_matches_are_kept_whichever_side_is_indexed(train, test, n, most):
    _, matches, _ = naive(train, test, n)
    more = [*train, *["zz"] * 20]  # now the test side is the smaller one
    for side in (train, more, [*train, *[""] * 20]):
        report = overlap(side, [*test], n, max_matches=most)
        assert [report.matches(row) for row in range(len(test))] == [rows[:most] for rows in matches]


@fewer
@given(train=sides, test=sides)
def test_exact_compares_whole_texts(train, test):
    report = overlap(train, test, method="exact", max_matches=100)
    same = [
        [row for row, other in enumerate(train) if words_in(text) and words_in(other) == words_in(text)]
        for text in test
    ]
    assert [report.matches(row) for row in range(len(test))] == same
    assert report.shares.tolist() == [float(bool(rows)) for rows in same]


@fewer
@given(
    before=texts,
    after=texts,
    planted=st.lists(spoken, min_size=3, max_size=6),
    where=st.integers(0, 30),
    n=st.integers(1, 3),
)
def test_what_is_planted_anywhere_is_found(before, after, planted, where, n):
    text = " ".join(planted)
    train = [f"q{row} r{row} s{row}" for row in range(30)]
    train.insert(where, f"{before} {text} {after}")
    if len(words_in(text)) >= n:
        report = overlap(train, [text], n)
        assert report.shares[0] == 1.0 and where in report.matches(0)


@fewer
@given(train=sides, test=sides, n=st.integers(1, 3), threshold=st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_nothing_is_contaminated_after_decontamination(train, test, n, threshold):
    clean, report = decontaminate(train, test, n, threshold=threshold)
    assert overlap(clean, test, n, threshold=threshold).contaminated == []
    bad = {run for row in report.contaminated for run in runs_in(test[row], n)}
    assert clean == [text for text in train if not bad & set(runs_in(text, n))]


@pytest.mark.parametrize("size", [1, 7, 64])
@settings(max_examples=20)
@given(texts=st.lists(st.lists(spoken, max_size=40).map(" ".join), max_size=6))
def test_pieces_of_bytes_change_no_word(size, texts):
    whole = words.words_of(pa.array(texts, pa.string()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "_BYTES_AT_ONCE", size)
        cut = words.words_of(pa.array(texts, pa.string()))
    assert cut.numbers.tolist() == whole.numbers.tolist() and cut.per_text.tolist() == whole.per_text.tolist()
    assert whole.per_text.tolist() == [len(words_in(text)) for text in texts]
    assert [words.spelled(text) for text in texts] == [words_in(text) for text in texts]


def test_different_words_have_different_numbers():
    spelled = [f"{kind}{number}" for number in range(50_000) for kind in ("a", "ab", "ba", "")]
    numbers = words.words_of(pa.array([" ".join(spelled)])).numbers
    assert len(np.unique(numbers)) == len(set(spelled))
    swapped = words.words_of(pa.array(["ab", "ba", "aab", "aba", "baa", "a" * 5000, "a" * 5001])).numbers
    assert len(np.unique(swapped)) == 7


def test_a_slice_of_an_array_is_read_as_what_it_shows():
    whole = pa.array(["one", None, "two three", "", "vier fünf"])
    for start in range(5):
        for stop in range(start, 6):
            part = whole.slice(start, stop - start)
            again = words.words_of(pa.array(part.to_pylist(), pa.string()))
            assert words.words_of(part).numbers.tolist() == again.numbers.tolist()
            assert words.words_of(part).per_text.tolist() == again.per_text.tolist()


def jaccard(first, second, n):
    first, second = set(runs_in(first, n)), set(runs_in(second, n))
    return len(first & second) / len(first | second) if first | second else 0.0


@pytest.mark.parametrize("more", [0, 400])
def test_similar_texts_are_found_and_compared_exactly(more):
    draw = np.random.default_rng(5)
    vocabulary = [f"w{number}" for number in range(300)]
    test = [" ".join(draw.choice(vocabulary, 60)) for _ in range(200)]
    train = []
    for text in test:
        changed = text.split()
        for _ in range(draw.integers(0, 5)):
            changed[draw.integers(0, 60)] = "other"
        train.append(" ".join(changed))
    train += [" ".join(draw.choice(vocabulary, 60)) for _ in range(more)]
    report = overlap(train, test, method="minhash", n=3, threshold=0.7)
    similar = {row: jaccard(train[row], test[row], 3) for row in range(200)}
    wanted = {row for row, share in similar.items() if share >= 0.7}
    assert set(report.contaminated) <= wanted and len(wanted - set(report.contaminated)) <= 1
    assert all(report.shares[row] == pytest.approx(similar[row]) for row in report.contaminated)
    assert 20 < len(wanted) < 200
    clean, _ = decontaminate(train, test, method="minhash", n=3, threshold=0.7)
    assert set(train) - set(clean) == {train[row] for row in report.contaminated}


@fewer
@given(test=sides)
def test_a_text_is_similar_to_itself(test):
    report = overlap(test, test, method="minhash", threshold=1.0, max_matches=100)
    assert report.shares.tolist() == [float(bool(words_in(text))) for text in test]


def test_longer_bands_are_for_stricter_thresholds():
    lengths = [band_length(threshold) for threshold in (0.1, 0.3, 0.5, 0.8, 0.9, 1.0)]
    assert lengths == sorted(lengths) and lengths[0] == 1 and lengths[-1] > 5


# What may be given


QUESTION = "which of the four rivers of the old map is the one that the miller of the tale never crosses"
ROW = {"id": "q1", "question": QUESTION, "label": 3}


def given_as(kind, tmp_path):
    rows = Dataset.from_list([ROW, {"id": "q2", "question": "why", "label": 1}])
    if kind == "dataset":
        return rows
    if kind == "stream":
        return rows.to_iterable_dataset()
    if kind == "untyped stream":
        return rows.to_iterable_dataset().map(lambda row: row)
    if kind == "samples":
        return load_samples(rows)
    if kind == "streamed samples":
        return load_samples(rows, streaming=True)
    if kind == "listed samples":
        return [Sample(1, QUESTION), Sample(2, "why")]
    if kind == "messages":
        return samples_from([Sample(1, [Message("system", "be kind"), Message("user", QUESTION)]), Sample(2, "why")])
    if kind == "chats":
        return [{"conversations": [{"from": "human", "value": QUESTION}]}, {"conversations": []}]
    if kind == "texts":
        return [QUESTION.upper() + "?!", None]
    if kind == "rows":
        return [ROW, {"id": "q2", "question": None, "label": 1}]
    if kind == "path":
        rows.to_json(tmp_path / "rows.jsonl")
        return str(tmp_path / "rows.jsonl")
    if kind == "hugging face":
        return pytest.importorskip("datasets").Dataset.from_list([ROW, {"id": "q2", "question": "why", "label": 1}])
    return rows.select([1, 0]).select([1, 0])


KINDS = [
    "dataset",
    "stream",
    "untyped stream",
    "samples",
    "streamed samples",
    "listed samples",
    "messages",
    "chats",
    "texts",
    "rows",
    "path",
    "hugging face",
    "moved rows",
]


@pytest.mark.parametrize("kind", KINDS)
def test_both_sides_may_be_anything_with_texts(kind, tmp_path):
    test = given_as(kind, tmp_path)
    copied = [{"id": row, "text": f"nothing of note {row}"} for row in range(5)]
    copied.insert(2, {"id": 9, "text": f"once upon a time {QUESTION}, they say"})
    train = Dataset.from_list(copied)
    for side in (train, train.to_iterable_dataset()):
        report = overlap(side, test)
        assert report.contaminated == [0] and report.matches(0) == [2]
        # Of the other side the whole row counts; a name of who speaks does not.
        assert report.shares[0] == 1.0 or kind == "messages"
        assert words_in(QUESTION)[-1] in report.examples[0].passage
    clean, report = decontaminate(test, [QUESTION])
    left = list(clean)
    assert len(left) == 1 and QUESTION not in str(left).lower() and report.train_rows == [0]
    if kind not in ("path", "listed samples", "texts", "rows", "chats"):
        assert type(clean) is type(test)


def test_a_benchmark_is_named_as_for_the_command_line(monkeypatch):
    loaded = load_benchmark("gsm8k", synthetic=True)
    monkeypatch.setattr(
        "crucible_datasets.benchmarks.loading.naming.load_benchmark",
        lambda name, split, config: (name, split, config) == ("gsm8k", "test", "main") and loaded,
    )
    assert overlap(loaded, "gsm8k:main:test").rate == 1.0


def test_columns_are_chosen():
    train = Dataset.from_list([{"a": QUESTION, "b": "x", "deep": {"inner": "y"}}])
    test = Dataset.from_list([{"a": "x", "b": QUESTION, "deep": {"inner": QUESTION}}])
    assert overlap(train, test).contaminated == [0]
    assert overlap(train, test, columns=["a"]).contaminated == []
    assert overlap(train, test, train_columns="a", test_columns=["deep.inner"]).shares[0] == 1.0
    assert overlap(train, test, method="exact", train_columns="a", test_columns="b").contaminated == [0]
    with pytest.raises(ColumnNotFoundError, match="deep.inner"):
        overlap(train, test, columns=["deep.outer"])
    with pytest.raises(ColumnNotFoundError):
        overlap(train, test, columns=["c"])


def test_whole_texts_are_compared_by_the_columns_of_both():
    train = Dataset.from_list([{"question": "why?", "source": "x", "id": "1"}])
    test = Dataset.from_list([{"question": "Why", "answer": "because", "id": "2"}])
    for names in ({"id": "qid"}, {"id": "docId"}):
        named = [side.rename_columns(names) for side in (train, test)]
        assert all("id" not in str(overlap(*named, method=how).how.test_columns).lower() for how in ("ngrams", "exact"))
    report = overlap(train, test, method="exact")
    assert report.contaminated == [0] and report.how.train_columns == report.how.test_columns == ["question"]


def test_what_makes_no_sense_is_refused():
    for options in (
        {"method": "magic"},
        {"n": 0},
        {"threshold": 2},
        {"method": "minhash", "threshold": 0},
        {"max_matches": 0},
    ):
        with pytest.raises(ArgumentError):
            overlap(["a"], ["a"], **options)
    with pytest.raises(ArgumentError, match="splits"):
        overlap(DatasetDict({"train": Dataset.from_list([ROW])}), ["a"])
    with pytest.raises(ArgumentTypeError):
        overlap(7, ["a"])
    with pytest.raises(ArgumentTypeError):
        overlap([1, 2], ["a"])
    with pytest.raises(ArgumentError, match="no column holds texts"):
        overlap(Dataset.from_dict({"n": [1]}), ["a"])
    with pytest.raises(ArgumentError, match="no text"):
        overlap(Dataset.from_dict({"n": [1]}), ["a"], train_columns="n")


def test_the_report_tells_people_and_programs():
    report = overlap(["a b c", "d e f g"], ["x d e f", "a | b c", "", "q"], 3, examples=1)
    assert str(report).startswith(
        "2 of 4 test rows (50.0%) are contaminated; 2 of 2 train rows match (3-grams of words; 2 shorter test rows as a whole)\n  test 0 (50%) in train 1: d e f"
    )
    told = report.to_dict()
    assert json.loads(json.dumps(told))["rows"] == {
        "0": {"share": 0.5, "train_rows": [1]},
        "1": {"share": 1.0, "train_rows": [0]},
    }
    assert (told["rate"], told["mean_share"], told["short_rows"], told["n"]) == (0.5, 0.375, 2, 3)
    assert "| 0 | 50% | 1 | d e f |" in report.to_markdown()
    assert report.rows.to_list()[1] == {"row": 1, "share": 1.0, "contaminated": True, "train_rows": [0]}
    assert overlap([], []).rate == 0.0 and "0 of 0" in repr(overlap([], []))


def test_blocks_are_small_and_all_rows_come(monkeypatch):
    monkeypatch.setattr(sources, "_BYTES_AT_ONCE", 100)
    monkeypatch.setattr(sources, "_ROWS_AT_ONCE", 7)
    rows = [f"row {number} {'long ' * (number % 30)}" for number in range(60)]
    side = sources.Side(rows, None)
    blocks = list(side.blocks(["text"]))
    assert [text for block in blocks for text in block.to_pylist()] == rows
    assert all(block.nbytes <= 100 or len(block) == 1 for block in blocks)
    assert overlap(rows, rows, 4).rate == 1.0


def test_a_phrase_that_all_rows_have_does_not_pair_all_with_all():
    boilerplate = "answer the following question about the text above with one letter and nothing else please"
    train, test = (
        [f"{boilerplate} {row}" for row in range(3000)],
        [f"{boilerplate} {row + 5000}" for row in range(2000)],
    )
    report = overlap(train, test, 5, max_matches=3)
    assert report.rate == 1.0 and report.matches(1999) == [0, 1, 2] and len(report.train_rows) == 3000


MEASURED = """
import resource, sys
from crucible_datasets import IterableDataset
from crucible_datasets.benchmarks import overlap
def rows(count):
    for number in range(count):
        yield {"text": " ".join(f"w{number * 7 + place}" for place in range(100))}
def peak(count):
    report = overlap(IterableDataset.from_generator(rows, gen_kwargs={"count": count}), list(texts), 5)
    assert report.rate == 1.0 and report.num_train == count, report
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
texts = [row["text"] for row in rows(500)]
first, last = peak(int(sys.argv[1])), peak(int(sys.argv[2]))
print(last - first)
"""


@pytest.mark.slow
def test_memory_stays_that_of_the_smaller_side():
    ran = subprocess.run([sys.executable, "-c", MEASURED, "20000", "200000"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) < 48 << 10  # kilobytes; the runs of the longer side would take 800,000


def test_short_rows_that_nothing_can_find_are_told():
    train = [{"question": "2 plus 2", "answer": "four"}]
    told = str(overlap(Dataset.from_list(train), ["2 plus 2"]))
    assert told.endswith(
        "1 shorter test row as a whole, so in equal texts only: name columns, or a smaller n, to find more)"
    )
    assert "find more" not in str(overlap(Dataset.from_list(train), ["2 plus 2"], train_columns="question"))
