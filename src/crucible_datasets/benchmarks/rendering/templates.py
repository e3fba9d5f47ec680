"""Texts with placeholders for the fields of a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

from crucible_datasets.benchmarks.rendering.layouts import Layout, laid_out
from crucible_datasets.benchmarks.samples.shuffling import letter
from crucible_datasets.benchmarks.types import Sample
from crucible_datasets.exceptions import TemplateError
from crucible_datasets.forking import cached_property

FIELDS = ("id", "input", "target", "choices", "letters", "metadata.…")


@dataclass(frozen=True)
class Template:
    """A text such as `"{metadata.subject}: {input}"`. Literal braces are doubled.

    A placeholder is a field of the sample or a name in its metadata; it is looked up, never evaluated. `{choices}`
    are the choices in a layout, `{letters}` their letters: "A, B, C, D".

    >>> Template("Q: {input}").text(Sample(id=1, input="1 + 1?"))
    'Q: 1 + 1?'
    """

    pattern: str
    layout: Layout = "A."

    @cached_property
    def _pieces(self) -> list[tuple[str, str | None]]:
        try:
            parsed = list(Formatter().parse(self.pattern))
        except ValueError as error:
            raise TemplateError(self.pattern, str(error), FIELDS) from error
        for _, name, spec, conversion in parsed:
            if spec or conversion or name == "":
                raise TemplateError(self.pattern, "a place is the name of a field in braces, and nothing else", FIELDS)
        return [(text, name) for text, name, _, _ in parsed]

    def text(self, sample: Sample, **more: Any) -> str:
        """The text with the values of a sample, and of `more` names."""
        return "".join(before + (self._value(name, sample, more) if name else "") for before, name in self._pieces)

    def _value(self, name: str, sample: Sample, more: Mapping[str, Any]) -> str:
        if name in more:
            return str(more[name])
        if name == "choices":
            return laid_out(sample.choices or [], self.layout)
        if name == "letters":
            return ", ".join(letter(place) for place in range(len(sample.choices or [])))
        known = {"id": sample.id, "input": sample.input_text, "target": next(iter(sample.targets), "")}
        return str(known[name]) if name in known else str(self._metadata(name, sample))

    def _metadata(self, name: str, sample: Sample) -> Any:
        first, *rest = name.split(".")
        value: Any = sample.metadata if first == "metadata" and rest else {}
        for step in rest:
            if not isinstance(value, Mapping) or step not in value:
                raise TemplateError(self.pattern, f"sample {sample.id!r} has no {name!r}", _names(sample))
            value = value[step]
        if not rest:
            raise TemplateError(self.pattern, f"there is no field {name!r}", _names(sample))
        return value


def _names(sample: Sample) -> list[str]:
    return [*FIELDS[:-1], *(f"metadata.{name}" for name in sample.metadata)]
