"""The same data through every output of Hugging Face `datasets` and of this library.

Leaf types × shapes of nesting × outputs; rows, batches and columns must agree in type,
dtype, shape and value.
"""

import datetime as dt
import decimal
import warnings

import datasets as hf
import numpy as np
import pytest
from PIL import Image as Pillow

import crucible_datasets.features as ours
from crucible_datasets.arrow_dataset import Dataset

hf.disable_progress_bars()

OUTPUTS = ["python", "numpy", "torch", "jax", "tensorflow", "arrow", "pandas", "polars"]
WHEN = dt.datetime(2020, 1, 2, 3, 4, 5)

# dtype name → two values
LEAVES = {
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"), (1, 100)),
    "float16": (np.float16(1.5), np.float16(-2)),
    "float32": (1.5, -2.0),
    "float64": (0.1, 1e30),
    "bool": (True, False),
    "string": ("a", "né"),
    "large_string": ("", "long enough"),
    "binary": (b"a", b"\xff\x00\x01"),
    "null": (None, None),
    "timestamp[s]": (WHEN, dt.datetime(1960, 1, 1)),
    "timestamp[ns]": (WHEN, dt.datetime(1960, 1, 1)),
    "timestamp[us, tz=Europe/Paris]": (
        WHEN.replace(tzinfo=dt.UTC),
        dt.datetime(1960, 1, 1, tzinfo=dt.UTC),
    ),
    "date32": (WHEN.date(), dt.date(1960, 1, 1)),
    "time64[us]": (WHEN.time(), dt.time(0)),
    "duration[us]": (dt.timedelta(seconds=5), dt.timedelta(days=-1)),
    "decimal128(5, 2)": (decimal.Decimal("1.20"), decimal.Decimal("-3.00")),
}

# shape → (feature around a leaf, rows of two values)
SHAPES = {
    "scalars": lambda lib, leaf, a, b: (leaf, [a, b, a]),
    "one row": lambda lib, leaf, a, b: (leaf, [b]),
    "no rows": lambda lib, leaf, a, b: (leaf, []),
    "nulls": lambda lib, leaf, a, b: (leaf, [a, None, b]),
    "a null first": lambda lib, leaf, a, b: (leaf, [None, b]),
    "only nulls": lambda lib, leaf, a, b: (leaf, [None, None]),
    "equal lists": lambda lib, leaf, a, b: (lib.List(leaf), [[a, b], [b, a]]),
    "ragged lists": lambda lib, leaf, a, b: (lib.List(leaf), [[a], [b, a], []]),
    "empty lists": lambda lib, leaf, a, b: (lib.List(leaf), [[], []]),
    "no lists": lambda lib, leaf, a, b: (lib.List(leaf), []),
    "nulls in lists": lambda lib, leaf, a, b: (lib.List(leaf), [[a, None], [b, a]]),
    "nulls in ragged lists": lambda lib, leaf, a, b: (lib.List(leaf), [[a, None], [b]]),
    "null lists": lambda lib, leaf, a, b: (lib.List(leaf), [[a, b], None, [b, b]]),
    "fixed lists": lambda lib, leaf, a, b: (lib.List(leaf, length=2), [[a, b], [b, a]]),
    "large lists": lambda lib, leaf, a, b: (lib.LargeList(leaf), [[a, b], [b, a]]),
    "ragged large lists": lambda lib, leaf, a, b: (lib.LargeList(leaf), [[a], [b, a]]),
    "lists of lists": lambda lib, leaf, a, b: (lib.List(lib.List(leaf)), [[[a, b], [b, a]], [[a, a], [b, b]]]),
    "ragged inside": lambda lib, leaf, a, b: (lib.List(lib.List(leaf)), [[[a, b], [b]], [[a, a], [b]]]),
    "ragged outside": lambda lib, leaf, a, b: (lib.List(lib.List(leaf)), [[[a, b], [b, b]], [[a, a]]]),
    "ragged all over": lambda lib, leaf, a, b: (lib.List(lib.List(leaf)), [[[a, b], [b]], [[a]], []]),
    "null inner lists": lambda lib, leaf, a, b: (lib.List(lib.List(leaf)), [[[a, b], None], [[a, a], [b, b]]]),
    "structs": lambda lib, leaf, a, b: ({"x": leaf, "y": leaf}, [{"x": a, "y": b}, {"x": b, "y": a}]),
    "structs of lists": lambda lib, leaf, a, b: ({"x": lib.List(leaf)}, [{"x": [a, b]}, {"x": [b]}]),
    "structs of structs": lambda lib, leaf, a, b: ({"x": {"y": leaf}}, [{"x": {"y": a}}, {"x": {"y": b}}]),
    "null fields": lambda lib, leaf, a, b: ({"x": leaf, "y": leaf}, [{"x": a, "y": None}, {"x": None, "y": a}]),
    "only null structs": lambda lib, leaf, a, b: ({"x": leaf}, [None, None]),
    "equal lists of structs": lambda lib, leaf, a, b: (lib.List({"x": leaf}), [[{"x": a}], [{"x": b}]]),
    "ragged lists of structs": lambda lib, leaf, a, b: (lib.List({"x": leaf}), [[{"x": a}], [], [{"x": b}, {"x": a}]]),
}


def picture(color, size=(4, 3), mode="RGB"):
    return Pillow.new(mode, size, color)


# Features of their own kind: name → (feature, rows)
SPECIAL = {
    "label": lambda lib: (lib.ClassLabel(names=["no", "yes"]), [0, 1, 1]),
    "label nulls": lambda lib: (lib.ClassLabel(names=["no", "yes"]), [0, None, 1]),
    "labels": lambda lib: (lib.List(lib.ClassLabel(names=["no", "yes"])), [[0, 1], [1, 1]]),
    "large integers": lambda lib: (lib.Value("int64"), [2**60 + 1, 2**40]),
    "large integers and null": lambda lib: (lib.Value("int64"), [2**53 + 1, None]),
    **{
        f"matrices of {dtype}": lambda lib, dtype=dtype: (
            lib.Array2D(shape=(2, 2), dtype=dtype),
            [[[1, 0], [1, 1]], [[0, 0], [1, 0]]],
        )
        for dtype in ("int64", "uint8", "float32", "float64")
    },
    "matrices of bool": lambda lib: (lib.Array2D(shape=(1, 2), dtype="bool"), [[[True, False]], [[False, False]]]),
    "matrices of text": lambda lib: (lib.Array2D(shape=(1, 2), dtype="string"), [[["a", "b"]], [["c", "d"]]]),
    "null matrix": lambda lib: (lib.Array2D(shape=(2, 2), dtype="int64"), [[[1, 2], [3, 4]], None]),
    "null float matrix": lambda lib: (lib.Array2D(shape=(1, 2), dtype="float32"), [None, [[1.0, 2.0]]]),
    "only null matrices": lambda lib: (lib.Array2D(shape=(2, 2), dtype="int64"), [None, None]),
    "null in matrix": lambda lib: (lib.Array2D(shape=(1, 2), dtype="int64"), [[[1, None]], [[2, 3]]]),
    "matrices of any height": lambda lib: (lib.Array2D(shape=(None, 2), dtype="int64"), [[[1, 2]], [[3, 4], [5, 6]]]),
    "matrices of equal height": lambda lib: (lib.Array2D(shape=(None, 2), dtype="float32"), [[[1, 2]], [[3, 4]]]),
    "one matrix": lambda lib: (lib.Array2D(shape=(2, 2), dtype="int64"), [[[1, 2], [3, 4]]]),
    "no matrices": lambda lib: (lib.Array2D(shape=(2, 2), dtype="int64"), []),
    "cubes": lambda lib: (lib.Array3D(shape=(2, 1, 2), dtype="int32"), [[[[1, 2]], [[3, 4]]]] * 2),
    "4D": lambda lib: (lib.Array4D(shape=(1, 1, 1, 2), dtype="float64"), [[[[[1, 2]]]]] * 2),
    "5D": lambda lib: (lib.Array5D(shape=(1, 1, 1, 1, 2), dtype="int8"), [[[[[[1, 2]]]]]] * 2),
    "lists of matrices": lambda lib: (lib.List(lib.Array2D(shape=(1, 2), dtype="int64")), [[[[1, 2]]], [[[3, 4]]]]),
    "ragged lists of matrices": lambda lib: (
        lib.List(lib.Array2D(shape=(1, 2), dtype="int64")),
        [[[[1, 2]]], [[[3, 4]], [[5, 6]]]],
    ),
    "structs of matrices": lambda lib: ({"m": lib.Array2D(shape=(1, 2), dtype="float32")}, [{"m": [[1, 2]]}] * 2),
    "json": lambda lib: (lib.Json(), [{"a": [1, "x"]}, [1, 2], None]),
    "json numbers": lambda lib: (lib.Json(), [1, 2, 3]),
    "json scalars": lambda lib: (lib.Json(), [1, "x", None, 2.5, True]),
    "json lists": lambda lib: (lib.Json(), [[1, 2], [3, 4]]),
    "json lists of two dtypes": lambda lib: (lib.Json(), [[1, 2], [1.5, 2.5], [1, 2.5]]),
    "json text": lambda lib: (lib.Json(), ["a", "b"]),
    "json in lists": lambda lib: (lib.List(lib.Json()), [[{"a": 1}], [{"b": 2.5}, "z"]]),
    "json in structs": lambda lib: ({"j": lib.Json()}, [{"j": {"a": 1}}, {"j": [1]}]),
    "no json": lambda lib: (lib.Json(), []),
    "translation": lambda lib: (lib.Translation(languages=["en", "fr"]), [{"en": "a", "fr": "b"}] * 2),
    "translations": lambda lib: (
        lib.TranslationVariableLanguages(languages=["en", "fr"]),
        [{"en": "a", "fr": ["b", "c"]}, {"en": "c"}],
    ),
    "images": lambda lib: (lib.Image(), [picture((1, 2, 3)), picture((4, 5, 6))]),
    "images of two sizes": lambda lib: (lib.Image(), [picture((1, 2, 3)), picture((4, 5, 6), size=(2, 2))]),
    "images and null": lambda lib: (lib.Image(), [picture((1, 2, 3)), None]),
    "grey images": lambda lib: (lib.Image(), [picture(7, mode="L"), picture(8, mode="L")]),
    "bitmaps": lambda lib: (lib.Image(), [picture(1, mode="1"), picture(0, mode="1")]),
    "16-bit images": lambda lib: (lib.Image(), [picture(300, mode="I;16")] * 2),
    "float images": lambda lib: (lib.Image(), [picture(1.5, mode="F")] * 2),
    "images made grey": lambda lib: (lib.Image(mode="L"), [picture((1, 2, 3))] * 2),
    "lists of images": lambda lib: (lib.List(lib.Image()), [[picture((1, 2, 3))], [picture((1, 2, 3))] * 2]),
    "structs of images": lambda lib: ({"i": lib.Image(), "k": lib.Value("int8")}, [{"i": picture(9), "k": 1}] * 2),
    "images not decoded": lambda lib: (lib.Image(decode=False), [picture((1, 2, 3))] * 2),
    "no images": lambda lib: (lib.Image(), []),
}

# What fails there and works here: (output, error there) → when.
FAILS_ONLY_THERE = {
    ("numpy", "AttributeError"): "the first list of a column is null",
    ("torch", "AttributeError"): "the first list of a column is null",
    ("jax", "AttributeError"): "the first list of a column is null",
    ("tensorflow", "AttributeError"): "the first list of a column is null, or lists of ragged lists",
    **{(output, "ArrowInvalid"): "a null inside a matrix; an empty column of matrices" for output in OUTPUTS},
    ("polars", "TypeError"): "decoded columns in a batch",
    ("polars", "ComputeError"): "decoded columns without rows; rows of fixed lists with nulls",
    ("polars", "SchemaError"): "JSON values of several types",
    ("polars", "InvalidOperationError"): "images inside structs",
}

# What works there and is wrong.
WRONG_THERE = {
    ("polars", "json in structs"): "the first value stands for all of them",
    ("jax", "large integers"): "they are cut to 32 bits",
    ("jax", "large integers and null"): "they are cut to 32 bits",
    ("jax", "duration[us]"): "they are cut to 32 bits",
    ("pandas", "large integers and null"): "they are rounded as floats",
}


def described(value):
    """Type, dtype, shape and value of anything an output gives."""
    library, kind = type(value).__module__.split(".")[0], type(value).__name__
    if isinstance(value, dict):
        return {name: described(item) for name, item in value.items()}
    if type(value) is list:
        return [described(item) for item in value]
    if library == "numpy" and kind == "ndarray":
        return (
            kind,
            str(value.dtype),
            value.shape,
            described(value.tolist()) if value.dtype == object else repr(value.tolist()),
        )
    if library == "torch":
        return (kind, str(value.dtype), tuple(value.shape), repr(value.tolist()))
    if library == "jaxlib":
        return (kind, str(value.dtype), value.shape, value.weak_type, repr(value.tolist()))
    if library == "tensorflow" and kind == "RaggedTensor":
        return (kind, value.dtype.name, str(value.shape), value.row_splits.dtype.name, repr(value.to_list()))
    if library == "tensorflow":
        return (kind, value.dtype.name, str(value.shape), repr(np.asarray(value).tolist()))
    if library == "pandas" and kind == "DataFrame":
        return (kind, str(value.index), {name: described(value[name]) for name in value})
    if library == "pandas" and kind == "Series":
        # Matrices have a pandas type of their own there; here they are numpy arrays in an object column.
        dtype = "object" if str(value.dtype).startswith("array[") else str(value.dtype)
        return (kind, value.name, dtype, described(list(value)))
    if library == "polars" and kind == "DataFrame":
        return (kind, str(value.schema), described(value.to_dicts()))
    if library == "polars" and kind == "Series":
        return (kind, value.name, str(value.dtype), described(value.to_list()))
    if library == "pyarrow" and kind == "Table":
        columns = [described(column) for column in value.columns]
        return (kind, value.column_names, value.schema.metadata, columns)
    if library == "pyarrow" and kind == "ChunkedArray":
        return (kind, str(value.type), value.to_pylist())
    if isinstance(value, Pillow.Image):
        return (kind, value.mode, value.size, value.tobytes())
    return (kind, repr(value))


def outcome(read):
    with warnings.catch_warnings():
        # Third-party calls made on behalf of the reference may warn; what is made here must not.
        warnings.simplefilter("ignore" if read.__name__ == "there" else "error")
        try:
            return described(read())
        except Exception as error:
            return f"{type(error).__name__} raised"


def agree(expected, found):
    """Whether outcomes are equal; values that a library has no type for are errors of other classes there."""
    is_error = isinstance(expected, str) and expected.endswith(" raised")
    return expected == found or (is_error and found == "CastError raised")


def reads(dataset, side):
    """How a dataset can be read, by name; each call is named after its side."""

    def named(call):
        call.__name__ = side
        return call

    return {
        "batch": named(lambda: dataset[:]),
        "column": named(lambda: dataset["c"][:] if type(dataset["c"]).__name__ == "Column" else dataset["c"]),
        "rows": named(lambda: list(dataset)),
        **({"row": named(lambda: dataset[len(dataset) - 1])} if len(dataset) else {}),
    }


def differences(output, feature_and_rows):
    theirs, rows = feature_and_rows(hf)
    mine, _ = feature_and_rows(ours)
    there = hf.Dataset.from_dict({"c": rows}, features=hf.Features({"c": theirs})).with_format(output)
    here = Dataset.from_dict({"c": rows}, features=ours.Features({"c": mine})).with_format(output)
    for name, read in reads(here, "here").items():
        expected, found = outcome(reads(there, "there")[name]), outcome(read)
        known = isinstance(expected, str) and (output, expected.split()[0]) in FAILS_ONLY_THERE
        if not agree(expected, found) and not (known and not isinstance(found, str)):
            yield f"{name}: {expected} there, {found} here"


@pytest.fixture(params=OUTPUTS)
def output(request):
    if request.param not in ("python", "arrow"):
        pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    return request.param


# One dtype of each kind; the others differ from theirs in width, unit or sign.
KINDS = ["int64", "float32", "bool", "string", "binary", "null", "timestamp[us, tz=Europe/Paris]", "decimal128(5, 2)"]


def failing(output, dtype, shapes):
    """The shapes in which values do not come as they do there."""
    if (output, dtype) in WRONG_THERE:
        pytest.skip(WRONG_THERE[output, dtype])
    found = {
        shape: list(differences(output, lambda lib, make=SHAPES[shape]: make(lib, lib.Value(dtype), *LEAVES[dtype])))
        for shape in shapes
    }
    return {shape: lines for shape, lines in found.items() if lines}


@pytest.mark.parametrize("dtype", KINDS)
def test_every_kind_in_every_shape(output, dtype):
    assert not failing(output, dtype, SHAPES)


@pytest.mark.parametrize("dtype", [dtype for dtype in LEAVES if dtype not in KINDS])
def test_every_pair_of_dtype_shape_and_output(output, dtype):
    """Each dtype meets each shape in one output, and each output in several shapes."""
    first = OUTPUTS.index(output) + list(LEAVES).index(dtype)
    assert not failing(output, dtype, list(SHAPES)[first % len(OUTPUTS) :: len(OUTPUTS)])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", LEAVES)
def test_every_dtype_in_every_shape(output, dtype):
    assert not failing(output, dtype, SHAPES)


@pytest.mark.parametrize("case", SPECIAL)
def test_features_of_their_own_kind(output, case):
    if (output, case) in WRONG_THERE:
        pytest.skip(WRONG_THERE[output, case])
    assert not list(differences(output, SPECIAL[case]))


@pytest.mark.parametrize("rows", [None, [2, 0], range(1, 3), []])
def test_columns_together_and_indexed(output, rows):
    data = {"i": [1, 2, 3], "s": ["a", None, "c"], "l": [[1.5], [2.5, 3.5], []]}
    there, here = hf.Dataset.from_dict(data).with_format(output), Dataset.from_dict(data).with_format(output)
    if rows is None:
        assert described(here[1]) == described(there[1])
    else:
        assert described(here[list(rows)]) == described(there[list(rows)])


# name → output and the attribute of its package, or the value, that each keyword argument gets
KEYWORDS = {
    "numpy dtype": ("numpy", {"dtype": "float16"}),
    "numpy copy": ("numpy", {"copy": True}),
    "torch dtype": ("torch", {"dtype": "float64"}),
    "torch device": ("torch", {"device": "cpu"}),
    "torch gradients": ("torch", {"requires_grad": True, "dtype": "float32"}),
    "jax dtype": ("jax", {"dtype": "float16"}),
    "jax device": ("jax", {"device": "cpu:0"}),
    "tensorflow dtype": ("tensorflow", {"dtype": "float64"}),
}


@pytest.mark.parametrize("output", ["numpy", "torch", "jax"])
def test_an_unknown_keyword_is_refused_before_rows_are_read(output):
    pytest.importorskip(output, reason=f"{output} is not installed")
    with pytest.raises(TypeError, match="shape"):
        Dataset.from_dict({"c": [1]}).with_format(output, shape=1)


@pytest.mark.parametrize("name", KEYWORDS)
def test_keyword_arguments(name):
    output, kwargs = KEYWORDS[name]
    package = pytest.importorskip(output, reason=f"{output} is not installed")
    if "dtype" in kwargs and output != "jax":
        kwargs = {**kwargs, "dtype": getattr(package, kwargs["dtype"])}
    data = {
        "i": [1, 2],
        "f": [1.5, None],
        "b": [True, False],
        "s": ["a", "b"],
        "l": [[1, 2], [3, 4]],
        "r": [[1], [2, 3]],
        "d": [{"x": 1, "s": "q"}] * 2,
        "t": [["a"], ["b"]],
    }
    if output == "tensorflow":
        # There, a dtype is also asked of text, which fails.
        data = {name: values for name, values in data.items() if name not in "sdt"}
    for column, values in data.items():
        there = hf.Dataset.from_dict({"c": values}).with_format(output, **kwargs)
        here = Dataset.from_dict({"c": values}).with_format(output, **kwargs)
        for which, read in reads(here, "here").items():
            assert agree(outcome(reads(there, "there")[which]), outcome(read)), (column, which)


@pytest.mark.parametrize("output", ["arrow", "pandas", "polars"])
def test_a_column_of_a_frame_is_there_at_once(output):
    data = {"c": [1, 2], "d": ["x", None]}
    there, here = hf.Dataset.from_dict(data).with_format(output), Dataset.from_dict(data).with_format(output)
    for name in data:
        assert type(here[name]) is type(there[name])
        assert getattr(here[name], "name", None) == getattr(there[name], "name", None)
