"""Calls of a user's function: arguments, rows or batches, synchronous or awaited."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import count
from typing import Any

from crucible_datasets import config
from crucible_datasets.executors.stateful import is_async, ready
from crucible_datasets.forking import cached_property
from crucible_datasets.ops.mapping.asynchronous import in_order, is_cancelled, run
from crucible_datasets.ops.mapping.user_functions import note_origin
from crucible_datasets.records import dataclass
from crucible_datasets.streams.pacing import Pace


@dataclass(frozen=True, eq=False)
class Call:
    """A function, and the arguments passed to it besides rows."""

    function: Callable[..., Any]
    with_indices: bool = False
    input_columns: tuple[str, ...] | None = None
    fn_kwargs: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        function: Any,
        with_indices: bool,
        input_columns: str | Sequence[str] | None,
        fn_kwargs: Mapping[str, Any] | None,
    ) -> Call:
        """The call that the arguments of `map` or `filter` describe."""
        if not callable(function):
            found = f"{type(function).__name__}: {function!r:.80}"
            raise TypeError(f"Expected a function, not {found}. Expressions are for a Dataset, not for a stream.")
        names = None if input_columns is None else (input_columns,) if isinstance(input_columns, str) else input_columns
        return cls(function, with_indices, None if names is None else tuple(names), dict(fn_kwargs or {}))

    @cached_property
    def is_async(self) -> bool:
        """Whether the function returns coroutines."""
        return is_async(self.function)

    @cached_property
    def _function(self) -> Callable[..., Any]:
        return ready(self.function)

    def __getstate__(self) -> dict[str, Any]:
        """The pickled state: a worker creates its own instance of a callable class."""
        return {name: value for name, value in vars(self).items() if name != "_function"}

    @property
    def name(self) -> str:
        """The function's name in messages."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def pace(self) -> Pace:
        """How many rows to start with: for an async function as many as may run concurrently, else one."""
        return Pace(config.MAX_NUM_RUNNING_ASYNC_MAP_FUNCTIONS_IN_PARALLEL if self.is_async else 1)

    def of_all(self, inputs: Iterable[Any], first_index: int) -> Iterator[Any]:
        """The result of the function for each input, in order."""
        if self.is_async:
            given = zip(inputs, count(first_index), strict=False)
            return _results(run(in_order(self.of_one, given, stop_at_errors=True)))
        if self.input_columns is None and not self.fn_kwargs:
            return map(self._function, inputs, *([count(first_index)] if self.with_indices else []))
        return map(self.of_one, inputs, count(first_index))

    def of_one(self, item: Any, index: Any) -> Any:
        """The result for one row or batch; `index` is its number, or the numbers of its rows."""
        given = [item] if self.input_columns is None else [item[name] for name in self.input_columns]
        if self.with_indices:
            given.append(index)
        return self._function(*given, **self.fn_kwargs)

    def of_batch(self, columns: Any, rows: range, names: Collection[str]) -> Any:
        """The result for a batch, awaited if necessary."""
        try:
            made = self.of_one(columns, list(rows))
            return run(_awaited(made)) if inspect.isawaitable(made) else made
        except Exception as error:
            note_origin(error, self.name, rows, names)
            raise

    def tell(self, error: BaseException | None, row: int, names: Collection[str]) -> None:
        """Add to an error a note that says on which row the function failed."""
        if error is not None:
            note_origin(error, self.name, range(row, row + 1), names)


def _results(outcomes: Sequence[tuple[Any, BaseException | None]]) -> Iterator[Any]:
    error = next((error for _, error in outcomes if error is not None and not is_cancelled(error)), None)
    for value, failed in outcomes:
        if failed is not None and error is not None:
            raise error
        yield value


async def _awaited(made: Any) -> Any:
    return await made
