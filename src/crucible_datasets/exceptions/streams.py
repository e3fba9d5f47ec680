"""Errors about states and shards of streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crucible_datasets.exceptions.base import DatasetsError
from crucible_datasets.exceptions.making import FileCastError, SchemaConflictError
from crucible_datasets.exceptions.types import CastError


def _part(part: Mapping[str, int]) -> str:
    return "worker {worker} of {num_workers} on machine {rank} of {world_size}".format(**part)


class StreamTypeError(FileCastError, SchemaConflictError):  # type: ignore[misc]
    """A row does not fit the types of its stream, which are those of the first rows, or those that were requested."""

    def message(  # type: ignore[override]
        self,
        path: str | None,
        row: int | None,
        column: str | None,
        source: str | None,
        target: str | None,
        reason: str = "",
        advice: str = "",
    ) -> str:
        CastError.message(self, column, str(source), str(target), reason)
        self.path, self.row = path, row  # type: ignore[assignment]
        self.first, self.second = "the rows before", path or "the stream"
        where = f"{path or 'The stream'}{'' if row is None else f', row {row}'}"
        what = "a column" if column is None else f"column {column!r}"
        before = "no row before has it" if target is None else f"{target} in the stream"
        misfit = f"is {source} here, but {before}" if source is not None else f"has a value that is no {target}"
        end = f": {reason.rstrip('.')}." if reason else "."
        return f"{where}: {what} {misfit}{end} {advice}".rstrip()


class StreamStateError(DatasetsError, ValueError, RuntimeError):
    """The loaded states were saved by other readers, and this one cannot resume from them."""

    def message(self, part: Mapping[str, int], saved: Sequence[Mapping[str, int]], reason: str) -> str:
        self.part, self.saved, self.reason = dict(part), [dict(one) for one in saved], reason
        return (
            f"This reader is {_part(part)}, but the states are those of {'; '.join(map(_part, saved))}, and {reason}. "
            "Go on with as many workers and machines as before, or deal rows out with with_workers(deterministic=True) "
            "and load the list of the states of all workers."
        )


class ForeignStateError(DatasetsError, ValueError):
    """The loaded state was saved by a stream with other steps, or of other data; `differences` says which."""

    def message(self, saved: Sequence[str], steps: Sequence[str], differences: Sequence[str] = ()) -> str:
        self.saved, self.steps, self.differences = list(saved), list(steps), list(differences)
        if differences:
            more = f"; and {len(differences) - 3} more" if len(differences) > 3 else ""
            return (
                f"The state was saved by a stream of other data or other steps: {'; '.join(differences[:3])}{more}. "
                "Build the stream as before, of the same files and with the same seeds, and load its state then. If "
                "its rows are the same nevertheless, remove 'fingerprint' from the state."
            )
        return (
            f"The state was saved by a stream of the steps {' → '.join(map(str, saved))}; this one has "
            f"{' → '.join(steps)}. Build the stream as before, and load its state then."
        )


class DamagedStateError(DatasetsError, ValueError):
    """The loaded state is corrupt."""

    def message(self, state: Mapping[str, Any]) -> str:
        self.state = dict(state)
        return f"The state is not as state_dict() gave it: {str(self.state)[:200]}. Read it again from where it is."


class ShardingError(DatasetsError, RuntimeError):
    """The arguments of a generator are lists of different lengths, so they cannot be split into shards."""

    def message(self, lengths: Mapping[str, int]) -> str:
        self.lengths = dict(lengths)
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        return f"Lists among gen_kwargs are shared out to shards, but {found}. Pass tuples for what all shards get."


class ShardIndexError(DatasetsError, IndexError, ValueError):
    """There is no such shard."""

    def message(self, index: int, num_shards: int) -> str:
        self.index, self.num_shards = index, num_shards
        return f"There is no shard {index} of {num_shards}: shards are numbered from 0 to {num_shards - 1}."
