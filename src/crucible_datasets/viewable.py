"""`view`, which everything has that can be looked at in a browser: data, streams, runs and stores of runs."""

from __future__ import annotations

from typing import Any


class Viewable:
    """What a viewer can show."""

    __slots__ = ()

    def view(self, **options: Any) -> Any:
        """Show it in the browser of this machine; the options are those of `crucible_datasets.view`."""
        from crucible_datasets import view

        return view(self, **options)
