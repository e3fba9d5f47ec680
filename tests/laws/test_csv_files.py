"""What is in a CSV file comes out, however it is cut into files and read in blocks."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass

from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets import Features, Value
from crucible_datasets.exceptions import DatasetsError
from laws import equality, values
from laws.law import law
from laws.ways import COMPRESSIONS, cuts_of, pieces

_CELLS = st.one_of(
    st.sampled_from([text for text in values.ODD_TEXTS if "\x00" not in text]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=6),
)
_ALIKE = [
    *(st.sampled_from(texts) for texts in (["1", "-2", "008"], ["1", "2.5", "1e5"], ["true", "false", "True"], ["1", "x"])),
    st.sampled_from(["2020-01-01", "2020-01-02", "x"]),
    _CELLS,
]  # fmt: skip


@dataclass(frozen=True)
class CsvFiles:
    """Rows as CSV files that Python wrote, cut before some rows."""

    cuts: tuple[int, ...] = ()
    newline: bool = True
    line_end: str = "\n"
    quote_all: bool = False
    separator: str = ","
    compression: str = ""
    chunksize: int | None = None

    def write(self, rows, folder):
        paths = []
        os.mkdir(inner := os.path.join(folder, str(len(os.listdir(folder)))))
        for number, part in enumerate(pieces(rows, self.cuts)):
            text = io.StringIO(newline="")
            quoting = csv.QUOTE_ALL if self._must_quote(rows) else csv.QUOTE_MINIMAL
            writer = csv.writer(text, lineterminator=self.line_end, quoting=quoting, delimiter=self.separator)
            writer.writerow(list(rows[0]))
            writer.writerows([[row[name] for name in rows[0]] for row in part])
            content = text.getvalue()
            paths.append(os.path.join(inner, f"{number}.csv{self.compression}"))
            with open(paths[-1], "wb") as file:
                content = content if self.newline else content.removesuffix(self.line_end)
                file.write(COMPRESSIONS[self.compression](content.encode()))
        return paths

    def _must_quote(self, rows):
        # Python leaves these without quotes, where they are line ends to other readers.
        return self.quote_all or any("\r" in cell for row in rows for cell in row.values())

    def load(self, rows, folder, **options):
        paths = self.write(rows, folder)
        if self.chunksize is not None:
            options["chunksize"] = self.chunksize
        return ours.load_dataset("csv", data_files=paths, split="train", sep=self.separator, **options)


@st.composite
def rows_and_csv_files(draw, number=1, late=True):
    names = draw(st.lists(st.sampled_from(["a", "b", "é", "a b", 'q"', "text"]), min_size=2, max_size=3, unique=True))
    cells = {name: draw(st.sampled_from(_ALIKE)) for name in names}
    row = st.fixed_dictionaries(cells)
    if late:
        row = st.one_of(row, row, st.fixed_dictionaries(dict.fromkeys(cells, _CELLS)))
    runs = draw(st.lists(st.tuples(row, st.sampled_from([1, 1, 2, 9, 99, 1000])), min_size=1, max_size=5))
    rows = values.Rows(tuple(runs))
    files = [
        CsvFiles(
            cuts=draw(cuts_of(rows)),
            newline=draw(st.booleans()),
            line_end=draw(st.sampled_from(["\n", "\n", "\r\n"])),
            quote_all=draw(st.booleans()),
            separator=draw(st.sampled_from([",", ",", "\t", ";"])),
            compression=draw(st.sampled_from(["", "", *COMPRESSIONS])),
            chunksize=draw(st.sampled_from([None, 1, 2, 10, 1000])),
        )
        for _ in range(number)
    ]
    return rows, *files


@law(examples=30, weight=2, case=rows_and_csv_files(), streaming=st.booleans())
def test_csv_files_give_back_their_texts(case, streaming, folder):
    rows, files = case
    source = rows.list()
    features = Features(dict.fromkeys(rows.columns, Value("string")))
    result = list(files.load(source, folder, features=features, keep_default_na=False, streaming=streaming))
    equality.same(source, result)


@law(examples=30, weight=2, case=rows_and_csv_files(number=2))
def test_csv_values_do_not_depend_on_blocks_files_and_quotes(case, folder):
    rows, first, second = case
    source = rows.list()
    expected = first.load(source, folder)
    result = second.load(source, folder)
    equality.same(expected.to_list(), result.to_list())
    assert result.features == expected.features


@law(
    examples=30,
    case=rows_and_csv_files(late=False),
    types=st.lists(
        st.sampled_from(["int64", "float64", "bool", "string", "decimal128(20, 3)"]), min_size=3, max_size=3
    ),
    streaming=st.booleans(),
)
def test_texts_become_declared_types_exactly_or_are_refused(case, types, streaming, folder):
    import decimal

    rows, files = case
    source = rows.list()
    dtypes = dict(zip(rows.columns, types, strict=False))
    features = Features({name: Value(dtype) for name, dtype in dtypes.items()})
    try:
        result = list(files.load(source, folder, features=features, keep_default_na=False, streaming=streaming))
    except DatasetsError:
        return
    assert len(result) == len(source)
    for before, after in zip(source, result, strict=True):
        for name, text in before.items():
            value, dtype = after[name], dtypes[name]
            match dtype:
                case _ if value is None:
                    exact = not text.strip()
                case "string":
                    exact = value == text
                case "int64":
                    exact = int(decimal.Decimal(text.strip())) == value == decimal.Decimal(text.strip())
                case "float64":
                    exact = repr(float(text)) == repr(value)
                case "bool":
                    exact = text.strip().lower() in (("true", "1", "yes") if value else ("false", "0", "no"))
                case _:
                    exact = decimal.Decimal(text.strip()) == value
            assert exact, f"{dtype}: {text!r} became {value!r}"
