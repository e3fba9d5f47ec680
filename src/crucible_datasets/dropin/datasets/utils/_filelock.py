"""Forwards to the package `filelock`."""

from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout

__all__ = ["BaseFileLock", "FileLock", "SoftFileLock", "Timeout"]
