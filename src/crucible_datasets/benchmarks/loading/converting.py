"""Rows of a benchmark → rows of samples, by its entry and its rules, as a function of batches."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from crucible_datasets.benchmarks.catalog.registry import BenchmarkEntry
from crucible_datasets.benchmarks.rules.base import RULES, Fields, Rule, Unfit
from crucible_datasets.benchmarks.types.schemas import sample_features
from crucible_datasets.exceptions import BadRowError, BenchmarkFileError, MissingFieldError
from crucible_datasets.features import ClassLabel, Features, Json, List, Value
from crucible_datasets.fingerprint import Hasher
from crucible_datasets.forking import cached_property

ROW = "__row__"  # the index of a row in its split
REASON = "__reason__"  # why a row is invalid
_UNFIT: Fields = {"input": None, "target": None, "choices": None, "metadata": None}


@dataclass(frozen=True)
class Converter:
    """Converts the rows of one split to samples."""

    entry: BenchmarkEntry
    prefix: str
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)  # class names of ClassLabel columns
    on_bad_rows: Literal["error", "skip"] = "error"
    as_json: bool = False  # metadata as JSON, for a stream without known types

    @cached_property
    def rule(self) -> Rule:
        """The rule from columns to fields."""
        return named(self.entry, self.entry.rule, "row")

    @cached_property
    def target_rule(self) -> Rule | None:
        """The rule from the raw target to the target."""
        return named(self.entry, self.entry.target_rule, "value") if self.entry.target_rule else None

    @property
    def key(self) -> str:
        """The cache key of the results: the code of the rules, and the fields of the entry that affect them."""
        functions = [rule.function for rule in (self.rule, self.target_rule) if rule]
        stated = (self.entry.columns, self.entry.metadata, self.entry.id, self.entry.rules, self.entry.name)
        return Hasher.hash((functions, stated, self.prefix, dict(self.names), self.on_bad_rows, self.as_json))

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """The samples of a batch; an invalid row raises an error, or becomes a row with a reason."""
        refuse_missing(self.entry, self.rule, list(batch))
        numbers = batch[ROW]
        played = {role: self._role_values(batch, column) for role, column in self.entry.columns.items()}
        given = {role: values for role, values in played.items() if values is not None}
        checked = self.rule.fitting_columns(given)
        rows = _rows(given if checked is None else checked, len(numbers))
        ids = batch[self.entry.id] if self.entry.id else [None] * len(numbers)
        kept = _rows({column: self._kept(batch[column]) for column in self.entry.metadata}, len(numbers))
        made = [self._sample(*row, checked is not None) for row in zip(numbers, ids, rows, kept, strict=True)]
        return {name: [sample[name] for sample in made] for name in (ROW, "id", *_UNFIT, REASON)}

    def _sample(self, number: int, id: Any, values: Fields, kept: Fields, is_checked: bool) -> dict[str, Any]:
        place = f"{self.prefix}/{number}"
        try:
            fields = self._fields(self._without_missing(values) if is_checked else self.rule.fitting(values), kept)
            return {ROW: number, "id": self._id(id, place), **_UNFIT, **fields, REASON: None}
        except Unfit as unfit:
            column = self._column(unfit.role)
            if self.on_bad_rows == "error":
                raise BadRowError(self.prefix, number, column, unfit.reason) from unfit
            reason = f"column {column!r}: {unfit.reason}" if column else unfit.reason
            return {ROW: number, "id": place, **_UNFIT, REASON: reason}

    def _id(self, value: Any, place: str) -> str:
        if not self.entry.id:
            return place
        if value is None or value == "":
            raise Unfit(self.entry.id, "a row without an id")
        return str(value)

    def _without_missing(self, values: Fields) -> Fields:
        """The values without missing optional ones."""
        if None not in values.values():
            return values
        return {role: value for role, value in values.items() if value is not None}

    def _fields(self, values: Fields, kept: Fields) -> Fields:
        fields: Fields = self.rule.function(**values)
        if self.target_rule:
            fields["target"] = self._target(fields["target"])
        return {**fields, "metadata": {**kept, **fields.get("metadata", {})} or None}

    def _kept(self, values: Sequence[Any]) -> Sequence[Any]:
        if not self.as_json:
            return values
        return [None if value is None else json.dumps(value, default=str) for value in values]

    def _target(self, raw: str) -> str:
        try:
            return str(self.target_rule.function(raw))  # type: ignore[union-attr]
        except Unfit as unfit:
            raise Unfit(unfit.role or _target_role(self.entry), unfit.reason) from unfit

    def _role_values(self, batch: Mapping[str, Sequence[Any]], column: str | list[str]) -> list[Any] | None:
        """The values of a role; None if its optional column is missing."""
        if isinstance(column, list):
            return [list(row) for row in zip(*(self._named(one, batch[one]) for one in column), strict=True)]
        return self._named(column, batch[column]) if column in batch else None

    def _named(self, column: str, values: Sequence[Any]) -> list[Any]:
        """Class names in place of numbers; -1 means that the class is unknown."""
        names = self.names.get(column)
        if not names:
            return list(values)
        return [names[one] if isinstance(one, int) and 0 <= one < len(names) else one for one in values]

    def _column(self, role: str | None) -> str | None:
        column = self.entry.columns.get(role or "", role)
        return ", ".join(column) if isinstance(column, list) else column


def _rows(columns: Mapping[str, Sequence[Any]], count: int) -> list[dict[str, Any]]:
    if not columns:
        return [{}] * count
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _target_role(entry: BenchmarkEntry) -> str | None:
    return next((role for role in ("answer", "solution", "reasoning") if role in entry.columns), None)


def named(entry: BenchmarkEntry, name: str, kind: str) -> Rule:
    """A rule of an entry; raises with the name of the file if it does not exist or is of another kind."""
    try:
        rule = RULES[name]
    except ValueError as error:
        raise BenchmarkFileError(entry.place, str(error)) from error
    if rule.kind != kind:
        raise BenchmarkFileError(entry.place, f"{name} is a rule of a {rule.kind}, and a rule of a {kind} is needed")
    return rule


def needs(entry: BenchmarkEntry) -> list[str]:
    """The distinct columns that an entry reads."""
    stated = [column if isinstance(column, list) else [column] for column in entry.columns.values()]
    id = [entry.id] if entry.id else []
    return list(dict.fromkeys([*(column for columns in stated for column in columns), *id, *entry.metadata]))


def refuse_missing(entry: BenchmarkEntry, rule: Rule, available: Sequence[str]) -> None:
    """Raise if a column that a rule needs is missing, or the entry has roles that the rule does not have."""
    unknown, unplayed = set(entry.columns) - set(rule.roles), set(rule.required) - set(entry.columns)
    if unknown or unplayed:
        asked = f"{rule.key} has the columns {', '.join(rule.roles)}"
        raise BenchmarkFileError(entry.place, f"{asked}; given are {', '.join(entry.columns)}")
    shown = [column for column in available if column != ROW]
    stated = {**{role: entry.columns[role] for role in rule.required}, "metadata": entry.metadata}
    for role, columns in {**stated, **({"id": entry.id} if entry.id else {})}.items():
        for column in columns if isinstance(columns, list) else [columns]:
            if column not in available:
                raise MissingFieldError(f"{entry.name} ({entry.source})", role, column, shown)


def class_names(entry: BenchmarkEntry, features: Features | None) -> dict[str, list[str]]:
    """The class names of the columns that are read."""
    return {
        column: list(features[column].names)
        for column in needs(entry)
        if features and isinstance(features.get(column), ClassLabel)
    }


def features_of(entry: BenchmarkEntry, rule: Rule, raw: Features | None) -> Features:
    """The features of the samples of a dataset with these features, which a stream of JSON may not know."""
    kept = {column: _kept(column, raw) for column in entry.metadata}
    declared_types = {name: declared(kind) for name, kind in rule.metadata.items()}
    fields = sample_features(
        messages=rule.input == "messages",
        parts=rule.input == "pictures",
        targets=rule.target == "texts",
        metadata={**kept, **declared_types},
    )
    return Features({ROW: Value("int64"), **fields, REASON: Value("string")})


def _kept(column: str, raw: Features | None) -> Any:
    kind = raw.get(column) if raw else None
    if kind is None:
        return Json()
    return Value("int64") if isinstance(kind, ClassLabel) else kind


def declared(kind: Any) -> Any:
    """The feature of a short form: the name of a type, a list or dict of short forms, or a feature."""
    if isinstance(kind, Mapping):
        return {name: declared(one) for name, one in kind.items()}
    if isinstance(kind, list):
        return List(declared(kind[0]))
    if not isinstance(kind, str):
        return kind
    return Json() if kind == "json" else Value(kind)
