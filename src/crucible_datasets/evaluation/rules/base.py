"""`Rule`: how an answer is extracted from the output of a model.

A rule has a name and a version, which are recorded in every result. It is a function from text to answer that runs in
linear time for any text, since model output is untrusted. Rules can be chained, and a step may have alternatives:
"strip_thinking@2 | gsm8k/official@1 or gsm8k/lm-eval-flexible@3". A rule whose function has a parameter `sample` knows
the question: the options of a multiple choice, the name of the function that a program must define.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from msgspec import Struct

from crucible_datasets.evaluation.versioned import Versions
from crucible_datasets.exceptions import ArgumentTypeError
from crucible_datasets.forking import cached_property


class Reading(Struct, frozen=True, gc=False):
    """The result of a rule: the answer, the status, and a remark if it is doubtful."""

    text: str | None
    status: str = "ok"
    note: str | None = None


Extract = Callable[..., "str | Reading | None"]
F = TypeVar("F", bound=Extract)

UNPARSED: Final = Reading(None, "unparsed")
TRUNCATED: Final = Reading(None, "truncated")


@dataclass(frozen=True)
class Rule:
    """A named, versioned function from text to answer.

    `function` returns the answer, None if there is none, or a Reading with more detail. `target`, if given, brings
    the correct answer into the same form, for rules that normalize texts.
    """

    name: str
    version: str
    function: Extract
    target: Callable[[str], str] | None = None
    aliases: tuple[str, ...] = ()
    texts_only: bool = False  # answers that are no texts, such as numbers and rewards, pass unchanged
    may_be_blank: bool = False  # an empty answer is valid: SQuAD normalizes "the" and "a" to nothing

    @property
    def key(self) -> str:
        """The key in results: name@version."""
        return f"{self.name}@{self.version}"

    @property
    def summary(self) -> str:
        """The first line of its documentation."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]

    @cached_property
    def _asks_sample(self) -> bool:
        return "sample" in _parameters(self.function)

    def extract(self, text: str, sample: Any = None) -> str | None:
        """The answer in the text, or None."""
        return self.read(text, sample).text

    def read(self, text: str, sample: Any = None) -> Reading:
        """The answer with its status: ok, unparsed, empty or truncated."""
        if not text or text.isspace():
            return Reading(None, "empty")
        found = self.function(text, sample=sample) if self._asks_sample else self.function(text)
        reading = found if isinstance(found, Reading) else UNPARSED if found is None else Reading(str(found))
        return Reading(None, "empty", reading.note) if _is_blank(reading) and not self.may_be_blank else reading

    def read_target(self, target: str) -> str:
        """The correct answer in the form of extracted answers."""
        return target if self.target is None else self.target(target)


@dataclass(frozen=True)
class Chain(Rule):
    """Rules applied in sequence, until one finds nothing."""

    steps: tuple[Rule, ...] = ()

    @property
    def key(self) -> str:
        """The keys of all steps."""
        return " | ".join(step.key for step in self.steps)

    def read(self, text: str, sample: Any = None) -> Reading:
        """The answer of the last step."""
        reading = Reading(text)
        for step in self.steps:
            found = step.read(reading.text or "", sample)
            reading = Reading(found.text, found.status, found.note or reading.note)
            if reading.text is None:
                return reading
        return reading

    def read_target(self, target: str) -> str:
        """The correct answer in the form of extracted answers."""
        for step in self.steps:
            target = step.read_target(target)
        return target


@dataclass(frozen=True)
class Either(Rule):
    """Alternative rules: the first that finds an answer decides."""

    choices: tuple[Rule, ...] = ()

    @property
    def key(self) -> str:
        """The keys of all alternatives."""
        return " or ".join(choice.key for choice in self.choices)

    def read(self, text: str, sample: Any = None) -> Reading:
        """The answer of the first rule that finds one; if none does, the reading of the first."""
        readings = []
        for choice in self.choices:
            readings.append(choice.read(text, sample))
            if readings[-1].text is not None:
                return readings[-1]
        return readings[0]

    def read_target(self, target: str) -> str:
        """The correct answer in the form of every alternative."""
        for choice in self.choices:
            target = choice.read_target(target)
        return target


def _parameters(function: Extract) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # of a function that is written in C
        return ()


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
    """A rule by name; a chain of names joined by `|`; alternatives joined by `or`; or any function of a text."""
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
