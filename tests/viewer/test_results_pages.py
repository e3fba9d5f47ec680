"""The pages of runs in a real browser: from the table over a comparison to one sample and back; data runs no script."""

import re

import pytest
from msgspec.structs import replace
from support.browser import needs_browser, texts
from support.hostile import ALL_TERMINAL, XSS
from support.runs import hostile_run, run_of

from crucible_datasets import ResultStore, view

pytestmark = needs_browser
RUNS, HOSTILE, TWINS = 0, 1, 2
# Several in one sample: a page for each of them would take minutes.
PAYLOADS = [*("\n\n".join(XSS[at::16]) for at in range(16)), ALL_TERMINAL]


def fields(number):
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"What is **{number}** plus 2?"}]
    metadata = {"topic": "fruit" if number % 2 else "money"}
    return {
        "input": chat,
        "target": str(number + 2),
        "metadata": metadata,
        "prediction": f"It is answer {number} 🙂 then.",
    }


@pytest.fixture(scope="module")
def viewer(tmp_path_factory):
    store, hostile, twins = (ResultStore(tmp_path_factory.mktemp(name)) for name in ("store", "hostile", "twins"))
    made = {
        "small": [number % 2 for number in range(60)],
        "large": [1 if number % 3 else None for number in range(60)],
        "third": [1] * 60,
    }
    for number, (model, values) in enumerate(made.items()):
        info = {"created_at": f"2026-01-0{number + 1}T00:00:00Z", "tags": [f"tag-{model}"], "options": {"heat": 0.5}}
        store.save(run_of(model, values, samples=fields, info=info))
    for model in ("a", "b"):
        run = hostile_run(model, payloads=PAYLOADS)
        info = replace(run.info, run_id=f"{model}-run", created_at="2026-01-01T00:00:00Z", dataset_hash="h")
        hostile.save(type(run)(info, run.samples, run.summary))
    for rule in ("strict", "loose"):
        info = {"run_id": f"run-{rule}", "rules": [rule], "revision": "miniature@1"}
        twins.save(run_of("small", [1, 0], samples=fields, info=info))
    with view(store, hostile, twins, browser=False) as started:
        yield started


def reads(page, selector, text):
    """Wait for a text; the policy lets no test evaluate a condition in the page again and again."""
    page.locator(selector, has_text=re.compile(f"^{re.escape(text)}$")).wait_for()


def opened(page, address, selector):
    page.goto(address)
    page.wait_for_selector(selector)


def test_runs_are_sorted_filtered_and_chosen(page):
    opened(page, f"/results/{RUNS}", "#runs tbody tr")
    assert texts(page, "#runs tbody td:nth-child(2)") == ["third", "large", "small"]
    assert "tags" in texts(page, "#runs th") and "configuration" not in texts(page, "#runs th")  # which none has
    page.click("#runs th:nth-child(6) button")
    assert texts(page, "#runs tbody td:nth-child(6)") == ["100.0 %", "66.7 %", "50.0 %"]
    page.click("#runs th:nth-child(6) button")
    assert texts(page, "#runs tbody td:nth-child(2)") == ["small", "large", "third"]
    assert texts(page, "#runs tbody td:nth-child(7)")[0].endswith(" %") and page.is_disabled("#compare")
    page.fill("[name=q]", "TAG-large")
    assert texts(page, "#runs tbody td:nth-child(2)") == ["large"] and "q=TAG-large" in page.url
    page.reload()
    page.wait_for_selector("#runs tbody tr")
    assert texts(page, "#runs tbody td:nth-child(2)") == ["large"]


def test_runs_of_one_model_are_told_apart_and_miniatures_from_benchmarks(page):
    opened(page, f"/results/{RUNS}", "#runs tbody tr")
    assert not {"run", "rule"} & set(texts(page, "#runs th"))
    opened(page, f"/results/{TWINS}", "#runs tbody tr")
    assert len(set(texts(page, "#runs tbody tr"))) == 2
    assert {"run-strict", "strict", "run-loose", "loose"} <= set(texts(page, "#runs tbody td"))
    assert all(name.endswith(" (miniature)") for name in texts(page, "#runs tbody td:nth-child(3)"))


def test_names_that_are_cut_in_a_chart_still_differ(page):
    page.set_viewport_size({"width": 390, "height": 780})
    for store, runs, chart in (
        (TWINS, "run-strict,run-loose", "section >> nth=0"),
        (RUNS, "small-run,large-run", "#groups"),
    ):
        opened(page, f"/results/{store}/compare?runs={runs}", "#samples tbody tr")
        labels = page.locator(chart).locator("svg text[text-anchor=end]")
        labels.filter(has_text="…").first.wait_for()
        names = labels.all_text_contents()
        assert len(set(names)) == len(names) >= 2 and all("…" in name for name in names), names


def test_from_the_table_to_one_sample_and_back(page):
    opened(page, f"/results/{RUNS}", "#runs tbody tr")
    for model in ("small", "large"):
        page.check(f"[aria-label='choose {model}']")
    page.click("#compare")
    page.wait_for_selector("#samples tbody tr")
    assert texts(page, "#differences tbody td:nth-child(2)") == ["large"]
    assert texts(page, "#differences tbody td:nth-child(4)") == ["+16.7"]
    assert texts(page, ".kind") == [
        "all 60",
        "fixed 20",
        "broken 10",
        "right 20",
        "wrong 10",
        "differing 30",
        "unparsed 20",
    ]
    assert page.locator("#groups svg circle").count() == 4
    page.click(".kind.fixed")
    reads(page, "#count", "1–20 of 20")
    fixed = texts(page, "#samples tbody td:first-child")
    assert fixed[:3] == ["q2", "q4", "q8"]
    page.click("#samples tbody a >> nth=1")
    page.wait_for_selector(".completion mark")
    assert texts(page, "h1") == ["q4"] and "2 of 20" in page.inner_text(".bar")
    assert texts(page, ".completion mark") == ["answer 4"] * 2
    assert texts(page, ".answer .mark") == ["wrong", "right"]
    page.keyboard.press("ArrowRight")
    reads(page, "h1", "q8")
    page.click("text=← previous")
    reads(page, "h1", "q4")
    for _ in range(3):
        page.go_back()
    page.wait_for_selector(".kind.fixed[aria-pressed=true]")
    reads(page, "#count", "1–20 of 20")
    page.go_back()
    reads(page, "#count", "1–25 of 60")
    page.go_back()
    page.wait_for_selector("#compare:enabled")
    assert page.is_checked("[aria-label='choose small']") and not page.is_checked("[aria-label='choose third']")


def test_a_run_shows_its_provenance_and_pages_of_samples(page):
    opened(page, f"/results/{RUNS}/run/large-run", "#samples tbody tr")
    told = page.inner_text("#provenance")
    for fact in ("h1", "gsm8k/official@1", "exact_match@2", "tag-large", "heat"):
        assert fact in told
    assert texts(page, ".kind") == ["all 60", "right 40", "wrong 20", "unparsed 20"]
    page.click("#samples .pages button:nth-child(2)")
    reads(page, "#count", "26–50 of 60")
    page.click("#samples tbody a >> nth=0")
    page.wait_for_selector(".completion")
    assert texts(page, ".bubble > b") == ["system", "user"]
    page.go_back()
    reads(page, "#count", "26–50 of 60")


def test_what_is_not_there_is_said(context, viewer):
    page = context.new_page()
    for address in (
        "/results/7",
        f"/results/{RUNS}/run/none",
        f"/results/{RUNS}/compare?runs=small-run",
        "/results/0/nothing/x",
    ):
        page.goto(address)
        page.wait_for_selector(".problem, pre")
        assert page.locator(".problem p").count() or "error" in page.inner_text("body")
    page.close()


ACTIVE = """() => {
    const kinds = "iframe, object, embed, form, base, audio, video, template, marquee, meta[http-equiv], style";
    const isActive = (node) => [...node.attributes].some((one) => one.name.startsWith("on") || /^\\s*javascript:/i.test(one.value));
    const scripts = [...document.scripts].filter((one) => !one.src.startsWith(`${location.origin}/assets/`));
    const found = [...document.querySelectorAll("#page *")].filter(isActive);
    return { active: document.querySelectorAll(kinds).length + found.length + scripts.length, hacked: window.hacked || 0 };
}"""


def test_no_script_of_the_data_runs(page):
    assert len(XSS) >= 100
    quiet = {"active": 0, "hacked": 0}
    query = "?runs=a-run,b-run"
    for address, selector in (
        (f"/results/{HOSTILE}", "#runs tbody tr"),
        (f"/results/{HOSTILE}/run/a-run", "#samples tbody tr"),
        (f"/results/{HOSTILE}/compare{query}", "#samples tbody tr"),
    ):
        opened(page, address, selector)
        assert page.evaluate(ACTIVE) == quiet, address
        assert "\u202e" not in page.inner_text("body")
    page.click("#samples tbody a >> nth=0")
    seen = 0
    while True:
        reads(page, ".bar .quiet", f"{seen + 1} of {len(PAYLOADS)}")
        assert page.evaluate(ACTIVE) == quiet, page.url
        seen += 1
        if page.is_disabled("text=next →"):
            break
        page.keyboard.press("ArrowRight")
    assert seen == len(PAYLOADS) and "\u202e" not in page.inner_text("body")


def test_it_is_readable_in_the_dark_and_on_a_phone(page):
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    for address in (
        f"/results/{RUNS}/compare?runs=small-run,large-run",
        f"/results/{RUNS}/sample/q2?runs=small-run,large-run",
    ):
        opened(page, address, ".results section")
        wide, ground, ink = page.evaluate(
            "() => [document.documentElement.scrollWidth, ...['backgroundColor', 'color'].map((one) => getComputedStyle(document.body)[one])]"
        )
        assert wide <= 390 and sum(map(int, ground[4:-1].split(","))) < 150 < sum(map(int, ink[4:-1].split(",")))
