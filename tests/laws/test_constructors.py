"""What goes into a constructor comes out, or is refused by name."""

from __future__ import annotations

from hypothesis import strategies as st

from crucible_datasets.exceptions import DatasetsError
from laws import equality, values
from laws.law import law
from laws.ways import CONSTRUCTORS


@law(
    examples=60,
    weight=3,
    rows=st.booleans().flatmap(lambda mixed: values.rows(values.PYTHON_LEAVES, mixed=mixed)),
    constructor=st.sampled_from(sorted(CONSTRUCTORS)),
)
def test_a_constructor_keeps_its_rows(rows, constructor, folder):
    source = rows.list()
    if not rows.columns:
        return  # a dataset without columns has no rows
    facts = equality.facts_of(source)
    reason = equality.refusable(facts)
    try:
        result = list(CONSTRUCTORS[constructor](source))
    except DatasetsError as error:
        if reason is None:
            raise AssertionError(f"rows that can be kept are refused: {error}") from error
        return
    equality.same(source, result, facts)
