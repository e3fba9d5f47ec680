"""Run the cases on both libraries in turn and print the table.

    python -m benchmarks --only iterate --rows 10000 --repeat 3 --json out.json

Required ratios are for 100,000 rows on an idle machine. Every measurement is a separate process; the two libraries
alternate, and the one that goes first changes every round.
"""

from __future__ import annotations

import argparse
import compileall
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.cases import CASES, Case
from benchmarks.measure import FEWEST_ROWS, ROOT, WARM_UP_ROWS, Measurement, measure
from benchmarks.report import Result, Side, duration, heading

MODULES = {"hf": "datasets", "ours": "crucible_datasets", "floor": "benchmarks.floor"}


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    only = "only cases whose name/shape contains one of these"
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT", help=only)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3, help="rounds, of which the median counts")
    parser.add_argument("--side", choices=["both", "hf", "ours"], default="both")
    parser.add_argument("--floor", action="store_true", help="also time the bare pyarrow version")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every number there")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one measurement")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar fails")
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    options = parser.parse_args(given)
    if options.rows < FEWEST_ROWS:
        parser.error(f"--rows must be at least {FEWEST_ROWS}")
    return options


def chosen(only: Sequence[str]) -> list[Case]:
    """The requested cases whose packages are installed."""
    asked = [case for case in CASES.values() if not only or any(text in case.key for text in only)]
    return [case for case in asked if all(find_spec(package) for package in case.needs)]


def rounds(case: Case, sides: Sequence[str], options: argparse.Namespace) -> Result:
    """Measure every side once per round; the order is reversed each time."""
    seen: dict[str, list[Measurement]] = {side: [] for side in MODULES}
    for number in range(options.repeat):
        able = [side for side in sides if side != "floor" or case.floor]
        for side in able[:: -1 if number % 2 else 1]:
            seen[side].append(measure(case, MODULES[side], options.rows, options.timeout))
    return Result(case, **{side: Side(found) for side, found in seen.items()})


def net_import(results: Sequence[Result]) -> str:
    """The import time without that of the bare interpreter."""
    found = {result.case.name: result for result in results}
    try:
        full, bare = found["import"], found["import of nothing"]
        hf, ours = (
            getattr(full, side).middle("seconds") - getattr(bare, side).middle("seconds") for side in ("hf", "ours")
        )
    except (KeyError, ValueError):
        return ""
    return f"import above a bare interpreter: HF {duration(hf)}, ours {duration(ours)}"


def main(given: Sequence[str] | None = None) -> int:
    """Run all cases and print the table; whether every required ratio is reached."""
    options = arguments(given)
    cases = chosen(options.only)
    if options.list:
        print("\n".join(f"{case.key}  ≥ {case.bar:g}×" for case in cases))
        return 0
    # As for installed packages: with PYTHONDONTWRITEBYTECODE, each child would compile edited files again.
    compileall.compile_dir(ROOT / "src", quiet=1)
    # A separate process writes the data, since memory of the parent would count in the peak of its children.
    write = [sys.executable, "-m", "benchmarks.data", str(WARM_UP_ROWS), str(options.rows)]
    subprocess.run(write, cwd=ROOT, check=True)
    subprocess.run(
        [sys.executable, "-m", "benchmarks.file_data", str(WARM_UP_ROWS), str(options.rows)], cwd=ROOT, check=True
    )
    sides = ["hf", "ours"] if options.side == "both" else [options.side]
    sides += ["floor"] if options.floor else []
    print(f"{options.rows:,} rows, median of {options.repeat} rounds\n")
    print(heading(), flush=True)
    results = []
    for case in cases:
        results.append(rounds(case, sides, options))
        print(results[-1].line(), flush=True)
    failed = [result for result in results if result.complaints]
    judged = [result for result in results if result.verdict != "–"]
    print(f"\n{len(judged) - len(failed)} of {len(judged)} hold. {net_import(results)}")
    if options.json:
        options.json.write_text(json.dumps([result.as_json() for result in results], indent=1))
    return int(bool(failed) and options.strict)


if __name__ == "__main__":
    sys.exit(main())
