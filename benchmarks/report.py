"""The table: medians of the measurements of each case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.cases import Case
from benchmarks.measure import Measurement

HEADINGS = (
    ("case", 44), ("HF", 9), ("ours", 9), ("floor", 9), ("HF/ours", 9), ("bar", 7), ("holds", 8),
    ("peak HF", 9), ("ours", 8), ("+HF", 8), ("+ours", 8), ("disk HF", 9), ("ours", 8),
)  # fmt: skip

# One library measured against itself differed by 1 MB of 160.
PEAK_NOISE = 1.02


@dataclass(frozen=True)
class Side:
    """One library's measurements of one case, as their medians."""

    measurements: Sequence[Measurement]

    def middle(self, field: str) -> float:
        """The median of one number."""
        return float(median(getattr(each, field) for each in self.measurements))

    @property
    def error(self) -> str:
        """The first failure, if any."""
        return next((each.error for each in self.measurements if each.error), "")

    @property
    def measured(self) -> bool:
        """Whether there are measurements."""
        return bool(self.measurements) and not self.error

    @property
    def waited(self) -> bool:
        """Whether at least a fifth of the time was not spent on the CPU."""
        return self.measured and self.middle("seconds") > 1.25 * self.middle("cpu_seconds")

    def show(self, field: str) -> str:
        """One number for the table, or a dash."""
        if not self.measured:
            return "failed" if self.error and field == "seconds" else "–"
        form = duration if field == "seconds" else size
        return form(self.middle(field))


@dataclass(frozen=True)
class Result:
    """A case with the sides that were run."""

    case: Case
    hf: Side
    ours: Side
    floor: Side

    @property
    def ratio(self) -> float | None:
        """The speed relative to `datasets`."""
        if not (self.hf.measured and self.ours.measured):
            return None
        return self.hf.middle("seconds") / self.ours.middle("seconds")

    @property
    def complaints(self) -> list[str]:
        """Why the requirement is not met; empty if it is."""
        found = [f"{name}: {side.error}" for name, side in self.sides.items() if side.error]
        if self.ratio is None:
            return found
        if self.ratio < self.case.bar:
            found.append(f"{self.ratio:.2f}× is below the bar of {self.case.bar:g}×")
        if self.case.bar and self.ours.middle("peak") > PEAK_NOISE * self.hf.middle("peak"):
            found.append("higher peak memory")
        if self.ours.middle("peak") > self.case.most_peak:
            found.append(f"more memory than the {size(self.case.most_peak)} it may take")
        if self.ours.middle("disk") > self.case.most_disk:
            found.append(f"wrote {size(self.ours.middle('disk'))}, may write {size(self.case.most_disk)}")
        answers = {each.answer for side in self.sides.values() for each in side.measurements}
        if len(answers) > 1:
            found.append("answers differ: " + " | ".join(sorted(answers)))
        return found

    @property
    def notes(self) -> list[str]:
        """Caveats of the numbers."""
        return self.waiting_notes + self.floor_notes

    @property
    def waiting_notes(self) -> list[str]:
        """A note if other load on the machine increased the times."""
        if self.ratio is None or not any(side.waited for side in self.sides.values()):
            return []
        processor = self.hf.middle("cpu_seconds") / self.ours.middle("cpu_seconds")
        return [f"the machine was busy; by processor time the ratio is {processor:.1f}×"]

    @property
    def floor_notes(self) -> list[str]:
        """A note if a library is faster than the floor, or the floor is too slow for the requirement."""
        if not self.floor.measured:
            return [f"floor: {self.floor.error}"] if self.floor.error else []
        floor = self.floor.middle("seconds")
        below = [name for name, side in self.sides.items() if side.measured and side.middle("seconds") < 0.9 * floor]
        found = [f"{name} beats the floor, so it is not one" for name in below]
        if self.hf.measured and self.hf.middle("seconds") < self.case.bar * floor:
            most = self.hf.middle("seconds") / floor
            found.append(f"the floor itself is only {most:.1f}× faster than HF")
        return found

    @property
    def sides(self) -> dict[str, Side]:
        """The two sides that are compared."""
        return {"HF": self.hf, "ours": self.ours}

    @property
    def verdict(self) -> str:
        """One word for the table."""
        if self.complaints:
            return "NO"
        return "–" if self.ratio is None or not self.case.bar else "yes"

    def line(self) -> str:
        """The line of the table, with complaints and notes below it."""
        ratio = "–" if self.ratio is None else f"{self.ratio:.1f}×"
        bar = f"≥ {self.case.bar:g}×" if self.case.bar else "–"
        hf, ours = self.hf, self.ours
        times = [side.show("seconds") for side in (hf, ours, self.floor)]
        sizes = [side.show(field) for field in ("peak", "growth", "disk") for side in (hf, ours)]
        label = f"{self.case.name} ({self.case.shape})"
        first = row([label, *times, ratio, bar, self.verdict, *sizes])
        return "\n".join([first, *(f"    {text}" for text in self.complaints + self.notes)])

    def as_json(self) -> dict[str, object]:
        """All data, including raw numbers."""
        sides = {"hf": self.hf, "ours": self.ours, "floor": self.floor}
        return {
            "case": self.case.key,
            "bar": self.case.bar,
            "ratio": self.ratio,
            "complaints": self.complaints,
            "notes": self.notes,
            **{name: [vars(each) for each in side.measurements] for name, side in sides.items()},
        }


def row(cells: Sequence[str]) -> str:
    """A row of cells: the first left-aligned, the others right-aligned."""
    widths = [width for _, width in HEADINGS]
    first, *rest = zip(cells, widths, strict=True)
    return first[0].ljust(first[1]) + "".join(cell.rjust(width) for cell, width in rest)


def heading() -> str:
    """The names of the columns and a rule."""
    line = row([name for name, _ in HEADINGS])
    return f"{line}\n{'─' * len(line)}"


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}" if seconds / unit < 1000 else f"{seconds:.0f} s"
    return f"{seconds * 1e9:.0f} ns"


def size(count: float) -> str:
    """Megabytes, or less when there are none."""
    if count >= 1e5:
        return f"{count / 1e6:.0f} MB" if count >= 1e7 else f"{count / 1e6:.1f} MB"
    return f"{count / 1e3:.0f} kB" if count >= 1e3 else f"{count:.0f} B"
