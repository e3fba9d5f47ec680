"""The state of a numpy random generator as a JSON value, and generators restored from it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np


def state_of(generator: np.random.Generator) -> Any:
    """The state of a generator."""
    return plain(generator.bit_generator.state)


def at_state(generator: np.random.Generator, state: Any) -> np.random.Generator:
    """A generator of the same kind with this state."""
    copy = deepcopy(generator)
    if state is not None:
        copy.bit_generator.state = _arrays(state)
    return copy


def shifted(generator: np.random.Generator, by: int) -> np.random.Generator:
    """A different generator for each number, derived as Hugging Face `datasets` does for each epoch and worker."""
    return np.random.default_rng(int(deepcopy(generator).integers(0, 1 << 63)) - by)


def drawn_order(generator: np.random.Generator, count: int) -> list[int]:
    """The numbers below `count`, permuted by a copy of a generator."""
    order = list(range(count))
    deepcopy(generator).shuffle(order)
    return order


def plain(state: Any) -> Any:
    """The state of a bit generator as a JSON value."""
    if isinstance(state, dict):
        return {name: plain(value) for name, value in state.items()}
    return state.tolist() if isinstance(state, (np.ndarray, np.generic)) else state


def _arrays(state: Any) -> Any:
    """The state in numpy's form: lists of numbers become arrays, as for MT19937."""
    if isinstance(state, dict):
        return {name: _arrays(value) for name, value in state.items()}
    return np.asarray(state, dtype=np.uint64) if isinstance(state, list) else state
