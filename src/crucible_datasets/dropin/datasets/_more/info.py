"""More of `datasets.info`."""

__all__ = ["MissingCachedSizesConfigError", "NonMatchingCachedSizesError"]


class MissingCachedSizesConfigError(Exception):
    """The sizes of a configuration are not known."""


class NonMatchingCachedSizesError(Exception):
    """Sizes differ from those that were expected."""
