"""Whether an index column only numbers the rows, so that it can be dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Counting:
    """Whether the values of a column are evenly spaced, as row numbers are."""

    last: int | None = None
    step: int | None = None
    even: bool = True

    def see(self, values: Sequence[Any]) -> None:
        """Take more values into account."""
        if not self.even or not len(values):
            return
        if not all(type(value) is int for value in values):
            self.even = False
            return
        found = np.array(values if self.last is None else [self.last, *values])
        steps = np.diff(found)
        if len(steps):
            self.step = int(steps[0]) if self.step is None else self.step
            self.even = self.step != 0 and bool((steps == self.step).all())
        self.last = int(found[-1])

    def is_even(self) -> bool:
        """Whether there were at least two values, all with the same difference."""
        return self.even and self.step is not None
