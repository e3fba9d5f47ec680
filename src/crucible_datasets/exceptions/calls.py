"""What was asked for: arguments, names, packages, functions of users."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crucible_datasets.exceptions.base import DatasetsError, closest, listed


class UnknownEntryError(DatasetsError, ValueError):
    """A registered thing (format, output, source, …) was asked for by an unknown name."""

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
        return f"{name}={value!r}:{closest(name, self.available)} {reason}"


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument is of a kind the call cannot use."""


class FunctionResultError(DatasetsError, TypeError, ValueError):
    """A function that was mapped over rows returned what cannot become columns."""

    def message(self, found: str, batched: bool, column: str | None = None) -> str:
        self.found, self.batched, self.column = found, batched, column
        if column is not None:
            return f"A function of batches returned {found} for column {column!r}; expected a list or an array."
        columns = "columns by name" if batched else "a row"
        return f"A function returned {found}; expected a dict ({columns}), an Arrow table, a data frame, or None."


class ProbabilitiesError(DatasetsError, ValueError, IndexError):
    """Probabilities do not fit the datasets that are drawn from."""

    def message(self, probabilities: list[float], reason: str) -> str:
        self.probabilities = probabilities
        return f"probabilities={probabilities}: {reason}"


class AggregationError(DatasetsError, ValueError, TypeError):
    """A function cannot sum up the values of a column."""

    def message(self, function: str, column: str, feature: str, available: Iterable[str]) -> str:
        self.function, self.column, self.feature, self.available = function, column, feature, list(available)
        return f"{function!r} cannot be computed of column {column!r}, {feature}. Functions: {listed(self.available)}."


class ExpressionError(DatasetsError, ValueError, TypeError):
    """An expression or a query cannot be computed of the columns that are there."""

    def message(self, expression: str, types: Mapping[str, object], reason: object) -> str:
        self.expression = expression
        self.types = {name: str(kind) for name, kind in types.items()}
        columns = listed(f"{name}: {kind}" for name, kind in self.types.items())
        return f"{expression}: {str(reason).rstrip('.')}. Columns: {columns}."


class DatasetTransformationNotAllowedError(DatasetsError):
    """Rows cannot move while a search index points at them."""

    def message(self, operation: str, indexes: Iterable[str]) -> str:
        self.operation, self.indexes = operation, list(indexes)
        return (
            f"{operation} would change the rows that these search indexes point at: {listed(self.indexes)}. "
            "Drop them with drop_index(name), then add them again."
        )


class UnavailableError(DatasetsError):
    """Something that this library cannot do."""

    def message(self, what: str, instead: str) -> str:
        self.what, self.instead = what, instead
        return f"{what} is not supported. {instead}"


class UnusablePairError(ArgumentError):
    """A metric cannot judge one pair: the target, or what was predicted, is of no kind that it knows."""
