"""What a function returns is what comes out of map; what is put together comes out together."""

from __future__ import annotations

from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets.exceptions import DatasetsError
from laws import equality, values
from laws.law import law
from laws.ways import columns_of, pieces


def _kept_or_refused(rows, build, may_refuse=False):
    source = rows.list()
    if not rows.columns:
        return
    facts = equality.facts_of(source)
    reason = equality.refusable(facts)
    try:
        result = list(build(source))
    except DatasetsError as error:
        if reason is None and not may_refuse:
            raise AssertionError(f"rows that can be kept are refused: {error}") from error
        return
    equality.same(source, result, facts)


def _by_row(source, **options):
    numbers = ours.Dataset.from_dict({"#": range(len(source))})
    return numbers.map(lambda row: source[row["#"]], remove_columns="#", **options)


def _by_batch(source, **options):
    numbers = ours.Dataset.from_dict({"#": range(len(source))})

    def batch(rows):
        return columns_of([source[number] for number in rows["#"]])

    return numbers.map(batch, batched=True, remove_columns="#", **options)


def _by_stream(source, **options):
    numbers = ours.Dataset.from_dict({"#": range(len(source))}).to_iterable_dataset()
    return numbers.map(lambda row: source[row["#"]], remove_columns="#")


def _by_stream_of_batches(source, batch_size=5, **options):
    numbers = ours.Dataset.from_dict({"#": range(len(source))}).to_iterable_dataset()

    def batch(rows):
        return columns_of([source[number] for number in rows["#"]])

    return numbers.map(batch, batched=True, batch_size=batch_size, remove_columns="#")


_MAPS = {
    "row": _by_row,
    "row, small blocks": lambda source: _by_row(source, writer_batch_size=3),
    "row, in memory": lambda source: _by_row(source, keep_in_memory=True),
    "batch": _by_batch,
    "batch of 3": lambda source: _by_batch(source, batch_size=3),
    "batch of 7, small blocks": lambda source: _by_batch(source, batch_size=7, writer_batch_size=3),
    "stream": _by_stream,
    "stream of batches": _by_stream_of_batches,
}
_PROCESS_MAPS = {
    "row, 2 processes": lambda source: _by_row(source, num_proc=2),
    "batch of 3, 2 processes": lambda source: _by_batch(source, batch_size=3, num_proc=2),
}


def _any_rows(leaves=values.PYTHON_LEAVES, longest=1001):
    return st.booleans().flatmap(lambda mixed: values.rows(leaves, mixed=mixed, longest=longest))


@law(examples=50, weight=3, rows=_any_rows(), way=st.sampled_from(sorted(_MAPS)))
def test_map_gives_what_its_function_returns(rows, way, folder):
    _kept_or_refused(rows, _MAPS[way])


@law(examples=3, rows=_any_rows(), way=st.sampled_from(sorted(_PROCESS_MAPS)))
def test_map_in_processes_gives_what_its_function_returns(rows, way, folder):
    _kept_or_refused(rows, _PROCESS_MAPS[way])


def _columns(longest=5):
    shapes = st.one_of(values.shapes(values.JSON_LEAVES), st.just(("list", ("json",))), st.just(("json",)))
    return shapes.flatmap(lambda shape: st.lists(values.values(shape), min_size=1, max_size=longest))


def _whole(value):
    """Whole numbers as integers, which a column of integers keeps."""
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if type(value) is float and value.is_integer() and str(value) != "-0.0" else value


_REPLACEMENTS = {
    "row": lambda data, cells: data.map(lambda row, number: {"a": cells[number]}, with_indices=True),
    "same row": lambda data, cells: data.map(lambda row, number: row | {"a": cells[number]}, with_indices=True),
    "batch": lambda data, cells: data.map(lambda rows: {"a": cells}, batched=True, batch_size=None),
    "stream": lambda data, cells: data.to_iterable_dataset().map(
        lambda row, number: {"a": cells[number]}, with_indices=True
    ),
}


@law(examples=60, weight=2, before=_columns(), after=_columns(), way=st.sampled_from(sorted(_REPLACEMENTS)))
def test_map_gives_what_its_function_returns_for_columns_of_other_types(before, after, way, folder):
    before, after = before[: len(after)], after[: len(before)]
    data = ours.Dataset.from_list([{"a": value} for value in before], on_mixed_types="use_json")
    expected = [{"a": _whole(value)} for value in after]
    facts = equality.facts_of([*expected, *({"a": value} for value in before)])
    equality.same(expected, [_whole(row) for row in _REPLACEMENTS[way](data, after)], facts)


def _concatenated(parts):
    return ours.concatenate_datasets([ours.Dataset.from_list(part) for part in parts])


def _concatenated_streams(parts):
    return ours.concatenate_datasets([ours.Dataset.from_list(part).to_iterable_dataset() for part in parts])


def _added(parts):
    data = ours.Dataset.from_list(parts[0])
    for row in [row for part in parts[1:] for row in part]:
        data = data.add_item(row)
    return data


_UNIONS = {"concatenate": _concatenated, "concatenate streams": _concatenated_streams, "add_item": _added}


@law(
    examples=40,
    weight=2,
    rows=_any_rows(longest=11),
    cuts=st.lists(st.integers(1, 30), min_size=1, max_size=2).map(tuple),
    way=st.sampled_from(sorted(_UNIONS)),
)
def test_datasets_that_are_put_together_keep_their_rows(rows, cuts, way, folder):
    parts = [part for part in pieces(rows.list(), cuts) if part]
    if not parts or not all(part[0].keys() for part in parts):
        return
    # Different types may be refused; Hugging Face refuses all of them, and casts an added row to the types before it.
    facts = equality.facts_of(rows.list())
    has_long = any(abs(number) >= 2**63 for fact in facts.values() for number in fact.integers)
    uniform = equality.is_uniform(facts) and not has_long
    if way == "add_item" and not (uniform and equality.refusable(facts) is None):
        return
    _kept_or_refused(rows, lambda source: _UNIONS[way](parts), may_refuse=not uniform)
