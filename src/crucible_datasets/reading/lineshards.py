"""JSON Lines and text as shards of a stream: a record is a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import CastError, FileFormatError, ValueTypeError
from crucible_datasets.features import Features
from crucible_datasets.forking import cached_property
from crucible_datasets.formats.json.typed_lines import TypedLines
from crucible_datasets.formats.streams import is_utf8, read_to_fault
from crucible_datasets.reading.blockshards import MARK, BlockShard, Problem
from crucible_datasets.reading.linerows import LineRows
from crucible_datasets.records import dataclass
from crucible_datasets.streams.batch import Batch

_HEAD = 1 << 16
# Options of Arrow's parser, and for values of unexpected types.
_ARROWS_OWN = {"use_threads", "block_size", "chunksize", "newlines_in_values", "on_mixed_types"}


@dataclass(frozen=True, eq=False)
class LineShard(BlockShard):
    """JSON Lines or text: a record is a line."""

    expected: Features | None = None  # the features of the stream's first rows

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "expected": self.expected}

    def expecting(self, features: Features | None) -> LineShard:
        return replace(self, expected=features, request=replace(self.request, expected=features))

    def tables(self, text: bytes | None = None, begin: int = 0) -> Iterator[pa.Table]:
        if text is None:
            return super().tables()
        # A block is parsed at once: its types must not depend on where a second buffer begins.
        request = replace(self.request, options={**self.request.options, "chunksize": len(text) + 1})
        return (table for table, _ in request.tables(self.file, text))

    def _rows(self, text: bytes, at: int) -> tuple[Batch | None, Problem | None, int | None]:
        try:
            batch, problem, end = super()._rows(text, at)
        except ValueTypeError as error:
            batch, problem, end = None, CastError(error.column, error.value, error.wanted, error.reason), None
        if not isinstance(problem, CastError):
            return batch, problem, end
        batch = self._rows_before_misfit(text, at)
        row = 0 if batch is None else len(batch)
        return batch, CastError(problem.column, problem.source, problem.target, problem.reason, row), None

    def _rows_before_misfit(self, text: bytes, at: int) -> Batch | None:
        """The rows of a block before the first line that holds a value of another type than the requested one."""
        ends = [match.end() for match in re.finditer(b"\n", text)]
        rows, low, high = None, 0, len(ends) + 1  # `low` lines can be read, `high` lines cannot
        while high - low > 1:
            middle = (low + high) // 2
            with suppress(ValueTypeError):
                batch, problem, _ = super()._rows(text[: ends[middle - 1]], at)
                if problem is None:
                    rows, low = batch, middle
                    continue
            high = middle
        return rows

    @property
    def tells_features(self) -> bool:
        return self._is_in_records or self._is_of_objects

    @property
    def _may_go_on(self) -> bool:
        return self.request.format.name == "json"

    @cached_property
    def _is_of_objects(self) -> bool:
        """Whether it is JSON of objects in some layout; the types of a list are known only at its end."""
        options = {**self.request.format.options(), **self.request.options}
        if self.request.format.name != "json" or options.get("field") is not None or not is_utf8(options["encoding"]):
            return False
        return self._head.removeprefix(MARK).lstrip().startswith(b"{")

    @cached_property
    def _head(self) -> bytes:
        """The first bytes, as far as they can be read; what is wrong with them is told when the rows are read."""
        with suppress(FileFormatError), self._stream() as stream:
            return read_to_fault(stream, _HEAD)[0]
        return b""

    def _line_rows(self) -> LineRows | None:
        request, defaults = self.request, self.request.format.options()
        chosen = {name for name, value in request.all_options(self.file).items() if value != defaults.get(name)}
        if request.format.name != "json" or request.columns or request.filters is not None or chosen - _ARROWS_OWN:
            return None
        lines = TypedLines(self.expected or Features())
        return LineRows(lines) if lines.is_possible else None

    @cached_property
    def _is_in_records(self) -> bool:
        options = {**self.request.format.options(), **self.request.options}
        if not is_utf8(options.get("encoding")) or options.get("encoding_errors") not in (None, "strict"):
            return False
        if self.request.format.name == "text":
            return bool(options["sample_by"] == "line")
        if options.get("field") is not None or options["on_bad_lines"] != "error":
            return False
        return _is_object(self._head.partition(b"\n")[0])


def _is_object(line: bytes) -> bool:
    text = line.removeprefix(MARK).strip()
    if not text.startswith(b"{"):
        return not text
    if len(line) == _HEAD:
        return True  # too long to check; errors show when it is read
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
