"""A card of 100 kB is opened or refused at once: no pattern, separator or value of it takes more than linear work."""

import resource
import subprocess
import sys

import pytest

from crucible_datasets import load_dataset

SIZE = 100_000
SECONDS = 15  # of processor time for import and card together; a card of this kind took minutes or never ended


def configs(*lines):
    return "configs:\n- config_name: a\n" + "".join(f"  {line}\n" for line in lines)


def patterns(one):
    count = SIZE // (len(one) + 10)
    return configs("data_files:", *(f"- '{one}'".replace("%", str(n)) for n in range(count)))


CARDS = {
    "separator of nested repetitions": configs("data_files: a.csv", "sep: '(a+)+$'"),
    "separator of repetitions in a row": configs("data_files: a.csv", "sep: 'a*a*a*a*a*a*a*a*a*b'"),
    "separator of alternatives": configs("data_files: a.csv", "sep: '(a|aa)+$'"),
    "separator of one repetition": configs("data_files: a.csv", "sep: 'a+b'"),
    "delimiter": configs("data_files: a.csv", "delimiter: '(a|a)*b'"),
    "long separator": configs("data_files: a.csv", f"sep: '{'a?' * (SIZE // 2)}'"),
    "separator to be guessed": configs("data_files: a.csv", "sep: null"),
    "folders": configs(f"data_files: '{'**/a/' * 12}b'"),
    "many folders": configs(f"data_files: '{'**/a/' * (SIZE // 5)}b'"),
    "stars": configs(f"data_files: '{'*a' * 400}b'"),
    "many stars": configs(f"data_files: '{'*a' * (SIZE // 2)}b'"),
    "open brackets": configs(f"data_files: '{'[' * SIZE}'"),
    "ranges": configs(f"data_files: '{'[a-b-' * (SIZE // 5)}]'"),
    "braces": configs(f"data_files: '{'{a,b}' * (SIZE // 5)}'"),
    "ranges of numbers": configs("data_files: '{0..999999}*{0..999999}'"),
    "folders that exist in no place": configs(f"data_files: '{'a/' * (SIZE // 2)}*'"),
    "many patterns": patterns("*%"),
    "many patterns of stars": patterns("*a*a*a*a*a*a*a*a*a*a*b%"),
    "many patterns of brackets": patterns("[" * 1000 + "%"),
    "many long patterns": patterns("[a-b-" * 200 + "]%"),
    "many configurations": "configs:\n" + "".join(f"- {{config_name: a{n}, data_files: a.csv}}\n" for n in range(2000)),
    "long number": f"a: {'1' * SIZE}",
    "number to the base of 60": f"a: 1{':1' * (SIZE // 2)}",
    "binary number": f"a: 0b{'1' * SIZE}",
    "long fraction": f"a: 1.{'1' * SIZE}e1",
    "long fraction to the base of 60": f"a: 1{':1' * (SIZE // 2)}.5",
    "date": f"a: 2000-01-01 01:01:01.{'1' * SIZE}",
    "open quotes": "a: '" + "'' " * (SIZE // 3),
    "spaces": "a: b" + " " * SIZE + "c",
    "open keys": "? a\n" * (SIZE // 4),
    "merged keys": "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 60)),
    "many merged keys": "a: &a {x: 1}\nb: {<<: [" + "*a, " * (SIZE // 4) + "]}",
    "aliases": "a: &a [1, 1, 1, 1, 1, 1]\nb: [" + "*a, " * (SIZE // 4) + "]",
    "many keys": "".join(f"k{n}: 1\n" for n in range(SIZE // 10)),
    "one key many times": "a: 1\n" * (SIZE // 5),
    "many columns": "dataset_info:\n  features:\n"
    + "".join(f"  - {{name: c{n}, dtype: int64}}\n" for n in range(SIZE // 35)),
    "many names of classes": "dataset_info:\n  features:\n  - name: a\n    dtype:\n      class_label:\n        names:\n"
    + "".join(f"          '{n}': n{n}\n" for n in range(SIZE // 24)),
    "long name of a type": f"dataset_info:\n  features:\n  - {{name: a, dtype: '{'list<' * (SIZE // 5)}'}}",
    "long timestamp": f"dataset_info:\n  features:\n  - {{name: a, dtype: 'timestamp[{'s, tz=' * (SIZE // 6)}'}}",
    "many splits of infos": "dataset_info:\n  splits:\n" + "".join(f"  - {{name: s{n}}}\n" for n in range(SIZE // 16)),
    "long version": configs("data_files: a.csv", f"version: '{'1.' * (SIZE // 2)}'"),
    "long name of a split": configs("data_files:", f"- {{split: {'a' * (SIZE - 100)}, path: a.csv}}"),
    "long name of a split with dots": configs("data_files:", f"- {{split: {'a.' * (SIZE // 2)}-, path: a.csv}}"),
}

MANY = {
    "many files": patterns("a.csv"),
    "many splits": configs("data_files:", *(f"- {{split: s{n}, path: a.csv}}" for n in range(2500))),
}

OPENED = """
import sys
from crucible_datasets import load_dataset
from crucible_datasets.exceptions import DatasetsError
try:
    if sys.argv[2] == "all":
        load_dataset(".", cache_dir=sys.argv[1])
    for rows in load_dataset(".", cache_dir=sys.argv[1], streaming=True).values():
        next(iter(rows), None)
except DatasetsError as error:
    print("refused", str(error)[:200].replace("\\n", " "))
else:
    print("read")
"""


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


@pytest.mark.parametrize("name", [*CARDS, *MANY])
def test_no_card_takes_long(name, tmp_path):
    place = tmp_path / "data" / "/".join("a" * 25)
    place.mkdir(parents=True)
    (tmp_path / "data" / "a.csv").write_text("x\n" + "a" * 5000 + "\n", encoding="utf-8")
    (tmp_path / "data" / ("a" * 200 + ".csv")).write_text("x\n1\n", encoding="utf-8")
    (place / "c.csv").write_text("x\n1\n", encoding="utf-8")
    (tmp_path / "data" / "README.md").write_text(f"---\n{(CARDS | MANY)[name]}\n---\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", OPENED, str(tmp_path / "cache"), "all" if name in CARDS else "first"],
        cwd=tmp_path / "data",
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-300:], done.stderr[-1500:])
    assert done.stdout.startswith(("read", "refused")), done.stdout


@pytest.mark.parametrize(
    ("sep", "row"),
    [
        (";", "a;b"),
        ("'\\s+'", "a   b"),
        ("'\\t+'", "a\t\tb"),
        ("'[;|]'", "a|b"),
        ("'\\|\\|'", "a||b"),
        ("';;'", "a;;b"),
    ],
)
def test_plain_separators_of_a_card_are_followed(sep, row, tmp_path):
    (tmp_path / "README.md").write_text(f"---\n{configs('data_files: a.csv', f'sep: {sep}')}---\n", encoding="utf-8")
    (tmp_path / "a.csv").write_text(f"{row.replace('a', 'x').replace('b', 'y')}\n{row}\n", encoding="utf-8")
    assert load_dataset(str(tmp_path), split="train")[0] == {"x": "a", "y": "b"}


def test_a_call_may_pass_any_separator(tmp_path):
    (tmp_path / "a.csv").write_text("x , y\na  ,b\n", encoding="utf-8")
    assert load_dataset("csv", data_files=str(tmp_path / "a.csv"), sep=r"\s*,\s*", split="train")[0] == {
        "x": "a",
        "y": "b",
    }
