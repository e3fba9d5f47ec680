"""Tables fit the terminal, and say what was cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import shown_safely

from crucible_datasets.cli import layout, output
from crucible_datasets.cli.layout import clipped, fitted, padded, width_of
from crucible_datasets.cli.output import Column, Facts, Records, Table

texts = st.text(alphabet=st.characters(codec="utf-8"), max_size=80)
rooms = st.integers(20, 200)


@given(texts, st.integers(1, 40))
def test_clipped_text_fits_and_says_that_it_was_cut(text, width):
    shown = clipped(text, width)
    assert width_of(shown) <= width
    assert shown == text or shown.endswith("…")


@given(st.text(st.characters(codec="utf-8", categories=["L", "N", "P"])), st.integers(1, 40), st.booleans())
def test_padded_text_is_as_wide_as_it_should_be(text, width, right):
    assert width_of(padded(text, width, right)) == width


@given(st.lists(st.integers(1, 90), min_size=1, max_size=8), st.data(), rooms)
def test_only_columns_that_are_too_wide_shrink(widths, data, room):
    keep = data.draw(st.lists(st.booleans(), min_size=len(widths), max_size=len(widths)))
    fit = fitted(widths, keep, room)
    least = [before if kept else min(before, 12) for before, kept in zip(widths, keep, strict=True)]
    gaps = 2 * (len(widths) - 1)
    assert (fit is None) == (sum(least) + gaps > room)
    if fit is not None:
        assert all(low <= after <= before for low, after, before in zip(least, fit, widths, strict=True))
        assert sum(fit) + gaps == min(room, sum(widths) + gaps)


@given(
    rows=st.lists(st.fixed_dictionaries({"a": texts, "b": st.none() | st.integers(), "c": texts}), max_size=5),
    room=rooms,
)
def test_a_table_fits_and_is_inert(rows, room):
    columns = (Column("a"), output.amount("b"), Column("c", "the third"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(output, "terminal_width", lambda: room)
        for piece in (Table(columns, rows), Records(("a", "b", "c"), rows)):
            lines = list(piece.lines())
            assert all(shown_safely(line) and "\n" not in line for line in lines)
            assert all(width_of(line) <= 4 * room for line in lines)
            if lines[1:] and not lines[1].strip("─ "):  # a table with its rule, not rows below each other
                assert all(width_of(line) <= room for line in lines)


def test_numbers_end_below_each_other():
    lines = list(Table((Column("name"), output.amount("n")), [{"name": "a", "n": 5}, {"name": "b", "n": 500}]).lines())
    assert lines == ["name    n", "────  ───", "a       5", "b     500"]


def test_a_table_without_rows_says_so_and_programs_get_a_list():
    table = Table((Column("a"),), [], "nothing here")
    assert list(table.lines()) == ["nothing here"] and table.value == []


def test_columns_in_which_nothing_is_said_are_left_out():
    lines = list(Table((Column("a"), Column("b")), [{"a": 1, "b": None}]).lines())
    assert lines[0] == "a"


def test_facts_without_a_value_are_left_out_on_terminals_only():
    facts = Facts({"a": None, "b": [1, 2]})
    assert list(facts.lines()) == ["b  1, 2"] and facts.value == {"a": None, "b": [1, 2]}


def test_the_width_is_that_of_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "57")
    assert layout.terminal_width() == 57
