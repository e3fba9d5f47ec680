"""Which samples a page shows if there are too many: the most informative ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

# Shares of the page; space that one kind leaves unused goes to the next ones.
_SHARES = (("differ", 0.5), ("wrong", 0.3), ("right", 0.2))


def chosen(values: np.ndarray, most: int) -> np.ndarray:
    """The rows of an array of samples × runs to show, in order: where models differ, all are wrong, all are correct.

    Rows of each kind are evenly spaced, so that all parts of the benchmark are represented.
    """
    import numpy as np

    if len(values) <= most:
        return np.arange(len(values))
    kinds = _kinds(values)
    taken: list[np.ndarray] = []
    for name, share in _SHARES:
        taken.append(_spread(kinds[name], int(share * most)))
    free = most - sum(map(len, taken))
    left = np.setdiff1d(np.arange(len(values)), np.concatenate(taken))
    return np.sort(np.concatenate([*taken, _spread(left, free)]))


def _kinds(values: np.ndarray) -> dict[str, np.ndarray]:
    import numpy as np

    known = np.nan_to_num(values, nan=0.0)
    differ = (known != known[:, :1]).any(axis=1)
    right = ~differ & (known[:, 0] > 0)
    return {
        "differ": np.flatnonzero(differ),
        "wrong": np.flatnonzero(~differ & ~right),
        "right": np.flatnonzero(right),
    }


def _spread(rows: np.ndarray, most: int) -> np.ndarray:
    import numpy as np

    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, max(most, 0)).astype(np.int64)]
