"""`Interval` and `Estimate`, the results of statistics, which can be stored as JSON."""

from __future__ import annotations

from msgspec import Struct


class Interval(Struct, frozen=True):
    """A confidence interval, with its level and method; `note` says why it may cover less often than its level."""

    low: float
    high: float
    level: float = 0.95
    method: str = ""
    note: str = ""

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"[{self.low:.4g}, {self.high:.4g}]"

    @property
    def width(self) -> float:
        """The width of the interval."""
        return self.high - self.low


class Estimate(Struct, frozen=True):
    """A mean with its uncertainty; None for what cannot be estimated from so few values."""

    value: float | None
    n: int
    stderr: float | None = None
    interval: Interval | None = None
    num_clusters: int | None = None
