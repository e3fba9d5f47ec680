"""Every error of the library.

An error says what was asked, what exists and what to do. It is raised with those facts, builds its own message, keeps
the facts as attributes, can be pickled, and inherits the standard types that existing `except` clauses expect.

    DatasetsError
    ├── ColumnNotFoundError (KeyError, ValueError)
    │   └── MissingFieldError
    ├── ColumnNamesError (ValueError, TypeError)
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
    │   │   └── UnknownKeywordError
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
    │   │   │   ├── FileCastError (CastError)
    │   │   │   │   └── StreamTypeError (SchemaConflictError)
    │   │   │   └── FileColumnsError (FeaturesMismatchError)
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
    │   │   ├── IsAFileError (NotADirectoryError)
    │   │   └── IsAFolderError (IsADirectoryError)
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
    ├── UnavailableError (NotImplementedError)
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
    ├── FileExistsDatasetsError (FileExistsError)
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

They are grouped into modules by topic and loaded on first use; `__init__.pyi` declares them for type checkers. Their
`__module__` is this package, wherever they are defined.

    base          the base class, and helpers for messages
    contents      columns, rows, splits and search indexes that do not exist
    types         values and the types of their columns
    calls         arguments, names, packages, users' functions
    streams       states and shards of streams
    workers       worker processes and clusters
    making        datasets that cannot be created from their files
    verification  data that does not match its description
    places        storage, servers and databases
    media         images, audio and other media
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
        "UnknownKeywordError",
        "FunctionResultError",
        "ProbabilitiesError",
        "AggregationError",
        "ExpressionError",
        "DatasetTransformationNotAllowedError",
        "UnavailableError",
        "UnusablePairError",
    ),
    "streams": (
        "StreamTypeError",
        "StreamStateError",
        "ForeignStateError",
        "DamagedStateError",
        "ShardingError",
        "ShardIndexError",
    ),
    "workers": ("WorkerDiedError", "NOT_STARTED", "WorkerError", "ClusterError", "NotPicklableError"),
    "making": (
        "DatasetBuildError",
        "DatasetGenerationError",
        "DatasetGenerationCastError",
        "FileCastError",
        "FileColumnsError",
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
        "content_errors",
        "FileNotFoundDatasetsError",
        "DataFilesNotFoundError",
        "IsAFolderError",
        "IsAFileError",
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
        "FileExistsDatasetsError",
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
