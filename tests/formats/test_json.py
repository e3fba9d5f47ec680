"""JSON: types over all rows, errors that name the place, text that must not end the process."""

from __future__ import annotations

import io
import itertools
import json
import random
import subprocess
import sys

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.formats import loaded

from crucible_datasets import config, disable_caching, enable_caching, load_dataset
from crucible_datasets.exceptions import FileFormatError, LimitExceededError, MixedTypesError
from crucible_datasets.features import Features, Json, List, Value
from crucible_datasets.formats.json import FORMAT
from crucible_datasets.formats.json.structure import Place, check_depth, lines_of, structure


def lines(*rows) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def read(data: bytes, **options):
    return loaded(FORMAT, data, **options)


def rows_before_the_error(data: bytes, **options) -> tuple[list[dict], Exception | None]:
    found: list[dict] = []
    try:
        for table in FORMAT.rows(io.BytesIO(data), **options):
            found += table.to_pylist()
    except FileFormatError as error:
        return found, error
    return found, None


def test_values_of_different_kinds_become_json_and_keep_their_kind():
    features, columns = read(lines({"a": 1}, {"a": "1"}, {"a": [1]}, {"a": None}))
    assert features == {"a": Json()}
    assert columns["a"] == [1, "1", [1], None]


@pytest.mark.parametrize("is_cached", [True, False])
def test_values_of_different_kinds_stay_what_they_are_whichever_files_they_lie_in(tmp_path, is_cached):
    values = [[False, []], {"a": [1, "x"]}, "2", 5, [{"x": "3"}]]
    for order in itertools.permutations(range(len(values)), 2):
        pair = [values[place] for place in order]
        for name, value in zip("ab", pair, strict=True):
            (tmp_path / f"{name}.jsonl").write_bytes(lines({"v": value}))
        files = [str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]
        (enable_caching if is_cached else disable_caching)()
        try:
            rows = load_dataset("json", data_files=files, split="train", cache_dir=str(tmp_path / "cache"))
        finally:
            enable_caching()
        assert rows["v"][:] == pair


def test_objects_with_different_keys_become_json_and_gain_no_keys():
    features, columns = read(lines({"a": [{"x": 1}, {"y": 2}]}))
    assert features == {"a": List(Json())}
    assert columns["a"] == [[{"x": 1}, {"y": 2}]]


@pytest.mark.parametrize("spaced", [True, False])
def test_a_null_is_not_a_missing_key(spaced):
    text = lines({"a": {"x": 1, "y": None}}, {"a": {"x": None, "y": 2}})
    features, columns = read(text if spaced else text.replace(b": ", b" :"))
    assert features == {"a": {"x": Value("int64"), "y": Value("int64")}}
    assert columns["a"] == [{"x": 1, "y": None}, {"x": None, "y": 2}]


def test_mixed_types_are_an_error_when_json_is_not_wanted():
    with pytest.raises(MixedTypesError, match="row 1"):
        read(lines({"a": 1}, {"a": "x"}), on_mixed_types=None)


KINDS = {
    "integer": lambda number: number,
    "float": lambda number: number + 0.5,
    "digits": str,
    "date": lambda number: f"2020-01-{number % 28 + 1:02d}",
    "text": lambda number: f"text {number}",
    "null": lambda number: None,
    "list": lambda number: [number],
    "dates": lambda number: [f"2020-01-{number % 28 + 1:02d}"],
    "object": lambda number: {"k": str(number)},
}


@pytest.mark.parametrize("later", KINDS)
@pytest.mark.parametrize("earlier", KINDS)
def test_what_a_column_is_does_not_depend_on_where_blocks_end(earlier, later):
    rows = [{"a": KINDS[earlier](number)} for number in range(20)] + [
        {"a": KINDS[later](number)} for number in range(20)
    ]
    whole = read(lines(*rows))
    assert read(lines(*rows), chunksize=100) == whole


def test_a_date_among_later_texts_stays_the_text_it_was():
    rows = [{"d": "2020-01-01"}] * 10 + [{"d": "soon"}] * 10
    features, columns = read(lines(*rows), chunksize=60)
    assert features == {"d": Value("string")}
    assert columns["d"] == ["2020-01-01"] * 10 + ["soon"] * 10


def test_good_rows_come_before_the_error_that_names_the_bad_one():
    good = lines({"a": 1}, {"a": 2})
    found, error = rows_before_the_error(good + b'{"a": oops}\n' + lines({"a": 4}))
    assert found == [{"a": 1}, {"a": 2}]
    assert (error.row, error.offset) == (2, len(good))


def test_a_file_that_breaks_off_gives_its_whole_rows():
    found, error = rows_before_the_error(lines(*({"a": number} for number in range(500))) + b'{"a": 50', chunksize=400)
    assert [row["a"] for row in found] == list(range(500))
    assert error.row == 500


def test_an_array_is_read_in_blocks_and_its_strings_may_look_like_structure():
    rows = [{"a": number, "s": 'tricky ],[{"\\\\" \n, ' * (number % 5)} for number in range(300)]
    for indent in (None, 1):
        for chunksize in (17, 100, 10_000):
            _, columns = read(json.dumps(rows, indent=indent).encode(), chunksize=chunksize)
            assert columns == {"a": [row["a"] for row in rows], "s": [row["s"] for row in rows]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [(b"[1, 2]", [1, 2]), (b'["a", "b"]', ["a", "b"]), (b"[[1], [2, 3]]", [[1], [2, 3]]), (b'[1, "x"]', [1, "x"])],
)
def test_an_array_of_values_is_a_column_of_text(text, expected):
    assert read(text)[1] == {"text": expected}


@pytest.mark.parametrize("chunksize", [4, 1000])
def test_a_comma_before_the_end_of_an_array_is_refused(chunksize):
    found, error = rows_before_the_error(b'[{"a": 1}, {"a": 2} , ] ', chunksize=chunksize)
    assert (found, error.offset) == ([{"a": 1}, {"a": 2}], 22) and "comma" in error.reason
    assert read(b"  [  ]", chunksize=chunksize)[1] == {}


def test_an_array_that_is_not_closed_gives_its_whole_rows():
    found, error = rows_before_the_error(b'[{"a": 1}, {"a": 2}, {"a"')
    assert found == [{"a": 1}, {"a": 2}]
    assert error is not None


def test_deep_nesting_is_refused_and_does_not_end_the_process(tmp_path):
    """Arrow's reader overflows the stack at some 20,000 levels."""
    script = (
        "import io, sys\n"
        "from pathlib import Path\n"
        "from crucible_datasets.exceptions import LimitExceededError\n"
        "from crucible_datasets.formats.json import FORMAT\n"
        "for path in sys.argv[1:]:\n"
        "    try: list(FORMAT.rows(io.BytesIO(Path(path).read_bytes())))\n"
        "    except LimitExceededError as error: print(path, 'refused', error.limit, flush=True)\n"
    )
    contents = []
    for text in ("[" * 100_000, '{"a":' * 100_000, '{"a":\n' * 100_000, "[\n" * 100_000):
        ends = text[::-1].replace("[", "]").replace('{"a":'[::-1], "}")
        contents += [text, text + ends, '{"a":1}\n{"b":' + text + ends]
    paths = [tmp_path / str(number) for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(content)
    ran = subprocess.run([sys.executable, "-c", script, *paths], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stdout[-300:] + ran.stderr[-300:]
    assert ran.stdout.splitlines() == [f"{path} refused 500" for path in paths]


def test_the_depth_limit_can_be_raised():
    deep = b'{"a":' + b"[" * 600 + b"]" * 600 + b"}\n"
    with pytest.raises(LimitExceededError):
        read(deep)
    features, _ = read(deep.replace(b"[" * 600, b"[" * 200).replace(b"]" * 600, b"]" * 200))
    assert features == {"a": Json()}, "deeper than Arrow types go, but still data"


def test_brackets_in_strings_are_not_depth():
    assert read(lines({"a": "[" * 5000}))[1] == {"a": ["[" * 5000]}


@pytest.mark.parametrize("longest", [0, 200, 100_000])
def test_the_deepest_line_decides_wherever_it_is(longest):
    """Lines are counted many at once; none of them may be overlooked."""
    chance = random.Random(longest)
    for _ in range(100):
        limit = chance.choice([3, 10, 50])
        depths = [chance.randint(1, limit) for _ in range(chance.randint(1, 30))]
        if is_deep := chance.random() < 0.5:
            depths[chance.randrange(len(depths))] = limit + 1
        text = b"\n".join(
            b'{"t":"' + b"x" * chance.randint(0, longest) + b'","a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"
            if depth > 1
            else b"{}"
            for depth in depths
        ) + chance.choice([b"", b"\n"])
        try:
            check_depth(text, limit, lines_of(text), "it")
            refused = False
        except LimitExceededError:
            refused = True
        assert refused == is_deep


@pytest.mark.parametrize(
    "bad", [b'{"a": "\xff"}\n', b'{"\xff": 1}\n', b'{"a": [{"b": "x\xc3"}]}\n', b'{"a": "x", "\xfe": {}}\n']
)
@pytest.mark.parametrize("before", [0, 3])
def test_bytes_that_are_no_text_are_told_with_their_place(bad, before):
    good = b'{"a": null}\n' * before
    found, error = rows_before_the_error(good + bad + good)
    assert isinstance(error, FileFormatError)
    assert not isinstance(error, UnicodeError)
    assert (error.offset, error.line) == (len(good), before + 1)
    assert error.column == 1 + next(index for index, byte in enumerate(bad) if byte > 127)
    assert len(found) == error.row == before


def test_structure_agrees_with_a_slow_count():
    chance = random.Random(7)
    for _ in range(200):
        value = [chance.choice(["a", '"', "\\", '\\"', "[", {"k": ["]", {}]}, [[1, 2], "x,y"], "\n"]) for _ in range(8)]
        text = json.dumps(value, indent=chance.choice([None, 1])).encode()
        place = Place()
        cut = chance.randrange(len(text))
        while text[:cut].endswith(b"\\"):
            cut -= 1
        depths = [depth for part in (text[:cut], text[cut:]) for depth in structure(part, place)[2]]
        assert (place.depth, place.quoted) == (0, False)
        assert max(depths) == 1 + max(_depth(item) for item in value)


def _depth(value) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def test_columns_that_only_some_blocks_have_are_null_elsewhere():
    data = lines(*[{"a": 1}] * 10, *[{"b": "x"}] * 10)
    assert read(data, columns=["b"], chunksize=40)[1] == {"b": [None] * 10 + ["x"] * 10}


def test_features_are_what_values_are_read_as():
    wanted = Features({"a": Value("string"), "j": Json(), "n": Value("int32")})
    features, columns = read(
        lines({"a": "2020-01-01", "j": {"x": 1}, "n": 1}, {"a": {"k": 1}, "j": "y"}), features=wanted
    )
    assert features == wanted
    assert columns == {"a": ["2020-01-01", '{"k":1}'], "j": [{"x": 1}, "y"], "n": [1, None]}


def written(table: pa.Table, features=None, **options) -> str:
    stream = io.BytesIO()
    FORMAT.write([table], Features(features or Features.from_arrow_schema(table.schema)), stream, **options)
    return stream.getvalue().decode()


@pytest.mark.parametrize("options", [{}, {"lines": False}, {"lines": False, "indent": 2}, {"force_ascii": True}])
def test_what_is_written_nested_is_read_back(options):
    table = pa.table(
        {"l": [[1, 2], [], None], "s": [{"x": 1, "y": "é"}, None, {"x": None, "y": "z"}], "b": [True, None, False]}
    )
    text = written(table, **options)
    assert read(text.encode())[1] == table.to_pydict()
    assert text.isascii() == bool(options.get("force_ascii"))


LEAVES = (
    (pa.string(), st.text(max_size=5)),
    (pa.bool_(), st.booleans()),
    (pa.int64(), st.integers(-9, 9)),
    (pa.float64(), st.sampled_from([0.5, 2.0, -3.0, 1e20, -1e-9])),
    (pa.float16(), st.sampled_from([0.5, 2.0])),
    (pa.null(), st.none()),
    (pa.struct([]), st.just({})),
)


@st.composite
def nested_columns(draw) -> pa.Array:
    kind, values = draw(st.sampled_from(LEAVES))
    for _ in range(draw(st.integers(0, 3))):
        values = st.none() | values if draw(st.booleans()) else values
        if draw(st.booleans()):
            kind, values = pa.list_(kind), st.lists(values, max_size=3)
        else:
            kind = pa.struct([("a", kind), ('"b', kind)])
            values = st.fixed_dictionaries({"a": values, '"b': values})
    column = pa.array(draw(st.lists(st.none() | values, min_size=1, max_size=5)), kind)
    return column[draw(st.integers(0, len(column) - 1)) :]


@given(nested_columns(), nested_columns())
def test_a_line_is_what_the_standard_library_writes(first, second):
    both = min(len(first), len(second))
    table = pa.table({"x": first[:both], "y ": second[:both]})
    wanted = [json.loads(json.dumps(row)) for row in table.to_pylist()]
    assert [json.loads(line) for line in written(table).split("\n")[:-1]] == wanted


def test_orients():
    table = pa.table({"a": [1, 2], "b": ["x", None]})
    assert json.loads(written(table, orient="split")) == {"columns": ["a", "b"], "data": [[1, "x"], [2, None]]}
    assert json.loads(written(table, orient="values")) == [[1, "x"], [2, None]]
    assert json.loads(written(table, orient="index")) == {"0": {"a": 1, "b": "x"}, "1": {"a": 2, "b": None}}
    assert json.loads(written(table, orient="columns")) == {"a": {"0": 1, "1": 2}, "b": {"0": "x", "1": None}}


def test_values_that_json_has_no_words_for():
    import datetime

    moment = datetime.datetime(2020, 1, 1, 1, 2, 3)
    table = pa.table({"t": [moment], "d": [moment.date()], "f": [float("nan")], "l": [[moment]], "o": [moment.time()]})
    assert json.loads(written(table)) == {
        "t": 1577840523000, "d": 1577836800000, "f": None, "l": [1577840523000], "o": "01:02:03",
    }  # fmt: skip


def test_json_columns_are_written_as_the_values_they_stand_for():
    table = pa.table({"j": ['{"a":1}', '"x"', None]})
    assert written(table, {"j": Json()}) == '{"j":{"a":1}}\n{"j":"x"}\n{"j":null}\n'


def test_any_text_is_written_as_the_standard_library_reads_it():
    texts = ["".join(map(chr, range(start, start + 16))) for start in range(0, 256, 16)] + [
        "\\n",
        '\\"',
        "\u2028",
        "𐍈",
        "",
    ]
    table = pa.table({'k"\\\n': texts, "l": [[text, None] for text in texts], "s": [{"é": text} for text in texts]})
    assert [json.loads(line) for line in written(table).removesuffix("\n").split("\n")] == table.to_pylist()


def test_slices_and_hidden_values_are_written_as_they_read():
    lists = pa.array([[1, 2], None, [], [3.5, None, float("inf")]]).slice(1)
    structs = pa.StructArray.from_arrays([pa.array([1, 2, 3])], ["x"], mask=pa.array([True, False, False]))
    table = pa.table({"l": lists, "s": structs, "f": pa.array([[1, 2], [3, 4], None], pa.list_(pa.int8(), 2))})
    found = [json.loads(line) for line in written(table).splitlines()]
    assert found == [
        {"l": None, "s": None, "f": [1, 2]},
        {"l": [], "s": {"x": 2}, "f": [3, 4]},
        {"l": [3.5, None, None], "s": {"x": 3}, "f": None},
    ]


def test_an_error_names_no_byte_where_none_is_known():
    rows, error = rows_before_the_error(b'{"a":1}\n\n[1]\n{"a":4}\n')
    assert rows == [{"a": 1}]
    assert isinstance(error, FileFormatError)
    assert (error.row, error.offset) == (1, None)


def test_lists_that_are_null_before_they_hold_objects(tmp_path):
    rows = [{"m": [None, None]}, {"m": [{"role": "a"}]}, {"m": [None, None]}]
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for streaming in (False, True):
        assert list(load_dataset("json", data_files=str(path), split="train", streaming=streaming)) == rows


def test_rows_whose_keys_all_differ_are_refused_before_they_fill_the_memory(monkeypatch):
    monkeypatch.setattr(config, "MAX_DECODED_BYTES", 1 << 20)
    with pytest.raises(LimitExceededError, match="2,001 rows with 2,000 different keys"):
        read(b"".join(b'{"k%d": 1}\n' % number for number in range(2000)))
    inside = read(b"".join(b'{"a": {"k%d": %d}}\n' % (number, number) for number in range(2000)))
    assert inside[1]["a"][7] == {"k7": 7}
    wide = b'{"k": 0, %s}\n' % b", ".join(b'"k%d": 1' % number for number in range(900))
    assert len(read(wide * 100)[1]) == 901


def test_rows_that_are_null_do_not_end_the_process():
    """Arrow 26 ends it when a block that one of its threads parses begins with one."""
    for count in range(12):
        rows = [{"a": number} for number in range(count)] + [None] + [{"a": -1}] * 12
        expected = {"a": [row and row["a"] for row in rows]}
        assert read(lines(*rows), block_size=32)[1] == expected
        assert read(lines(*rows).replace(b"\n", b"\r\n "))[1] == expected
        assert read(json.dumps(rows).encode())[1] == expected
    returns = b'{"a": 1}\n{"a": 2}\rnull\r{"a": 3}\n' * 10
    assert read(returns, block_size=16)[1] == {"a": [1, 2, None, 3] * 10}
    assert read(b"\n" * 1_000_000 + b"null\n")[1] == {}
    assert read(b"[null, 1, null]")[1] == {"text": [None, 1, None]}
    assert read(b"[null]")[1] == {"text": [None]}
    assert read(b"\xef\xbb\xbfnull\n")[1] == {}


def test_no_number_is_lost_for_being_too_big():
    for text in (b'{"a": 1e400}', b'{"a": 1}\n{"a": -1e400}', b'{"a": [1e400]}'):
        with pytest.raises(FileFormatError, match="too big"):
            read(text)


def test_a_number_that_is_too_big_is_told_with_its_one_row_and_its_line_may_be_left_out():
    digits = b"9" * 400
    for number in (b"1e400", b"-1.5E+0999", digits, digits[:250] + b"e80"):
        text = b'{"a": 1.5, "t": "1e999"}\n\n{"a": 2, "t": "x"}\n{"a": [' + number + b'], "t": ""}\n{"a": 3}\n'
        with pytest.raises(FileFormatError, match="too big for a double") as told:
            read(text)
        assert (told.value.row, told.value.line, told.value.column) == (2, 4, 8)
        assert str(told.value).count("row") == 1
        assert read(text, on_bad_lines="skip")[1] == {"a": [1.5, 2, 3], "t": ["1e999", "x", None]}
    with pytest.raises(FileFormatError, match=r"row 1.*too big"):
        read(b'[{"a": 1}, {"a": 1e400}]')
    assert read(b'{"a": 1e308}\n{"a": 1e-400}', on_bad_lines="skip")[1] == {"a": [1e308, 0.0]}
