"""The grid of rows on a page of the viewer: open it, wait for it, and tell which rows are in sight."""

_IN_SIGHT = """() => {
    const grid = document.querySelector('.grid').getBoundingClientRect();
    const top = document.querySelector('thead').getBoundingClientRect().bottom;
    return [...document.querySelectorAll('tr[data-row]')].filter((row) => {
        const at = row.getBoundingClientRect();
        return at.top >= top - 1 && at.bottom <= grid.bottom + 1;
    }).map((row) => Number(row.dataset.row));
}"""


def opened(page, number, query=""):
    """The page of a dataset, with its first rows."""
    page.goto(f"/data/{number}{query}")
    page.wait_for_selector("tr[data-row]")
    return page


def settled(page, note):
    """Wait until the page has the answer, and its rows."""
    page.wait_for_function(
        "wanted => document.querySelector('.note').textContent.includes(wanted)"
        " && !document.querySelector('[aria-busy], tr.waiting')",
        arg=note,
    )


def rows_in_sight(page):
    """The numbers of the rows that are whole in sight, from above to below."""
    return page.evaluate(_IN_SIGHT)


def begins_at(page, *rows):
    """Wait until one of the rows is the first in sight, and none is on its way."""
    is_there = f"rows => rows.includes(({_IN_SIGHT})()[0]) && !document.querySelector('tr.waiting')"
    page.wait_for_function(is_there, arg=list(rows))


def seen(page, first):
    """Wait until a row is the first in sight; then those that follow it are there, in their order."""
    begins_at(page, first)
    rows = rows_in_sight(page)
    assert rows == list(range(first, first + len(rows))) and len(rows) >= 10
