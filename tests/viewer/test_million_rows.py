"""A million rows in a real browser: they are scrolled, and summed up in the headers of their columns."""

import pytest
from support import viewing
from support.browser import needs_browser, texts
from support.grid import begins_at, opened, rows_in_sight, seen, settled

from crucible_datasets import view

pytestmark = needs_browser


@pytest.fixture(scope="module")
def viewer():
    with view(viewing.million(), browser=False) as started:
        yield started


def test_a_million_rows_are_scrolled_by_pixels_by_shares_and_by_number(page):
    opened(page, 0)
    assert page.inner_text(".note") == "1,000,000 rows"
    seen(page, 0)
    page.mouse.move(400, 500)
    page.mouse.wheel(0, 460)
    seen(page, 10)
    page.evaluate("document.querySelector('.grid').scrollTop = document.querySelector('.grid').scrollHeight / 2")
    page.wait_for_function("() => Number(document.querySelector('tr[data-row]')?.dataset.row) > 400000")
    page.wait_for_function("() => !document.querySelector('tr.waiting')")
    middle = rows_in_sight(page)[0]
    assert 490_000 < middle < 510_000
    page.wait_for_function("() => history.state?.at > 0")  # the bar has taken the share of this place
    assert rows_in_sight(page)[0] == middle
    page.mouse.wheel(0, -460)
    seen(page, middle - 10)
    page.keyboard.press("End")
    page.wait_for_selector("tr[data-row='999999']")
    page.wait_for_function("() => !document.querySelector('tr.waiting')")
    last = rows_in_sight(page)
    assert last == list(range(last[0], 1_000_000))
    page.mouse.wheel(0, -460)
    begins_at(page, last[0] - 10, last[0] - 9)
    page.fill("[name=row]", "654321")
    page.keyboard.press("Enter")
    seen(page, 654_321)
    page.wait_for_selector(".side article[aria-label='row 654321']")
    assert page.locator("tr[data-row]").count() < 60
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    seen(page, 0)


def test_headers_show_a_sample_first_and_then_all_rows(page):
    opened(page, 0)
    page.wait_for_selector("th.kind-integer .bars rect")
    for name in ("number", "group"):
        page.wait_for_selector(f".summary[aria-label='values of {name}'][data-done=true]")
    page.click("[aria-label='values of group'].summary")
    card = page.locator(".card:popover-open")
    assert texts(page, ".card:popover-open dd")[:3] == ["1,000,000", "0", "3"]
    assert "333,334" in card.inner_text()
    card.get_by_role("button", name="b", exact=True).click()
    settled(page, "333,333 of 1,000,000 rows")
    assert page.input_value("[name=where]") == "\"group\" = 'b'"
