"""The same bytes, loaded by Hugging Face `datasets` and by our formats, give the same features and values."""

from __future__ import annotations

import datetime as dt
import io
import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import datasets as hf
import numpy as np
import pytest
from support.formats import loaded
from support.parity import canonical

import crucible_datasets as ours
from crucible_datasets.exceptions import ValueTypeError
from crucible_datasets.formats.base import FORMATS

EXTENSIONS = {"json": ".jsonl", "csv": ".csv", "text": ".txt", "hdf5": ".h5"}


def theirs(builder: str, data: bytes, folder: Path, features: Any = None, **options: Any) -> Any:
    file = folder / f"data{EXTENSIONS.get(builder, '.' + builder)}"
    file.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = hf.load_dataset(
            builder, data_files=str(file), split="train", cache_dir=str(folder / "cache"), features=features, **options
        )
    return dataset.features.to_dict(), dataset[:]


def same(builder: str, data: bytes | str, folder: Path, features: Any = None, **options: Any) -> None:
    data = data if isinstance(data, bytes) else data.encode()
    expected = theirs(builder, data, folder, features and features(hf), **options)
    found, columns = loaded(FORMATS[builder], data, features and features(ours), **options)
    as_files_keep_them = [json.loads(json.dumps(kinds)) for kinds in (found.to_dict(), expected[0])]
    assert as_files_keep_them[0] == as_files_keep_them[1]
    assert list(found) == list(expected[0])
    assert canonical(columns) == canonical(expected[1])


def all_same(builder: str, cases: dict[str, Any], folder: Path) -> None:
    """Every case, in one test: most of them take less time than starting another."""
    wrong = {}
    for number, (name, case) in enumerate(cases.items()):
        data, options = case if isinstance(case, tuple) else (case, {})
        (folder / str(number)).mkdir()
        try:
            same(builder, data, folder / str(number), **options)
        except Exception as error:
            wrong[name] = f"{type(error).__name__}: {error}"
    assert not wrong


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


JSON = {
    "plain": lines({"a": 1, "b": "x"}, {"a": 2, "b": None}),
    "mixed": lines({"a": 1}, {"a": "x"}),
    "floats": lines({"a": 1}, {"a": 2.5}),
    "missing columns": lines({"a": 1}, {"b": 2}),
    "other keys": lines({"a": {"x": 1}}, {"a": {"y": 1}}),
    "other keys in lists": lines({"a": [{"x": 1}, {"x": 1, "y": "z"}]}, {"a": []}),
    "nulls for keys": lines({"a": [{"x": 1, "y": None}]}, {"a": [{"x": 1, "y": 2}]}),
    "empty objects": lines({"a": {}}, {"a": {}}),
    "empty lists": lines({"a": []}, {"a": []}),
    "mixed lists": lines({"a": [1, "x"]}, {"a": []}),
    "mixed inside": lines({"a": {"x": 1, "d": "2020-01-01"}}, {"a": {"x": "s", "d": "2020-01-01"}}),
    "bool and int": lines({"a": True}, {"a": 1}),
    "dates": lines({"a": "2020-01-01", "b": {"d": "2020-01-01"}}, {"a": "2020-01-01T10:00:00", "b": None}),
    "mixed beside dates": lines({"a": 1, "d": "2020-01-01"}, {"a": "x", "d": "2020-01-01"}),
    "not numbers": '{"a":NaN}\n{"a":Infinity}\n',
    "blank lines": '{"a":1}\n\n{"a":2}\n\n',
    "no line end": '{"a":1}\n{"a":2}',
    "windows lines": '{"a":1}\r\n{"a":2}\r\n',
    "byte order mark": b'\xef\xbb\xbf{"a":1}\n',
    "array": '[{"a":1},{"a":2,"b":"x"}]',
    "array with null": '[{"a":1},null]',
    "array of numbers": "[1,2,3]",
    "array of texts": ' \n ["a","b"] \n',
    "array of lists": "[[1,2],[3]]",
    "array of anything": '[1,"b"]',
    "one object over lines": json.dumps({"a": 1, "b": [1, 2]}, indent=2),
    "objects over lines": '{"a":\n1}\n{"a":\n2}\n',
    "objects in a line": '{"a":1}{"a":2}\n{"a":3}\n',
    "a null row": '{"a":1}\nnull\n',
    "an empty row": '{}\n{"a":1}\n',
    "escapes": '{"a":"\\ud83d\\ude00 x\\u0000y","":"\\/"}\n',
    "unicode": '{"é":"日本語 שלום"}\n',
    "token ids": lines({"input_ids": [1, 2]}),
}


def test_json(tmp_path):
    all_same("json", JSON, tmp_path)


@pytest.mark.parametrize(
    ("values", "values_of_theirs"),
    [
        ([2**64 - 1, 1], [2.0**64, 1.0]),
        (["2020-01-01T10:00:00Z"], [dt.datetime(2020, 1, 1, 10)]),
        (["2020-01-01T10:00:00+02:00"], [dt.datetime(2020, 1, 1, 8)]),
    ],
    ids=str,
)
def test_json_values_that_only_theirs_changes(tmp_path, values, values_of_theirs):
    data = lines(*({"a": value} for value in values)).encode()
    path = tmp_path / "data.json"
    path.write_bytes(data)
    assert (
        list(hf.load_dataset("json", data_files=str(path), split="train", cache_dir=tmp_path)["a"]) == values_of_theirs
    )
    assert loaded(FORMATS["json"], data)[1] == {"a": values}


@pytest.mark.parametrize(
    ("value", "options"),
    [
        ({"v": 1, "data": [{"a": "2020-01-01"}, {"a": "x", "b": {"x": 1}}, {"b": {"x": 2}}]}, {"field": "data"}),
        ({"data": {"a": [1, 2], "b": ["x", "y"]}}, {"field": "data"}),
        ({"data": [1, 2]}, {"field": "data"}),
    ],
)
def test_json_fields(value, options, tmp_path):
    same("json", json.dumps(value), tmp_path, **options)


@pytest.mark.parametrize("encoding", ["latin1", "utf-16"])
def test_json_encodings(encoding, tmp_path):
    same("json", '{"a":"é"}\n'.encode(encoding), tmp_path, encoding=encoding)


@pytest.mark.parametrize("value", [1.5, [1.5], {"x": [1, 2.5]}], ids=str)
def test_json_numbers_are_not_cut_to_the_integers_that_are_stated(tmp_path, value):
    def features(library: Any) -> Any:
        whole = library.Value("int64")
        kinds = {float: whole, list: library.List(whole), dict: {"x": library.List(whole)}}
        return library.Features({"a": kinds[type(value)]})

    data = lines({"a": value}).encode()
    with pytest.raises(hf.exceptions.DatasetGenerationError):
        theirs("json", data, tmp_path, features(hf))
    with pytest.raises(ValueTypeError, match=r"Column 'a', row 0: .\.5 cannot be stored"):
        loaded(FORMATS["json"], data, features(ours))


def test_json_features(tmp_path):
    rows = lines({"a": 1, "l": "x", "s": {"x": 1}, "t": {"k": 1}}, {"a": 2, "l": "y", "s": {"y": 2}, "t": [1]})
    same(
        "json",
        rows,
        tmp_path,
        lambda library: library.Features(
            {
                "a": library.Value("float32"),
                "l": library.ClassLabel(names=["x", "y"]),
                "s": {"x": library.Value("int32"), "y": library.Value("int32")},
                "t": library.Value("string"),
                "more": library.Value("string"),
            }
        ),
    )


ABC = "a,b,c\n1,x,1.5\n2,y,2.5\n3,z,3.5\n"
CSV = {
    "plain": ("a,b\n1,x\n2,\n", {}),
    "missing": ("a,b\n1,x\nNaN,null\n,None\n3,n/a\n", {}),
    "other case": ("a,b\nNAN,Null\n1,NONE\n", {}),
    "truth": ("a,b,c\nTrue,true,True\nFalse,FALSE,\n", {}),
    "truth and more": ("a,b\nTrue,True\n1,x\n", {}),
    "integers and missing": ("a,b\n1,1\n,2\n", {}),
    "floats": ("a\n1.5\n2\n1e5\ninf\n-Infinity\n.5\n5.\n1E-3\n1e400\n", {}),
    "signs and zeros": ("a,b\n+1,01\n-2,02\n", {}),
    "not quite numbers": ("a,b\n0x10,1_000\n1,1\n", {}),
    "unsigned": ("a,b\n18446744073709551615,18446744073709551615\n1,-1\n", {}),
    "dates": ("a\n2020-01-01\n2020-01-02\n", {}),
    "same names": ("a,a,a\n1,2,3\n", {}),
    "no name": (",a\n0,1\n1,2\n", {}),
    "one row": ("a,b\n1,2", {}),
    "windows lines": ("a,b\r\n1,x\r\n2,y\r\n", {}),
    "old lines": ("a,b\r1,x\r2,y\r", {}),
    "quoted": ('a,b\n"x\ny",2\n"q""uo",3\n"",4\n', {}),
    "quoted names": ('"a\nb",c\n"3",4\n', {}),
    "quotes inside": ('a,b\nx"y"z,"ab"cd\n', {}),
    "spaces": ("a, b\n 1, x\n 2 , y \n", {}),
    "skipinitialspace": ('a, b\n 1, "x,z"\n 2, y\n', {"skipinitialspace": True}),
    "short rows": ("a,b,c\n1,2\n3,4,5\n", {}),
    "row names": ("a,b\n1,2,3\n3,4,5\n", {}),
    "some row names": ("a,b\n1,2,3\n3,4\n", {}),
    "skipped": ("a,b\n1,2\n3,4,5\n6,7\n", {"on_bad_lines": "skip"}),
    "sep": ("a;b\n1;x\n", {"sep": ";"}),
    "delimiter": ("a;b\n1;x\n", {"delimiter": ";"}),
    "white space": ("a  b\n1   x\n", {"sep": r"\s+"}),
    "any sep": ("a;b\n1;x\n", {"sep": None}),
    "no header": ("1,x\n2,y\n", {"header": None}),
    "later header": ("junk\na,b\n1,x\n", {"header": 1}),
    "two headers": ("a,b\nc,d\n1,x\n", {"header": [0, 1]}),
    "names": ("1,x\n2,y\n", {"names": ["p", "q"]}),
    "column_names": ("1,x\n2,y\n", {"column_names": ["p", "q"]}),
    "names for others": ("a,b\n1,x\n2,y\n", {"names": ["p", "q"], "header": 0}),
    "few names": ("1,x,5\n2,y,6\n", {"names": ["p", "q"]}),
    "index_col": ("a,b\n1,x\n2,y\n", {"index_col": 0}),
    "index_col by name": ("a,b\n1,x\n2,y\n", {"index_col": "a"}),
    "no index_col": ("a,b\n1,x,\n2,y,\n", {"index_col": False}),
    "usecols": ("a,b,c\n1,x,3\n", {"usecols": ["c", "a"]}),
    "usecols by place": ("a,b,c\n1,x,3\n", {"usecols": [2, 0]}),
    "skiprows": ("j\nj2,3\na,b\n1,x\n", {"skiprows": 2}),
    "skiprows listed": ("a,b\n1,x\n2,y\n3,z\n", {"skiprows": [1]}),
    "nrows": ("a,b\n1,x\n2,y\n3,z\n", {"nrows": 2}),
    "na_values": ("a,b\n1,miss\n-,y\n", {"na_values": ["miss", "-"]}),
    "na_values by column": ("a,b\n1,miss\n-,y\n", {"na_values": {"a": ["-"]}}),
    "na_values as number": ("a,b\n99,miss\n99.0,y\n1,z\n", {"na_values": [99]}),
    "no default": ("a,b\n1,NA\n2,\n", {"keep_default_na": False}),
    "no default but": ("a,b\n1,NA\n,zz\n", {"keep_default_na": False, "na_values": ["zz"]}),
    "no na_filter": ("a,b\n1,NA\n,\n", {"na_filter": False}),
    "true_values": ("a,b\nyes,1\nno,0\n", {"true_values": ["yes"], "false_values": ["no"]}),
    "quotechar": ("a,b\n'x,y',1\n", {"quotechar": "'"}),
    "no quotes": ('a,b\n"x",1\n', {"quoting": 3}),
    "floats unless quoted": ('"a","b"\n"1",1\n', {"quoting": 2}),
    "escapechar": ('a,b\nx\\,y,1\n"x\\"y",2\n', {"escapechar": "\\", "doublequote": False}),
    "comment": ("#hi\na,b\n1,2#c\n#zz\n3,4\n", {"comment": "#"}),
    "thousands": ('a,b\n"1,234",1\n"5",2\n', {"thousands": ","}),
    "decimal": ("a;b\n1.234,5;1\n", {"sep": ";", "decimal": ",", "thousands": "."}),
    "lineterminator": ("a,b~1,2~", {"lineterminator": "~"}),
    "blank lines": ("a,b\n1,2\n\n3,4\n", {}),
    "blank lines kept": ("a,b\n1,2\n\n3,4\n", {"skip_blank_lines": False}),
    "latin1": ("a\né\n".encode("latin1"), {"encoding": "latin1"}),
    "replaced": ("a\né\n".encode("latin1"), {"encoding_errors": "replace"}),
    "utf-16": ("a,b\n1,é\n".encode("utf-16"), {"encoding": "utf-16"}),
    "byte order mark": (b"\xef\xbb\xbfa,b\n1,2\n", {}),
    "nul": ("a,b\nx\0y,1\n", {}),
    "unicode": ("é,日本\n👩,שלום\n", {}),
    "converters": ("a,b\n2020,1\n", {"converters": {"a": lambda text: text + "!"}}),
    "converters of no column": ("a,b\n1,2\n", {"converters": {7: str, "zz": str}}),
    "row names that count": (ABC, {"index_col": ["a"]}),
    "row names that are texts": (ABC, {"index_col": "b"}),
    "row names that are floats": (ABC, {"index_col": 2}),
    "row names, the last": (ABC, {"index_col": -1}),
    "row names, one row": ("a,b\n1,x\n", {"index_col": "a"}),
    "row names, all the same": ("a,b\n5,x\n5,y\n", {"index_col": "a"}),
    "row names that count down": ("a,b\n5,x\n4,y\n3,z\n", {"index_col": "a"}),
    "row names with missing": ("a,b\n5,x\n,y\n3,z\n", {"index_col": "a"}),
    "row names without name": (",a\n5,1\n7,2\n4,4\n", {"index_col": 0}),
    "several row names": (ABC, {"index_col": [0, "b"]}),
    "row names among usecols": (ABC, {"index_col": 0, "usecols": [1, 2]}),
    "row names of numbered columns": (ABC, {"index_col": 1, "header": None}),
    "row names that no name stands for": ("a,b\n1,2,3\n4,5,6\n9,7,8\n", {}),
    "two of them": ("a\n1,2,3\n4,5,6\n9,7,8\n", {}),
    "they are elsewhere": ("a,b\n1,2,3\n4,5,6\n9,7,8\n", {"index_col": 2}),
    "they and usecols": ("a,b\n1,2,3\n4,5,6\n9,7,8\n", {"usecols": ["b"]}),
    "names of usecols": (ABC, {"usecols": [0, 2], "names": ["p", "q"], "header": 0}),
    "both kinds of names": (ABC, {"names": ["p", "q", "r"], "column_names": ["x", "y", "z"], "header": 0}),
    "a comma is no point": ("a;b;c\n1,5;2.5;x,y\n2;3,5;1,2\n,5;1,;3\n", {"sep": ";", "decimal": ","}),
    "thousands in their place": ("a;b;c\n1,000;,1;1,0e1\n-1,0;8,5;1.5,0\n", {"sep": ";", "thousands": ","}),
    "dialect": ("a\tb\n1\tx\n", {"dialect": "excel-tab"}),
    "dialect before sep": ("a,b\n1,x\n", {"dialect": "unix", "sep": ";"}),
    "lines within quotes": ('"q\nw",b\n1,2\n3,4\n', {"skiprows": [1]}),
    "mended": ("a,b\n1,2\n3,4,5\n", {"on_bad_lines": lambda record: record[:2], "engine": "python"}),
    "na_values by place": ("a,b\n1,x\n2,y\n", {"na_values": {0: "1"}}),
    "nrows as float": (ABC, {"nrows": 1.0}),
    "chunks of any size": (ABC, {"chunksize": None}),
}


def test_csv(tmp_path):
    all_same("csv", CSV, tmp_path)


# What Hugging Face leaves to pandas, which refuses it, is refused here with the option and what it takes.
REFUSED: dict[str, tuple[Any, ...]] = {
    "header": (True, -1, 5),
    "usecols": ("ab", ["a", 1], [-1], [True], ["zz"]),
    "index_col": (True, "zz", ["a", "zz"]),
    "names": (["p", "p", "q"],),
    "nrows": ("1", 1.5),
    "chunksize": (0, -1),
    "thousands": ("", ";;"),
    "decimal": ("", "xx"),
    "quoting": (4, "x"),
    "quotechar": ("ab", None),
    "escapechar": ("", "xx"),
    "comment": ("//",),
    "engine": ("zzz",),
    "float_precision": ("zz",),
    "on_bad_lines": ("zz", None),
    "true_values": ("yes",),
    "false_values": ("no",),
    "dialect": ("nope",),
    "encoding": ("nope",),
    "prefix": ("X",),
    "mangle_dupe_cols": (False,),
    "error_bad_lines": (False,),
    "warn_bad_lines": (False,),
    "skipfooter": (1,),
}


def test_csv_refuses_what_is_refused_there(tmp_path):
    data = b"a,b,c\n1,x,1.5\n2,y,2.5\n"
    options = [{name: value} for name, values in REFUSED.items() for value in values]
    options += [{"header": [0], "names": ["p", "q", "r"]}, {"names": list("pqrs"), "header": 0}]
    for option in options:
        with pytest.raises(Exception):
            theirs("csv", data, tmp_path, **option)
        with pytest.raises((ours.exceptions.ArgumentError, ours.exceptions.DatasetsError, ValueError)):
            loaded(FORMATS["csv"], data, None, **option)


def test_csv_features(tmp_path):
    def features(library):
        return library.Features(
            {"a": library.Value("string"), "b": library.ClassLabel(names=["x"]), "c": library.Value("int8")}
        )

    same("csv", "a,b,c\n01,x,3\n", tmp_path, features)


TEXT = {
    "lines": ("a\nb\n\nc", {}),
    "line ends": ("a\r\nb\rc\x0bd\u2028e\n", {}),
    "kept": ("a\nb\r\n\nc", {"keep_linebreaks": True}),
    "paragraphs": ("a\nb\n\n\nc\nd\n\n e\n", {"sample_by": "paragraph"}),
    "paragraphs in blocks": ("ab\ncd\n\nef\n\ngh", {"sample_by": "paragraph", "chunksize": 4}),
    "document": ("a\nb\n", {"sample_by": "document"}),
    "empty document": ("", {"sample_by": "document"}),
    "mark": (b"\xef\xbb\xbfa\n", {}),
    "replaced": ("é\n".encode("latin1"), {"encoding_errors": "replace"}),
}


def test_text(tmp_path):
    all_same("text", TEXT, tmp_path)


def test_text_features(tmp_path):
    same("text", "a\nb\n", tmp_path, lambda library: library.Features({"q": library.ClassLabel(names=["a", "b"])}))


SENTENCES = "-DOCSTART- -X- O\n\nEU NNP B-ORG\nrejects VBZ O\n\n\nPeter NNP\n# c x\nb\tc d  e\n \n a b \r\nlast"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"column_names": ["tokens", "pos", "ner", "more", "most"]},
        {"column_names": ["tokens", "pos"], "delimiter": " "},
        {"skip_docstart": False},
        {"comment_prefix": "#"},
    ],
)
def test_conll(options, tmp_path):
    same("conll", SENTENCES, tmp_path, **options)


def test_eval(tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as log:
        log.writestr("header.json", "{}")
        for number, epoch in ((2, 2), (10, 1), (1, 2), (2, 1), (1, 1), (10, 2)):
            sample = {"id": number, "epoch": epoch, "l": [1, None, "x"], "o": {"a": "é"}, "n": None, "t": 1.5, "e": []}
            log.writestr(f"samples/{number}_epoch_{epoch}.json", json.dumps(sample))
    same("eval", stream.getvalue(), tmp_path)


@pytest.mark.parametrize("batch_size", [None, 2])
def test_hdf5(batch_size, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "made.h5", "w") as file:
        file["integers"], file["floats"] = np.arange(3), np.arange(3, dtype="f4")
        file["vectors"], file["matrices"] = np.arange(6.0).reshape(3, 2), np.arange(12).reshape(3, 2, 2)
        file["truth"], file["complex"] = np.array([True, False, True]), np.array([1 + 2j, 3, 4])
        file.create_dataset("texts", data=np.array(["a", "é", "c"], dtype=object), dtype=h5py.string_dtype())
        file["bytes"] = np.array([b"ab", b"c", b"d"])
        file["records"] = np.array([(1, 2.0), (3, 4.0), (5, 6.0)], dtype=[("p", "i4"), ("q", "f8")])
        file.create_dataset("lists", (3,), dtype=h5py.vlen_dtype(np.int32))[0] = [1, 2]
        group = file.create_group("group")
        group["x"], group.create_group("inner")["y"] = np.arange(3), np.arange(3.0)
    same("hdf5", (tmp_path / "made.h5").read_bytes(), tmp_path, batch_size=batch_size)
