"""The viewer on a million rows of Parquet, timed by the browser itself.

    python -m benchmarks.viewer [--rows 1_000_000] [--runs 5]

Each run starts `crucible view` as a separate process. "rows drawn" is the time from the start of that process to the
rows in the page, in a browser that is open already; scrolling and queries are timed from the event in the page to the
frame that shows their rows.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

BARS = {
    "rows drawn": 1000,
    "scroll": 200,
    "filter": 2000,
}  # milliseconds
_WORDS = np.array(["alpha", "beta", "gamma", "delta", "model", "data", "token", "train", "eval", "score"])
_WHEN_DRAWN = """
  const drawn = () => document.querySelector("table.rows tbody tr[data-row]");
  new MutationObserver((_, watch) => drawn() && (watch.disconnect(), window.drawnAt = performance.now()))
    .observe(document, { childList: true, subtree: true });
"""
_DRAWN = "() => [performance.timeOrigin + window.drawnAt, window.drawnAt]"
_SHOWN = """
  const inSight = (node) => {
    const [at, all] = [node, document.querySelector(".grid")].map((one) => one.getBoundingClientRect());
    return at.bottom > all.top && at.top < all.bottom;
  };
  const frame = () => new Promise((next) => requestAnimationFrame(next));
  const rows = () => [...document.querySelectorAll("table.rows tbody tr")].filter(inSight);
  const shown = (isNew) => rows().length > 0 && rows().every((row) => row.dataset.row !== undefined) && isNew();
  const until = async (isNew) => {
    const began = performance.now();
    await frame();
    while (!shown(isNew)) await frame();
    return performance.now() - began;
  };
"""
_SCROLL = f"""async (share) => {{ {_SHOWN}
  const grid = document.querySelector(".grid"), before = rows()[0].dataset.row;
  grid.scrollTop = share * (grid.scrollHeight - grid.clientHeight);
  return until(() => rows()[0].dataset.row !== before);
}}"""
_ASK = f"""async ([name, text]) => {{ {_SHOWN}
  const input = document.querySelector(`[name=${{name}}]`), note = () => document.querySelector(".note").textContent;
  const before = note();
  input.value = text;
  input.dispatchEvent(new KeyboardEvent("keydown", {{ key: "Enter", bubbles: true }}));
  return until(() => note() !== before && !note().includes("…"));
}}"""


def written(folder: str, rows: int) -> str:
    """A file of flat rows: an id, a score, a label and a text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = np.random.default_rng(0)
    texts = [" ".join(_WORDS[each]) for each in draw.integers(0, len(_WORDS), (rows, 12))]
    labels = _WORDS[draw.integers(0, len(_WORDS), rows)]
    table = pa.table({"id": np.arange(rows), "score": draw.random(rows), "label": labels, "text": texts})
    path = f"{folder}/train.parquet"
    pq.write_table(table, path, row_group_size=50_000)
    return path


@contextmanager
def viewer(path: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The URL of a viewer, and its process."""
    command = [str(Path(sys.executable).with_name("crucible")), "view", path, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        found = re.search(r"http://\S+", running.stdout.readline())
        assert found is not None
        try:
            yield found[0], running
        finally:
            running.terminate()


def used(process: int) -> dict[str, float]:
    """The peak memory of a process in megabytes, and its CPU time in seconds."""
    status, stat = (Path(f"/proc/{process}/{name}").read_text() for name in ("status", "stat"))
    ticks = stat.rpartition(")")[2].split()[11:13]
    peak = re.search(r"VmHWM:\s+(\d+)", status)
    return {"peak memory": int(peak[1]) / 1024 if peak else 0.0, "processor": sum(map(int, ticks)) / 100}


def once(context: Any, path: str) -> dict[str, float]:
    """The figures of one run, in milliseconds and megabytes."""
    page = context.new_page()
    page.add_init_script(_WHEN_DRAWN)
    began = time.time()
    with viewer(path) as (url, process):
        found = {"address printed": 1000 * (time.time() - began)}
        page.goto(url)
        page.wait_for_selector("table.rows tbody tr[data-row]")
        drawn, found["… since it was opened"] = page.evaluate(_DRAWN)
        found["rows drawn"] = drawn - 1000 * began
        found["processor until then"] = 1000 * used(process.pid)["processor"]
        found["scroll"] = max(page.evaluate(_SCROLL, share) for share in (0.5, 0.99, 0.123, 0.75, 0.0))
        found["filter"] = page.evaluate(_ASK, ["where", "score > 0.5 and label = 'eval'"])
        found["scroll among filtered"] = page.evaluate(_SCROLL, 0.7)
        found["search"] = page.evaluate(_ASK, ["q", "gamma delta model"])
        found["peak memory"] = used(process.pid)["peak memory"]
        page.close()
    return found


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        path = written(folder, asked.rows)
        browser = started.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])
        runs = [once(browser.new_context(), path) for _ in range(asked.runs)]
        browser.close()
    for name in runs[0]:
        found = [run[name] for run in runs]
        unit = "MB" if "memory" in name else "ms"
        bar = f"  bar {BARS[name]} ms" if name in BARS else ""
        print(f"{name:22} {statistics.median(found):8.0f} {unit}  best {min(found):8.0f}{bar}")


if __name__ == "__main__":
    main()
