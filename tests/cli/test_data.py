"""`load`, `head`, `describe`, `convert`, `sample`, `split`, `formats` on real files."""

import io
import json
from collections import Counter

import pyarrow.compute as pc
import pytest
from support.command import crucible, done, process

from crucible_datasets import Array2D, ClassLabel, Dataset, DatasetDict, Features, Json, Value, config, load_dataset
from crucible_datasets.cli import exit_codes, files
from crucible_datasets.cli.writing import writable
from crucible_datasets.formats.base import FORMATS
from crucible_datasets.reading.compression import EXTENSIONS

ROWS = [
    {"id": number, "text": f"line {number}", "score": number / 4, "topic": "ab"[number % 2]} for number in range(40)
]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.fixture
def two_splits(tmp_path):
    folder = tmp_path / "two"
    for name, rows in {"train": ROWS[:30], "test": ROWS[30:]}.items():
        Dataset.from_list(rows).to_parquet(folder / f"{name}.parquet")
    return folder


def rows_of(path, **options):
    return load_dataset(str(path), split="train", **options).to_list()


def test_head_gives_the_first_rows(data):
    assert done("head", data, "--json", "-n", 3).json == ROWS[:3]
    lines = done("head", data, "-n", 2, "--columns", "id,text").out.splitlines()
    assert lines == ["id  text", "──  ──────", "0   line 0", "1   line 1"]


def test_head_shows_columns_in_which_there_is_nothing(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": 1, "gone": null, "empty": ""}\n{"id": 2, "gone": null, "empty": ""}\n')
    names, _, first, _ = done("head", tmp_path / "a.jsonl").out.splitlines()
    assert names.split() == ["id", "gone", "empty"] and first.split() == ["1", "null"]


@pytest.mark.parametrize("words", [("head", "{}"), ("benchmarks", "head", "gsm8k", "--synthetic")])
def test_less_than_no_rows_is_an_error(data, words):
    ran = crucible(*(word.format(data) for word in words), "--rows", "-1")
    assert ran.code == exit_codes.USAGE and ran.err.startswith("--rows -1: ")


def test_head_reads_no_more_than_it_shows(tmp_path):
    """The file is broken behind its first rows: who reads all of it notices."""
    path = tmp_path / "long.jsonl"
    path.write_text(
        "".join(json.dumps({"n": number, "text": "x" * 2000}) + "\n" for number in range(8_000)) + "{broken"
    )
    assert len(done("head", path, "--json").json) == 5
    assert crucible("describe", path).code == exit_codes.BAD_DATA


def test_bad_lines_are_left_out_if_that_is_asked_for(tmp_path):
    path = tmp_path / "some.jsonl"
    path.write_text('{"n": 1}\n{"n": "bro\n{"n": 3}\n')
    refused = crucible("load", path)
    assert refused.code == exit_codes.BAD_DATA and "not JSON: the line ends inside of a string" in refused.err
    assert "--on-bad-lines skip" in refused.err
    assert done("head", path, "--on-bad-lines", "skip", "--json").json == [{"n": 1}, {"n": 3}]
    # What `convert` writes to a pipe, the next command reads.
    assert done("convert", path, "-", "--on-bad-lines", "skip").out == '{"n": 1}\n{"n": 3}\n'


def test_files_are_read_with_the_options_of_their_format(tmp_path):
    odd, text = tmp_path / "odd.csv", "name;n\né;1\n"
    odd.write_bytes(text.encode("latin-1"))
    refused = crucible("head", odd)
    assert refused.code == exit_codes.BAD_DATA and "as --option encoding=latin-1." in refused.err
    words = ("--option", "encoding=latin-1", "--option", "sep=;")
    assert done("head", odd, *words, "--json").json == [{"name": "é", "n": 1}]
    named = ("--option", 'names=["a", "b"]', "--option", "header=0")
    assert done("sample", odd, *words, *named, "--json").json == [{"a": "é", "b": 1}]
    for wrong in ("sep", "=;"):
        refused = crucible("head", odd, "--option", wrong)
        assert refused.code == exit_codes.USAGE and "write NAME=VALUE" in refused.err
    assert "Did you mean 'sep'?" in crucible("head", odd, "--option", "se=;").err
    (tmp_path / "rows.log").write_text('{"n": 1}\n')
    advice = f"`crucible head csv --option data_files={tmp_path / 'rows.log'}`"
    assert advice in crucible("head", tmp_path / "rows.log").err
    assert done("head", "json", "--option", f"data_files={tmp_path / 'rows.log'}", "--json").json == [{"n": 1}]


def test_what_selects_the_data_is_not_an_option_of_its_format(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4,5\n")
    for name in ("split", "streaming", "name", "path", "revision", "features", "limit"):
        for command in (("head", tmp_path / "a.csv"), ("eval", tmp_path / "a.csv", tmp_path / "said.jsonl")):
            refused = crucible(*command, "--option", f"{name}=train")
            assert refused.code == exit_codes.USAGE and f"{name} is not an option of a format" in refused.err


@pytest.mark.parametrize("word", ["sep=1", "delimiter=1", "names=a,b", "column_names=a", "encoding=5", "header=a"])
def test_a_value_of_another_type_is_an_error_of_the_user(tmp_path, word):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    for command in ("head", "load"):
        refused = crucible(command, tmp_path / "a.csv", "--option", word)
        assert refused.code == exit_codes.USAGE and refused.err.startswith(word.partition("=")[0])


def test_of_an_option_that_is_repeated_the_last_counts(tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n1;2\n3;4;5\n")
    separated = ("head", tmp_path / "a.csv", "--option", "sep=,", "--option", "sep=;")
    assert done(*separated, "--on-bad-lines", "skip", "--json").json == [{"a": 1, "b": 2}]
    assert crucible(*separated, "--on-bad-lines", "skip", "--on-bad-lines", "error").code == exit_codes.BAD_DATA


def test_values_that_are_not_json_are_text(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\nNaN,1\nnull,2\n")
    words = ("--option", "na_values=NaN", "--option", "keep_default_na=false")
    assert done("head", tmp_path / "a.csv", *words, "--json").json == [{"a": None, "b": 1}, {"a": "null", "b": 2}]


def test_where_there_are_no_rows_the_columns_are_told(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n")
    (tmp_path / "b.jsonl").write_text("")
    assert done("sample", tmp_path / "a.csv").out == "no rows; columns: id, text\n"
    assert done("head", tmp_path / "b.jsonl").out == "no rows\n"
    assert done("head", tmp_path / "a.csv", "--json").json == []


def test_records_of_csv_that_are_too_long_may_be_left_out(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4,5\n")
    for command in ("head", "load"):
        refused = crucible(command, tmp_path / "a.csv")
        assert refused.code == exit_codes.BAD_DATA and "--on-bad-lines skip leaves such lines out." in refused.err
    assert done("head", tmp_path / "a.csv", "--on-bad-lines", "skip", "--json").json == [{"a": 1, "b": 2}]


def test_files_without_lines_may_be_told_to_stop_at_bad_ones(tmp_path):
    Dataset.from_dict({"n": [1]}).to_parquet(tmp_path / "a.parquet")
    assert done("head", tmp_path / "a.parquet", "--on-bad-lines", "error", "--json").json == [{"n": 1}]


def test_wide_rows_are_shown_below_each_other(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps({"id": 1, "messages": [{"role": "user", "content": "word " * 100}]}))
    lines = done("head", path).out.splitlines()
    assert lines[0].startswith("── 0 ") and lines[1].split() == ["id", "1"] and lines[2].startswith("messages  [{")


def test_load_tells_splits_and_columns(two_splits):
    told = done("load", two_splits, "--json").json
    assert [(split["split"], split["rows"]) for split in told["splits"]] == [("train", 30), ("test", 10)]
    assert {each["column"]: each["type"] for each in told["columns"]} == {
        "id": "int64",
        "text": "string",
        "score": "float64",
        "topic": "string",
    }
    assert "train    30" in done("load", two_splits).out


def test_what_load_saves_every_command_reads(two_splits, tmp_path):
    saved = tmp_path / "saved"
    done("load", two_splits, "--save", saved)
    assert done("head", saved, "--split", "test", "-n", 1, "--json").json == ROWS[30:31]
    assert crucible("head", saved, "--split", "nothing").code == exit_codes.NOT_FOUND
    assert crucible("load", two_splits, "--save", saved).code == exit_codes.USAGE
    done("load", two_splits, "--save", saved, "--force")


def test_describe_is_what_arrow_says(data):
    (split,) = done("describe", data, "--json").json.values()
    told = {each["column"]: each for each in split["columns"]}
    score = Dataset.from_list(ROWS)["score"].to_arrow()
    assert (
        told["score"]["quantiles"] == pc.quantile(score, q=[0, 0.25, 0.5, 0.75, 1], interpolation="lower").to_pylist()
    )
    assert told["score"]["mean"] == pytest.approx(sum(row["score"] for row in ROWS) / 40)
    assert told["id"]["distinct"] == 40 and told["topic"]["distinct"] == 2
    assert told["text"]["length"] == {"quantiles": [6, 6, 7, 7, 7], "mean": 6.75, "unit": "characters"}
    assert told["topic"]["top"] == [{"value": "a", "count": 20}, {"value": "b", "count": 20}]


def test_describe_knows_every_type(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    features = Features(
        {
            "label": ClassLabel(names=["no", "yes"]),
            "nothing": Value("null"),
            "numbers": [Value("int32")],
            "inside": {"a": Value("string")},
            "flag": Value("bool"),
            "when": Value("timestamp[s]"),
            "bytes": Value("binary"),
            "half": Value("float16"),
            "mixed": Json(),
            "square": Array2D((1, 2), "int32"),
        }
    )
    odd = {"half": float("nan")}
    row = {
        "label": 1,
        "nothing": None,
        "numbers": [1, 2],
        "inside": {"a": "x"},
        "flag": True,
        "when": 0,
        "bytes": b"ab",
        "half": 0.5,
        "mixed": [1, "a"],
        "square": [[1, 2]],
    }
    Dataset.from_list([row, row | odd, dict.fromkeys(row)], features=features).save_to_disk(tmp_path / "all")
    (split,) = done("describe", tmp_path / "all", "--json").json.values()
    told = {each["column"]: each for each in split["columns"]}
    assert told["label"]["type"] == "label: no, yes" and told["label"]["top"] == [{"value": "yes", "count": 2}]
    assert told["mixed"]["top"] == [{"value": '[1,"a"]', "count": 2}] and told["square"]["nulls"] == 1
    assert told["nothing"]["nulls"] == 3 and told["flag"]["nulls"] == 1
    assert told["numbers"]["length"]["quantiles"] == [2] * 5 and told["numbers"]["type"] == "list of int32"
    assert told["inside"]["type"] == "{a: string}" and told["bytes"]["length"]["unit"] == "bytes"
    assert (told["half"]["nulls"], told["half"]["nans"], told["half"]["mean"]) == (1, 1, 0.5)
    assert "label: no, yes" in (shown := done("describe", tmp_path / "all").out) and "  NaN  " in shown


def test_an_empty_dataset_can_be_described(tmp_path):
    Dataset.from_dict({"a": [], "b": []}, features=Features({"a": Value("int64"), "b": Value("string")})).save_to_disk(
        tmp_path / "none"
    )
    assert "rows     0" in done("describe", tmp_path / "none").out
    assert done("head", tmp_path / "none", "--json").json == []


# Convert: every format that can be written, with every compression that fits


def targets():
    for name in writable():
        for extension in FORMATS[name].extensions:
            yield f"out{extension}"
            if not FORMATS[name].in_place:
                yield from (f"out{extension}{compression}" for compression in EXTENSIONS)
    yield "folder"


@pytest.mark.parametrize("name", list(targets()))
def test_what_is_converted_is_read_back(data, tmp_path, name):
    columns = ("--column", "text") if ".txt" in name else ()
    told = done("convert", data, tmp_path / name, *columns, "--json").json
    assert told[0]["rows"] == 40 and told[0]["size"] > 0
    rows = done("head", tmp_path / name, "-n", 100, "--json").json
    assert rows == ([{"text": row["text"]} for row in ROWS] if columns else ROWS)


def test_json_is_an_array_and_jsonl_is_lines(data, tmp_path):
    done("convert", data, tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == ROWS
    done("convert", data, tmp_path / "a.ndjson", "--columns", "id")
    assert (tmp_path / "a.ndjson").read_text().splitlines()[1] == '{"id":1}'


def test_several_splits_are_several_files(two_splits, tmp_path):
    refused = crucible("convert", two_splits, tmp_path / "one.csv")
    assert refused.code == exit_codes.USAGE and "{split}" in refused.err
    done("convert", two_splits, tmp_path / "{split}.csv")
    assert rows_of(tmp_path / "test.csv") == ROWS[30:]
    done("convert", two_splits, tmp_path / "one.csv", "--split", "test[:50%]")
    assert rows_of(tmp_path / "one.csv") == ROWS[30:35]


def test_a_file_is_not_replaced_unless_asked(data, tmp_path):
    (tmp_path / "out.csv").write_text("mine")
    assert crucible("convert", data, tmp_path / "out.csv").code == exit_codes.USAGE
    assert (tmp_path / "out.csv").read_text() == "mine"
    done("convert", data, tmp_path / "out.csv", "--force")
    assert rows_of(tmp_path / "out.csv") == ROWS


@pytest.mark.parametrize("name", ["out.xlsx", "out.parquet.gz", "out.gz", "out.eval"])
def test_a_name_that_says_no_format_is_refused(data, tmp_path, name):
    ran = crucible("convert", data, tmp_path / name)
    assert ran.code == exit_codes.USAGE and name in ran.err and not (tmp_path / name).exists()


def test_a_name_of_a_split_leads_nowhere_else(tmp_path):
    DatasetDict({"train": Dataset.from_list(ROWS)}).save_to_disk(tmp_path / "saved")
    assert files._file_name("../../etc/passwd") == "_.._etc_passwd"
    assert files._file_name("..") == "_"


# Sample and split


def test_a_sample_is_that_of_the_library(data, tmp_path):
    expected = Dataset.from_list(ROWS).sample(8, seed=3, stratify_by_column="topic").to_list()
    asked = ("sample", data, "-n", 8, "--seed", 3, "--stratify-by", "topic")
    assert done(*asked, "--json").json == expected
    done(*asked, "-o", tmp_path / "out.jsonl.gz")
    assert rows_of(tmp_path / "out.jsonl.gz") == expected
    assert (
        len(done("sample", data, "-n", "10%", "--json").json)
        == len(done("sample", data, "-n", "0.1", "--json").json)
        == 4
    )


def test_what_is_piped_is_read_by_what_it_begins_with(data, tmp_path, monkeypatch):
    def piped(content, *words):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        return crucible(*words)

    for name in ("a.jsonl", "a.json", "a.csv", "a.tsv", "a.parquet", "a.arrow"):
        done("convert", data, tmp_path / name, "--force")
        content = (tmp_path / name).read_bytes()
        assert piped(content, "head", "-", "-n", 40, "--json").json == ROWS, name
    ran = piped(data.read_bytes(), "sample", "-", "-n", 2, "--columns", "id,text", "--json")
    assert [list(row) for row in ran.json] == [["id", "text"]] * 2
    for content in (b"", b"only text\n"):
        ran = piped(content, "describe", "-")
        assert ran.code == exit_codes.USAGE and ran.err.startswith("DATASET '-': "), content


@pytest.mark.parametrize(
    "parts", ["train=0.5,validation=0.25,test=0.25", "train=10,test=30", "test=20%", "train=1,validation=1,test=38"]
)
@pytest.mark.parametrize("more", [("--seed", 5)])
def test_every_row_is_in_exactly_one_part(data, tmp_path, parts, more):
    told = done("split", data, "-o", tmp_path / "parts" / "{split}.jsonl", "--parts", parts, *more, "--json").json
    names = [each["split"] for each in told]
    assert {part.partition("=")[0] for part in parts.split(",")} <= set(names)
    found = [row for name in names for row in rows_of(tmp_path / "parts" / f"{name}.jsonl")]
    assert sorted(found, key=lambda row: row["id"]) == ROWS


def test_parts_can_be_stratified(data, tmp_path):
    parts = "train=0.5,validation=0.3,test=0.2"
    done("split", data, "-o", tmp_path / "{split}.jsonl", "--parts", parts, "--stratify-by", "topic")
    counts = [
        Counter(row["topic"] for row in rows_of(tmp_path / f"{name}.jsonl")) for name in ("train", "validation", "test")
    ]
    assert counts == [{"a": 10, "b": 10}, {"a": 6, "b": 6}, {"a": 4, "b": 4}]


def test_groups_stay_together(data, tmp_path):
    done("split", data, "-o", tmp_path / "{split}.jsonl", "--parts", "test=0.5", "--group-by", "topic")
    assert {len({row["topic"] for row in rows_of(tmp_path / f"{name}.jsonl")}) for name in ("train", "test")} == {1}


def test_folds_divide_the_rows(data, tmp_path):
    done("split", data, "-o", tmp_path / "{split}.jsonl", "--folds", 4)
    found = [row for number in range(4) for row in rows_of(tmp_path / f"fold{number}.jsonl")]
    assert sorted(found, key=lambda row: row["id"]) == ROWS


@pytest.mark.parametrize(
    "parts", ["train", "a=0.5", "test=0.5,test=0.5", "train=0.5,test=0.6", "train=50,test=1", "test=x", "test=-1"]
)
def test_parts_that_do_not_add_up_are_refused(data, tmp_path, parts):
    assert crucible("split", data, "-o", tmp_path / "{split}.csv", "--parts", parts).code == exit_codes.USAGE


def test_a_split_without_a_place_for_names_is_refused(data, tmp_path):
    assert crucible("split", data, "-o", tmp_path / "out.csv").code == exit_codes.USAGE


def test_formats_lists_every_format():
    told = done("formats", "--json").json
    assert {each["format"] for each in told["formats"]} == set(FORMATS)
    assert {each["format"] for each in told["formats"] if each["written"]} == set(writable())


# Errors


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("head", "{none}/x.csv"), exit_codes.NOT_FOUND),
        (("head", "{data}", "--columns", "nothing"), exit_codes.NOT_FOUND),
        (("sample", "{data}", "--stratify-by", "nothing"), exit_codes.NOT_FOUND),
        (("describe", "{data}", "--split", "nothing"), exit_codes.NOT_FOUND),
        (("head", "org/name-of-the-hub"), exit_codes.UNREACHABLE),
        (("head", "{broken}"), exit_codes.BAD_DATA),
        (("sample", "{data}", "--split", "train[:"), exit_codes.USAGE),
        (("split", "{data}", "-o", "{{split}}.csv", "--parts", "train=1", "--folds", "2"), exit_codes.USAGE),
        (("sample", "{data}", "-n", "many"), exit_codes.USAGE),
    ],
)
def test_what_is_wrong_is_told_by_the_exit_code(data, tmp_path, arguments, code):
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 no PAR1")
    places = {"none": tmp_path / "none", "data": data, "broken": broken}
    ran = crucible(*(each.format(**places) for each in arguments))
    assert (ran.code, ran.out) == (code, ""), ran
    assert ran.err.strip() and "Traceback" not in ran.err


def test_lines_for_another_program_are_json_whatever_is_in_them(tmp_path):
    texts = ["a\xa0b", "\x7f", "\u202e", "Grüße", "世界", "\u2028", "\U000e0001"]
    (tmp_path / "odd.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    for encoding in ("utf-8", "ascii", "latin-1"):
        ran = process("convert", tmp_path / "odd.jsonl", "-", PYTHONIOENCODING=encoding, encoding=encoding)
        assert [json.loads(line)["text"] for line in ran.stdout.split("\n") if line] == texts


def test_a_name_that_nothing_has_may_have_meant_a_file_or_a_benchmark(data, monkeypatch):
    monkeypatch.chdir(data.parent)
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    ran = crucible("head", "date.jsonl")
    assert ran.code == exit_codes.NOT_FOUND and "Did you mean 'data.jsonl'?" in ran.err
    for command in ("head", "load"):
        ran = crucible(command, "data.jsnl")
        assert ran.code == exit_codes.NOT_FOUND and "there is no such file. Did you mean 'data.jsonl'?" in ran.err
        assert "`crucible benchmarks head gsm8k`" in crucible(command, "gsm8k").err
    assert "Did you mean 'data" not in crucible("head", "nowhere/data.jsnl").err
