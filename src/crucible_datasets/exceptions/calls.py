"""Errors of arguments, names, packages and users' functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crucible_datasets.exceptions.base import DatasetsError, closest, listed


class UnknownEntryError(DatasetsError, ValueError):
    """There is no registered format, output, source, … with this name."""

    def message(self, kind: str, name: object, available: Iterable[str]) -> str:
        self.kind, self.name, self.available = kind, name, list(available)
        what, of, whole = kind.partition(" of ")
        hint = closest(name, self.available)
        return f"There is no {what} {name!r}{of}{whole}.{hint} Available: {listed(self.available)}."


class MissingPackageError(DatasetsError, ImportError, ValueError):
    """An optional package is needed and not installed."""

    def message(self, package: str, extra: str) -> str:
        self.package, self.extra = package, extra
        install = f"make env EXTRAS={extra} in the clone of this library, or pip install '/path/to/clone[{extra}]'"
        return f"{package.partition('.')[0]!r} is not installed. It comes with an extra: {install}."


class SplitSizeError(DatasetsError, ValueError):
    """A train/test split is impossible with these sizes."""

    def message(self, test_size: object, train_size: object, num_rows: int, reason: str) -> str:
        self.test_size, self.train_size, self.num_rows = test_size, train_size, num_rows
        return f"Cannot split {num_rows} rows with test_size={test_size} and train_size={train_size}: {reason}"


class StratificationError(DatasetsError, ValueError):
    """The values of a column cannot be stratified over the requested parts."""

    def message(self, column: str, reason: str) -> str:
        self.column = column
        return f"Cannot stratify by column {column!r}: {reason}"


class ArgumentError(DatasetsError, ValueError):
    """An argument has an invalid value."""

    def message(self, name: str, value: object, reason: str, available: Iterable[str] = ()) -> str:
        self.name, self.value, self.available = name, value, list(available)
        return f"{name}={value!r}:{closest(name, self.available)} {reason}"


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument has an invalid type."""


class UnknownKeywordError(ArgumentTypeError):
    """Nothing takes a keyword that was passed on."""

    def message(self, name: str, value: object, reason: str, available: Iterable[str] = ()) -> str:
        self.reason = reason
        return super().message(name, value, reason, available)


class FunctionResultError(DatasetsError, TypeError, ValueError):
    """A mapped function returned something that cannot become columns."""

    def message(self, found: str, batched: bool, column: str | None = None) -> str:
        self.found, self.batched, self.column = found, batched, column
        if column is not None:
            return f"A function of batches returned {found} for column {column!r}; expected a list or an array."
        columns = "columns by name" if batched else "a row"
        return f"A function returned {found}; expected a dict ({columns}), an Arrow table, a data frame, or None."


class ProbabilitiesError(DatasetsError, ValueError, IndexError):
    """Probabilities do not match the datasets."""

    def message(self, probabilities: list[float], reason: str) -> str:
        self.probabilities = probabilities
        return f"probabilities={probabilities}: {reason}"


class AggregationError(DatasetsError, ValueError, TypeError):
    """An aggregation cannot be applied to a column."""

    def message(self, function: str, column: str, feature: str, available: Iterable[str]) -> str:
        self.function, self.column, self.feature, self.available = function, column, feature, list(available)
        return f"{function!r} cannot be computed of column {column!r}, {feature}. Possible: {listed(self.available)}."


class ExpressionError(DatasetsError, ValueError, TypeError):
    """An expression or a query cannot be evaluated on the columns."""

    def message(self, expression: str, types: Mapping[str, object], reason: object) -> str:
        self.expression, self.reason = expression, str(reason).rstrip(".")
        self.types = {name: str(kind) for name, kind in types.items()}
        columns = listed(f"{name}: {kind}" for name, kind in self.types.items())
        return f"{expression}: {self.reason}. Columns: {columns}."


class DatasetTransformationNotAllowedError(DatasetsError):
    """Rows cannot change while a search index refers to them."""

    def message(self, operation: str, indexes: Iterable[str]) -> str:
        self.operation, self.indexes = operation, list(indexes)
        return (
            f"{operation} would change the rows that these search indexes point at: {listed(self.indexes)}. "
            "Drop them with drop_index(name), then add them again."
        )


class UnavailableError(DatasetsError, NotImplementedError):
    """This library does not support something."""

    def message(self, what: str, instead: str) -> str:
        self.what, self.instead = what, instead
        return f"{what} is not supported. {instead}"


class UnusablePairError(ArgumentError):
    """A metric cannot judge a pair: the prediction or the target has an unsupported type."""
