"""Exit codes, for scripts. They do not change between versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OK = 0
CHECK_FAILED = 1  # damaged files, a score below --fail-under, changed or contaminated data
USAGE = 2
NOT_FOUND = 3
BAD_DATA = 4
UNREACHABLE = 5
MISSING_PACKAGE = 6
NOT_COMPARABLE = 7
STORAGE = 8
OTHER = 9
DEFECT = 70
INTERRUPTED = 130

MEANINGS: Mapping[int, str] = {
    OK: "done",
    CHECK_FAILED: "the check that was asked for failed",
    USAGE: "the command or one of its arguments is wrong",
    NOT_FOUND: "a dataset, file, split, column, benchmark, metric or run does not exist",
    BAD_DATA: "the data is damaged or is not what it should be",
    UNREACHABLE: "a server cannot be reached, or the library is offline",
    MISSING_PACKAGE: "an optional package is not installed",
    NOT_COMPARABLE: "the runs cannot be compared",
    STORAGE: "a file cannot be read or written",
    OTHER: "another error of the library",
    DEFECT: "a defect of the library; the traceback is shown",
    INTERRUPTED: "interrupted with ctrl-c",
}

# By name, so that no package has to be imported. The first match counts.
_CODES: tuple[tuple[int, tuple[str, ...]], ...] = (
    (MISSING_PACKAGE, ("MissingPackageError",)),
    (NOT_COMPARABLE, ("IncomparableRunsError",)),
    (STORAGE, ("StorageError",)),
    (
        NOT_FOUND,
        (
            "RepositoryNotFoundError",
            "RevisionNotFoundError",
            "EntryNotFoundError",
            "FileNotFoundDatasetsError",
            "SplitNotFoundError",
            "ConfigNotFoundError",
            "ColumnNotFoundError",
            "MissingIndexError",
            "RunNotFoundError",
            "UnknownEntryError",
            "NotLockedError",
            "FileNotFoundError",
        ),
    ),
    (
        UNREACHABLE,
        ("DownloadError", "OfflineError", "ConnectionError", "TimeoutError", "HfHubHTTPError", "TransportError"),
    ),
    (
        USAGE,
        (
            "ArgumentError",
            "SplitSizeError",
            "SplitSpecError",
            "EmptySplitError",
            "StratificationError",
            "UnavailableError",
            "RunExistsError",
            "CodeExecutionRefusedError",
            "HFValidationError",
        ),
    ),
    (
        BAD_DATA,
        (
            "DatasetBuildError",
            "ChecksumVerificationError",
            "SplitsVerificationError",
            "ContentMismatchError",
            "BadRecordError",
            "LimitExceededError",
            "CastError",
            "MixedTypesError",
            "ValueTypeError",
            "FeaturesMismatchError",
            "FormatConflictError",
            "FunctionResultError",
            "InvalidRecordError",
            "BadRowError",
            "BenchmarkFileError",
            "LockFileError",
            "LockMismatchError",
            "UnknownPredictionsError",
            "MissingPredictionsError",
            "PredictionsError",
            "CodeTestsError",
            "TooFewCompletionsError",
        ),
    ),
    (STORAGE, ("OSError",)),
    (OTHER, ("DatasetsError",)),
)


def code_of(error: BaseException) -> int:
    """The exit code of an error."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return code_of_kind(type(error))


def code_of_kind(kind: type[BaseException]) -> int:
    """The exit code of a class of errors."""
    names = {each.__name__ for each in kind.__mro__}
    return next((code for code, kinds in _CODES if names & set(kinds)), DEFECT)


def is_known(error: BaseException) -> bool:
    """Whether an error is expected, so that no traceback is needed."""
    return code_of(error) != DEFECT


def facts_of(error: BaseException, message: str) -> dict[str, Any]:
    """An error as JSON, in one format for all errors."""
    return {"error": {"type": type(error).__name__, "message": message, "exit_code": code_of(error)}}
