"""All laws for an hour: `python tests/laws/soak.py`, or `make soak`. Prints seeds and counts per law.

    CRUCIBLE_LAWS_SECONDS   the seconds that all laws share, 3600 if not set
    CRUCIBLE_LAWS_SEED      the first seed, today's date if not set; a report says which seeds it used
    arguments               the laws to try (parts of their names), all if none

Every law runs in a process of its own. What breaks it is made small, printed, and appended to its file in corpus/, from
where every later run of the tests tries it again; this includes examples that kill the process.
"""

from __future__ import annotations

import datetime
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_MORE = 5  # times as many examples as of a quick run are made from one seed


def load() -> dict[str, Any]:
    """All laws of the test modules, by name."""
    if str(HERE.parent) not in sys.path:
        sys.path.insert(0, str(HERE.parent))
    from laws.law import LAWS

    for path in sorted(HERE.glob("test_*.py")):
        importlib.import_module(f"laws.{path.stem}")
    return LAWS


def run(seconds: float, first_seed: int, names: list[str], keep: bool = True) -> list[dict[str, Any]]:
    """Try the laws for so long; one record per law."""
    laws = {name: law for name, law in load().items() if not names or any(part in name for part in names)}
    total = sum(law.weight for law in laws.values())
    records = []
    for name, law in laws.items():
        record: dict[str, Any] = {"law": name, "seeds": [], "examples": 0, "seconds": 0.0, "failures": {}}
        for event in _process(name, seconds * law.weight / total, first_seed):
            _add(record, event, keep)
        records.append(record)
        _say(_line(record))
    return records


def _process(name: str, seconds: float, seed: int) -> Iterator[dict[str, Any]]:
    """What a process that tries the law reports; another one takes over where one was killed."""
    start = time.monotonic()
    while (left := seconds - (time.monotonic() - start)) > 0:
        with tempfile.NamedTemporaryFile() as journal:
            command = [sys.executable, __file__, "--try", name, str(left), str(seed), journal.name]
            child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=HERE.parent)
            assert child.stdout is not None
            for line in child.stdout:
                if line.startswith("{"):
                    event = json.loads(line)
                    seed = event["seed"] + 1
                    yield event
            if child.wait() == 0:
                return
            seed += 1
            reason = f"the process ended with {child.returncode} (-11 is a segmentation fault)"
            line = Path(journal.name).read_text()
            yield {"seed": seed - 1, "examples": 0, "seconds": 0, "failures": [[f"{reason}: {line[:2000]}", line]]}


def _try(name: str, seconds: float, seed: int, journal: str) -> None:
    """In a process of its own: examples from one seed after the other."""
    law = load()[name]
    from laws.law import Broken

    start, counted = time.monotonic(), [0]
    checked = law.checked

    def noted(**drawn: Any) -> None:
        from laws.law import literal

        counted[0] += 1
        Path(journal).write_text(literal(drawn))
        checked(**drawn)

    object.__setattr__(law, "checked", noted)
    while (begun := time.monotonic()) - start < seconds:
        counted[0] = 0
        failures: list[list[str]] = []
        try:
            law.run(seed, law.examples * _MORE)
        except Broken as broken:
            failures.append([str(broken), broken.line])
        except Exception as error:
            failures.append([f"{name}: {type(error).__name__}: {error}", ""])
        event = {"seed": seed, "examples": counted[0], "seconds": time.monotonic() - begun, "failures": failures}
        _say(json.dumps(event))
        seed += 1


def _add(record: dict[str, Any], event: dict[str, Any], keep: bool) -> None:
    record["seeds"].append(event["seed"])
    record["examples"] += event["examples"]
    record["seconds"] += event["seconds"]
    for message, line in event["failures"]:
        # The same fault is found from many seeds.
        signature = re.sub(r"'.*?'|\".*?\"|\d+|/\S+", "…", message.rpartition("because ")[2])[:300]
        if signature in record["failures"]:
            continue
        record["failures"][signature] = message
        _say(f"\n── seed {event['seed']}: {message}\n")
        if keep and line:
            from laws.law import CORPUS

            with (CORPUS / f"{record['law']}.txt").open("a") as file:
                file.write(f"{line}\n")


def _line(record: dict[str, Any]) -> str:
    seeds = f"{record['seeds'][0]} to {record['seeds'][-1]}" if record["seeds"] else "none"
    faults = f"{len(record['failures'])} FAULTS" if record["failures"] else "holds"
    return f"{record['law']:<70} {record['examples']:>8,} examples {record['seconds']:>6.0f} s  seeds {seeds}  {faults}"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--try"]:
        name, seconds, seed, journal = arguments[1:]
        _try(name, float(seconds), int(seed), journal)
        return 0
    seconds = float(os.environ.get("CRUCIBLE_LAWS_SECONDS", 3600))
    seed = int(os.environ.get("CRUCIBLE_LAWS_SEED", f"{datetime.date.today():%Y%m%d}000"))
    keep = "--no-corpus" not in arguments
    records = run(seconds, seed, [name for name in arguments if not name.startswith("--")], keep)
    _say(f"\n{len(records)} laws, {sum(record['examples'] for record in records):,} examples, first seed {seed}:")
    for record in records:
        _say(_line(record))
    return int(any(record["failures"] for record in records))


if __name__ == "__main__":
    sys.dont_write_bytecode = False
    home = tempfile.TemporaryDirectory(prefix="laws-")
    os.environ.setdefault("TMPDIR", "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir())
    os.environ |= {"HF_HOME": home.name, "HF_DATASETS_CACHE": f"{home.name}/datasets", "HF_HUB_OFFLINE": "1"}
    sys.exit(main(sys.argv[1:]))
