"""What holds for every registered format, including the one added tomorrow."""

from __future__ import annotations

import io
import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from support.formats import joined
from support.packed import tar_of

from crucible_datasets.exceptions import ArgumentError, ColumnNotFoundError, DatasetsError
from crucible_datasets.features import Features
from crucible_datasets.formats.base import FORMATS, Format
from crucible_datasets.outputs.python import PythonFormatter
from crucible_datasets.reading.resolved import checked

NAMES = FORMATS.names()
TEXTS = ["", " ", "né", "日本語", "👩‍👩‍👧", "שלום", "a,b", 'say "hi"', "tab\there", "\u202eabc", "#", "1", "NA", "-"]
MUTANTS = 300


@pytest.fixture(params=NAMES)
def format(request) -> Format:
    return FORMATS[request.param]


@pytest.fixture(params=[name for name in NAMES if FORMATS[name].write])
def writable(request) -> Format:
    return FORMATS[request.param]


def table_for(format: Format, rows: int = 5) -> pa.Table:
    """A table of the types that a format can hold."""
    texts = [TEXTS[row % len(TEXTS)] or "x" for row in range(rows)]
    if format.name == "text":
        return pa.table({"text": pa.array(texts, pa.string())})
    columns = {"n": pa.array(range(rows), pa.int64()), "s": pa.array(texts, pa.large_string())}
    if format.name == "csv":
        columns["s"] = pa.array([text.replace("NA", "na").replace("1", "one") for text in texts], pa.large_string())
    return pa.table({**columns, "f": pa.array([row / 3 for row in range(rows)], pa.float64())})


def written(format: Format, table: pa.Table, **options) -> bytes:
    stream = io.BytesIO()
    size = format.write([table], Features.from_arrow_schema(table.schema), stream, **options)
    assert size >= 0
    return stream.getvalue()


def read_back(format: Format, data: bytes, **given) -> list[dict]:
    table, features = joined(format.rows(io.BytesIO(data), **given))
    return list(PythonFormatter().rows(table, features))


def sample(format: Format, folder: Path) -> bytes:
    """Some bytes of the format, of files that it only reads too."""
    if format.write is not None:
        return written(format, table_for(format, 30))
    return READ_ONLY[format.name](folder)


def _zipped_log(folder: Path) -> bytes:
    import zipfile

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as log:
        for number in range(3):
            log.writestr(f"samples/{number}_epoch_1.json", f'{{"id": {number}, "epoch": 1, "scores": {{"a": 1}}}}')
    return stream.getvalue()


def _hdf5(folder: Path) -> bytes:
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "sample.h5", "w") as file:
        file["n"], file["m"] = [1, 2, 3], [[1.0, 2.0]] * 3
    return (folder / "sample.h5").read_bytes()


def _tar(folder: Path) -> bytes:
    contents = {"json": b'{"a": [1, null]}', "txt": b"hi", "cls": b"3", "mp": b"\x93\x01\x02\x03", "bin": b"\0\xff"}
    return tar_of((f"{key}.{kind}", content) for key in range(4) for kind, content in contents.items())


READ_ONLY = {
    "webdataset": _tar,
    "xml": lambda folder: "<a>é</a>".encode(),
    "conll": lambda folder: b"EU NNP\nrejects VBZ\n\nPeter NNP\n",
    "eval": _zipped_log,
    "hdf5": _hdf5,
    **{name: lambda folder: bytes(range(256)) for name in NAMES if FORMATS[name].folder is not None},
}


def test_what_is_written_is_read_back(writable):
    table = table_for(writable)
    assert read_back(writable, written(writable, table)) == table.to_pylist()


def test_one_row_and_many_rows_are_read_back(writable):
    for rows in (1, 3000):
        table = table_for(writable, rows)
        assert read_back(writable, written(writable, table)) == table.to_pylist()


def test_a_table_without_rows_is_written_and_read(writable):
    assert read_back(writable, written(writable, table_for(writable, 0))) == []


def test_nulls_stay_nulls(writable):
    if writable.name == "text":
        pytest.skip("a line of text cannot be missing")
    table = pa.table({"n": [1.5, None, 3.5], "s": ["a", None, "é"]})
    assert read_back(writable, written(writable, table)) == table.to_pylist()


def test_only_the_columns_asked_for_are_given_in_their_order(writable):
    table = table_for(writable)
    names = table.column_names[::-1][:2]
    assert read_back(writable, written(writable, table), columns=names) == table.select(names).to_pylist()


def test_a_column_that_does_not_exist_is_an_error_that_lists_those_that_do(writable):
    data = written(writable, table_for(writable))
    with pytest.raises(ColumnNotFoundError) as caught:
        read_back(writable, data, columns=["nope"])
    assert caught.value.column == "nope"


@pytest.mark.parametrize("as_expression", [True, False])
def test_filters_keep_the_rows_that_match(writable, as_expression):
    if writable.name == "text":
        filters, expected = [("text", "==", "né")], [{"text": "né"}]
    else:
        table = table_for(writable, 20)
        filters, expected = [("n", ">", 3), ("n", "<=", 7)], table.slice(4, 4).select(["s"]).to_pylist()
    if as_expression:
        filters = pc.field("text") == "né" if writable.name == "text" else (pc.field("n") > 3) & (pc.field("n") <= 7)
    columns = ["text"] if writable.name == "text" else ["s"]
    data = written(writable, table_for(writable, 5 if writable.name == "text" else 20))
    assert read_back(writable, data, columns=columns, filters=filters) == expected


def test_an_unknown_option_is_an_error_that_lists_those_that_exist(format):
    with pytest.raises(ArgumentError, match=format.name):
        checked(format, {"no_such_option": 1})


def test_extensions_are_lower_case_with_a_dot_and_of_one_format_only():
    seen: dict[str, str] = {}
    for name in NAMES:
        for extension in FORMATS[name].extensions:
            assert extension.startswith(".")
            assert extension == extension.lower()
            assert seen.setdefault(extension, name) == name


def test_no_bytes_are_no_rows_or_a_typed_error(format):
    try:
        rows = read_back(format, b"")
    except DatasetsError:
        return
    assert all(not any(row.values()) for row in rows)


def mutants(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    chance = random.Random(seed)
    for _ in range(count):
        mutant = bytearray(data)
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(mutant)) if mutant else 0
            act = chance.randrange(4)
            if act == 0 and mutant:
                mutant[place] = chance.randrange(256)
            elif act == 1:
                del mutant[place : place + chance.randint(1, 20)]
            elif act == 2:
                mutant[place:place] = chance.randbytes(chance.randint(1, 8))
            else:
                mutant[place:place] = mutant[place : place + 30]
        yield bytes(mutant[: chance.randrange(1, len(mutant) + 1)] if chance.random() < 0.2 and mutant else mutant)


def test_malformed_bytes_give_rows_or_typed_errors(format, tmp_path):
    if format.in_place or format.needs_path or format.name == "hdf5":
        pytest.skip("has tests of its own, or a library behind it that checks less")
    seed = int(os.environ.get("CRUCIBLE_SEED", 20261115))
    for number, mutant in enumerate(mutants(sample(format, tmp_path), seed, MUTANTS)):
        try:
            read_back(format, mutant)
        except DatasetsError:
            pass
        except BaseException as error:
            kept = Path(tempfile.gettempdir()) / f"mutant-{format.name}-{seed}-{number}"
            kept.write_bytes(mutant)
            raise AssertionError(f"seed {seed}, mutant {number}, kept as {kept}: {error!r}") from error
