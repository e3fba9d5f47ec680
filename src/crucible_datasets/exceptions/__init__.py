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

They stand in files by what they are about, and are loaded when they are first used; `__init__.pyi` tells them to type
checkers. Their module is this one, wherever they stand.

    base          what every error is, and the words that many share
    contents      what a dataset has or has not: columns, rows, splits, search indexes
    types         values and the types of their columns
    calls         what was asked for: arguments, names, packages, functions of users
    streams       states and shards of streams
    workers       processes and machines that work for a call
    making        datasets that cannot be made of their files
    verification  data that is not what its description says
    places        disks, servers and databases
    media         pictures, sounds and other media
    benchmarks    samples, benchmarks and locks
    evaluation    predictions, their scores, and runs
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "base": ("DatasetsError", "ArrowTwin", "also_of_arrow", "without_secrets"),
    "contents": (
        "ColumnNotFoundError",
        "ColumnNamesError",
        "ColumnLengthError",
        "RowCountError",
        "RowIndexError",
        "FrameIndexError",
        "SplitNotFoundError",
        "StreamedSplitError",
        "MissingIndexError",
        "UnsavedIndexError",
    ),
    "types": (
        "MixedTypesError",
        "ValueTypeError",
        "CastError",
        "ShapeError",
        "FeaturesMismatchError",
        "UnknownTypeError",
        "UnknownFeaturesError",
        "DecodingDisabledError",
        "AlignmentError",
    ),
    "calls": (
        "UnknownEntryError",
        "MissingPackageError",
        "SplitSizeError",
        "StratificationError",
        "ArgumentError",
        "ArgumentTypeError",
        "FunctionResultError",
        "ProbabilitiesError",
        "AggregationError",
        "ExpressionError",
        "DatasetTransformationNotAllowedError",
        "UnavailableError",
        "UnusablePairError",
    ),
    "streams": ("StreamStateError", "ForeignStateError", "DamagedStateError", "ShardingError", "ShardIndexError"),
    "workers": ("WorkerDiedError", "NOT_STARTED", "WorkerError", "ClusterError", "NotPicklableError"),
    "making": (
        "DatasetBuildError",
        "DatasetGenerationError",
        "DatasetGenerationCastError",
        "ManualDownloadError",
        "DefunctDatasetError",
        "FileFormatError",
        "ArrowFileError",
        "FileFieldError",
        "CardError",
        "DatasetScriptError",
        "ConfigNotFoundError",
        "FormatConflictError",
        "LimitExceededError",
        "nonsense_told",
        "FileNotFoundDatasetsError",
        "DataFilesNotFoundError",
        "DatasetNotFoundError",
        "EmptyDatasetError",
        "SchemaConflictError",
        "MediaFolderError",
    ),
    "verification": (
        "ChecksumVerificationError",
        "ExpectedMoreDownloadedFilesError",
        "UnexpectedDownloadedFileError",
        "NonMatchingChecksumError",
        "SplitsVerificationError",
        "ExpectedMoreSplitsError",
        "UnexpectedSplitsError",
        "NonMatchingSplitsSizesError",
        "ContentMismatchError",
    ),
    "places": (
        "StorageError",
        "NotWritableError",
        "NotAFolderError",
        "OutOfBoundsError",
        "DownloadError",
        "AccessDeniedError",
        "UploadError",
        "OfflineError",
        "DatabaseError",
    ),
    "media": ("BadMediaError", "MissingMediaError", "OversizedMediaError"),
    "benchmarks": (
        "BadRecordError",
        "InvalidRecordError",
        "TemplateError",
        "BadRowError",
        "MissingFieldError",
        "BenchmarkFileError",
        "LockFileError",
        "NotLockedError",
        "LockMismatchError",
        "PinNotFoundError",
    ),
    "evaluation": (
        "RunNotFoundError",
        "RunExistsError",
        "RunFinishedError",
        "UnknownPredictionsError",
        "MissingPredictionsError",
        "PredictionsError",
        "CodeExecutionRefusedError",
        "SandboxUnavailableError",
        "CodeTestsError",
        "TooFewCompletionsError",
        "IncomparableRunsError",
        "MathsWorkerError",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
