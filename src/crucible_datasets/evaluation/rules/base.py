"""What an extraction rule is: how an answer is read out of what a model wrote.

A rule has a name and a version, and both stand in every result. It is one function
from text to answer, linear in the length of the text whatever the text is, since
models write what they like. Steps join to a chain, and a step may have alternatives:
"strip_thinking@1 | gsm8k/official@1 or gsm8k/lm-eval-flexible@3".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from msgspec import Struct

from crucible_datasets.evaluation.versioned import Versions
from crucible_datasets.exceptions import ArgumentTypeError


class Reading(Struct, frozen=True, gc=False):
    """What a rule made of a text: the answer, whether there is one, and a remark where it is doubtful."""

    text: str | None
    status: str = "ok"
    note: str | None = None


Extract = Callable[[str], "str | Reading | None"]
F = TypeVar("F", bound=Extract)

UNPARSED: Final = Reading(None, "unparsed")
TRUNCATED: Final = Reading(None, "truncated")


@dataclass(frozen=True)
class Rule:
    """A named, versioned way from text to answer.

    `function` gives the answer, None where there is none, or a Reading that says more. `target`, where there is one,
    brings the right answer into the same form, for rules that compare normalised texts.
    """

    name: str
    version: str
    function: Extract
    target: Callable[[str], str] | None = None
    aliases: tuple[str, ...] = ()
    may_be_blank: bool = False  # an answer of nothing is one: "the" is nothing to SQuAD, and so is "a"

    @property
    def key(self) -> str:
        """What results are recorded under: name@version."""
        return f"{self.name}@{self.version}"

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]

    def extract(self, text: str) -> str | None:
        """The answer in the text, or None."""
        return self.read(text).text

    def read(self, text: str) -> Reading:
        """The answer with its status: ok, unparsed, empty or truncated."""
        if not text or text.isspace():
            return Reading(None, "empty")
        found = self.function(text)
        reading = found if isinstance(found, Reading) else UNPARSED if found is None else Reading(str(found))
        return Reading(None, "empty", reading.note) if _is_blank(reading) and not self.may_be_blank else reading

    def read_target(self, target: str) -> str:
        """The right answer in the form that the rule gives answers."""
        return target if self.target is None else self.target(target)


@dataclass(frozen=True)
class Chain(Rule):
    """Rules one after the other; the first that finds nothing decides."""

    steps: tuple[Rule, ...] = ()

    @property
    def key(self) -> str:
        """The keys of all steps."""
        return " | ".join(step.key for step in self.steps)

    def read(self, text: str) -> Reading:
        """The answer that the last step finds in what the others left."""
        reading = Reading(text)
        for step in self.steps:
            found = step.read(reading.text or "")
            reading = Reading(found.text, found.status, found.note or reading.note)
            if reading.text is None:
                return reading
        return reading

    def read_target(self, target: str) -> str:
        """The right answer in the form of every step."""
        for step in self.steps:
            target = step.read_target(target)
        return target


@dataclass(frozen=True)
class Either(Rule):
    """Rules of which the first that finds an answer decides."""

    choices: tuple[Rule, ...] = ()

    @property
    def key(self) -> str:
        """The keys of all alternatives."""
        return " or ".join(choice.key for choice in self.choices)

    def read(self, text: str) -> Reading:
        """The answer that the first of them finds; where none does, what the first says."""
        readings = []
        for choice in self.choices:
            readings.append(choice.read(text))
            if readings[-1].text is not None:
                return readings[-1]
        return readings[0]

    def read_target(self, target: str) -> str:
        """The right answer in the form of every alternative."""
        for choice in self.choices:
            target = choice.read_target(target)
        return target


def _is_blank(reading: Reading) -> bool:
    return reading.text is not None and (not reading.text or reading.text.isspace())


def _made(name: str, given: Any) -> Rule:
    return given if isinstance(given, Rule) else Rule(name, "1", given)


RULES: Final[Versions[Rule]] = Versions("extraction rule", "crucible_datasets.evaluation.rules", _made)


def rule(name: str, *, version: str | int = 1, **facts: Any) -> Callable[[F], F]:
    """Register a function from text to answer as `name@version`; `facts` are the other fields of Rule."""

    def register(function: F) -> F:
        RULES.add(Rule(name, str(version), function, **facts))
        return function

    return register


def rule_of(asked: str | Rule | Extract) -> Rule:
    """A rule by name, a chain by names between bars, alternatives by `or` between them, or any function of a text."""
    if isinstance(asked, Rule):
        return asked
    if callable(asked):
        from crucible_datasets.hashing import Hasher

        return Rule(getattr(asked, "__name__", type(asked).__name__), Hasher.hash(asked)[:8], asked)
    if not isinstance(asked, str):
        raise ArgumentTypeError("extract", asked, "pass the name of a rule, names joined by ' | ', or a function.")
    steps = tuple(_alternatives(part) for part in asked.split("|"))
    return steps[0] if len(steps) == 1 else Chain(asked, "", steps[-1].function, steps=steps)


def _alternatives(asked: str) -> Rule:
    choices = tuple(RULES[part.strip()] for part in asked.split(" or "))
    return choices[0] if len(choices) == 1 else Either(asked, "", choices[0].function, choices=choices)
