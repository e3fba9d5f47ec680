"""Every error of the library, built from facts.

An error says what was asked, what exists and what to do. It is raised with those
facts, composes its own message, keeps the facts as attributes, survives pickling,
and inherits the standard type that existing `except` clauses look for.

    DatasetsError
    ├── ColumnNotFoundError (KeyError, ValueError)
    │   └── MissingFieldError
    ├── ColumnNamesError (ValueError)
    ├── ColumnLengthError (ValueError)
    │   └── RowCountError
    ├── RowIndexError (IndexError, OverflowError)
    │   └── FrameIndexError
    ├── MixedTypesError (ValueError, TypeError)
    ├── ValueTypeError (ValueError, TypeError, AttributeError, OverflowError)
    ├── CastError (ValueError, TypeError, NotImplementedError)
    ├── ShapeError (ValueError)
    ├── FeaturesMismatchError (ValueError, KeyError)
    ├── UnknownTypeError (ValueError, TypeError)
    ├── UnknownEntryError (ValueError)
    ├── MissingPackageError (ImportError, ValueError)
    ├── SplitSizeError (ValueError)
    ├── StratificationError (ValueError)
    ├── ArgumentError (ValueError)
    │   ├── ArgumentTypeError (TypeError)
    │   └── UnusablePairError
    ├── FunctionResultError (TypeError, ValueError)
    ├── AlignmentError (ValueError, TypeError)
    ├── UnknownFeaturesError (ValueError, TypeError)
    ├── StreamStateError (ValueError, RuntimeError)
    ├── ForeignStateError (ValueError)
    ├── DamagedStateError (ValueError)
    ├── ShardingError (RuntimeError)
    ├── ShardIndexError (IndexError, ValueError)
    ├── ProbabilitiesError (ValueError, IndexError)
    ├── AggregationError (ValueError, TypeError)
    ├── ExpressionError (ValueError, TypeError)
    ├── DecodingDisabledError (RuntimeError)
    ├── SplitNotFoundError (KeyError)
    │   └── StreamedSplitError (ValueError)
    ├── DatasetTransformationNotAllowedError
    ├── MissingIndexError (KeyError)
    ├── UnsavedIndexError (ValueError)
    ├── DatasetBuildError
    │   ├── DatasetGenerationError
    │   │   ├── DatasetGenerationCastError
    │   │   ├── FileFormatError (ValueError)
    │   │   │   ├── ArrowFileError (OSError)
    │   │   │   └── FileFieldError (KeyError)
    │   │   ├── MediaFolderError (ValueError)
    │   │   └── SchemaConflictError (ValueError, TypeError)
    │   ├── ManualDownloadError
    │   ├── CardError (ValueError)
    │   └── DatasetScriptError (RuntimeError)
    ├── DefunctDatasetError
    ├── FileNotFoundDatasetsError (FileNotFoundError)
    │   ├── DataFilesNotFoundError
    │   ├── DatasetNotFoundError
    │   │   └── PinNotFoundError
    │   └── EmptyDatasetError
    ├── ConfigNotFoundError (ValueError)
    ├── FormatConflictError (ValueError)
    ├── ChecksumVerificationError
    │   ├── ExpectedMoreDownloadedFilesError
    │   ├── NonMatchingChecksumError
    │   └── UnexpectedDownloadedFileError
    ├── SplitsVerificationError
    │   ├── ExpectedMoreSplitsError
    │   ├── NonMatchingSplitsSizesError
    │   └── UnexpectedSplitsError
    ├── UnavailableError
    ├── LimitExceededError (ValueError)
    ├── WorkerDiedError (RuntimeError)
    ├── WorkerError (RuntimeError)
    ├── ClusterError (RuntimeError)
    ├── NotPicklableError (TypeError)
    ├── DownloadError (ConnectionError)
    │   ├── AccessDeniedError (PermissionError)
    │   └── UploadError
    ├── OfflineError (ConnectionError)
    ├── ContentMismatchError (ValueError)
    ├── BadRecordError (ValueError)
    ├── BenchmarkFileError (ValueError)
    ├── InvalidRecordError (ValueError, TypeError)
    ├── TemplateError (ValueError, KeyError)
    ├── BadRowError (ValueError, TypeError)
    ├── StorageError (OSError)
    │   └── NotWritableError (PermissionError)
    ├── DatabaseError (ConnectionError)
    ├── OutOfBoundsError (PermissionError, ValueError)
    ├── BadMediaError (ValueError, OSError, RuntimeError)
    │   ├── MissingMediaError (FileNotFoundError)
    │   └── OversizedMediaError (LimitExceededError)
    ├── NotAFolderError (FileExistsError, NotADirectoryError)
    ├── RunNotFoundError (KeyError, FileNotFoundError)
    ├── RunExistsError (FileExistsError, ValueError)
    ├── RunFinishedError (RuntimeError)
    ├── UnknownPredictionsError (ValueError, KeyError)
    ├── MissingPredictionsError (ValueError)
    ├── IncomparableRunsError (ValueError)
    ├── CodeExecutionRefusedError (PermissionError)
    ├── SandboxUnavailableError (RuntimeError)
    ├── CodeTestsError (ValueError)
    ├── TooFewCompletionsError (ValueError)
    ├── MathsWorkerError (RuntimeError)
    ├── LockFileError (ValueError)
    ├── NotLockedError (KeyError)
    ├── LockMismatchError (ValueError)
    └── PredictionsError (ValueError, TypeError)
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

_Error = TypeVar("_Error", bound="DatasetsError")


class DatasetsError(Exception):
    """Base of every error this library raises on purpose."""

    def __init__(self, *facts: Any, message: str | None = None) -> None:
        # PyTorch makes the errors of its loaders' workers again in the main process, from their text alone.
        text = self.message(*facts) if message is None else message
        # What is no text, such as the name of a file that is not UTF-8, could not be printed.
        super().__init__(text.encode(errors="backslashreplace").decode())

    def message(self, *facts: Any) -> str:
        return " ".join(str(fact) for fact in facts)

    def __str__(self) -> str:
        # KeyError would show the message between quotes.
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # What it was raised with may be a whole dataset; the message and the attributes are small.
        kind = type(self)
        return _restored, (kind.__mro__[1] if issubclass(kind, ArrowTwin) else kind, self.args, self.__dict__)


def _restored(kind: type[DatasetsError], arguments: tuple[Any, ...], attributes: dict[str, Any]) -> DatasetsError:
    # What the class of an error with several standard types inherits first is not always what can make it.
    error: DatasetsError = (OSError if issubclass(kind, OSError) else kind).__new__(kind)
    error.args = arguments
    error.__dict__.update(attributes)
    return error


class ArrowTwin:
    """Marks the classes that `also_of_arrow` makes."""


def also_of_arrow(*names: str) -> Callable[[type[_Error]], type[_Error]]:
    """Errors that in Hugging Face `datasets` are pyarrow's: `except pyarrow.ArrowInvalid` catches them here too.

    What is raised is of a subclass that is also pyarrow's, made at that time: this module must not import pyarrow.
    """

    @cache
    def twin(kind: Any, arrow: Any) -> Any:
        kinds = (kind, ArrowTwin, *(getattr(arrow, name) for name in names))
        return type(kind.__name__, kinds, {"__module__": kind.__module__, "__doc__": kind.__doc__})

    def made(cls: Any, *facts: Any, **named: Any) -> Any:
        arrow = sys.modules.get("pyarrow.lib")
        kind: Any
        maker: Any
        kind = maker = twin(cls, arrow) if arrow and not issubclass(cls, ArrowTwin) else cls
        while maker.__module__ != "builtins":
            maker = maker.__base__
        return maker.__new__(kind)

    def known(kind: type[_Error]) -> type[_Error]:
        kind.__new__ = staticmethod(made)  # type: ignore[method-assign]
        return kind

    return known


def _closest(asked: object, available: Iterable[object]) -> str:
    from difflib import get_close_matches

    matches = get_close_matches(str(asked), [str(name) for name in available], n=1)
    return f" Did you mean {matches[0]!r}?" if matches else ""


def _part(part: Mapping[str, int]) -> str:
    return "worker {worker} of {num_workers} on machine {rank} of {world_size}".format(**part)


def _listed(names: Iterable[object], limit: int = 20) -> str:
    shown = [str(name) for name in names]
    rest = len(shown) - limit
    return (", ".join(shown[:limit]) + (f", … ({rest} more)" if rest > 0 else "")) or "none"


class ColumnNotFoundError(DatasetsError, KeyError, ValueError):
    """A column was named that the dataset does not have."""

    def message(self, column: object, available: Iterable[str]) -> str:
        self.column, self.available = column, list(available)
        hint = _closest(column, self.available)
        return f"Column {column!r} does not exist.{hint} Available: {_listed(self.available)}."


class ColumnNamesError(DatasetsError, ValueError):
    """New column names are empty, repeated or already taken."""

    def message(self, names: Iterable[str], available: Iterable[str], reason: str) -> str:
        self.names, self.available = list(names), list(available)
        return f"Column names {_listed(self.names)}: {reason}. Existing columns: {_listed(self.available)}."


@also_of_arrow("ArrowInvalid")
class ColumnLengthError(DatasetsError, ValueError):
    """Columns of one dataset differ in length."""

    def message(self, column: str, length: int, expected: int) -> str:
        self.column, self.length, self.expected = column, length, expected
        return f"Column {column!r} has {length} values, but {expected} are needed: all columns must be equally long."


class RowCountError(ColumnLengthError):
    """A function of batches gave another number of rows, but columns of the old rows are to stay beside them."""

    def message(self, column: str, length: int, expected: int, kept: Iterable[str]) -> str:  # type: ignore[override]
        self.column, self.length, self.expected, self.kept = column, length, expected, list(kept)
        return (
            f"Column {column!r} has {length} values, but {expected} are needed beside {_listed(self.kept)}. "
            f"A function that changes the number of rows needs remove_columns={self.kept!r}."
        )


class RowIndexError(DatasetsError, IndexError, OverflowError):
    """A row was asked for that lies outside the dataset."""

    def message(self, index: int, num_rows: int) -> str:
        self.index, self.num_rows = index, num_rows
        return f"Row {index} does not exist: the dataset has {num_rows} rows."


class FrameIndexError(RowIndexError):
    """A frame was asked for that lies outside the film."""

    def message(self, frame: str, length: str) -> str:  # type: ignore[override]
        self.frame, self.length = frame, length
        return f"{frame} does not exist: the film has {length}."


@also_of_arrow("ArrowInvalid", "ArrowTypeError")
class MixedTypesError(DatasetsError, ValueError, TypeError):
    """One column holds values that share no Arrow type."""

    def message(self, column: str | None, row: int | None, found: str, before: str) -> str:
        self.column, self.row, self.found, self.before = column, row, found, before
        place = f"Column {column!r}" if column is not None else "A column"
        where = f", row {row}" if row is not None else ""
        return (
            f"{place}{where} holds {found}, but the values before it are {before}. "
            "Make the values alike, give the column a type, or store it as Json (on_mixed_types='use_json')."
        )


class DatasetBuildError(DatasetsError):
    """A dataset could not be made from its source."""


class DatasetGenerationError(DatasetBuildError):
    """The code that yields a dataset's rows failed, or yielded something else than rows."""

    def message(self, source: str, row: int | None, reason: str) -> str:
        self.source, self.row = source, row
        return f"{source} failed{f' at row {row}' if row is not None else ''}: {reason}"


class DatasetGenerationCastError(DatasetGenerationError):
    """Rows of a file do not have the columns and types that the dataset is said to have."""

    @classmethod
    def from_cast_error(
        cls, cast_error: BaseException, builder_name: str, gen_kwargs: dict[str, Any], token: str | bool | None
    ) -> DatasetGenerationCastError:
        """The error of a builder, from that of the cast which failed in it."""
        return cls(builder_name, None, str(cast_error))


class ManualDownloadError(DatasetBuildError):
    """A builder needs files that only its user can get, and that were not put where it looks."""

    def message(self, builder: str, instructions: str) -> str:
        self.builder, self.instructions = builder, instructions
        return f"{builder} needs files that are downloaded by hand: {instructions} Pass their folder as data_dir."


class DefunctDatasetError(DatasetsError):
    """A dataset that its publishers took back."""

    def message(self, dataset: str, reason: str = "it was taken back by its publishers.") -> str:
        self.dataset = dataset
        return f"{dataset} cannot be loaded any more: {reason}"


@also_of_arrow("ArrowInvalid", "ArrowTypeError", "ArrowNotImplementedError")
class ValueTypeError(DatasetsError, ValueError, TypeError, AttributeError, OverflowError):
    """A value cannot be stored as the type its column was given."""

    def message(self, column: str | None, row: int | None, value: str, wanted: str, reason: str) -> str:
        self.column, self.row, self.value, self.wanted = column, row, value, wanted
        place = f"Column {column!r}" if column is not None else "A column"
        where = f", row {row}" if row is not None else ""
        return f"{place}{where}: {value} cannot be stored as {wanted}: {reason}"


@also_of_arrow("ArrowInvalid", "ArrowTypeError", "ArrowNotImplementedError")
class CastError(DatasetsError, ValueError, TypeError, NotImplementedError):
    """A column cannot become the type it was asked to become."""

    def message(self, column: str | None, source: str, target: str, reason: str = "") -> str:
        self.column, self.source, self.target = column, source, target
        place = f"column {column!r}" if column is not None else "an array"
        return f"Cannot cast {place} from {source} to {target}{': ' + reason if reason else '.'}"


class ShapeError(DatasetsError, ValueError):
    """An array has another shape than its feature."""

    def message(self, shape: tuple[int | None, ...], dimension: int, found: int) -> str:
        self.shape, self.dimension, self.found = shape, dimension, found
        return f"Expected arrays of shape {shape}, but dimension {dimension} of one of them has size {found}."


class FeaturesMismatchError(DatasetsError, ValueError, KeyError):
    """Two sets of features that must agree do not."""

    def message(self, wanted: Iterable[str], found: Iterable[str], reason: str = "") -> str:
        self.wanted, self.found = list(wanted), list(found)
        missing = [name for name in self.wanted if name not in self.found]
        extra = [name for name in self.found if name not in self.wanted]
        parts = [f"missing: {_listed(missing)}"] if missing else []
        parts += [f"not in the features: {_listed(extra)}"] if extra else []
        return f"{reason or 'The columns do not match the features'} ({'; '.join(parts) or 'types differ'})."


class UnknownTypeError(DatasetsError, ValueError, TypeError):
    """A type was named that has no counterpart on the other side."""

    def message(self, name: object, reason: str) -> str:
        self.name = name
        return f"{name!s} is not a usable type: {reason}"


class UnknownEntryError(DatasetsError, ValueError):
    """A registered thing (format, output, source, …) was asked for by an unknown name."""

    def message(self, kind: str, name: object, available: Iterable[str]) -> str:
        self.kind, self.name, self.available = kind, name, list(available)
        what, of, whole = kind.partition(" of ")
        hint = _closest(name, self.available)
        return f"There is no {what} {name!r}{of}{whole}.{hint} Available: {_listed(self.available)}."


class MissingPackageError(DatasetsError, ImportError, ValueError):
    """An optional package is needed and not installed."""

    def message(self, package: str, extra: str) -> str:
        self.package, self.extra = package, extra
        install = f"make env EXTRAS={extra} in the clone of this library, or pip install '/path/to/clone[{extra}]'"
        return f"{package.partition('.')[0]!r} is not installed. It comes with an extra: {install}."


class SplitSizeError(DatasetsError, ValueError):
    """A train/test split was asked for that the rows cannot give."""

    def message(self, test_size: object, train_size: object, num_rows: int, reason: str) -> str:
        self.test_size, self.train_size, self.num_rows = test_size, train_size, num_rows
        return f"Cannot split {num_rows} rows with test_size={test_size} and train_size={train_size}: {reason}"


class StratificationError(DatasetsError, ValueError):
    """The groups of a column cannot be spread over the parts asked for."""

    def message(self, column: str, reason: str) -> str:
        self.column = column
        return f"Cannot stratify by column {column!r}: {reason}"


class ArgumentError(DatasetsError, ValueError):
    """An argument is outside what the call can do."""

    def message(self, name: str, value: object, reason: str, available: Iterable[str] = ()) -> str:
        self.name, self.value, self.available = name, value, list(available)
        return f"{name}={value!r}:{_closest(name, self.available)} {reason}"


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument is of a kind the call cannot use."""


class UnknownFeaturesError(DatasetsError, ValueError, TypeError):
    """Something needs to know the types of a stream's columns, and nobody knows them yet."""

    def message(self, operation: str) -> str:
        self.operation = operation
        return f"{operation} needs the features of the stream, which are unknown. Set them with stream.cast(features)."


class StreamStateError(DatasetsError, ValueError, RuntimeError):
    """States of a stream were loaded that other readers saved, from which this one cannot go on."""

    def message(self, part: Mapping[str, int], saved: Sequence[Mapping[str, int]], reason: str) -> str:
        self.part, self.saved, self.reason = dict(part), [dict(one) for one in saved], reason
        return (
            f"This reader is {_part(part)}, but the states are those of {'; '.join(map(_part, saved))}, and {reason}. "
            "Go on with as many workers and machines as before, or deal rows out with with_workers(deterministic=True) "
            "and load the list of the states of all workers."
        )


class ForeignStateError(DatasetsError, ValueError):
    """A state was loaded that a stream of other steps has saved."""

    def message(self, saved: Sequence[str], steps: Sequence[str]) -> str:
        self.saved, self.steps = list(saved), list(steps)
        return (
            f"The state was saved by a stream of the steps {' → '.join(map(str, saved))}; this one has "
            f"{' → '.join(steps)}. Build the stream as before, and load its state then."
        )


class DamagedStateError(DatasetsError, ValueError):
    """A state was loaded that is not as it was saved."""

    def message(self, state: Mapping[str, Any]) -> str:
        self.state = dict(state)
        return f"The state is not as state_dict() gave it: {str(self.state)[:200]}. Read it again from where it is."


class ShardingError(DatasetsError, RuntimeError):
    """The arguments of a generator are lists of different lengths, so nothing says how to share them out."""

    def message(self, lengths: Mapping[str, int]) -> str:
        self.lengths = dict(lengths)
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        return f"Lists among gen_kwargs are shared out to shards, but {found}. Pass tuples for what all shards get."


class ShardIndexError(DatasetsError, IndexError, ValueError):
    """A shard was asked for that is outside of the number of shards."""

    def message(self, index: int, num_shards: int) -> str:
        self.index, self.num_shards = index, num_shards
        return f"There is no shard {index} of {num_shards}: shards are numbered from 0 to {num_shards - 1}."


class DecodingDisabledError(DatasetsError, RuntimeError):
    """A value was to be decoded whose feature says not to."""

    def message(self, feature: str) -> str:
        self.feature = feature
        return f"{feature} keeps its values as they are stored. To decode them use {feature}(decode=True)."


class FunctionResultError(DatasetsError, TypeError, ValueError):
    """A function that was mapped over rows returned what cannot become columns."""

    def message(self, found: str, batched: bool, column: str | None = None) -> str:
        self.found, self.batched, self.column = found, batched, column
        if column is not None:
            return f"A function of batches returned {found} for column {column!r}; expected a list or an array."
        columns = "columns by name" if batched else "a row"
        return f"A function returned {found}; expected a dict ({columns}), an Arrow table, a data frame, or None."


class AlignmentError(DatasetsError, ValueError, TypeError):
    """Datasets that are to be put under each other have different types in one column."""

    def message(self, column: str, left: str, right: str) -> str:
        self.column, self.left, self.right = column, left, right
        return (
            f"Column {column!r} is {left} in one dataset and {right} in another. "
            f"Cast one of them first, as in dataset.cast_column({column.split('.')[0]!r}, …)."
        )


class ProbabilitiesError(DatasetsError, ValueError, IndexError):
    """Probabilities do not fit the datasets that are drawn from."""

    def message(self, probabilities: list[float], reason: str) -> str:
        self.probabilities = probabilities
        return f"probabilities={probabilities}: {reason}"


class AggregationError(DatasetsError, ValueError, TypeError):
    """A function cannot sum up the values of a column."""

    def message(self, function: str, column: str, feature: str, available: Iterable[str]) -> str:
        self.function, self.column, self.feature, self.available = function, column, feature, list(available)
        return f"{function!r} cannot be computed of column {column!r}, {feature}. Functions: {_listed(self.available)}."


class ExpressionError(DatasetsError, ValueError, TypeError):
    """An expression or a query cannot be computed of the columns that are there."""

    def message(self, expression: str, types: Mapping[str, object], reason: object) -> str:
        self.expression = expression
        self.types = {name: str(kind) for name, kind in types.items()}
        columns = _listed(f"{name}: {kind}" for name, kind in self.types.items())
        return f"{expression}: {str(reason).rstrip('.')}. Columns: {columns}."


class SplitNotFoundError(DatasetsError, KeyError):
    """A split was named that the dict does not have."""

    def message(self, asked: object, available: Iterable[object]) -> str:
        self.asked, self.available = asked, [str(name) for name in available]
        hint = _closest(asked, self.available)
        example = (
            f" A row is found through its split, as in dataset[{self.available[0]!r}][0]." if self.available else ""
        )
        return f"There is no split {asked!r}.{hint}{example} Available: {_listed(self.available)}."


class StreamedSplitError(SplitNotFoundError, ValueError):
    """A stream was asked for part of a split, or for one that is not there."""

    def message(self, asked: object, available: Iterable[object]) -> str:
        found = super().message(asked, available)
        return (
            f"{found} A stream gives whole splits; use take(n) and skip(n) for parts." if "[" in str(asked) else found
        )


class DatasetTransformationNotAllowedError(DatasetsError):
    """Rows cannot move while a search index points at them."""

    def message(self, operation: str, indexes: Iterable[str]) -> str:
        self.operation, self.indexes = operation, list(indexes)
        return (
            f"{operation} would change the rows that these search indexes point at: {_listed(self.indexes)}. "
            "Drop them with drop_index(name), then add them again."
        )


class MissingIndexError(DatasetsError, KeyError):
    """A search index was named that is not attached."""

    def message(self, name: object, available: Iterable[str]) -> str:
        self.name, self.available = name, list(available)
        return (
            f"There is no search index {name!r}.{_closest(name, self.available)} Attached: {_listed(self.available)}."
        )


class UnsavedIndexError(DatasetsError, ValueError):
    """A dataset is saved without the search indexes that are attached to it."""

    def message(self, indexes: Iterable[str]) -> str:
        self.indexes = list(indexes)
        return (
            f"Search indexes are not part of a saved dataset: {_listed(self.indexes)}. "
            "Save each with save_index(name, file) if needed, then drop it with drop_index(name)."
        )


class StorageError(DatasetsError, OSError):
    """The disk is full, or fails."""

    def __init__(self, path: str, code: int) -> None:
        super().__init__(path, code)
        self.path, self.errno = path, code

    def message(self, path: str, code: int) -> str:
        full = code in {errno.ENOSPC, errno.EDQUOT}
        hint = " Free some space, for example with `crucible cache clean`, and try again." if full else ""
        return f"{path}: {os.strerror(code)}.{hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        # OSError keeps errno outside of its attributes.
        return type(self), (self.path, self.errno)


class NotWritableError(StorageError, PermissionError):
    """This user may not write where something is to be written."""

    def message(self, path: str, code: int) -> str:
        where = "Name another place; for the cache, with the variable HF_HOME or HF_DATASETS_CACHE."
        return f"{path}: {os.strerror(code)}. {where}"


class NotAFolderError(DatasetsError, FileExistsError, NotADirectoryError):
    """A dataset was to be saved where a file is."""

    def message(self, path: str) -> str:
        self.path = path
        return f"{path} is a file. A dataset is saved to a folder: name another place, or remove the file."


class OutOfBoundsError(DatasetsError, PermissionError, ValueError):
    """A value of a dataset names a file outside of the dataset's own folder, or an address. Nothing was opened."""

    def message(self, path: str, roots: Iterable[str]) -> str:
        self.path, self.roots = path, tuple(roots)
        named = _listed(self.roots)
        known = f"lies outside of {named}, or does not exist there" if self.roots else "lies in no folder of it"
        return (
            f"{without_secrets(path)!r} is named by the data and {known}. It was not opened. "
            "Name the folders that data may reach in CRUCIBLE_MEDIA_ROOTS."
        )


class WorkerDiedError(DatasetsError, RuntimeError):
    """A process that worked on a part of the data ended before its work did.

    `rows` is the part of the input it worked on, `exit_code` as the operating system tells it: negative for a signal.
    """

    def message(self, function: str, rows: range, exit_code: int | None) -> str:
        self.function, self.rows, self.exit_code = function, rows, exit_code
        where = f" on rows {rows.start} to {rows.stop - 1}" if len(rows) else ""
        how, hint = _end_of_process(exit_code)
        return f"The process that ran {function}{where} {how}. {hint}"


def _end_of_process(exit_code: int | None) -> tuple[str, str]:
    smaller = "Try a smaller num_proc or batch_size."
    if exit_code is None:
        return "is gone", f"Its messages, if any, are on stderr. {smaller}"
    if exit_code >= NOT_STARTED:
        return f"could not be started: {os.strerror(exit_code - NOT_STARTED)}", smaller
    if exit_code >= 0:
        return f"left with exit code {exit_code}", "Something in the function ended it: look for os._exit."
    import signal

    known = {int(number): number.name for number in signal.Signals}
    name = known.get(-exit_code, f"signal {-exit_code}")
    if name in {"SIGKILL", "SIGTERM"}:
        return f"was killed by {name}", f"The system kills processes for lack of memory. {smaller}"
    return f"crashed with {name}", "Leave num_proc out and run on these rows alone to find the one that does it."


NOT_STARTED = 1000  # exit codes from here on are error numbers of a process that never was


class WorkerError(DatasetsError, RuntimeError):
    """An exception in another process that cannot be sent to this one."""

    def message(self, kind: str, said: str, traceback: str) -> str:
        self.kind, self.said, self.traceback = kind, said, traceback
        return f"{kind}: {said} (The exception itself could not be pickled. It was raised here:)\n\n{traceback}"


class ClusterError(DatasetsError, RuntimeError):
    """A cluster cannot be reached, has no room for a task, or lacks this library."""

    def message(self, reason: str) -> str:
        self.reason = reason
        return f"The cluster cannot do it: {reason}. Name another one, or leave `executor` out to work on this machine."


class NotPicklableError(DatasetsError, TypeError):
    """A function, what it holds or what it returns cannot be sent to another process."""

    def message(self, function: str, problem: str, error: BaseException) -> str:
        self.function, self.reason = function, f"{type(error).__name__}: {error}"
        return (
            f"{function} {problem}: {self.reason}. Make such objects inside the function, keep to plain data, or leave "
            "num_proc out."
        )


class FileFormatError(DatasetGenerationError, ValueError):
    """A file is not what its format asks for, or breaks off."""

    def message(  # type: ignore[override]
        self,
        path: object,
        reason: str,
        row: int | None = None,
        offset: int | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> str:
        self.path, self.reason, self.row, self.offset, self.line, self.column = path, reason, row, offset, line, column
        places = (("line", line), ("column", column), ("row", row), ("byte", offset))
        where = "".join(f", {name} {value}" for name, value in places if value is not None)
        return f"{path!s}{where}: {reason}"


class ArrowFileError(FileFormatError, OSError):
    """A file is not a readable Arrow stream or file."""

    def message(  # type: ignore[override]
        self, path: object, reason: str, row: int | None = None, offset: int | None = None
    ) -> str:
        return super().message(path, f"this is not a readable Arrow file: {reason}", row, offset)


class FileFieldError(FileFormatError, KeyError):
    """A file has no field of the name that holds the rows."""

    def message(self, path: object, field: object, found: str) -> str:  # type: ignore[override]
        self.field, self.found = field, found
        return super().message(path, f"there is no field {field!r}; found {found}.")


class CardError(DatasetBuildError, ValueError):
    """The YAML that describes a dataset cannot be read, or says something that makes no sense."""

    def message(self, path: object, reason: str) -> str:
        self.path, self.reason = path, reason
        return f"{path!s}: {reason}"


class DatasetScriptError(DatasetBuildError, RuntimeError):
    """A dataset consists of a program instead of data."""

    def message(self, path: object) -> str:
        self.path = path
        return (
            f"{path!s} is a loading script, and no program from a dataset is run. Convert the data to Parquet, "
            "or name its files with data_files."
        )


class ConfigNotFoundError(DatasetsError, ValueError):
    """A dataset has several configurations and none was named, or one was named that it does not have."""

    def message(self, dataset: object, name: object, available: Iterable[str]) -> str:
        self.dataset, self.name, self.available = dataset, name, list(available)
        if name is None:
            asked = re.sub(" at [0-9a-f]{40}$", "", str(dataset))  # what was asked for, without the commit it stands at
            example = f"load_dataset({asked!r}, {self.available[0]!r})" if self.available else ""
            return (
                f"{dataset!s} has several configurations. Name one, as in {example}. Available: {_listed(available)}."
            )
        hint = _closest(name, self.available)
        return f"{dataset!s} has no configuration {name!r}.{hint} Available: {_listed(self.available)}."


class FormatConflictError(DatasetsError, ValueError):
    """The splits of one dataset are files of different formats."""

    def message(self, place: object, formats: Mapping[str, str | None]) -> str:
        self.place, self.formats = place, dict(formats)
        found = ", ".join(f"{split} is {name or 'of no known format'}" for split, name in self.formats.items())
        return f"{place!s}: {found}. Name files of one format with data_files."


class ChecksumVerificationError(DatasetsError):
    """The files are not those that the dataset's description tells of."""

    def message(self, urls: Iterable[str]) -> str:
        self.urls = list(urls)
        return f"{self.reason}: {_listed(self.urls)}. If they are right, pass verification_mode='no_checks'."

    reason = "These files are not as described"


class ExpectedMoreDownloadedFilesError(ChecksumVerificationError):
    """A file is described that the builder did not ask for."""

    reason = "These files are described, but the builder did not ask for them"


class UnexpectedDownloadedFileError(ChecksumVerificationError):
    """The builder asked for a file that is not described."""

    reason = "The builder asked for these files, but they are not described"


class NonMatchingChecksumError(ChecksumVerificationError):
    """A file has another size or other bytes than described."""

    reason = "These files have another size or other bytes than described"


class SplitsVerificationError(DatasetsError):
    """The splits are not those that the dataset's description tells of."""


class ExpectedMoreSplitsError(SplitsVerificationError):
    """A split is described that is not there."""

    def message(self, missing: Iterable[str], found: Iterable[str]) -> str:
        self.missing, self.found = list(missing), list(found)
        return (
            f"The description names splits that have no files: {_listed(self.missing)}. Found: {_listed(self.found)}. "
            "Correct dataset_info, or pass verification_mode='no_checks'."
        )


class UnexpectedSplitsError(SplitsVerificationError):
    """A split is there that is not described."""

    def message(self, extra: Iterable[str], described: Iterable[str]) -> str:
        self.extra, self.described = list(extra), list(described)
        return (
            f"There are splits that the description lacks: {_listed(self.extra)}. Described: "
            f"{_listed(self.described)}. Correct dataset_info, or pass verification_mode='no_checks'."
        )


class NonMatchingSplitsSizesError(SplitsVerificationError):
    """A split has another number of rows than described."""

    def message(self, sizes: Mapping[str, tuple[int, int]]) -> str:
        self.sizes = dict(sizes)
        told = ", ".join(f"{split} has {found} rows instead of {said}" for split, (said, found) in self.sizes.items())
        return f"{told}. Correct dataset_info, or pass verification_mode='no_checks'."


class UnavailableError(DatasetsError):
    """Something that this library cannot do."""

    def message(self, what: str, instead: str) -> str:
        self.what, self.instead = what, instead
        return f"{what} is not supported. {instead}"


class LimitExceededError(DatasetsError, ValueError):
    """Reading on would cost more than a setting allows."""

    def message(self, path: object, what: str, limit: int, setting: str) -> str:
        self.path, self.limit, self.setting = path, limit, setting
        return f"{path!s}: {what} exceeds the limit of {limit:,}. If the data is trusted, raise {setting}."


@contextmanager
def nonsense_told(kind: type[FileFormatError | CardError | UnknownTypeError], path: str) -> Iterator[None]:
    """Whatever a file that does not say what it should makes its reader stumble over is an error that names it."""
    try:
        yield
    except DatasetsError as error:
        if isinstance(error, UnknownTypeError) and error.__cause__ is not None:
            raise kind(path, str(error)) from error  # nonsense, too, of whose file nobody knew
        error.add_note(f"In {path}.")
        raise
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise kind(path, f"its content is not as it should be: {type(error).__name__}: {error}.") from error


def without_secrets(address: str) -> str:
    """An address without what opens it to anybody: the password before a host, the signature behind a web page."""
    shown = re.sub(r"://[^/@:]*:[^/@]*@", "://", address)
    return shown.partition("?")[0] if shown.startswith(("http://", "https://")) else shown


class BadMediaError(DatasetsError, ValueError, OSError, RuntimeError):
    """A picture, a recording or other media cannot be decoded."""

    def message(
        self, kind: str, decoder: str, path: str | None, reason: str, column: str | None = None, row: int | None = None
    ) -> str:
        self.kind, self.decoder, self.path, self.reason, self.column, self.row = (
            kind,
            decoder,
            path,
            reason,
            column,
            row,
        )
        place = f"Column {column!r}" if column is not None else "A value"
        where = f", row {row}" if row is not None else ""
        named = f" ({without_secrets(path)})" if path else ""
        told = (reason.strip() or "no reason was given").rstrip(".")
        return f"{place}{where}{named} cannot be decoded as {kind}: {told} [{decoder}]."

    def at(self, column: str | None, row: int | None) -> BadMediaError:
        """The same error, which tells where the value stands."""
        there = self.column if column is None else column
        return type(self)(self.kind, self.decoder, self.path, self.reason, there, row)


class MissingMediaError(BadMediaError, FileNotFoundError):
    """The file that a media value names is not there."""


class OversizedMediaError(BadMediaError, LimitExceededError):  # type: ignore[misc]
    """A media value would take more memory than a setting allows; it was not decoded."""

    def message(  # type: ignore[override]
        self, kind: str, decoder: str, path: str | None, what: str, limit: int, setting: str, *place: Any
    ) -> str:
        self.what, self.limit, self.setting = what, limit, setting
        reason = f"the {what} exceeds the limit of {limit:,}; if the data is trusted, raise {setting}"
        return BadMediaError.message(self, kind, decoder, path, reason, *place)

    def at(self, column: str | None, row: int | None) -> BadMediaError:
        there = self.column if column is None else column
        facts = self.kind, self.decoder, self.path, self.what, self.limit, self.setting
        return OversizedMediaError(*facts, there, row)


class FileNotFoundDatasetsError(DatasetsError, FileNotFoundError):
    """Something was named that is not there."""

    def message(self, asked: object, reason: str = "it does not exist.", available: Iterable[str] = ()) -> str:
        self.asked, self.available = asked, list(available)
        hint = _closest(str(asked).rpartition("/")[2], self.available)
        return f"{without_secrets(str(asked))}: {reason}{hint}"


class DataFilesNotFoundError(FileNotFoundDatasetsError):
    """No data file was found where some were expected."""


class DatasetNotFoundError(FileNotFoundDatasetsError):
    """There is no dataset of that name."""


class EmptyDatasetError(FileNotFoundDatasetsError):
    """The place exists and holds no data."""


class SchemaConflictError(DatasetGenerationError, ValueError, TypeError):
    """Two files of one split hold a column as types that no type unites."""

    def message(  # type: ignore[override]
        self, column: str, first: object, first_type: str, second: object, second_type: str
    ) -> str:
        self.column, self.first, self.second = column, first, second
        return (
            f"Column {column!r} is {first_type} in {first!s}, but {second_type} in {second!s}. "
            "Pass `features` to say which it is."
        )


class MediaFolderError(DatasetGenerationError, ValueError):
    """A folder of media, or the metadata in it, does not say which rows it holds."""

    def message(self, path: str, reason: str, advice: str = "", row: int | None = None) -> str:  # type: ignore[override]
        self.path, self.reason, self.row = path, reason, row
        where = path if row is None else f"{path}, row {row}"
        return f"{where}: {reason} {advice}".rstrip()


class DownloadError(DatasetsError, ConnectionError):
    """Bytes could not be fetched, also after several trials."""

    def message(self, url: str, reason: str, status: int | None = None, code: str = "") -> str:
        self.url, self.reason, self.status, self.code = without_secrets(url), reason, status, code
        return f"Cannot read {self.url}: {reason}"


class AccessDeniedError(DownloadError, PermissionError):
    """A place is there, and who asks may not read it or write to it."""

    def message(self, url: str, reason: str, status: int | None = None, code: str = "") -> str:
        super().message(url, reason, status, code)
        return f"Access to {self.url} was denied: {reason}"


class UploadError(DownloadError):
    """Bytes could not be written to where they should go."""

    def message(self, url: str, reason: str, status: int | None = None, code: str = "") -> str:
        super().message(url, reason, status, code)
        return f"Cannot write {self.url}: {reason}"


class ContentMismatchError(DatasetsError, ValueError):
    """Bytes arrived that are not the ones that were promised; they were thrown away."""

    def message(self, name: str, expected: str, found: str) -> str:
        self.name, self.expected, self.found = name, expected, found
        return f"What arrived as {name} is not what was promised: {found} instead of {expected}. It was not kept."


class OfflineError(DatasetsError, ConnectionError):
    """Something is needed that is not cached, while the network is switched off."""

    def message(self, what: str, besides: str = "") -> str:
        self.what = what
        told = f"{what} is not cached, and HF_HUB_OFFLINE forbids asking for it. Load it once with the network on."
        return f"{told} {besides}".rstrip()


class BadRecordError(DatasetsError, ValueError):
    """A line of a file is not what it should be."""

    def message(self, file: str, line: int, reason: str) -> str:
        self.file, self.line, self.reason = file, line, reason
        return f"{file}, line {line}: {reason}. Pass on_error='skip' or 'collect' to go on."


class InvalidRecordError(DatasetsError, ValueError, TypeError):
    """A value does not fit the typed record it should become."""

    def message(self, kind: str, reason: str) -> str:
        self.kind, self.reason = kind, reason
        return f"{kind}: {reason}"


class TemplateError(DatasetsError, ValueError, KeyError):
    """A template of a prompt has a place that nothing fills."""

    def message(self, template: str, reason: str, available: Iterable[str]) -> str:
        self.template, self.reason, self.available = template, reason, list(available)
        return (
            f"Template {template!r}: {reason}. Fields: {_listed(self.available)}; "
            "double the braces that are no place, as in {{x}}."
        )


class BadRowError(DatasetsError, ValueError, TypeError):
    """A row of a dataset cannot become a sample."""

    def message(self, dataset: str, row: int, column: str | None, reason: str) -> str:
        self.dataset, self.row, self.column, self.reason = dataset, row, column, reason
        place = f", column {column!r}" if column else ""
        told = reason.rstrip(".")
        return f"{dataset}, row {row}{place}: {told}. Pass on_bad_rows='skip' to leave such rows out and count them."


class MissingFieldError(ColumnNotFoundError):
    """A field of a sample is read from a column that the dataset does not have."""

    def message(self, dataset: str, field: str, column: str, available: Iterable[str]) -> str:  # type: ignore[override]
        self.dataset, self.field = dataset, field
        return f"{dataset}, field {field!r}: {super().message(column, available)}"


class BenchmarkFileError(DatasetsError, ValueError):
    """A file that describes a benchmark cannot be used."""

    def message(self, file: object, reason: str) -> str:
        self.file, self.reason = str(file), reason
        return f"{file!s}: {reason.rstrip('.')}."


class RunNotFoundError(DatasetsError, KeyError, FileNotFoundError):
    """A store has no run of that name."""

    def message(self, run_id: object, store: str, available: Iterable[str]) -> str:
        self.run_id, self.store, self.available = run_id, store, list(available)
        asked = str(run_id)
        fitting = [name for name in self.available if asked and (name.startswith(asked) or name.endswith(asked))]
        if len(fitting) > 1:
            return f"{asked!r} is ambiguous in {store}: {_listed(fitting, 10)}. Give more of the name."
        hint = _closest(run_id, self.available)
        return f"There is no run {run_id!r} in {store}.{hint} Runs: {_listed(self.available, 10)}."


class RunExistsError(DatasetsError, FileExistsError, ValueError):
    """A run of that name is there already."""

    def message(self, run_id: str, store: str, instead: str) -> str:
        self.run_id, self.store = run_id, store
        return f"Run {run_id!r} is in {store} already. {instead}"


class RunFinishedError(DatasetsError, RuntimeError):
    """Something was to be added to a run that was finished meanwhile; it was not kept."""

    def message(self, run_id: str) -> str:
        self.run_id = run_id
        return f"Run {run_id!r} is finished and takes no more samples. Open another run."


class UnknownPredictionsError(DatasetsError, ValueError, KeyError):
    """There are predictions for samples that the data does not have."""

    def message(self, ids: Iterable[str], available: Sequence[str]) -> str:
        self.ids, self.available = list(ids), list(available)
        hint = _closest(self.ids[0], self.available[:1000]) if self.ids else ""
        what = "1 prediction is for an id" if len(self.ids) == 1 else f"{len(self.ids)} predictions are for ids"
        numbered = all(one == str(number) for number, one in enumerate(self.available[:1000], 1))
        named = ", the numbers of its rows. If a column of it holds ids, name it: fields={'id': 'qid'}"
        ids_there = f"{_listed(self.available, 5)}{named if numbered else ''}"
        return f"{what} that the data does not have: {_listed(self.ids)}.{hint} Its ids are {ids_there}."


class MissingPredictionsError(DatasetsError, ValueError):
    """Samples have no prediction, and no policy says what that means."""

    def message(self, ids: Iterable[str], num_samples: int, at_first: bool = False) -> str:
        self.ids, self.num_samples = list(ids), num_samples
        told = f"{len(self.ids)} of {num_samples} samples have no prediction: {_listed(self.ids)}."
        if at_first:  # nobody was asked for the rest
            told = f"There is no prediction for {self.ids[0]}, one of {num_samples} samples, where the run ended."
        return f"{told} Pass missing='wrong' to count them as wrong, or missing='ignore' to leave them out."


class PredictionsError(DatasetsError, ValueError, TypeError):
    """Predictions have a form that cannot be matched with samples."""

    def message(self, problem: str) -> str:
        return f"{problem} Predictions are a list as long as the data, a dict of ids, a file, a column or a function."


class CodeExecutionRefusedError(DatasetsError, PermissionError):
    """A metric would run code of a model, and the call does not allow it."""

    def message(self, metric: str) -> str:
        self.metric = metric
        return (
            f"{metric} runs code that a model wrote. "
            "Pass allow_code_execution=True in this call to run it in a sandbox; "
            "no setting, environment variable or dataset can allow it."
        )


class SandboxUnavailableError(DatasetsError, RuntimeError):
    """Code cannot be isolated on this machine, so it is not run at all."""

    def message(self, needed: str) -> str:
        self.needed = needed
        return (
            f"Code was not run, because it cannot be isolated here: the sandbox needs {needed}. "
            "It needs Linux 5.12 or newer where an ordinary user may make user, process, network and mount namespaces; "
            "containers often forbid that (docker: --security-opt seccomp=unconfined)."
        )


class CodeTestsError(DatasetsError, ValueError):
    """A sample has no tests that code could be run against."""

    def message(self, problem: str, fields: Iterable[str] = ()) -> str:
        self.problem, self.fields = problem, list(fields)
        given = f" It has: {_listed(self.fields)}." if self.fields else ""
        return (
            f"{problem}{given} Pass tests= (a function `check` with entry_point=, lines with assert, or cases of input "
            "and output), or a sample whose metadata has them."
        )


class TooFewCompletionsError(DatasetsError, ValueError):
    """pass@k was asked of fewer than k completions."""

    def message(self, n: int, k: int) -> str:
        self.n, self.k = n, k
        return f"pass@{k} of {n} completions is not defined: at least {k} are needed."


class IncomparableRunsError(DatasetsError, ValueError):
    """Two runs are not about the same thing, so that the difference of their scores says nothing of the models."""

    def message(self, what: str, first: str, first_value: object, second: str, second_value: object) -> str:
        self.what, self.first, self.second = what, first, second
        self.first_value, self.second_value = first_value, second_value
        advice = {
            "benchmark": "Give two runs on one benchmark.",
            "samples": "Evaluate both on the same samples.",
            "dataset hash": "Evaluate both on the same version of the data.",
        }.get(what, "Score the stored outputs of both again, in the same way.")
        is_, that = ("are", "those") if what.endswith("s") else ("is", "that")
        return f"The {what} of {first!r} {is_} {first_value!s}, {that} of {second!r} {is_} {second_value!s}. {advice}"


class MathsWorkerError(DatasetsError, RuntimeError):
    """The process that compares formulas was lost."""

    def message(self, reason: str) -> str:
        self.reason = reason
        return f"The process that compares formulas was lost: {reason}"


class UnusablePairError(ArgumentError):
    """A metric cannot judge one pair: the target, or what was predicted, is of no kind that it knows."""


class LockFileError(DatasetsError, ValueError):
    """A file that locks datasets cannot be used."""

    def message(self, file: object, reason: str) -> str:
        self.file, self.reason = str(file), reason
        return f"{file!s}: {reason.rstrip('.')}."


class NotLockedError(DatasetsError, KeyError):
    """Something is loaded under a lock that does not have it."""

    def message(self, dataset: str, file: str, available: Iterable[str]) -> str:
        self.dataset, self.file, self.available = dataset, file, list(available)
        return (
            f"{dataset} is not in {file}. It has: {_listed(self.available)}. "
            f"Add it: crucible lock {dataset} --file {file}"
        )


class LockMismatchError(DatasetsError, ValueError):
    """What was loaded is not what is locked. `moves` has what moved, what it was and what it is."""

    def message(self, dataset: str, file: str, moves: Iterable[tuple[str, object, object]]) -> str:
        self.dataset, self.file, self.moves = dataset, file, [tuple(move) for move in moves]
        told = "; ".join(f"{what} was {locked!s} and is {found!s}" for what, locked, found in self.moves)
        return (
            f"{dataset} is not as it was locked in {file}: {told}. Pass revision='latest' to go past the lock, "
            f"or renew it: crucible lock --update {dataset} --file {file}"
        )


class DatabaseError(DatasetsError, ConnectionError):
    """A database cannot be reached, or refuses what it is asked."""

    def message(self, place: str, reason: str) -> str:
        self.place, self.reason = without_secrets(place), " ".join(reason.split())
        return f"Cannot use the database {self.place}: {self.reason}"


class PinNotFoundError(DatasetNotFoundError):
    """A benchmark is pinned to a commit that the place it is loaded from does not have."""

    def message(self, benchmark: str, source: str, pin: str, place: str) -> str:  # type: ignore[override]
        self.benchmark, self.source, self.pin, self.place = benchmark, source, pin, place
        super().message(source)
        return (
            f"The benchmark {benchmark!r} is pinned to commit {pin} of {source}, which {place} does not have. "
            "Pass revision='latest' for what is there now, or set CRUCIBLE_PINS=0 for all benchmarks. "
            f"To copy the commit into a mirror: crucible hub mirror {source}@{pin} DIR"
        )
