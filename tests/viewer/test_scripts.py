"""Hostile data in a real browser: none of it runs."""

import re
from importlib.resources import files

import pytest
from support import viewing
from support.browser import needs_browser
from support.grid import settled

from crucible_datasets import view


@pytest.fixture(scope="module")
def viewer():
    hostile = viewing.hostile()
    with view(hostile, hostile, browser=False) as started:  # two, so that the first page is a list of their names
        yield started


ACTIVE = """() => {
    const kinds = "script:not([src^='/assets/']), iframe, object, embed, form, base, style, meta[http-equiv], template, marquee";
    const isActive = (node) => [...node.attributes].some((one) => one.name.startsWith("on") || /^\\s*(javascript|data:text)/i.test(one.value) && one.name !== "title" && one.name !== "alt" && !one.name.startsWith("aria"));
    const nodes = [...document.querySelectorAll(kinds), ...[...document.querySelectorAll("body *")].filter(isActive)];
    return { hacked: window.hacked || 0, active: nodes.map((node) => node.outerHTML.slice(0, 200)) };
}"""


@needs_browser
def test_no_script_of_the_data_runs(refused_page):
    page = refused_page
    pages = (("/", ".home"), ("/data/0?row=1&q=%3Cimg", "tr[data-row]"), ("/data/0/row/2", ".single"))
    for address, shown in pages:
        page.goto(address)
        page.wait_for_selector(shown)
        if "row" in address:
            page.wait_for_function("() => document.querySelectorAll('.bubble').length > 300")
            page.wait_for_selector(".bubble .markdown")
            page.wait_for_function("() => document.querySelectorAll('.bubble .hljs-tag').length > 10")
        page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 50)))")
        assert page.evaluate(ACTIVE) == {"hacked": 0, "active": []}
        assert not set("\u202e\x1b\x9b") & set(page.inner_text("body"))
    page.goto("/data/0")
    page.locator("th button.name", has_text="javascript,").first.click()
    settled(page, "sorted by <script")
    page.fill("[name=where]", "'<img src=x onerror=window.hacked=1>' > 3 <b>")
    page.keyboard.press("Enter")
    page.wait_for_selector(".note.wrong")
    assert page.evaluate(ACTIVE) == {"hacked": 0, "active": []}


def test_scripts_of_the_pages_never_read_text_as_markup():
    """They make elements one by one, so that nothing has to be escaped or sieved."""
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function|srcdoc|createContextualFragment"
    )
    assets = files("crucible_datasets.viewer") / "assets"
    scripts = [
        each
        for place in (assets / "app", assets / "app" / "results")
        for each in place.iterdir()
        if each.name.endswith(".js")
    ]
    assert len(scripts) > 20
    for script in scripts:
        text = script.read_text("utf-8")
        assert not forbidden.findall(text), script.name
        assert max(map(len, text.splitlines())) <= 120 and len(text.splitlines()) <= 250, script.name
