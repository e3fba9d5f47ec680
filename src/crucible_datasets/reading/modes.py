"""Enums for the arguments `download_mode` and `verification_mode`."""

from __future__ import annotations

from enum import Enum


class DownloadMode(Enum):
    """What may be reused from earlier loads."""

    REUSE_DATASET_IF_EXISTS = "reuse_dataset_if_exists"
    REUSE_CACHE_IF_EXISTS = "reuse_cache_if_exists"
    FORCE_REDOWNLOAD = "force_redownload"


class VerificationMode(Enum):
    """Whether splits are compared with the dataset's card."""

    ALL_CHECKS = "all_checks"
    BASIC_CHECKS = "basic_checks"
    NO_CHECKS = "no_checks"
