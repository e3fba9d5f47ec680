"""Draw the pictures of docs/viewer.md again: `python docs/pictures/draw.py`, with the test packages and chromium."""

from __future__ import annotations

import io
import random
import tempfile
from pathlib import Path
from typing import Any

import crucible_datasets as cd

HERE = Path(__file__).parent
TEXT = cd.Value("string")
TURNS = cd.List({"role": TEXT, "content": TEXT})
SUBJECTS = ["algebra", "geometry", "number theory", "probability"]

QUESTIONS = [
    "Solve $x^2 - {0}x + {1} = 0$ for $x$.",
    "A circle has the area ${0}\\pi$. How long is an arc of ${1}^\\circ$?",
    "How many positive divisors has ${0} \\cdot {1}^2$?",
    "Two dice are thrown {0} times. What is $P(\\text{{at least one sum of }} {1})$?",
]
ANSWER = """With the quadratic formula,

$$x_{{1,2}} = \\frac{{{0} \\pm \\sqrt{{{0}^2 - 4 \\cdot {1}}}}}{{2}}$$

1. The discriminant is $D = {2}$.
2. Check it:

```python
from math import sqrt

def roots(b, c):  # of x² - bx + c
    return [(b + sign * sqrt(b * b - 4 * c)) / 2 for sign in (1, -1)]
```

So there are **{3}** real roots."""
PROMPT = "Why is the sky blue? Explain it to a child of six."
CHOSEN = (
    "Sunlight looks white, but it is made of all the colours of the rainbow. When it comes through the air, the blue "
    "part bounces around much more than the red part, so blue light reaches your eyes from every side. "
    "That is why the sky looks blue!"
)
REJECTED = (
    "Sunlight looks white, but it is made of all the colours of the rainbow. When it comes through the air, the blue "
    "part is absorbed by the ocean and reflected into the sky. That is why the sky looks blue."
)


def problems(size: int = 5_000) -> cd.Dataset:
    """Problems of mathematics, with chats and scores."""
    draw = random.Random(4)
    rows = []
    for number in range(size):
        subject, b, c = number % 4, draw.randrange(3, 40), draw.randrange(2, 30)
        found = b * b - 4 * c
        question = QUESTIONS[subject].format(b, c)
        answer = ANSWER.format(b, c, found, "two" if found > 0 else "no")
        chat = [("system", "Think step by step."), ("user", question), ("assistant", answer)]
        rows.append(
            {
                "id": number,
                "subject": subject,
                "question": question,
                "messages": [{"role": role, "content": content} for role, content in chat],
                "score": None if draw.random() < 0.04 else round(draw.betavariate(5, 2), 4),
                "tokens": int(draw.lognormvariate(6, 0.5)),
                "meta": {"source": draw.choice(["exam", "book", "forum"]), "tags": ["maths", SUBJECTS[subject]]},
            }
        )
    kinds: dict[str, Any] = {
        "id": cd.Value("int64"),
        "subject": cd.ClassLabel(names=SUBJECTS),
        "question": TEXT,
        "messages": TURNS,
        "score": cd.Value("float64"),
        "tokens": cd.Value("int64"),
        "meta": {"source": TEXT, "tags": cd.List(TEXT)},
    }
    made = cd.Dataset.from_list(rows, features=cd.Features(kinds))
    made.info.dataset_name = "problems"
    return made


def preferences() -> cd.Dataset:
    """Two answers to a question, and which one is better."""
    asked = {"role": "user", "content": PROMPT}
    rows = {
        side: [[asked, {"role": "assistant", "content": text}]] * 40
        for side, text in (("chosen", CHOSEN), ("rejected", REJECTED))
    }
    kinds = {"chosen": TURNS, "rejected": TURNS, "margin": cd.Value("float64"), "judge": TEXT}
    draw = random.Random(7)
    margins = [round(draw.uniform(0.1, 3), 2) for _ in range(40)]
    made = cd.Dataset.from_dict({**rows, "margin": margins, "judge": ["people"] * 40}, features=cd.Features(kinds))
    made.info.dataset_name = "preferences"
    return made


def runs(folder: str) -> cd.ResultStore:
    """Two models that answer the same questions."""
    from crucible_datasets.benchmarks import samples_from
    from crucible_datasets.evaluation import evaluate

    draw = random.Random(3)
    rows = []
    for number in range(240):
        a, b, topic = draw.randrange(10, 99), draw.randrange(10, 99), ("adding", "taking away", "doubling")[number % 3]
        text, target = {
            "adding": (f"What is {a} plus {b}?", a + b),
            "taking away": (f"What is {a} minus {b}?", a - b),
            "doubling": (f"What is twice {a}?", 2 * a),
        }[topic]
        rows.append({"id": number, "input": text, "target": str(target), "metadata": {"topic": topic}})
    store = cd.ResultStore(folder)
    for model, right in (("org/small-1b", 0.62), ("org/large-8b", 0.81)):
        answers = [row["target"] if draw.random() < right else str(draw.randrange(200)) for row in rows]
        told = [f"It is {answer}." for answer in answers]
        evaluate(
            told, samples_from(rows, "sums"), metrics="exact_match", extract="gsm8k/flexible", model=model, store=store
        )
    return store


def keep(page: Any, name: str) -> None:
    """Write what the page shows, in few colours: it is small, and nobody sees the difference."""
    from PIL import Image

    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("RGB").quantize(128).save(HERE / f"{name}.png", optimize=True)


def main() -> None:
    """Open the viewer, and draw what it shows."""
    from playwright.sync_api import sync_playwright

    store = runs(tempfile.mkdtemp())
    with cd.view(problems(), preferences(), store, browser=False) as viewer, sync_playwright() as started:
        browser = started.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(viewer.url)
        page.goto(f"{viewer.origin}/data/0?where=score+%3E+0.5&sort=-score")
        page.wait_for_selector("tr[data-row]")
        page.wait_for_timeout(2000)
        keep(page, "viewer-rows")
        page.locator("tr[data-row]", has_text="x^2").first.click()
        page.wait_for_selector(".side .hljs-keyword")
        page.wait_for_timeout(500)
        keep(page, "viewer-row")
        page.goto(f"{viewer.origin}/results/2")
        page.wait_for_selector("#runs tbody tr")
        for box in page.locator("#runs tbody input[type=checkbox]").all():
            box.check()
        page.click("#compare")
        page.wait_for_timeout(2000)
        keep(page, "viewer-compare")
        page.emulate_media(color_scheme="dark")
        page.goto(f"{viewer.origin}/data/1?row=0")
        page.wait_for_selector(".side .diff")
        page.wait_for_timeout(1000)
        keep(page, "viewer-pairs")
        browser.close()


if __name__ == "__main__":
    main()
