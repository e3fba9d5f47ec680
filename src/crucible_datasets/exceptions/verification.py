"""Errors about data that does not match its description."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crucible_datasets.exceptions.base import DatasetsError, listed


class ChecksumVerificationError(DatasetsError):
    """The files do not match the dataset's description."""

    def message(self, urls: Iterable[str]) -> str:
        self.urls = list(urls)
        return f"{self.reason}: {listed(self.urls)}. If they are right, pass verification_mode='no_checks'."

    reason = "These files are not as described"


class ExpectedMoreDownloadedFilesError(ChecksumVerificationError):
    """The builder did not download a file that is described."""

    reason = "These files are described, but the builder did not ask for them"


class UnexpectedDownloadedFileError(ChecksumVerificationError):
    """The builder downloaded a file that is not described."""

    reason = "The builder asked for these files, but they are not described"


class NonMatchingChecksumError(ChecksumVerificationError):
    """A file has another size or checksum than described."""

    reason = "These files have another size or other bytes than described"


class SplitsVerificationError(DatasetsError):
    """The splits do not match the dataset's description."""


class ExpectedMoreSplitsError(SplitsVerificationError):
    """A described split does not exist."""

    def message(self, missing: Iterable[str], found: Iterable[str]) -> str:
        self.missing, self.found = list(missing), list(found)
        return (
            f"The description names splits that have no files: {listed(self.missing)}. Found: {listed(self.found)}. "
            "Correct dataset_info, or pass verification_mode='no_checks'."
        )


class UnexpectedSplitsError(SplitsVerificationError):
    """A split exists that is not described."""

    def message(self, extra: Iterable[str], described: Iterable[str]) -> str:
        self.extra, self.described = list(extra), list(described)
        return (
            f"There are splits that the description lacks: {listed(self.extra)}. Described: "
            f"{listed(self.described)}. Correct dataset_info, or pass verification_mode='no_checks'."
        )


class NonMatchingSplitsSizesError(SplitsVerificationError):
    """A split has another number of rows than described."""

    def message(self, sizes: Mapping[str, tuple[int, int]]) -> str:
        self.sizes = dict(sizes)
        text = ", ".join(f"{split} has {found} rows instead of {said}" for split, (said, found) in self.sizes.items())
        return f"{text}. Correct dataset_info, or pass verification_mode='no_checks'."


class ContentMismatchError(DatasetsError, ValueError):
    """A download does not match its expected checksum; it was discarded."""

    def message(self, name: str, expected: str, found: str) -> str:
        self.name, self.expected, self.found = name, expected, found
        return f"What arrived as {name} is not what was promised: {found} instead of {expected}. It was not kept."
