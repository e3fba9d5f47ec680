"""Stage 2 of 6: which files belong to which split, by naming conventions.

The first convention that matches any file is used for all: numbered files in `data/`, logs of evaluations, task
folders, folders named after splits, files named after splits. If none matches, all files are the split `train`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from crucible_datasets.reading.patterns import DESCRIPTIONS
from crucible_datasets.splits import NamedSplit

KEYWORDS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "dev", "val"),
    "test": ("test", "testing", "eval", "evaluation"),
}
_DELIMITER = r"[-._ 0-9]"
_NUMBERED = re.compile(r"data/(?P<split>[^/]+)-\d{5}-of-\d{5}[^/]*\.[^/]*")
_TASK_FILES = ("task.toml", "instruction.md")

Splits = dict[str, list[str]]


def splits_of(names: Sequence[str]) -> Splits:
    """The files of each split, given sorted paths relative to the dataset's folder."""
    data = [name for name in names if name.rpartition("/")[2] not in DESCRIPTIONS]
    for convention in (_numbered, _evaluation_logs, _tasks, _by_folder, _by_name):
        if found := convention(data):
            return found
    return {"train": data} if data else {}


def _numbered(names: Sequence[str]) -> Splits:
    found: Splits = {}
    for name in names:
        if number := _NUMBERED.fullmatch(name):
            found.setdefault(number["split"], []).append(name)
    return {str(NamedSplit(split)): files for split, files in in_usual_order(found).items()}


def in_usual_order(splits: Splits) -> Splits:
    """The same splits: train, validation and test, then the others by name."""
    usual = [split for split in KEYWORDS if split in splits]
    return {split: splits[split] for split in [*usual, *sorted(splits.keys() - KEYWORDS.keys())]}


def _evaluation_logs(names: Sequence[str]) -> Splits:
    logs = [name for name in names if name.endswith(".eval")]
    return {"logs": logs} if logs else {}


def _tasks(names: Sequence[str]) -> Splits:
    tasks = [name for wanted in _TASK_FILES for name in names if name.rpartition("/")[2] == wanted]
    return {"test": tasks} if tasks else {}


def _by_folder(names: Sequence[str]) -> Splits:
    shapes = ("{word}$", "{word}{delimiter}", ".*{delimiter}{word}$", ".*{delimiter}{word}{delimiter}")
    return _by_keyword(names, [name.rpartition("/")[0] for name in names], shapes)


def _by_name(names: Sequence[str]) -> Splits:
    shapes = ("{word}{delimiter}", ".*{delimiter}{word}{delimiter}")
    return _by_keyword(names, [name.rpartition("/")[2] for name in names], shapes)


def _by_keyword(names: Sequence[str], texts: Sequence[str], shapes: Sequence[str]) -> Splits:
    """Files with the name of a split in their path, by keyword and form; each file once.

    Folders are matched once for all of their files.
    """
    found: Splits = {}
    distinct = dict.fromkeys(texts)
    for split, word in ((split, word) for split, words in KEYWORDS.items() for word in words):
        possible = [text for text in distinct if word in text]
        for expression in (shape.format(word=word, delimiter=_DELIMITER) for shape in shapes if possible):
            matches = re.compile(expression).match
            if agreeing := {text for text in possible if any(map(matches, text.split("/")))}:
                said = (name for name, text in zip(names, texts, strict=True) if text in agreeing)
                found.setdefault(split, []).extend(said)
    return {split: list(dict.fromkeys(files)) for split, files in found.items()}
