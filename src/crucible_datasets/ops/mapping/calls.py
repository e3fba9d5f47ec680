"""Calls of a user's function: on rows or batches, with which arguments, and what happens on errors."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from typing import Any

from crucible_datasets.executors.stateful import is_async, ready
from crucible_datasets.forking import cached_property
from crucible_datasets.ops.mapping.asynchronous import in_order, is_cancelled, run
from crucible_datasets.ops.mapping.blocks import Block, WholeRows
from crucible_datasets.ops.mapping.lazy import batch_of, rows_of
from crucible_datasets.ops.mapping.lazy_media import OnDemand
from crucible_datasets.ops.mapping.user_functions import STOPPED, collect, note_origin

ON_ERROR = ("raise", "skip", "collect")


@dataclass(frozen=True)
class Failure:
    """A row, or a batch of rows, that the function failed on."""

    rows: range
    exception: str
    traceback: str


@dataclass
class Returned:
    """The results for a block: one for each row that did not fail, or one for the batch."""

    values: list[Any]
    failed: list[Failure] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Call:
    """A function and how it wants to be called."""

    function: Callable[..., Any]
    batched: bool = False
    with_indices: bool = False
    with_rank: bool = False
    input_columns: tuple[str, ...] | None = None
    fn_kwargs: Mapping[str, Any] = field(default_factory=dict)
    on_error: str = "raise"
    split: str | None = None  # passed as the last argument, if there is one
    rows_as_dicts: bool = False  # whether a row of a frame is passed as a dict of values, as in `filter`

    @property
    def name(self) -> str:
        """The function's name in messages."""
        return getattr(self.function, "__qualname__", None) or type(self.function).__name__

    @cached_property
    def is_async(self) -> bool:
        """Whether the function returns coroutines."""
        return is_async(self.function)

    def __call__(self, block: Block, rank: int | None) -> Returned:
        """The results of the function for a block."""
        if self.batched:
            return self._on_batch(block, rank)
        columns = [*self._arguments(block), *self._extras(block, rank)]
        function = self._function
        if self.input_columns and not block.source.is_lazy:
            function = partial(_of_columns, function, self.input_columns)
        if not columns:  # `input_columns=[]`
            columns, function = [repeat((), len(block))], partial(_unpacked, function)
        if any(isinstance(column, (OnDemand, WholeRows)) for column in columns):
            columns, function = [range(len(block))], partial(_on_demand, function, list(map(_indexed, columns)))
        if self.is_async:
            rows = [range(at, at + 1) for at in block.rows]
            return self._awaited(function, zip(*columns, strict=True), rows, block)
        return self._called(function, columns, block)

    def _arguments(self, block: Block) -> list[Iterable[Any]]:
        """The rows, or the values of the input columns."""
        names, source = self.input_columns, block.source
        if source.is_lazy:
            return [rows_of(block)] if names is None else [block.values(name) for name in names]
        if names is None and self.rows_as_dicts and not source.merges:
            return [block.rows_of_frame()]
        rows = block.whole_rows() if self.on_error == "raise" else WholeRows(block)
        return [rows] if names is None or names else []

    def _extras(self, block: Block, rank: int | None) -> list[Iterable[Any]]:
        extras: list[Iterable[Any]] = [block.rows] if self.with_indices else []
        if self.with_rank:
            extras.append(repeat(rank, len(block)))
        if self.split is not None:
            extras.append(repeat(self.split, len(block)))
        return extras

    @cached_property
    def _function(self) -> Callable[..., Any]:
        function = ready(self.function)
        return partial(function, **self.fn_kwargs) if self.fn_kwargs else function

    def __getstate__(self) -> dict[str, Any]:
        """The pickled state: a worker creates its own instance of a callable class."""
        return {name: value for name, value in vars(self).items() if name != "_function"}

    def _called(self, function: Callable[..., Any], columns: list[Iterable[Any]], block: Block) -> Returned:
        returned = Returned([])
        arguments = [iter(column) for column in columns]
        while True:
            try:
                # The list keeps what was appended before an exception, so its length is the number of the failing row.
                collect(map(function, *arguments), returned.values)
                if len(returned.values) + len(returned.failed) == len(block):
                    return returned
                raise RuntimeError(STOPPED)
            except Exception as error:  # noqa: BLE001  (whatever the function raises)
                at = block.rows.start + len(returned.values) + len(returned.failed)
                self._note(error, range(at, at + 1), block, returned)

    def _note(self, error: BaseException, rows: range, block: Block, returned: Returned) -> None:
        """Raise an error of the function, with a note about its rows, or collect it."""
        if self.on_error == "raise":
            note_origin(error, self.name, rows, block.names)
            raise error
        trace = "".join(traceback.format_exception(error))
        returned.failed.append(Failure(rows, f"{type(error).__name__}: {error}", trace))

    def _on_batch(self, block: Block, rank: int | None) -> Returned:
        returned, function = Returned([]), self._function
        try:
            arguments = self._batch_arguments(block)
            if self.with_indices:
                arguments.append(list(block.rows))
            if self.with_rank:
                arguments.append(rank)
            if self.split is not None:
                arguments.append(self.split)
            if not self.is_async:
                returned.values.append(function(*arguments))
        except Exception as error:  # noqa: BLE001  (whatever the function, or a transform before it, raises)
            self._note(error, block.rows, block, returned)
            return returned
        return self._awaited(function, [tuple(arguments)], [block.rows], block) if self.is_async else returned

    def _batch_arguments(self, block: Block) -> list[Any]:
        if block.source.is_lazy:
            if self.input_columns is None:
                return [batch_of(block)]
            return [block.column(name) for name in self.input_columns]
        batch = block.whole()
        return [batch] if self.input_columns is None else [batch[name] for name in self.input_columns]

    def _awaited(
        self,
        function: Callable[..., Any],
        arguments: Iterable[tuple[Any, ...]],
        rows: list[range],
        block: Block,
    ) -> Returned:
        returned = Returned([])
        stop_at_errors = self.on_error == "raise"
        outcomes = run(in_order(function, arguments, stop_at_errors))
        for place, (value, error) in enumerate(outcomes):
            if is_cancelled(error):
                continue
            if error is not None:
                self._note(error, rows[place], block, returned)
            else:
                returned.values.append(value)
        return returned


def _of_columns(function: Callable[..., Any], names: Sequence[str], row: Any, *extras: Any) -> Any:
    return function(*[row[name] for name in names], *extras)


def _unpacked(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(*arguments)


def _on_demand(function: Callable[..., Any], columns: list[Sequence[Any]], place: int) -> Any:
    """Call a function on the values at an index. A value that cannot be decoded counts as an error of the function."""
    return function(*[column[place] for column in columns])


def _indexed(column: Iterable[Any]) -> Sequence[Any]:
    return column if isinstance(column, Sequence) else list(column)
