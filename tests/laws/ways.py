"""Ways through the library: each takes rows and gives rows. Files are written by others: plain Python, pyarrow, pandas."""

from __future__ import annotations

import bz2
import gzip
import itertools
import json
import lzma
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import crucible_datasets as ours
from laws.values import Row, Rows

# ── constructors ──────────────────────────────────────────────────────────────────────────────────────────────────────


def columns_of(rows: list[Row]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


CONSTRUCTORS: dict[str, Callable[[list[Row]], Any]] = {
    "from_list": ours.Dataset.from_list,
    "from_dict": lambda rows: ours.Dataset.from_dict(columns_of(rows)),
    "from_generator": lambda rows: ours.Dataset.from_generator(lambda: iter(rows)),
    "from_generator in memory": lambda rows: ours.Dataset.from_generator(lambda: iter(rows), keep_in_memory=True),
    "stream from_list": ours.IterableDataset.from_list,
    "stream from_generator": lambda rows: ours.IterableDataset.from_generator(lambda: iter(rows)),
}

# ── files ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    ".lz4": lambda data: pa.compress(data, "lz4", asbytes=True),
}


@dataclass(frozen=True)
class JsonFiles:
    """Rows as JSON files that Python wrote, cut before some rows."""

    style: str = "lines"  # or "array", "pretty" objects over several lines, "field" of an object
    cuts: tuple[int, ...] = ()
    newline: bool = True  # at the end of the files
    line_end: str = "\n"
    ascii: bool = True
    spaces: bool = True
    compression: str = ""
    chunksize: int | None = None

    def write(self, rows: list[Row], folder: str) -> list[str]:
        """The paths of the files."""
        paths = []
        os.makedirs(folder, exist_ok=True)
        for number, part in enumerate(pieces(rows, self.cuts)):
            text = self._text(part)
            paths.append(os.path.join(folder, f"{number}.json{self.compression}"))
            with open(paths[-1], "wb") as file:
                file.write(COMPRESSIONS[self.compression](text.encode()))
        return paths

    def size_of(self, rows: list[Row]) -> int:
        """The size of the rows in one file, uncompressed."""
        return len(self._text(rows))

    def _text(self, rows: list[Row]) -> str:
        separators = (", ", ": ") if self.spaces else (",", ":")
        encode = json.JSONEncoder(ensure_ascii=self.ascii, separators=separators).encode
        end = self.line_end if self.newline else ""
        match self.style:
            case "array":
                return "[" + f",{self.line_end}".join(map(encode, rows)) + "]" + end
            case "field":
                return '{"n": 1, "data": [' + f",{self.line_end}".join(map(encode, rows)) + "]}" + end
            case "pretty":
                encode = json.JSONEncoder(ensure_ascii=self.ascii, indent=1).encode
        return self.line_end.join(map(encode, rows)) + (end if rows else "")

    def options(self, size: int) -> dict[str, Any]:
        """The options that read the files; blocks are so large that there are some hundreds of them at most."""
        options: dict[str, Any] = {"field": "data"} if self.style == "field" else {}
        if self.chunksize is not None:
            options["chunksize"] = max(self.chunksize, size // 300)
        return options

    def load(self, rows: list[Row], folder: str, **options: Any) -> Any:
        """A dataset or, with `streaming=True`, a stream of the files."""
        paths = self.write(rows, folder)
        options |= self.options(max(map(os.path.getsize, paths)))
        return ours.load_dataset("json", data_files=paths, split="train", **options)


def pieces(rows: list[Row], cuts: tuple[int, ...]) -> list[list[Row]]:
    """The rows, cut at these positions; beyond the end, there are empty parts."""
    bounds = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    return [rows[start:stop] for start, stop in itertools.pairwise(bounds)]


def cuts_of(rows: Rows) -> st.SearchStrategy[tuple[int, ...]]:
    """Positions in rows, often where a run begins or ends."""
    borders, position = [], 0
    for _, times in rows.runs:
        position += times
        borders += [position - 1, position]
    near = st.sampled_from(sorted({border for border in borders if 0 <= border <= len(rows)}))
    return st.lists(st.one_of(near, st.integers(0, len(rows))), max_size=2).map(tuple)


@st.composite
def json_files(draw: st.DrawFn, rows: Rows, has_surrogates: bool = True) -> JsonFiles:
    return JsonFiles(
        style=draw(st.sampled_from(["lines", "lines", "lines", "array", "pretty", "field"])),
        cuts=draw(cuts_of(rows)),
        newline=draw(st.booleans()),
        line_end=draw(st.sampled_from(["\n", "\n", "\r\n"])),
        ascii=has_surrogates or draw(st.booleans()),
        spaces=draw(st.booleans()),
        compression=draw(st.sampled_from(["", "", *COMPRESSIONS])),
        chunksize=draw(st.sampled_from([None, None, 1, 20, 64, 300, 1000, 5000])),
    )


# ── steps: from a dataset to a dataset with the same rows ─────────────────────────────────────────────────────────────


def _halves(data: Any) -> Any:
    middle = len(data) // 2
    return ours.concatenate_datasets([data.take(middle), data.skip(middle)])


def _saved(data: Any, folder: str, **options: Any) -> Any:
    data.save_to_disk(_new(folder, "saved"), **options)
    return ours.load_from_disk(_last(folder, "saved"))


def _parquet(data: Any, folder: str, **options: Any) -> Any:
    data.to_parquet(_new(folder, "written.parquet"), **options)
    return ours.Dataset.from_parquet(_last(folder, "written.parquet"))


def _json(data: Any, folder: str, **options: Any) -> Any:
    data.to_json(_new(folder, "written.jsonl"), **options)
    return ours.Dataset.from_json(_last(folder, "written.jsonl"), features=data.features)


def _dict_saved(data: Any, folder: str) -> Any:
    ours.DatasetDict({"a": data, "b": data.take(1)}).save_to_disk(_new(folder, "saved"))
    return ours.load_from_disk(_last(folder, "saved"))["a"]


def _loaded(data: Any, folder: str, num_proc: int | None = None) -> Any:
    """Two files of Parquet, which `load_dataset` puts together."""
    path = os.path.dirname(_new(folder, "first.parquet"))
    data.take(len(data) // 2).to_parquet(os.path.join(path, "0.parquet"))
    data.skip(len(data) // 2).to_parquet(os.path.join(path, "1.parquet"))
    return ours.load_dataset(path, split="train", num_proc=num_proc)


def _arrow_file(data: Any, folder: str) -> Any:
    table = data.with_format("arrow")[:]
    with pa.ipc.new_stream(_new(folder, "written.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    return ours.Dataset.from_file(_last(folder, "written.arrow"))


def _new(folder: str, name: str) -> str:
    """A path that does not exist yet."""
    inner = os.path.join(folder, f"{len(os.listdir(folder)):04}")
    os.mkdir(inner)
    return os.path.join(inner, name)


def _last(folder: str, name: str) -> str:
    inner = max(entry for entry in os.listdir(folder) if entry.isdigit())
    return os.path.join(folder, inner, name)


def _generated(data: Any) -> Any:
    def rows(parts: list[int]) -> Any:
        for part in parts:
            yield from data.shard(2, part)

    return ours.Dataset.from_generator(rows, gen_kwargs={"parts": [0, 1]}, features=data.features, num_proc=2)


def _identity(row: Any) -> Any:
    return row


def _copied(row: Any) -> Any:
    return {**row}


def _stream(data: Any) -> Any:
    return data.to_iterable_dataset() if len(data) else data


def _renamed(data: Any) -> Any:
    names = data.column_names
    others = {name: f"other {position}" for position, name in enumerate(names)}
    return data.rename_columns(others).rename_columns({other: name for name, other in others.items()})


def _joined(data: Any) -> Any:
    """The columns in two halves, joined again by the numbers of the rows."""
    names = [*data.column_names]
    numbered = data.add_column("more", range(len(data)))
    left = numbered.select_columns([*names[::2], "more"])
    return left.join(numbered.select_columns([*names[1::2], "more"]), on="more").select_columns(names)


def _without_more(data: Any) -> Any:
    return data.remove_columns([name for name in data.column_names if name == "more"])


STEPS: dict[str, Callable[[Any, str], Any]] = {
    "map(row)": lambda data, folder: data.map(_identity),
    "map({**row})": lambda data, folder: data.map(_copied),
    "map(batch)": lambda data, folder: data.map(_copied, batched=True),
    "map(batch of 3)": lambda data, folder: data.map(_copied, batched=True, batch_size=3),
    "map(new columns)": lambda data, folder: data.map(_copied, remove_columns=data.column_names),
    "map, in memory": lambda data, folder: data.map(_copied, keep_in_memory=True),
    "map, small blocks": lambda data, folder: data.map(_copied, writer_batch_size=3),
    "map(arrow table)": lambda data, folder: data.with_format("arrow").map(_identity, batched=True).with_format(None),
    "map(one more column)": lambda data, folder: _without_more(data.map(lambda row: {"more": 1})),
    "filter": lambda data, folder: data.filter(lambda row: True),
    "filter(batch)": lambda data, folder: data.filter(lambda batch: [True] * len(batch["row"]), batched=True),
    "select(range)": lambda data, folder: data.select(range(len(data))),
    "select twice": lambda data, folder: data.select(range(len(data))[::-1]).select(range(len(data))[::-1]),
    "flatten_indices": lambda data, folder: data.select([*range(len(data))]).flatten_indices(),
    "rename": lambda data, folder: _renamed(data),
    "cast": lambda data, folder: data.cast(data.features),
    "columns": lambda data, folder: data.select_columns(data.column_names[::-1]).select_columns(data.column_names),
    "add and remove": lambda data, folder: data.add_column("more", range(len(data))).remove_columns("more"),
    "concatenate": lambda data, folder: _halves(data),
    "shards": lambda data, folder: ours.concatenate_datasets([data.shard(3, index) for index in range(3)]),
    "to_list": lambda data, folder: ours.Dataset.from_list(data.to_list(), features=data.features),
    "to_dict": lambda data, folder: ours.Dataset.from_dict(data.to_dict(), features=data.features),
    "arrow table": lambda data, folder: ours.Dataset(data.with_format("arrow")[:]),
    "stream": lambda data, folder: ours.Dataset.from_generator(lambda: iter(_stream(data)), features=data.features),
    "stream to_parquet": lambda data, folder: _parquet(_stream(data), folder),
    "pickle": lambda data, folder: pickle.loads(pickle.dumps(data)),
    "save": _saved,
    "save, 2 files": lambda data, folder: _saved(data, folder, num_shards=2),
    "save, of a dict": _dict_saved,
    "to_parquet, 2 files": _loaded,
    "to_parquet": _parquet,
    "to_parquet, small batches": lambda data, folder: _parquet(data, folder, batch_size=3),
    "arrow file": _arrow_file,
    "join": lambda data, folder: _joined(data),
}
PROCESS_STEPS = {
    "map, 2 processes": lambda data, folder: data.map(_copied, num_proc=2),
    "map(batch), 2 processes": lambda data, folder: data.map(_copied, batched=True, batch_size=2, num_proc=2),
    "filter, 2 processes": lambda data, folder: data.filter(lambda row: True, num_proc=2),
    "save, 2 processes": lambda data, folder: _saved(data, folder, num_proc=2) if len(data) > 1 else data,
    "to_parquet, 2 files and processes": lambda data, folder: _loaded(data, folder, num_proc=2),
    "generator, 2 processes": lambda data, folder: _generated(data) if len(data) > 1 else data,
}
JSON_STEPS = {
    "to_json": _json,
    "to_json, one document": lambda data, folder: _json(data, folder, lines=False),
    "to_json, small batches": lambda data, folder: _json(data, folder, batch_size=3),
}

# ── moves: from a dataset to other rows of it; each says on a list of row numbers what it does ────────────────────────

MOVES: dict[str, tuple[Callable[[Any, int], Any], Callable[[list[int], int], list[int] | None]]] = {
    "take": (lambda data, n: data.take(n), lambda rows, n: rows[:n]),
    "skip": (lambda data, n: data.skip(n), lambda rows, n: rows[n:]),
    "select": (
        lambda data, n: data.select([n % len(data), 0, len(data) - 1, n % len(data)]) if len(data) else data,
        lambda rows, n: [rows[n % len(rows)], rows[0], rows[-1], rows[n % len(rows)]] if rows else rows,
    ),
    "shuffle": (lambda data, n: data.shuffle(seed=n), lambda rows, n: None),
    "filter": (
        lambda data, n: data.filter(lambda row: row["row"] % (n + 1) != 0),
        lambda rows, n: [row for row in rows if row % (n + 1) != 0],
    ),
    "sort": (lambda data, n: data.sort("row"), lambda rows, n: sorted(rows)),
    "reverse": (lambda data, n: data.sort("row", reverse=True), lambda rows, n: sorted(rows, reverse=True)),
    "twice": (lambda data, n: ours.concatenate_datasets([data, data]), lambda rows, n: rows + rows),
    "repeat": (lambda data, n: data.repeat(n % 3), lambda rows, n: rows * (n % 3)),
    "interleave": (
        lambda data, n: ours.interleave_datasets([data, data.select(range(len(data))[::-1])]) if len(data) else data,
        lambda rows, n: [row for pair in zip(rows, rows[::-1], strict=True) for row in pair],
    ),
    "shard": (lambda data, n: data.shard(2, n % 2, contiguous=False), lambda rows, n: rows[n % 2 :: 2]),
}
