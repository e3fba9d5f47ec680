"""Private attributes of Hugging Face `datasets` that libraries built on it use nevertheless.

TRL reads `_formatting` of streams and `_get_cache_file_path` of datasets, sentence-transformers reads `_format_kwargs`,
and scripts use `_data`, `_info` and `_head`. All of them are derived from the public API here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crucible_datasets.fingerprint import Fingerprint
from crucible_datasets.records import dataclass

if TYPE_CHECKING:
    from crucible_datasets.info import DatasetInfo
    from crucible_datasets.splits import NamedSplit
    from crucible_datasets.streams.examples import Examples
    from crucible_datasets.streams.stream import Stream
    from crucible_datasets.tables.table import Table
    from crucible_datasets.tables.view import View


# Instance attributes of `Dataset` itself; any others were set by a user or a user's subclass.
_OWN = frozenset({"_view", "_indexes", "_reader", "info", "errors"})


class PrivateDatasetNames:
    """The private names of `Dataset`."""

    _view: View
    if TYPE_CHECKING:

        @property
        def info(self) -> DatasetInfo: ...
        def _set_view(self, view: View) -> None: ...

        @property
        def data(self) -> Table: ...
        def select(self, indices: Any) -> Any: ...
        def __getitem__(self, key: Any) -> Any: ...

    @property
    def _data(self) -> Table:
        return self.data

    @property
    def _info(self) -> DatasetInfo:
        return self.info

    @property
    def _split(self) -> NamedSplit | None:
        return self._view.split

    @property
    def _fingerprint(self) -> str:
        return str(self._view.fingerprint)

    @_fingerprint.setter
    def _fingerprint(self, text: str) -> None:
        self._set_view(replace(self._view, fingerprint=Fingerprint.fixed(text)))

    @property
    def _format_type(self) -> str | None:
        return self._view.format.type

    @property
    def _format_kwargs(self) -> dict[str, Any]:
        return dict(self._view.format.kwargs)

    @property
    def _format_columns(self) -> list[str] | None:
        columns = self._view.format.columns
        return None if columns is None else list(columns)

    @property
    def _output_all_columns(self) -> bool:
        return self._view.format.output_all_columns

    def _getitem(self, key: Any) -> Any:
        found = self[key]
        return found[:] if isinstance(key, str) else found

    def _estimate_nbytes(self) -> int:
        from crucible_datasets.ops.blocks import nbytes

        return nbytes(self._view)

    def _select_contiguous(self, start: int, length: int, new_fingerprint: str | None = None) -> Any:
        return self.select(range(start, start + length))

    def _select_with_indices_mapping(self, indices: Any, *args: Any, **kwargs: Any) -> Any:
        return self.select(indices, *args, **kwargs)

    def _set_by_users(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _OWN}

    def _get_cache_file_path(self, fingerprint: str) -> str:
        from crucible_datasets.ops.mapping.named_files import usual_place

        return usual_place(fingerprint)


@dataclass(frozen=True)
class Formatting:
    """How the rows of a stream are shown."""

    format_type: str


class PrivateStreamNames:
    """The private names of `IterableDataset`."""

    _stream: Stream
    if TYPE_CHECKING:

        @property
        def info(self) -> DatasetInfo: ...
        @property
        def epoch(self) -> int: ...
        @classmethod
        def _of(cls, stream: Stream, epoch: int = 0) -> Any: ...

    @property
    def _info(self) -> DatasetInfo:
        return self.info

    @property
    def _split(self) -> NamedSplit | None:
        return self._stream.split

    @property
    def _epoch(self) -> int:
        return self.epoch

    @property
    def _ex_iterable(self) -> Examples:
        from crucible_datasets.streams.examples import examples_of

        return examples_of(self._stream)

    @property
    def _formatting(self) -> Formatting | None:
        shown = self._stream.format.type
        return None if shown is None else Formatting(shown)

    def _resolve_features(self) -> Any:
        from crucible_datasets.streams.mixing import features_found

        return self._of(replace(self._stream, features=features_found(self._stream)), self.epoch)

    def _head(self, n: int = 5) -> Any:
        return next(self._of(self._stream, self.epoch).iter(n), {})
