"""`Translation`: a sentence in several languages."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import pyarrow as pa

from crucible_datasets.exceptions import UnknownEntryError
from crucible_datasets.features.types import List, Value
from crucible_datasets.records import dataclass


@dataclass
class Translation:
    """One sentence in a fixed set of languages."""

    languages: list[str]
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "dict"
    pa_type: ClassVar[Any] = None
    _type: str = field(init=False, repr=False, default="Translation")

    def __call__(self) -> pa.DataType:
        return pa.struct({language: pa.string() for language in sorted(self.languages)})

    def flatten(self) -> dict[str, Value]:
        return {language: Value("string") for language in sorted(self.languages)}


@dataclass
class TranslationVariableLanguages:
    """One sentence in some of the languages, with one or several translations each."""

    languages: list[str] | None = None
    num_languages: int | None = None
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "dict"
    pa_type: ClassVar[Any] = pa.struct({"language": pa.list_(pa.string()), "translation": pa.list_(pa.string())})
    _type: str = field(init=False, repr=False, default="TranslationVariableLanguages")

    def __post_init__(self) -> None:
        self.languages = sorted(set(self.languages)) if self.languages else None
        self.num_languages = len(self.languages) if self.languages else None

    def __call__(self) -> pa.DataType:
        return self.pa_type

    def encode_example(self, translation_dict: dict[str, Any]) -> dict[str, Any]:
        """`{"en": ["a", "b"], "fr": "c"}` becomes two parallel tuples, sorted by language."""
        if set(translation_dict) == {"language", "translation"}:
            return translation_dict
        unknown = set(translation_dict) - set(self.languages or translation_dict)
        if unknown:
            raise UnknownEntryError("language", min(unknown), self.languages)
        pairs = [
            (language, text)
            for language, texts in translation_dict.items()
            for text in ([texts] if isinstance(texts, str) else texts)
        ]
        languages, texts = zip(*sorted(pairs), strict=True) if pairs else ((), ())
        return {"language": languages, "translation": texts}

    def flatten(self) -> dict[str, List]:
        return {"language": List(Value("string")), "translation": List(Value("string"))}
