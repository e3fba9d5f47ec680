"""What a state belongs to: the data and the steps of a stream, as small JSON facts that any process computes alike.

Files and datasets are identified by their size and a sample of their bytes or rows, not by path or time, so a state is
accepted where the same data was copied to; files elsewhere by what their store calls their version. Functions are
identified by their code (`hashing.code`). What has no identity is left out, and is not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from crucible_datasets.hashing import Hasher, UnhashableError
from crucible_datasets.hashing.code import code_identity
from crucible_datasets.streams import rng_state
from crucible_datasets.streams.base import Stage
from crucible_datasets.streams.calls import Call
from crucible_datasets.streams.inputs import Shown
from crucible_datasets.streams.source import Source

Facts = dict[str, Any]
VERSION = 1  # of these facts; others are not compared
_MOST_RUNS = 32  # of shards that have a digest each
_NEUTRAL = {"executor", "num_threads"}  # who does the work does not change the rows
_MOST_SAMPLED = 4  # shards whose rows are sampled


def facts_of_steps(stage: Stage) -> list[Facts]:
    """The facts of every step, those below first, in the order of their names in the state."""
    return [*(facts for below in stage.below() for facts in facts_of_steps(below)), _facts(stage)]


def _facts(stage: Stage) -> Facts:
    if isinstance(stage, Source):
        return _facts_of_source(stage)
    facts: Facts = {}
    names: list[str] = [item.name for item in fields(stage)] if is_dataclass(stage) else []
    for name in names:
        if name not in _NEUTRAL and (name != "generator" or getattr(stage, "is_seeded", True)):
            facts |= _encoded(name, getattr(stage, name))
    return facts


def _encoded(name: str, value: Any) -> Facts:
    match value:
        case None | bool() | int():
            return {name: value}
        case Call():
            function = code_identity(value.function, value.fn_kwargs)
            columns = _digested("input_columns", value.input_columns)
            return {**_known("function", function), **columns, "with_indices": value.with_indices}
        case Shown():
            return {"format": value.format.type}
        case np.random.Generator():
            return _digested(name, rng_state.state_of(value))
        case str() | float() | Mapping():
            return _digested(name, value)
        case tuple() if not any(isinstance(item, Stage) for item in value):
            return _digested(name, value)
    return {}


def _facts_of_source(source: Source) -> Facts:
    shards = source.shards
    digests = [None if (facts := shard.identity()) is None else digest(facts) for shard in shards]
    samples = [shards[index].sample() for index in _spread(len(shards), _MOST_SAMPLED)]
    reading = shards[0].reading() if shards else None
    return {
        "shards": len(shards),
        "contents": [_together(digests[run.start : run.stop]) for run in _runs(len(shards))],
        **({} if None in samples else _digested("rows", samples)),
        **({} if reading is None else _digested("reading", reading)),
        **(_known("function", shards[0].function()) if shards else {}),
    }


def _digested(name: str, value: Any) -> Facts:
    return _known(name, digest(value))


def _known(name: str, value: str | None) -> Facts:
    return {} if value is None else {name: value}


def digest(value: Any) -> str | None:
    """The digest of a value that consists of plain values; None if it cannot be hashed."""
    try:
        return Hasher.hash(value)
    except UnhashableError:
        return None


def _together(digests: Sequence[str | None]) -> str | None:
    return None if None in digests else str(Hasher.hash(list(digests)))[:8]


def _runs(count: int) -> list[range]:
    """Runs of consecutive shards: as many as there are shards, if those are few."""
    size = max(1, -(-count // _MOST_RUNS))
    return [range(start, min(start + size, count)) for start in range(0, count, size)]


def _spread(count: int, most: int) -> list[int]:
    """At most so many numbers below `count`, evenly spread, with the first and the last."""
    return sorted({round(index) for index in np.linspace(0, count - 1, min(most, count))}) if count else []


def differences(saved: Any, now: Facts, stage: Stage) -> list[str]:
    """How what a state belongs to differs from a stream whose steps have the same names."""
    if not isinstance(saved, Mapping) or saved.get("version") != VERSION:
        return []
    reader = []
    if saved.get("is_formatted") != now["is_formatted"]:
        reader.append("its features or its format are others, so it is read in other chunks")
    if saved.get("strategy") != now["strategy"]:
        reader.append(f"the strategy of machines was {saved.get('strategy')}, and is {now['strategy']} now")
    stages = list(_in_order(stage))
    pairs = zip(stages, saved.get("steps") or [], now["steps"], strict=False)
    return reader + [
        f"step {number} of {len(stages)}, {type(step).__name__}: {difference}"
        for number, (step, then, facts) in enumerate(pairs, 1)
        if isinstance(then, Mapping)
        for difference in _differences(then, facts, step)
    ]


def _in_order(stage: Stage) -> Iterable[Stage]:
    for below in stage.below():
        yield from _in_order(below)
    yield stage


def _differences(then: Mapping[str, Any], now: Facts, stage: Stage) -> Iterable[str]:
    for name in (name for name in now if name in then and _differs(then[name], now[name])):
        match name:
            case "contents" if isinstance(stage, Source) and then.get("shards") == now["shards"]:
                yield from _different_shards(then[name], now[name], stage)
            case "shards":
                yield f"it had {then[name]} files or shards, and has {now[name]} now"
            case "generator":
                yield "the seed is another"
            case "rows":
                yield "the rows are others"
            case "reading":
                yield "the files are read with other options, columns, filters or features"
            case "function":
                yield "the function, or an argument of it, is another"
            case _ if isinstance(then[name], str) or isinstance(now[name], str):
                yield f"{name} is another"
            case _ if name != "contents":
                yield f"{name} was {then[name]}, and is {now[name]} now"


def _differs(then: Any, now: Any) -> bool:
    if isinstance(then, str) and isinstance(now, str) and " " in then:  # code has the version of Python before it
        return then.split()[0] == now.split()[0] and then != now
    return bool(then != now)


def _different_shards(then: Any, now: Sequence[str | None], source: Source) -> Iterable[str]:
    is_reordered = sorted(map(str, then)) == sorted(map(str, now))
    for run, before, after in zip(_runs(len(source.shards)), then, now, strict=False):
        if before is not None and after is not None and before != after:
            names = [str(source.shards[index].name or f"shard {index}") for index in (run[0], run[-1])]
            shown = names[0] if len(run) == 1 else f"one of the {len(run)} from {names[0]} to {names[1]}"
            if is_reordered:  # one reason says it: others, such as the seed, have their place beside it
                yield f"the files or shards stand in another order, beginning with {shown}"
                return
            yield f"{shown} has other content, or stands in another order"
