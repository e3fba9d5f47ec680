"""Functions over rows. Every run starts with an empty cache, so that both libraries call the function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.cases import State, case, opened


def with_length(row: dict[str, Any]) -> dict[str, Any]:
    """A column of numbers from a column of text."""
    return {"length": len(row["problem"])}


def with_size(row: dict[str, Any]) -> dict[str, Any]:
    """A column of numbers from the messages of a conversation."""
    return {"size": sum(len(message["content"]) for message in row["messages"])}


def lengths(batch: dict[str, list[Any]]) -> dict[str, list[int]]:
    return {"length": [len(problem) for problem in batch["problem"]]}


def sources(batch: dict[str, list[Any]]) -> dict[str, list[str]]:
    return {"origin": [source.upper() for source in batch["source"]]}


def turns(batch: dict[str, list[Any]]) -> dict[str, list[int]]:
    return {"turns": [len(messages) for messages in batch["messages"]]}


def ends(dataset: Any, column: str) -> object:
    return dataset[0], dataset[-1], sum(dataset[column][:])


@case("map rows", flat=20, most_disk=1.1 * 800_000)
def map_flat(state: State) -> object:
    return ends(state.dataset.map(with_length), "length")


@case("map rows", chat=6, most_disk=1.1 * 800_000)
def map_chat(state: State) -> object:
    return ends(state.dataset.map(with_size), "size")


@case("map batches", flat=3)
def map_flat_batches(state: State) -> object:
    return ends(state.dataset.map(lengths, batched=True), "length")


@case("map batches", chat=3)
def map_chat_batches(state: State) -> object:
    return ends(state.dataset.map(turns, batched=True), "turns")


@case("map batches, a small column", chat=3)
def map_small_batches(state: State) -> object:
    return state.dataset.map(sources, batched=True)["origin"][:5]


def shuffled_before(module: Any, path: Path) -> State:
    return State(module, module.Dataset.from_file(str(path)).shuffle(seed=42))


@case("map rows after shuffle", setup=shuffled_before, flat=20)
def map_shuffled(state: State) -> object:
    return ends(state.dataset.map(with_length), "length")


@case("map rows, num_proc=2", flat=6)
def map_flat_in_processes(state: State) -> object:
    return ends(state.dataset.map(with_length, num_proc=2), "length")


@case("map rows, num_proc=2", chat=6)
def map_chat_in_processes(state: State) -> object:
    return ends(state.dataset.map(with_size, num_proc=2), "size")


@case("filter rows", flat=5)
def filter_flat(state: State) -> object:
    return ends(state.dataset.filter(lambda row: row["level"] > 3), "level")


@case("filter rows", chat=5)
def filter_chat(state: State) -> object:
    return len(state.dataset.filter(lambda row: row["score"] > 0.5))


@case("filter batches", flat=1, chat=1)
def filter_batches(state: State) -> object:
    return len(state.dataset.filter(lambda batch: [score > 0.5 for score in batch["score"]], batched=True))


def is_high(row: dict[str, Any]) -> dict[str, bool]:
    return {"high": row["score"] > 0.5}


def mapped_before(module: Any, path: Path) -> State:
    """The file, with the result of a function in the cache."""
    state = opened(module, path)
    state.dataset.map(is_high)
    return state


@case("map again, cached", setup=mapped_before, flat=1, chat=1)
def map_again(state: State) -> object:
    return state.dataset.map(is_high)["high"][:5]
