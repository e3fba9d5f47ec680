"""`Prompt`: from sample to prompt, as messages or as one text."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from string import Formatter
from typing import Any, Literal

from crucible_datasets.benchmarks.rendering.providers import PROVIDERS
from crucible_datasets.benchmarks.samples.shuffling import letter
from crucible_datasets.benchmarks.samples.table import key_of
from crucible_datasets.benchmarks.types import Message, Part, Sample
from crucible_datasets.exceptions import (
    ArgumentError,
    ArgumentTypeError,
    InvalidRecordError,
    TemplateError,
    UnknownEntryError,
)
from crucible_datasets.forking import cached_property

Layout = str | Callable[[int, str], str]

LAYOUTS: dict[str, Callable[[int, str], str]] = {
    "A.": lambda place, text: f"{letter(place)}. {text}",
    "A)": lambda place, text: f"{letter(place)}) {text}",
    "(A)": lambda place, text: f"({letter(place)}) {text}",
    "A:": lambda place, text: f"{letter(place)}: {text}",
    "1.": lambda place, text: f"{place + 1}. {text}",
    "-": lambda place, text: f"- {text}",
}


def laid_out(choices: Sequence[str], layout: Layout = "A.") -> str:
    """The choices, one per line.

    >>> print(laid_out(["yes", "no"], "(A)"))
    (A) yes
    (B) no
    """
    if isinstance(layout, str) and layout not in LAYOUTS:
        raise UnknownEntryError("layout of choices", layout, LAYOUTS)
    line = LAYOUTS[layout] if isinstance(layout, str) else layout
    return "\n".join(line(place, text) for place, text in enumerate(choices))


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


Pick = Literal["each", "same", "first"]


@dataclass(frozen=True)
class FewShot:
    """`k` examples from other samples, such as the training split.

    `pick="each"` draws examples for each sample, by the seed and its id; `"same"` draws once for all; `"first"` takes
    the first ones. With `by`, such as `by="metadata.subject"`, examples have the same value as the sample. A sample
    with the same input and choices is never an example.
    """

    pool: Sequence[Sample]
    k: int = 5
    seed: int = 0
    pick: Pick = "each"
    by: str | None = None

    def __post_init__(self) -> None:
        if self.pick not in ("each", "same", "first"):
            raise ArgumentError("pick", self.pick, "choose 'each', 'same' or 'first'")
        if not isinstance(self.pool, Sequence):
            raise ArgumentTypeError("pool", self.pool, "a stream is no pool to draw from; list(stream.take(100)) is.")
        if self.k < 0:
            raise ArgumentError("k", self.k, "the number of examples is 0 or more")

    def examples(self, sample: Sample) -> list[Sample]:
        """The examples for a sample."""
        group = self._group_of(sample)
        places = self._groups.get(group, [])
        own = _content(sample)
        if len(places) - self._copies[group, own] < self.k:
            among = f" among those with {self.by} = {group!r}" if self.by else ""
            found = len(places) - self._copies[group, own]
            raise ArgumentError("k", self.k, f"there are {found} samples to choose examples from{among}")
        chosen: dict[int, None] = {}
        for place in self._drawn(sample, places):
            if len(chosen) == self.k:
                break
            if self._contents[place] != own:
                chosen[place] = None
        return [self.pool[place] for place in chosen]

    def _drawn(self, sample: Sample, places: list[int]) -> Any:
        """Positions in the order they are drawn, possibly repeated."""
        if self.pick == "first":
            return places
        asked = f"{self.seed}\0{sample.id if self.pick == 'each' else ''}"
        return (places[_number(f"{asked}\0{draw}") % len(places)] for draw in count())

    def _group_of(self, sample: Sample) -> Any:
        return key_of(self.by)(sample) if self.by else None

    @cached_property
    def _contents(self) -> list[bytes]:
        return [_content(sample) for sample in self.pool]

    @cached_property
    def _groups(self) -> dict[Any, list[int]]:
        groups: dict[Any, list[int]] = {}
        for place, sample in enumerate(self.pool):
            groups.setdefault(self._group_of(sample), []).append(place)
        return groups

    @cached_property
    def _copies(self) -> Counter[tuple[Any, bytes]]:
        """The number of copies of each content in each group."""
        places = ((group, place) for group, places in self._groups.items() for place in places)
        return Counter((group, self._contents[place]) for group, place in places)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest())


def _content(sample: Sample) -> bytes:
    """A digest of input and choices, independent of the order of choices."""
    asked = "\0".join([sample.input_text, *sorted(sample.choices or [])])
    pictures = [picture.bytes or (picture.path or "").encode() for one in sample.messages for picture in one.images]
    return hashlib.blake2b(asked.encode() + b"\0".join(pictures), digest_size=16).digest()


_PLAIN = "{input}"
_CHOICES = "{input}\n\n{choices}"


@dataclass(frozen=True)
class Prompt:
    """A template for the question, one for the answers of examples, and a system prompt.

    The default is the input, followed by its choices if it has any. If the input is several messages, the template
    applies to the last one of the user, and `system` replaces the system prompt. Examples are messages of user and
    assistant (`style="turns"`), or part of the message of the question (`style="text"`), separated by `between`, with
    `before_answer` before their answers.
    """

    template: str | None = None
    answer: str = "{target}"
    system: str | None = None
    examples: FewShot | None = None
    layout: Layout = "A."
    style: Literal["turns", "text"] = "turns"
    between: str = "\n\n"
    before_answer: str = "\n"

    def messages(self, sample: Sample) -> list[Message]:
        """The messages for a chat model."""
        first = [Message("system", self.system)] if self.system is not None else []
        if self.style == "text":
            return [*first, Message("user", self._with_examples(sample))]
        own = self._input_messages(sample)
        own_system = [message for message in own if message.role == "system"]
        return [*(first or own_system), *self._turns(sample), *(message for message in own if message.role != "system")]

    def text(self, sample: Sample) -> str:
        """One text, for a completion model."""
        system = [] if self.system is None else [self.system]
        return self.between.join([*system, self._with_examples(sample)])

    def request(self, sample: Sample, provider: str = "openai") -> Any:
        """The messages in the format of a provider: openai, anthropic or gemini."""
        if provider not in PROVIDERS:
            raise UnknownEntryError("provider", provider, PROVIDERS)
        return PROVIDERS[provider](self.messages(sample))

    def _turns(self, sample: Sample) -> list[Message]:
        examples = self.examples.examples(sample) if self.examples else []
        return [
            message
            for example in examples
            for message in (*self._input_messages(example), Message("assistant", self._answer.text(example)))
            if message.role != "system"
        ]

    def _with_examples(self, sample: Sample) -> str:
        examples = self.examples.examples(sample) if self.examples else []
        solved = [f"{self._question(example)}{self.before_answer}{self._answer.text(example)}" for example in examples]
        return self.between.join([*solved, self._question(sample)])

    def _question(self, sample: Sample) -> str:
        if any(message.images for message in sample.messages):
            raise InvalidRecordError(
                "Prompt", f"sample {sample.id!r} has pictures, which no text can hold; use messages"
            )
        return self._template(sample).text(sample)

    def _input_messages(self, sample: Sample) -> list[Message]:
        if isinstance(sample.input, str):
            return [Message("user", self._question(sample))]
        last = max((place for place, one in enumerate(sample.input) if one.role == "user"), default=None)
        if last is None or self._template(sample).pattern == _PLAIN:
            return sample.input
        return [*sample.input[:last], self._changed(sample.input[last], sample), *sample.input[last + 1 :]]

    def _changed(self, message: Message, sample: Sample) -> Message:
        text = self._template(sample).text(sample, input=message.text)
        if isinstance(message.content, str):
            return message.replace(content=text)
        pictures = [part for part in message.content if part.image is not None]
        return message.replace(content=[*pictures, Part("text", text)])

    def _template(self, sample: Sample) -> Template:
        return self._given or Template(_CHOICES if sample.choices else _PLAIN, self.layout)

    @cached_property
    def _given(self) -> Template | None:
        return None if self.template is None else Template(self.template, self.layout)

    @cached_property
    def _answer(self) -> Template:
        return Template(self.answer, self.layout)
