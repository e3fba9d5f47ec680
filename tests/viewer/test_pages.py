"""The pages of data in a real browser: what they draw, and what can be asked."""

import json
import re

import pytest
from support import viewing
from support.browser import needs_browser, texts
from support.grid import begins_at, opened, rows_in_sight, seen, settled

from crucible_datasets import Dataset, DatasetDict, view

KINDS, STREAM, FOLDER = range(3)

pytestmark = needs_browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two configurations."""
    place = tmp_path_factory.mktemp("configurations")
    for name in ("en", "de"):
        (place / f"{name}.jsonl").write_text("".join(f'{{"word": "{name}{number}"}}\n' for number in range(3)))
    configs = "".join(f"- config_name: {name}\n  data_files: {name}.jsonl\n" for name in ("en", "de"))
    (place / "README.md").write_text(f"---\nconfigs:\n{configs}---\n")
    return str(place)


@pytest.fixture(scope="module")
def viewer(folder):
    kinds = DatasetDict({"train": viewing.of_every_kind(300), "test": viewing.of_every_kind(3)})
    stream = Dataset.from_dict({"n": list(range(5000))}).to_iterable_dataset()
    with view(kinds, stream, folder, browser=False) as started:
        yield started


def test_headers_sum_up_every_kind_of_value(page):
    opened(page, KINDS)
    page.locator("[aria-label='values of long'].summary").scroll_into_view_if_needed()
    page.wait_for_selector("[aria-label='values of long'] .figures")
    page.wait_for_selector("[aria-label='values of messages'] .figures")
    assert texts(page, "[aria-label='values of score'] .figures") == ["0 – 42.6, 30 null"]
    assert texts(page, "[aria-label='values of animal'] .figures") == ["2 different"]
    assert texts(page, "[aria-label='values of messages'] .figures") == ["3 turns"]
    assert texts(page, "[aria-label='values of long'] .figures") == ["5,013 – 5,017 characters"]


def test_the_chart_of_a_header_is_that_of_its_figures(page):
    """Lengths of texts, even where there are so few rows that each text could be counted."""
    opened(page, KINDS, "?where=id<40&columns=id,long,animal")
    page.wait_for_selector("[aria-label='values of long'] .figures")
    page.wait_for_selector("[aria-label='values of animal'] .figures")
    assert "characters" in page.inner_text("[aria-label='values of long'].summary")
    assert page.locator("[aria-label='values of long'].summary .shares").count() == 0
    assert page.locator("[aria-label='values of animal'].summary .shares").count() == 1


def test_every_kind_of_value_is_drawn_in_its_own_way(page):
    opened(page, KINDS)
    row = page.locator("tr[data-row='3']")
    assert row.locator(".label").inner_text() == "dog"
    assert row.locator("td").nth(2).inner_text() == "0.428571"
    assert "3 turns" in row.locator(".turns").inner_text()
    assert row.locator("audio, video, img").count() == 3
    row.locator("td").nth(1).click()
    side = page.locator(".side")
    side.locator("article").wait_for()
    assert "row=3" in page.url
    order = texts(page, ".side h3")
    assert order[0] == "id" and order[order.index("chosen") + 1] == "rejected"
    assert texts(page, ".side .bubble > b") == ["system", "user", "assistant"]
    side.locator(".bubble.answers strong").wait_for()
    assert side.locator(".bubble.asks math").count() == 1

    lesson = side.locator(".field", has=page.locator("h3", has_text=re.compile("^lesson$")))
    lesson.locator(".code .hljs-keyword").wait_for()
    assert lesson.locator("h2").inner_text() == "Halves" and lesson.locator("mfrac").count() == 1
    assert lesson.locator("math[display=block]").count() == 1 and lesson.locator("tbody td").count() == 2
    assert "$5 or $6" in lesson.inner_text() and "<b>raw</b>" in lesson.inner_text()
    assert lesson.locator("a").evaluate_all("all => all.map((each) => each.href)") == ["https://example.com/"]
    assert lesson.locator("img").count() == 0
    lesson.get_by_role("button", name="as stored").click()
    assert lesson.locator("pre.plain").inner_text().startswith("## Halves")

    assert texts(page, ".side .field:has(h3:text-is('program')) .hljs-keyword") == ["def", "return"]
    assert texts(page, ".side .field:has(h3:text-is('record')) .tree b") == ["answer: ", "deep: "]
    assert texts(page, ".side .field:has(h3:text-is('facts')) .tree > summary") == ["{2}", "more: {1}"]
    assert texts(page, ".side .chosen .diff del") == ["Seine"] and texts(page, ".side .rejected .diff ins") == ["Rhone"]
    long = side.locator(".field:has(h3:text-is('long')) .fold")
    folded = long.bounding_box()["height"]
    side.get_by_role("button", name="show all 5,013 characters").click()
    assert long.bounding_box()["height"] > 1.3 * folded

    page.wait_for_function("() => document.querySelector('.side .field img').naturalWidth === 12")
    page.wait_for_function("() => document.querySelector('.side audio').duration === 0.25")
    page.wait_for_function("() => document.querySelector('.side video').videoWidth === 32")


def test_a_row_is_copied_as_json_and_stands_alone(refused_page):
    page = refused_page
    opened(page, KINDS, "?split=test&row=2")
    page.wait_for_selector(".side article")
    page.get_by_role("button", name="copy JSON").click()
    page.get_by_role("button", name="copied").wait_for()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    expected = viewing.of_every_kind(3).select_columns(["id", "score", "animal", "messages", "facts", "long"])[2]
    assert {name: copied[name] for name in expected} == expected
    page.get_by_role("link", name="alone").click()
    page.wait_for_selector(".single article[aria-label='row 2']")
    page.get_by_role("link", name="all rows").click()
    page.wait_for_selector(".side article")
    page.goto("/data/0/row/999")
    assert "There is no row 999" in page.inner_text("[role=alert]")


def test_rows_are_searched_filtered_queried_sorted_and_shuffled(refused_page, context):
    page = refused_page
    opened(page, KINDS)
    page.fill("[name=where]", "id >= 290 and animal = 1")
    page.keyboard.press("Enter")
    settled(page, "5 of 300 rows")
    assert rows_in_sight(page) == [291, 293, 295, 297, 299]
    for expected in ([291, 293, 295, 297, 299], [299, 297, 295, 293, 291], [291, 293, 295, 297, 299]):
        page.get_by_role("button", name="id", exact=True).click()
        settled(page, "5 of 300")
        page.wait_for_function("row => document.querySelector('tr[data-row]').dataset.row == row", arg=expected[0])
        assert rows_in_sight(page) == expected
    page.get_by_role("button", name="shuffle").click()
    settled(page, "shuffled with seed 0")
    shuffled = rows_in_sight(page)
    assert sorted(shuffled) == [291, 293, 295, 297, 299]

    other = opened(context.new_page(), "", page.url.partition("/data/")[2])  # the address is all there is to share
    settled(other, "5 of 300")
    assert rows_in_sight(other) == shuffled and other.input_value("[name=where]") == "id >= 290 and animal = 1"
    with other.expect_download() as coming:
        other.click("summary:has-text('download')")
        other.click("a:has-text('jsonl')")
    with open(coming.value.path(), encoding="utf-8") as file:
        assert [json.loads(line)["id"] for line in file] == shuffled
    other.close()

    page.get_by_role("button", name="clear").click()
    settled(page, "300 rows")
    page.locator("[name=q]").press_sequentially("needle29", delay=20)
    settled(page, "11 of 300 rows")
    assert rows_in_sight(page) == [29, *range(290, 300)] and page.evaluate("document.activeElement.name") == "q"
    page.go_back()
    settled(page, "300 rows")
    page.go_back()
    settled(page, "shuffled with seed 0")
    assert rows_in_sight(page) == shuffled

    page.fill("[name=where]", "select id * 2 as twice, chosen from self where id > 297 order by id desc")
    page.keyboard.press("Enter")
    settled(page, "2 rows of a query")
    page.locator("tr[data-row='0']").first.click()
    page.wait_for_selector(".side article")
    assert texts(page, ".side h3") == ["twice", "chosen"] and texts(page, ".side .figure") == ["598"]
    page.keyboard.press("Escape")
    page.fill("[name=where]", "no_such_column > 3")
    page.keyboard.press("Enter")
    page.wait_for_selector(".note.wrong")
    assert "no_such_column" in page.inner_text(".note")
    page.go_back()
    settled(page, "2 rows of a query")
    page.get_by_role("button", name="clear").click()
    settled(page, "300 rows")
    page.get_by_role("button", name="animal", exact=True).click()
    settled(page, "sorted by animal")
    for _ in range(2):
        page.get_by_role("button", name="id", exact=True).click(modifiers=["Shift"])
    settled(page, "sorted by animal,-id")
    assert rows_in_sight(page)[:3] == [298, 296, 294]
    page.evaluate("document.querySelector('.grid').scrollTop = 4600")
    page.wait_for_function("() => history.state?.at === 4600")
    page.get_by_role("button", name="clear").click()
    settled(page, "300 rows")
    seen(page, 0)
    page.go_back()
    begins_at(page, 98)


def test_a_query_has_columns_of_its_own(page):
    """Those that were chosen of the rows, or sort them, may not be among them."""
    opened(page, KINDS, "?columns=id,score&sort=-score")
    for text, note, names in (
        ("select animal, count(*) as n from self group by all", "2 rows of a query", ["animal", "n"]),
        ("id < 3", "3 of 300 rows", ["id", "score"]),
    ):
        page.fill("[name=where]", text)
        page.keyboard.press("Enter")
        settled(page, note)
        assert texts(page, "th .name")[:2] == names


def test_splits_configurations_columns_and_streams(page):
    page.goto("/")
    page.wait_for_selector(".home")
    assert page.locator(".home li a").count() == 3
    assert "train: 300 rows, test: 3 rows" in page.inner_text(".home")
    named = [text.splitlines() for text in texts(page, ".home li")]
    assert [lines[0] for lines in named][:2] == ["dataset 0", "dataset 1"] and named[1][-1] == "n"
    opened(page, KINDS)
    page.select_option("[name=split]", "test")
    settled(page, "3 rows")
    page.click("summary:has-text('columns')")
    for name in ("film", "sound", "picture"):
        page.uncheck(f"[name='column {name}']")
        page.wait_for_function(
            "name => ![...document.querySelectorAll('th')].some((each) => each.innerText.startsWith(name))", arg=name
        )
    page.wait_for_selector("tr[data-row='0']")
    assert "columns=id" in page.url and page.locator("tr[data-row='0'] td").count() == 12
    opened(page, FOLDER)
    page.select_option("[name=configuration]", "de")
    page.wait_for_selector("td:has-text('de0')")
    page.go_back()
    page.wait_for_selector("td:has-text('en0')")
    opened(page, STREAM)
    assert page.inner_text(".note") == "the first 1,000 rows of a stream"


def test_keys_move_open_and_explain(page):
    opened(page, KINDS)
    for key in ("j", "ArrowDown", "k", "j", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector(".side article[aria-label='row 1']")
    page.keyboard.press("j")
    page.wait_for_selector(".side article[aria-label='row 2']")
    for _ in range(3):
        page.keyboard.press("PageDown")
    page.wait_for_selector(".side article[aria-label='row 38']")
    assert 38 in rows_in_sight(page)
    page.keyboard.press("Escape")
    page.wait_for_selector(".side", state="hidden")
    for key, name in (("/", "q"), ("f", "where"), ("g", "row")):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.name") == name
        page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert "copy the open row as JSON" in page.inner_text("dialog")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")


def test_it_is_dark_or_light_and_fits_a_phone(page):
    def ground():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    opened(page, KINDS)
    light = ground()
    page.emulate_media(color_scheme="dark")
    dark = ground()
    assert dark != light
    page.click(".theme")
    page.click(".theme")
    assert ground() == light
    page.click(".theme")
    assert ground() == dark
    page.set_viewport_size({"width": 390, "height": 780})
    fits = "document.scrollingElement.scrollWidth <= innerWidth"
    assert page.evaluate(fits) and len(rows_in_sight(page)) >= 8
    page.locator("tr[data-row='3'] td").nth(1).click()
    page.wait_for_selector(".side .bubble strong")
    assert page.locator(".side").bounding_box() == {"x": 0, "y": 0, "width": 390, "height": 780}
    assert page.evaluate(fits) and page.evaluate(
        "(side => side.scrollWidth <= side.clientWidth)(document.querySelector('.side'))"
    )
    page.click(".side .close")
    page.wait_for_selector(".side", state="hidden")
