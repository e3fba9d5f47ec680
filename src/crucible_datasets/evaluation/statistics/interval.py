"""What the statistics give: an interval, and an estimate with one. Both can be stored as JSON."""

from __future__ import annotations

from msgspec import Struct


class Interval(Struct, frozen=True):
    """Where a value lies with probability `level`, and how that was worked out."""

    low: float
    high: float
    level: float = 0.95
    method: str = ""

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"[{self.low:.4g}, {self.high:.4g}]"

    @property
    def width(self) -> float:
        """From end to end."""
        return self.high - self.low


class Estimate(Struct, frozen=True):
    """A mean with its uncertainty. What cannot be known of so few values is None."""

    value: float | None
    n: int
    stderr: float | None = None
    interval: Interval | None = None
    num_clusters: int | None = None
