"""Passages to read, tasks to reason about, instructions to follow."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Any

from crucible_datasets.benchmarks.miniatures.base import NAMES, PLACES, THINGS, TOPICS, Draw, Row, maker, request
from crucible_datasets.features import ClassLabel, Image


def _passage(draw: Draw) -> tuple[str, str, int, str]:
    name, number, place = draw.one(NAMES), draw.number(2, 40), draw.one(PLACES)
    return f"On that day {name} carried {number} {draw.one(THINGS)} to {place} and came back late.", name, number, place


@maker(
    "rajpurkar/squad",
    {
        "id": "string",
        "title": "string",
        "context": "string",
        "question": "string",
        "answers": {"text": ["string"], "answer_start": ["int32"]},
    },
)
def squad(draw: Draw, config: str, split: str, number: int) -> Row:
    context, name, _, place = _passage(draw)
    answers = [place, place.removeprefix("the ")]
    starts = [context.index(text) for text in answers]
    return {
        "id": f"{split}{number:020x}",
        "title": draw.one(TOPICS).title(),
        "context": context,
        "question": f"Where did {name} go?",
        "answers": {"text": answers, "answer_start": starts},
    }


@maker(
    "ucinlp/drop",
    {
        "section_id": "string",
        "query_id": "string",
        "passage": "string",
        "question": "string",
        "answers_spans": {"spans": ["string"], "types": ["string"]},
    },
)
def drop(draw: Draw, config: str, split: str, number: int) -> Row:
    passage, name, amount, _ = _passage(draw)
    return {
        "section_id": f"made_{number // 2}",
        "query_id": f"{split}-{number:08d}",
        "passage": passage,
        "question": f"How many things did {name} carry?",
        "answers_spans": {"spans": [str(amount)], "types": ["number"]},
    }


@maker("lukaemon/bbh", {"input": "string", "target": "string"})
def bbh(draw: Draw, config: str, split: str, number: int) -> Row:
    a, b = draw.number(2, 40), draw.number(2, 40)
    asked = f"[{config}] Is {a} larger than {b}?\nOptions:\n- Yes\n- No"
    return {"input": asked, "target": "Yes" if a > b else "No"}


_WHOLE = """num_highlights num_words num_placeholders num_bullets num_sections capital_frequency num_paragraphs
let_frequency frequency num_sentences nth_paragraph"""
_WORDS = """relation prompt_to_repeat section_spliter capital_relation language let_relation letter end_phrase
keyword postscript_marker first_word"""
_ARGUMENTS: dict[str, Any] = {
    **dict.fromkeys(_WHOLE.split(), "int64"),
    **dict.fromkeys(_WORDS.split(), "string"),
    **{name: ["string"] for name in ("keywords", "forbidden_words")},
}


@maker(
    "google/IFEval",
    {"key": "int64", "prompt": "string", "instruction_id_list": ["string"], "kwargs": [_ARGUMENTS]},
)
def ifeval(draw: Draw, config: str, split: str, number: int) -> Row:
    words, least = draw.some(TOPICS, 2), draw.number(20, 200)
    asked = f"{request(draw)} Write at least {least} words, and use the words {words[0]} and {words[1]}."
    nothing = dict.fromkeys(_ARGUMENTS)
    return {
        "key": 1000 + number,
        "prompt": asked,
        "instruction_id_list": ["length_constraints:number_words", "keywords:existence"],
        "kwargs": [{**nothing, "relation": "at least", "num_words": least}, {**nothing, "keywords": words}],
    }


SIDE = 8


def png(colour: tuple[int, int, int], spot: int) -> bytes:
    """An image of one colour with a white spot."""
    line = [colour] * SIDE
    lines = [list(line) for _ in range(SIDE)]
    lines[spot // SIDE][spot % SIDE] = (255, 255, 255)
    raw = b"".join(b"\0" + bytes(value for dot in one for value in dot) for one in lines)
    # Stored without compression, whose result depends on the version of zlib.
    head = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(raw, 0)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _classes(word: str, count: int) -> list[str]:
    return [f"{word} {number}" for number in range(count)]


def _of(source: str, word: str, count: int, **more: Any) -> None:
    kinds = {"image": Image(), "label": ClassLabel(names=_classes(word, count)), **more}

    def row(draw: Draw, config: str, split: str, number: int) -> Row:
        label = number * 7 % count
        colour = (label * 5 % 256, label * 11 % 256, draw.number(0, 255))
        image = {"bytes": png(colour, draw.number(0, SIDE * SIDE - 1)), "path": None}
        return {"image": image, "label": label, **dict.fromkeys(more, label % 2)}

    registered: Callable[..., Any] = maker(source, kinds)
    registered(row)


_of("dpdl-benchmark/caltech101", "object", 102)
_of("dpdl-benchmark/oxford_flowers102", "flower", 102)
_of("dpdl-benchmark/oxford_iiit_pet", "breed", 37, species=ClassLabel(names=["cat", "dog"]))
_of("tanganke/stanford_cars", "car", 196)
