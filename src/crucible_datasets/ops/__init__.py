"""Functions from view to view. The facades know them all, and a program that uses two of them imports two."""

from typing import TYPE_CHECKING

if not TYPE_CHECKING:
    from crucible_datasets.later import submodules

    __getattr__ = submodules(__name__)
