"""Words and sentences of the rows."""

from __future__ import annotations

from crucible_datasets.benchmarks.miniatures.base import Draw

NAMES = ("Ada", "Bela", "Chen", "Dora", "Emil", "Farid", "Gita", "Hugo", "Ines", "Jun", "Kofi", "Lena")
THINGS = ("apples", "books", "candles", "drums", "eggs", "flags", "gloves", "hats", "jars", "kites")
PLACES = ("the market", "the harbour", "the library", "the mill", "the station", "the garden")
TOPICS = ("rivers", "bridges", "clocks", "bees", "glass", "maps", "salt", "tides", "wind", "yeast")
KINDS = ("short", "clear", "friendly", "careful", "funny", "plain")
MODELS = ("model-alpha", "model-beta", "model-gamma", "model-delta")


def statement(draw: Draw) -> str:
    """A statement."""
    return f"{draw.one(NAMES)} took {draw.number(2, 40)} {draw.one(THINGS)} to {draw.one(PLACES)}."


def request(draw: Draw) -> str:
    """A request for a text."""
    return (
        f"Write a {draw.one(KINDS)} note about {draw.one(TOPICS)} for {draw.one(NAMES)}, number {draw.number(1, 999)}."
    )


def reply(draw: Draw) -> str:
    """A reply to a request."""
    return " ".join(statement(draw) for _ in range(draw.number(1, 3)))


def chat(draw: Draw, turns: int) -> list[tuple[str, str]]:
    """Alternating texts of user and assistant."""
    return [(role, text(draw)) for _ in range(turns) for role, text in (("user", request), ("assistant", reply))]
