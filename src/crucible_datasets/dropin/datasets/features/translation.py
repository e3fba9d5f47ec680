"""Forwards to `crucible_datasets.features`."""

from crucible_datasets.features import Translation, TranslationVariableLanguages

__all__ = ["Translation", "TranslationVariableLanguages"]
