"""Errors about names and specs of splits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crucible_datasets.exceptions import DatasetsError, UnknownEntryError


class SplitNameError(DatasetsError, ValueError):
    """A split was given a name that cannot be written in a spec or a file name."""

    def message(self, name: object) -> str:
        self.name = name
        return f"{name!r} is not a split name. Use letters, digits and underscores, as in 'train' or 'test.clean'."


class SplitSpecError(DatasetsError, ValueError):
    """A split spec is invalid."""

    def message(self, spec: object, reason: str = "write it like 'train', 'train[:10%]' or 'train[5:]+test'.") -> str:
        self.spec = spec
        return f"Cannot read split {str(spec)!r}: {reason}"


class UnknownSplitError(UnknownEntryError, KeyError):
    """The dataset has no such split."""

    def message(self, name: object, available: Iterable[str]) -> str:  # type: ignore[override]
        return super().message("split", str(name), available)


class EmptySplitError(DatasetsError, ValueError):
    """A split spec selects no rows."""

    def message(self, spec: object, lengths: Mapping[str, int]) -> str:
        self.spec, self.lengths = str(spec), dict(lengths)
        sizes = ", ".join(f"{name} has {length}" for name, length in self.lengths.items())
        return f"Split {self.spec!r} corresponds to no data! Rows: {sizes}."
