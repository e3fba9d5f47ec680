"""`Viewable`: the method `view`, inherited by datasets, streams, runs and result stores."""

from __future__ import annotations

from typing import Any


class Viewable:
    """Something that can be shown in a browser."""

    __slots__ = ()

    def view(self, **options: Any) -> Any:
        """Open it in the browser; the options are those of `crucible_datasets.view`."""
        from crucible_datasets import view

        return view(self, **options)
