"""The HTML report in a real browser: it sorts, filters, opens samples, turns dark, and runs no script of its data."""

import random
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.browser import browser, needs_browser, silent, texts
from support.hostile import ALL_XSS, XSS
from support.runs import hostile_run, run_of

from crucible_datasets.evaluation import write_report

pytestmark = needs_browser


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    def fields(number):
        chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"What is {number} plus 2?"}]
        topic = "fruit" if number % 2 else "money"
        return {"input": chat, "target": str(number + 2), "metadata": {"topic": topic}}

    runs = [
        run_of("small", [number % 2 for number in range(60)], samples=fields),
        run_of("large", [1 if number % 3 else None for number in range(60)], samples=fields),
    ]
    return write_report(str(tmp_path_factory.mktemp("report") / "report.html"), runs)


@contextmanager
def opened(chromium, path):
    with silent(chromium.new_page(viewport={"width": 1200, "height": 900}), "file://") as page:
        page.goto(f"file://{path}")
        yield page


@pytest.fixture
def page(chromium, report):
    with opened(chromium, report) as page:
        yield page


def test_runs_are_sorted_and_filtered(page):
    assert texts(page, "#runs tbody td:first-child") == ["small", "large"]
    page.click("#runs th:nth-child(4) button")
    assert texts(page, "#runs tbody td:nth-child(4)") == ["66.7 %", "50.0 %"]
    assert page.get_attribute("#runs th:nth-child(4)", "aria-sort") == "descending"
    page.click("#runs th:nth-child(4) button")
    assert texts(page, "#runs tbody td:first-child") == ["small", "large"]
    page.fill("#runs-filter", "LARGE")
    assert texts(page, "#runs tbody td:first-child") == ["large"]


def test_charts_and_comparisons_show_intervals(page):
    assert page.locator("section svg circle").count() == 2 + 1
    assert texts(page, "#comparisons tbody td:nth-child(1)") == ["large"]
    assert texts(page, "#comparisons tbody td:nth-child(3)") == ["+16.7"]
    assert page.locator("#comparisons svg line").count() == 2


TEXTS = """() => [...document.querySelectorAll('.scores text')].map((text) => {
    const at = text.getBoundingClientRect(), inside = text.closest('.scores').getBoundingClientRect();
    return [at.height, at.left - inside.left, inside.right - at.right];
})"""


@pytest.mark.parametrize("width", [400, 500, 1200])
def test_letters_of_charts_keep_their_size_on_every_screen(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function(
        "document.querySelector('.scores').dataset.width === document.querySelector('.scores').clientWidth + ''"
    )
    found = page.evaluate(TEXTS)
    assert len(found) >= 2 * 2 + 1
    assert all(height > 10 and left >= 0 and right >= 0 for height, left, right in found), found


def test_groups_are_shown_by_field(page):
    assert texts(page, "#groups tbody td:first-child") == ["fruit", "money"]
    assert texts(page, "#groups tbody tr:first-child td:nth-child(3)")[0].startswith("100.0 %")


def test_samples_are_filtered_by_words_and_by_outcome(page):
    assert page.inner_text("#count") == "60 of 60"
    page.fill("#samples-filter", "WHAT plus q17")
    assert texts(page, "#samples tbody td:first-child") == ["q17"]
    page.fill("#samples-filter", "")
    page.select_option("#kind", "unread")
    assert page.inner_text("#count") == "20 of 60"
    page.select_option("#kind", "right")
    assert page.inner_text("#count") == "20 of 60"
    page.fill("#samples-filter", "no such words")
    assert "no sample matches" in page.inner_text("#samples")


def test_samples_come_page_by_page_and_sorted(page):
    assert page.locator("#samples tbody tr").count() == 25
    page.click("#samples .pages button:nth-child(2)")
    assert texts(page, "#samples tbody td:first-child")[0] == "q25"
    page.click("#samples th:nth-child(1) button")
    page.click("#samples th:nth-child(1) button")
    assert texts(page, "#samples tbody td:first-child")[:2] == ["q59", "q58"]


def test_a_sample_opens_with_its_chat_answers_and_differences(page):
    page.locator("#samples tbody tr").nth(3).click()
    dialog = page.locator("dialog")
    assert dialog.is_visible() and texts(page, "dialog h2") == ["q3"]
    assert texts(page, "dialog .message .role") == ["SYSTEM", "USER"]
    assert "What is 3 plus 2?" in dialog.inner_text()
    assert texts(page, "dialog del")[1:] == ["small", "1"] and texts(page, "dialog ins")[1:] == ["large", "None"]
    page.keyboard.press("ArrowRight")
    assert texts(page, "dialog h2") == ["q4"]
    page.keyboard.press("Escape")
    assert not dialog.is_visible()


def test_several_benchmarks_share_columns_by_model(chromium, tmp_path):
    pixel = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="

    def seen(number):
        return {
            "input": [
                {
                    "role": "user",
                    "content": [{"type": "image", "image": pixel}, {"type": "text", "text": "What is it?"}],
                }
            ]
        }

    runs = [run_of(model, [1, 0], dataset="first") for model in ("a", "b")]
    runs += [run_of(model, [0, 1, 1], dataset="second", metric="f1@1", samples=seen) for model in ("a", "b")]
    with opened(chromium, write_report(str(tmp_path / "report.html"), runs)) as page:
        assert texts(page, "#samples thead th") == ["id", "benchmark", "question", "target", "a", "b"]
        assert texts(page, "#samples tbody td:nth-child(5)") == ["right", "wrong", "wrong", "right", "right"]
        page.select_option("#dataset", "1")
        assert texts(page, "#samples tbody td:nth-child(3)") == ["[image] What is it?"] * 3
        page.locator("#samples tbody tr").nth(0).click()
        assert page.evaluate("document.querySelector('dialog img').naturalWidth") == 1


def test_differences_are_what_makes_one_text_of_the_other(page):
    draw = random.Random(7)
    texts = [
        "".join(draw.choices(["a", "b", " ", "\n", "é世", ".", "word "], k=draw.randrange(0, 30))) for _ in range(80)
    ]
    pairs = [*zip(texts[::2], texts[1::2], strict=True), ("", ""), ("x " * 3000, "y " * 3000), ("same", "same")]
    found = page.evaluate("pairs => pairs.map((pair) => differences(...pair))", [list(pair) for pair in pairs])
    for (first, second), steps in zip(pairs, found, strict=True):
        assert "".join(text for kind, text in steps if kind != "in") == first
        assert "".join(text for kind, text in steps if kind != "out") == second
        assert all(kind == "same" for kind, _ in steps) == (first == second)


def test_it_is_dark_where_the_reader_wants_it_dark(chromium, report):
    def ground(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    with opened(chromium, report) as page:
        light = ground(page)
        page.emulate_media(color_scheme="dark")
        dark = ground(page)
        assert dark != light
        page.click("#theme")
        assert ground(page) == light
        page.click("#theme")
        assert ground(page) == dark


READ_ALL = """async () => {
    const kinds = "script:not([type]), iframe, object, embed, form, link, base, audio, video, math, template, marquee, a, img";
    const isActive = (node) => [...node.attributes].some((one) => one.name.startsWith("on") || /^\\s*javascript:/i.test(one.value));
    const active = (place) => place.querySelectorAll(kinds).length + [...place.querySelectorAll("*")].filter(isActive).length;
    const dialog = document.querySelector("dialog"), next = dialog.querySelector(".bar button:nth-child(3)");
    for (const details of document.querySelectorAll("details")) details.open = true;
    for (const control of document.querySelectorAll("#page th button")) control.click();
    let found = active(document), samples = 1;
    document.querySelector("#samples tbody tr").click();
    for (; !next.disabled; samples++) {
        found += active(dialog);
        next.click();
    }
    await new Promise((go) => setTimeout(go, 100));
    return { samples, active: found, hacked: window.hacked || 0 };
}"""


@pytest.mark.parametrize("where", ["samples", "runs"])
def test_no_script_of_the_data_runs(chromium, tmp_path, where):
    assert len(XSS) >= 100
    given = {"text": "quiet"} if where == "samples" else {"payloads": XSS[:3]}
    runs = [hostile_run("a", **given), hostile_run("b", **given)]
    path = write_report(str(tmp_path / "hostile.html"), runs, title=ALL_XSS if where == "runs" else None)
    with opened(chromium, path) as page:
        # The one active node is the script of the page.
        assert page.evaluate(READ_ALL) == {"samples": len(runs[0]), "active": 1, "hacked": 0}
        assert "\u202e" not in page.inner_text("body")


def test_a_script_that_got_into_the_page_would_not_run(chromium, tmp_path):
    """The policy holds by itself, should the escaping ever fail."""
    path = write_report(str(tmp_path / "report.html"), run_of("a", [1]))
    text = Path(path).read_text("utf-8")
    broken = text.replace("<main", "<script>window.hacked=1</script><img src=x onerror='window.hacked=1'><main", 1)
    (tmp_path / "broken.html").write_text(broken, "utf-8")
    page = chromium.new_page()
    refused = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(f"file://{tmp_path / 'broken.html'}")
    assert page.evaluate("window.hacked || 0") == 0
    assert page.locator("#runs tbody tr").count() == 1
    assert sum("Content Security Policy" in text for text in refused) >= 2
    page.close()
