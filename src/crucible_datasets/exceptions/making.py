"""Errors about datasets that cannot be created from their files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from crucible_datasets.exceptions.base import DatasetsError, closest, listed, without_secrets
from crucible_datasets.exceptions.types import CastError, FeaturesMismatchError, UnknownTypeError


class DatasetBuildError(DatasetsError):
    """A dataset could not be created from its source."""


class DatasetGenerationError(DatasetBuildError):
    """The code that yields a dataset's rows failed, or yielded something other than rows."""

    def message(self, source: str, row: int | None, reason: str) -> str:
        self.source, self.row = source, row
        return f"{source} failed{f' at row {row}' if row is not None else ''}: {reason}"


class DatasetGenerationCastError(DatasetGenerationError):
    """Rows of a file do not have the columns and types in the dataset's description."""

    @classmethod
    def from_cast_error(
        cls, cast_error: BaseException, builder_name: str, gen_kwargs: dict[str, Any], token: str | bool | None
    ) -> DatasetGenerationCastError:
        """The error of a builder, from that of a failed cast."""
        return cls(builder_name, None, str(cast_error))


class FileCastError(DatasetGenerationCastError, CastError):
    """Values of a file cannot be cast to the types in the dataset's description."""

    def message(self, path: str, error: CastError, rows_before: int = 0) -> str:  # type: ignore[override]
        row = None if error.row is None else error.row + rows_before
        reason = CastError.message(self, error.column, error.source, error.target, error.reason, row)
        text = DatasetGenerationError.message(self, path, None, reason)
        self.row, self.path = row, path
        return text


class FileColumnsError(DatasetGenerationCastError, FeaturesMismatchError):
    """The files do not have the columns in the dataset's description, or those that the caller states."""

    def message(self, wanted: Iterable[str], found: Iterable[str]) -> str:  # type: ignore[override]
        reason = "The columns of the files are not those of the features"
        return f"{FeaturesMismatchError.message(self, wanted, found, reason)} Pass the right ones as features=."


class ManualDownloadError(DatasetBuildError):
    """A builder needs files that the user must download manually."""

    def message(self, builder: str, instructions: str) -> str:
        self.builder, self.instructions = builder, instructions
        return f"{builder} needs files that are downloaded by hand: {instructions} Pass their folder as data_dir."


class DefunctDatasetError(DatasetsError):
    """A dataset was withdrawn by its publishers."""

    def message(self, dataset: str, reason: str = "it was taken back by its publishers.") -> str:
        self.dataset = dataset
        return f"{dataset} cannot be loaded any more: {reason}"


class FileFormatError(DatasetGenerationError, ValueError):
    """A file is invalid or truncated."""

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

    def in_row(self, row: int | None) -> FileFormatError:
        """The same error after some good rows, unless it names a row or says that the file as a whole is another."""
        if row is None or self.row is not None or type(self).message is not FileFormatError.message:
            return self
        if not row and self.line is None:
            return self
        return FileFormatError(self.path, self.reason, row, self.offset, self.line, self.column)


class ArrowFileError(FileFormatError, OSError):
    """A file is not a readable Arrow stream or file."""

    def message(  # type: ignore[override]
        self, path: object, reason: str, row: int | None = None, offset: int | None = None
    ) -> str:
        return super().message(path, f"this is not a readable Arrow file: {reason}", row, offset)


class FileFieldError(FileFormatError, KeyError):
    """A file lacks the field that should hold the rows."""

    def message(self, path: object, field: object, found: str) -> str:  # type: ignore[override]
        self.field, self.found = field, found
        return super().message(path, f"there is no field {field!r}; found {found}.")


class CardError(DatasetBuildError, ValueError):
    """The YAML that describes a dataset is invalid."""

    def message(self, path: object, reason: str) -> str:
        self.path, self.reason = path, reason
        return f"{path!s}: {reason}"


class DatasetScriptError(DatasetBuildError, RuntimeError):
    """A dataset is a loading script instead of data."""

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
            asked = re.sub(" at [0-9a-f]{40}$", "", str(dataset))  # the requested name, without the commit
            example = f"load_dataset({asked!r}, {self.available[0]!r})" if self.available else ""
            return f"{dataset!s} has several configurations. Name one, as in {example}. Available: {listed(available)}."
        hint = closest(name, self.available)
        return f"{dataset!s} has no configuration {name!r}.{hint} Available: {listed(self.available)}."


class FormatConflictError(DatasetsError, ValueError):
    """The splits of one dataset have different formats."""

    def message(self, place: object, formats: Mapping[str, str | None]) -> str:
        self.place, self.formats = place, dict(formats)
        found = ", ".join(f"{split} is {name or 'of no known format'}" for split, name in self.formats.items())
        return f"{place!s}: {found}. Name files of one format with data_files."


class LimitExceededError(DatasetsError, ValueError):
    """Reading would exceed a limit in the settings."""

    def message(self, path: object, what: str, limit: int, setting: str) -> str:
        self.path, self.limit, self.setting = path, limit, setting
        return f"{path!s}: {what} exceeds the limit of {limit:,}. If the data is trusted, raise {setting}."


@contextmanager
def content_errors(kind: type[FileFormatError | CardError | UnknownTypeError], path: str) -> Iterator[None]:
    """A context in which any error that invalid content causes becomes an error that names the file."""
    try:
        yield
    except DatasetsError as error:
        if isinstance(error, UnknownTypeError) and error.__cause__ is not None:
            raise kind(path, str(error)) from error  # it did not know the file
        error.add_note(f"In {path}.")
        raise
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise kind(path, f"its content is not as it should be: {type(error).__name__}: {error}.") from error


class FileNotFoundDatasetsError(DatasetsError, FileNotFoundError):
    """Something does not exist."""

    def message(self, asked: object, reason: str = "it does not exist.", available: Iterable[str] = ()) -> str:
        self.asked, self.available = asked, list(available)
        hint = closest(str(asked).rpartition("/")[2], self.available)
        return f"{without_secrets(str(asked))}: {reason}{hint}"


class DataFilesNotFoundError(FileNotFoundDatasetsError):
    """No data file was found where some were expected."""


class IsAFolderError(DataFilesNotFoundError, IsADirectoryError):
    """A file was expected where a folder is."""

    def message(self, asked: object) -> str:  # type: ignore[override]
        return super().message(asked, "it is a folder, not a file.")


class IsAFileError(DataFilesNotFoundError, NotADirectoryError):
    """A folder was expected where a file is."""

    def message(self, asked: object) -> str:  # type: ignore[override]
        return super().message(asked, "it is a file, not a folder.")


class DatasetNotFoundError(FileNotFoundDatasetsError):
    """There is no dataset of that name."""


class EmptyDatasetError(FileNotFoundDatasetsError):
    """The place exists but holds no data."""


class SchemaConflictError(DatasetGenerationError, ValueError, TypeError):
    """A column has incompatible types in two files of one split."""

    def message(  # type: ignore[override]
        self, column: str, first: object, first_type: str, second: object, second_type: str, reason: str = ""
    ) -> str:
        self.column, self.first, self.second, self.reason = column, first, second, reason
        return (
            f"Column {column!r} is {first_type} in {first!s}, but {second_type} in {second!s}"
            f"{': ' + reason if reason else '.'} Pass `features` to say which it is."
        )


class MediaFolderError(DatasetGenerationError, ValueError):
    """A folder of media, or its metadata, is invalid."""

    def message(self, path: str, reason: str, advice: str = "", row: int | None = None) -> str:  # type: ignore[override]
        self.path, self.reason, self.row = path, reason, row
        where = path if row is None else f"{path}, row {row}"
        return f"{where}: {reason} {advice}".rstrip()
