"""Errors about values and the types of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crucible_datasets.exceptions.base import DatasetsError, also_of_arrow, listed

_MOST_TYPES = 3  # columns whose types are in one message


@also_of_arrow("ArrowInvalid", "ArrowTypeError")
class MixedTypesError(DatasetsError, ValueError, TypeError):
    """A column holds values without a common Arrow type."""

    def message(self, column: str | None, row: int | None, found: str, before: str) -> str:
        self.column, self.row, self.found, self.before = column, row, found, before
        place = f"Column {column!r}" if column is not None else "A column"
        where = f", row {row}" if row is not None else ""
        return (
            f"{place}{where} holds {found}, but the values before it are {before}. "
            "Make the values alike, give the column a type, or store it as Json (on_mixed_types='use_json')."
        )


@also_of_arrow("ArrowInvalid", "ArrowTypeError", "ArrowNotImplementedError")
class ValueTypeError(DatasetsError, ValueError, TypeError, AttributeError, OverflowError):
    """A value cannot be stored as the type of its column."""

    def message(self, column: str | None, row: int | None, value: str, wanted: str, reason: str) -> str:
        self.column, self.row, self.value, self.wanted, self.reason = column, row, value, wanted, reason
        place = f"Column {column!r}" if column is not None else "A column"
        where = f", row {row}" if row is not None else ""
        return f"{place}{where}: {value} cannot be stored as {wanted}: {reason}"


@also_of_arrow("ArrowInvalid", "ArrowTypeError", "ArrowNotImplementedError")
class CastError(DatasetsError, ValueError, TypeError, NotImplementedError):
    """A column cannot be cast to the requested type."""

    def message(self, column: str | None, source: str, target: str, reason: str = "", row: int | None = None) -> str:
        self.column, self.source, self.target, self.reason, self.row = column, source, target, reason, row
        place = f"column {column!r}" if column is not None else "an array"
        place += f", row {row}," if row is not None else ""
        return f"Cannot cast {place} from {source} to {target}{': ' + reason if reason else '.'}"


class ShapeError(DatasetsError, ValueError):
    """An array has another shape than its feature."""

    def message(self, shape: tuple[int | None, ...], dimension: int, found: int) -> str:
        self.shape, self.dimension, self.found = shape, dimension, found
        return f"Expected arrays of shape {shape}, but dimension {dimension} of one of them has size {found}."


class FeaturesMismatchError(DatasetsError, ValueError, KeyError):
    """Two sets of features that must agree do not."""

    def message(self, wanted: Iterable[str], found: Iterable[str], reason: str = "", row: int | None = None) -> str:
        self.wanted, self.found, self.row = list(wanted), list(found), row
        missing = [name for name in self.wanted if name not in self.found]
        extra = [name for name in self.found if name not in self.wanted]
        parts = [f"missing: {listed(missing)}"] if missing else []
        parts += [f"not in the features: {listed(extra)}"] if extra else []
        if isinstance(wanted, Mapping) and isinstance(found, Mapping):
            both = [name for name in self.wanted if name in found and wanted[name] != found[name]]
            parts += [f"{name}: {found[name]} instead of {wanted[name]}" for name in both[:_MOST_TYPES]]
        where = f", row {row}" if row is not None else ""
        return f"{reason or 'The columns do not match the features'}{where} ({'; '.join(parts) or 'types differ'})."


class UnknownTypeError(DatasetsError, ValueError, TypeError):
    """A type is unknown, or has no counterpart in Arrow."""

    def message(self, name: object, reason: str) -> str:
        self.name, self.reason = name, reason
        return f"{name!s} is not a usable type: {reason}"


class UnknownFeaturesError(DatasetsError, ValueError, TypeError):
    """An operation needs the types of a stream's columns, which are unknown."""

    def message(self, operation: str) -> str:
        self.operation = operation
        return f"{operation} needs the features of the stream, which are unknown. Set them with stream.cast(features)."


class DecodingDisabledError(DatasetsError, RuntimeError):
    """A value would be decoded whose feature has `decode=False`."""

    def message(self, feature: str) -> str:
        self.feature = feature
        return f"{feature} keeps its values as they are stored. To decode them use {feature}(decode=True)."


class AlignmentError(DatasetsError, ValueError, TypeError):
    """Datasets to be concatenated have different types in one column."""

    def message(self, column: str, left: str, right: str) -> str:
        self.column, self.left, self.right = column, left, right
        return (
            f"Column {column!r} is {left} in one dataset and {right} in another. "
            f"Cast one of them first, as in dataset.cast_column({column.split('.')[0]!r}, …)."
        )
