"""The data of the cases: generated from a seed, written once as Arrow streams.

    chat   id, messages (2–8 of {role, content}), source, score    about 1.7 kB a row
    flat   problem, answer, level, subject, score                  about 0.3 kB a row
    typed  problem, subject as a ClassLabel, meta as a struct

`python -m benchmarks.data ROWS` writes what is missing; files that exist are reused.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]

FOLDER = Path(__file__).parent / "data"
VERSION = 1  # increase it when the generators change, so that old files are not used
ROWS_PER_BATCH = 1_000  # as in the cache of `datasets`

SUBJECTS = (
    "algebra",
    "counting_and_probability",
    "geometry",
    "intermediate_algebra",
    "number_theory",
    "prealgebra",
    "precalculus",
)
SOURCES = ("forum", "synthetic", "textbook", "support", "code_review")


def text_pool(random: Random, size: int = 1 << 20) -> str:
    """One long generated text with a few frequent and many rare words, some not ASCII."""
    letters = "etaoinshrdlucmfwypvbgk"
    words = ["".join(random.choices(letters, k=random.randint(2, 10))) for _ in range(4_000)]
    words[1_000:1_004] = ["naïve", "≤", "数学", "🙂"]
    weights = [1 / (rank + 8) for rank in range(len(words))]
    return " ".join(random.choices(words, weights, k=size // 6))


def passage(random: Random, pool: str, mean: int) -> str:
    """A slice of the pool, with lengths as in real conversations: most short, a few long."""
    length = min(12 * mean, max(4, int(random.expovariate(1 / mean))))
    start = random.randrange(len(pool) - length)
    return pool[start : start + length]


def chat_rows(random: Random) -> Iterator[Row]:
    """Conversations of alternating user and assistant messages."""
    pool = text_pool(random)
    number = 0
    while True:
        turns = random.randint(2, 8)
        yield {
            "id": f"conversation-{number:08d}",
            "messages": [
                {
                    "role": "assistant" if turn % 2 else "user",
                    "content": passage(random, pool, 520 if turn % 2 else 150),
                }
                for turn in range(turns)
            ],
            "source": random.choice(SOURCES),
            "score": random.random(),
        }
        number += 1


def flat_rows(random: Random) -> Iterator[Row]:
    """Problems with a short answer, as in a mathematics benchmark."""
    pool = text_pool(random)
    while True:
        yield {
            "problem": passage(random, pool, 220),
            "answer": passage(random, pool, 12),
            "level": random.randint(1, 5),
            "subject": random.choice(SUBJECTS),
            "score": random.random(),
        }


def typed_rows(random: Random) -> Iterator[Row]:
    """The flat rows with a class label and a struct."""
    for row in flat_rows(random):
        yield {
            "problem": row["problem"],
            "subject": SUBJECTS.index(row["subject"]),
            "meta": {"level": row["level"], "score": row["score"]},
        }


GENERATORS: dict[str, Callable[[Random], Iterator[Row]]] = {
    "chat": chat_rows,
    "flat": flat_rows,
    "typed": typed_rows,
}


def schema_of(shape: str) -> pa.Schema:
    """The Arrow schema of a shape; `typed` names its class labels the way `datasets` does."""
    import pyarrow as pa

    message = pa.struct({"role": pa.string(), "content": pa.string()})
    meta = pa.struct({"level": pa.int64(), "score": pa.float64()})
    fields: dict[str, dict[str, pa.DataType]] = {
        "chat": {
            "id": pa.string(),
            "messages": pa.list_(message),
            "source": pa.string(),
            "score": pa.float64(),
        },
        "flat": {
            "problem": pa.string(),
            "answer": pa.string(),
            "level": pa.int64(),
            "subject": pa.string(),
            "score": pa.float64(),
        },
        "typed": {"problem": pa.string(), "subject": pa.int64(), "meta": meta},
    }
    schema = pa.schema(fields[shape])
    return schema.with_metadata({"huggingface": json.dumps(TYPED)}) if shape == "typed" else schema


def _value(dtype: str) -> dict[str, str]:
    return {"dtype": dtype, "_type": "Value"}


TYPED = {
    "info": {
        "features": {
            "problem": _value("string"),
            "subject": {"names": list(SUBJECTS), "_type": "ClassLabel"},
            "meta": {"level": _value("int64"), "score": _value("float64")},
        }
    }
}


def path_of(shape: str, rows: int) -> Path:
    """The file of a shape with this number of rows."""
    return FOLDER / f"{shape}-{rows}-v{VERSION}.arrow"


def write(shape: str, rows: int) -> None:
    """Write one file atomically."""
    import pyarrow as pa

    path, schema = path_of(shape, rows), schema_of(shape)
    path.parent.mkdir(exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    generated = islice(GENERATORS[shape](Random(shape)), rows)
    with pa.OSFile(str(part), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
        while batch := list(islice(generated, ROWS_PER_BATCH)):
            writer.write_batch(pa.RecordBatch.from_pylist(batch, schema=schema))
    part.replace(path)


def read_table(path: Path) -> pa.Table:
    """The whole file, memory-mapped."""
    import pyarrow as pa

    return pa.ipc.open_stream(pa.memory_map(str(path))).read_all()


if __name__ == "__main__":
    for row_count in map(int, sys.argv[1:]):
        for name in GENERATORS:
            if not path_of(name, row_count).exists():
                write(name, row_count)
