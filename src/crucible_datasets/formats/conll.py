"""CoNLL files: a line per token, a field per column, a blank line after each sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.formats.base import Filters, Format
from crucible_datasets.formats.streams import BLOCK, batched, require_encoding, utf8_blocks

_SENTENCES = 10_000
_DOCUMENT = "-DOCSTART-"
Sentence = list[list[str]]


def read(
    stream: BinaryIO,
    *,
    columns: list[str] | None = None,
    filters: Filters = None,
    features: Any = None,
    column_names: list[str] | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    encoding_errors: str | None = None,
    skip_docstart: bool = True,
    comment_prefix: str | None = None,
) -> Iterator[pa.Table]:
    """Yield a row per sentence, in which every column is a list."""
    names = ["tokens"] if column_names is None else list(column_names)
    if not names or len(set(names)) != len(names):
        raise ArgumentError("column_names", column_names, "expected at least one name, and names that differ.")
    require_encoding(encoding, encoding_errors)
    lines = chain.from_iterable(
        block.decode().removesuffix("\n").split("\n") for block in utf8_blocks(stream, BLOCK, encoding, encoding_errors)
    )
    sentences = _sentences(lines, delimiter, _DOCUMENT if skip_docstart else None, comment_prefix)
    empty = True
    for batch in batched(sentences, _SENTENCES):
        empty = False
        yield _table(batch, names)
    if empty:
        yield _table([], names)


def _sentences(
    lines: Iterable[str], delimiter: str | None, skip: str | None, comment: str | None
) -> Iterator[Sentence]:
    sentence: Sentence = []
    for line in lines:
        if not line.strip():
            if sentence:
                yield sentence
            sentence = []
        elif not ((comment and line.startswith(comment)) or (skip and line.startswith(skip))):
            sentence.append(line.split(delimiter))
    if sentence:
        yield sentence


def _table(sentences: list[Sentence], names: list[str]) -> pa.Table:
    return pa.table({name: _column(sentences, index) for index, name in enumerate(names)})


def _column(sentences: list[Sentence], place: int) -> pa.Array:
    values = [[token[place] if place < len(token) else "" for token in sentence] for sentence in sentences]
    return pa.array(values, pa.list_(pa.string()))


FORMAT = Format("conll", (".conll", ".conllu"), read, by_extension={".conllu": {"comment_prefix": "#"}})
