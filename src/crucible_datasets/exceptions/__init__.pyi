from crucible_datasets.exceptions.base import (
    ArrowTwin as ArrowTwin,
)
from crucible_datasets.exceptions.base import (
    DatasetsError as DatasetsError,
)
from crucible_datasets.exceptions.base import (
    also_of_arrow as also_of_arrow,
)
from crucible_datasets.exceptions.base import (
    without_secrets as without_secrets,
)
from crucible_datasets.exceptions.benchmarks import (
    BadRecordError as BadRecordError,
)
from crucible_datasets.exceptions.benchmarks import (
    BadRowError as BadRowError,
)
from crucible_datasets.exceptions.benchmarks import (
    BenchmarkFileError as BenchmarkFileError,
)
from crucible_datasets.exceptions.benchmarks import (
    InvalidRecordError as InvalidRecordError,
)
from crucible_datasets.exceptions.benchmarks import (
    LockFileError as LockFileError,
)
from crucible_datasets.exceptions.benchmarks import (
    LockMismatchError as LockMismatchError,
)
from crucible_datasets.exceptions.benchmarks import (
    MissingFieldError as MissingFieldError,
)
from crucible_datasets.exceptions.benchmarks import (
    NotLockedError as NotLockedError,
)
from crucible_datasets.exceptions.benchmarks import (
    PinNotFoundError as PinNotFoundError,
)
from crucible_datasets.exceptions.benchmarks import (
    TemplateError as TemplateError,
)
from crucible_datasets.exceptions.calls import (
    AggregationError as AggregationError,
)
from crucible_datasets.exceptions.calls import (
    ArgumentError as ArgumentError,
)
from crucible_datasets.exceptions.calls import (
    ArgumentTypeError as ArgumentTypeError,
)
from crucible_datasets.exceptions.calls import (
    DatasetTransformationNotAllowedError as DatasetTransformationNotAllowedError,
)
from crucible_datasets.exceptions.calls import (
    ExpressionError as ExpressionError,
)
from crucible_datasets.exceptions.calls import (
    FunctionResultError as FunctionResultError,
)
from crucible_datasets.exceptions.calls import (
    MissingPackageError as MissingPackageError,
)
from crucible_datasets.exceptions.calls import (
    ProbabilitiesError as ProbabilitiesError,
)
from crucible_datasets.exceptions.calls import (
    SplitSizeError as SplitSizeError,
)
from crucible_datasets.exceptions.calls import (
    StratificationError as StratificationError,
)
from crucible_datasets.exceptions.calls import (
    UnavailableError as UnavailableError,
)
from crucible_datasets.exceptions.calls import (
    UnknownEntryError as UnknownEntryError,
)
from crucible_datasets.exceptions.calls import (
    UnknownKeywordError as UnknownKeywordError,
)
from crucible_datasets.exceptions.calls import (
    UnusablePairError as UnusablePairError,
)
from crucible_datasets.exceptions.contents import (
    ColumnLengthError as ColumnLengthError,
)
from crucible_datasets.exceptions.contents import (
    ColumnNamesError as ColumnNamesError,
)
from crucible_datasets.exceptions.contents import (
    ColumnNotFoundError as ColumnNotFoundError,
)
from crucible_datasets.exceptions.contents import (
    FrameIndexError as FrameIndexError,
)
from crucible_datasets.exceptions.contents import (
    MissingIndexError as MissingIndexError,
)
from crucible_datasets.exceptions.contents import (
    RowCountError as RowCountError,
)
from crucible_datasets.exceptions.contents import (
    RowIndexError as RowIndexError,
)
from crucible_datasets.exceptions.contents import (
    SplitNotFoundError as SplitNotFoundError,
)
from crucible_datasets.exceptions.contents import (
    StreamedSplitError as StreamedSplitError,
)
from crucible_datasets.exceptions.contents import (
    UnsavedIndexError as UnsavedIndexError,
)
from crucible_datasets.exceptions.evaluation import (
    CodeExecutionRefusedError as CodeExecutionRefusedError,
)
from crucible_datasets.exceptions.evaluation import (
    CodeTestsError as CodeTestsError,
)
from crucible_datasets.exceptions.evaluation import (
    IncomparableRunsError as IncomparableRunsError,
)
from crucible_datasets.exceptions.evaluation import (
    MathsWorkerError as MathsWorkerError,
)
from crucible_datasets.exceptions.evaluation import (
    MissingPredictionsError as MissingPredictionsError,
)
from crucible_datasets.exceptions.evaluation import (
    PredictionsError as PredictionsError,
)
from crucible_datasets.exceptions.evaluation import (
    RunExistsError as RunExistsError,
)
from crucible_datasets.exceptions.evaluation import (
    RunFinishedError as RunFinishedError,
)
from crucible_datasets.exceptions.evaluation import (
    RunNotFoundError as RunNotFoundError,
)
from crucible_datasets.exceptions.evaluation import (
    SandboxUnavailableError as SandboxUnavailableError,
)
from crucible_datasets.exceptions.evaluation import (
    TooFewCompletionsError as TooFewCompletionsError,
)
from crucible_datasets.exceptions.evaluation import (
    UnknownPredictionsError as UnknownPredictionsError,
)
from crucible_datasets.exceptions.making import (
    ArrowFileError as ArrowFileError,
)
from crucible_datasets.exceptions.making import (
    CardError as CardError,
)
from crucible_datasets.exceptions.making import (
    ConfigNotFoundError as ConfigNotFoundError,
)
from crucible_datasets.exceptions.making import (
    DataFilesNotFoundError as DataFilesNotFoundError,
)
from crucible_datasets.exceptions.making import (
    DatasetBuildError as DatasetBuildError,
)
from crucible_datasets.exceptions.making import (
    DatasetGenerationCastError as DatasetGenerationCastError,
)
from crucible_datasets.exceptions.making import (
    DatasetGenerationError as DatasetGenerationError,
)
from crucible_datasets.exceptions.making import (
    DatasetNotFoundError as DatasetNotFoundError,
)
from crucible_datasets.exceptions.making import (
    DatasetScriptError as DatasetScriptError,
)
from crucible_datasets.exceptions.making import (
    DefunctDatasetError as DefunctDatasetError,
)
from crucible_datasets.exceptions.making import (
    EmptyDatasetError as EmptyDatasetError,
)
from crucible_datasets.exceptions.making import (
    FileCastError as FileCastError,
)
from crucible_datasets.exceptions.making import (
    FileColumnsError as FileColumnsError,
)
from crucible_datasets.exceptions.making import (
    FileFieldError as FileFieldError,
)
from crucible_datasets.exceptions.making import (
    FileFormatError as FileFormatError,
)
from crucible_datasets.exceptions.making import (
    FileNotFoundDatasetsError as FileNotFoundDatasetsError,
)
from crucible_datasets.exceptions.making import (
    FormatConflictError as FormatConflictError,
)
from crucible_datasets.exceptions.making import (
    IsAFileError as IsAFileError,
)
from crucible_datasets.exceptions.making import (
    IsAFolderError as IsAFolderError,
)
from crucible_datasets.exceptions.making import (
    LimitExceededError as LimitExceededError,
)
from crucible_datasets.exceptions.making import (
    ManualDownloadError as ManualDownloadError,
)
from crucible_datasets.exceptions.making import (
    MediaFolderError as MediaFolderError,
)
from crucible_datasets.exceptions.making import (
    SchemaConflictError as SchemaConflictError,
)
from crucible_datasets.exceptions.making import (
    content_errors as content_errors,
)
from crucible_datasets.exceptions.media import (
    BadMediaError as BadMediaError,
)
from crucible_datasets.exceptions.media import (
    MissingMediaError as MissingMediaError,
)
from crucible_datasets.exceptions.media import (
    OversizedMediaError as OversizedMediaError,
)
from crucible_datasets.exceptions.places import (
    AccessDeniedError as AccessDeniedError,
)
from crucible_datasets.exceptions.places import (
    DatabaseError as DatabaseError,
)
from crucible_datasets.exceptions.places import (
    DownloadError as DownloadError,
)
from crucible_datasets.exceptions.places import (
    FileExistsDatasetsError as FileExistsDatasetsError,
)
from crucible_datasets.exceptions.places import (
    NotAFolderError as NotAFolderError,
)
from crucible_datasets.exceptions.places import (
    NotWritableError as NotWritableError,
)
from crucible_datasets.exceptions.places import (
    OfflineError as OfflineError,
)
from crucible_datasets.exceptions.places import (
    OutOfBoundsError as OutOfBoundsError,
)
from crucible_datasets.exceptions.places import (
    StorageError as StorageError,
)
from crucible_datasets.exceptions.places import (
    UploadError as UploadError,
)
from crucible_datasets.exceptions.streams import (
    DamagedStateError as DamagedStateError,
)
from crucible_datasets.exceptions.streams import (
    ForeignStateError as ForeignStateError,
)
from crucible_datasets.exceptions.streams import (
    ShardIndexError as ShardIndexError,
)
from crucible_datasets.exceptions.streams import (
    ShardingError as ShardingError,
)
from crucible_datasets.exceptions.streams import (
    StreamStateError as StreamStateError,
)
from crucible_datasets.exceptions.streams import (
    StreamTypeError as StreamTypeError,
)
from crucible_datasets.exceptions.types import (
    AlignmentError as AlignmentError,
)
from crucible_datasets.exceptions.types import (
    CastError as CastError,
)
from crucible_datasets.exceptions.types import (
    DecodingDisabledError as DecodingDisabledError,
)
from crucible_datasets.exceptions.types import (
    FeaturesMismatchError as FeaturesMismatchError,
)
from crucible_datasets.exceptions.types import (
    MixedTypesError as MixedTypesError,
)
from crucible_datasets.exceptions.types import (
    ShapeError as ShapeError,
)
from crucible_datasets.exceptions.types import (
    UnknownFeaturesError as UnknownFeaturesError,
)
from crucible_datasets.exceptions.types import (
    UnknownTypeError as UnknownTypeError,
)
from crucible_datasets.exceptions.types import (
    ValueTypeError as ValueTypeError,
)
from crucible_datasets.exceptions.verification import (
    ChecksumVerificationError as ChecksumVerificationError,
)
from crucible_datasets.exceptions.verification import (
    ContentMismatchError as ContentMismatchError,
)
from crucible_datasets.exceptions.verification import (
    ExpectedMoreDownloadedFilesError as ExpectedMoreDownloadedFilesError,
)
from crucible_datasets.exceptions.verification import (
    ExpectedMoreSplitsError as ExpectedMoreSplitsError,
)
from crucible_datasets.exceptions.verification import (
    NonMatchingChecksumError as NonMatchingChecksumError,
)
from crucible_datasets.exceptions.verification import (
    NonMatchingSplitsSizesError as NonMatchingSplitsSizesError,
)
from crucible_datasets.exceptions.verification import (
    SplitsVerificationError as SplitsVerificationError,
)
from crucible_datasets.exceptions.verification import (
    UnexpectedDownloadedFileError as UnexpectedDownloadedFileError,
)
from crucible_datasets.exceptions.verification import (
    UnexpectedSplitsError as UnexpectedSplitsError,
)
from crucible_datasets.exceptions.workers import (
    NOT_STARTED as NOT_STARTED,
)
from crucible_datasets.exceptions.workers import (
    ClusterError as ClusterError,
)
from crucible_datasets.exceptions.workers import (
    NotPicklableError as NotPicklableError,
)
from crucible_datasets.exceptions.workers import (
    WorkerDiedError as WorkerDiedError,
)
from crucible_datasets.exceptions.workers import (
    WorkerError as WorkerError,
)

__all__: list[str]
