"""The same split, spec and version calls on Hugging Face `datasets` and here."""

import datasets as hf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets import splits as ours
from crucible_datasets.version import Version


def outcome(call):
    try:
        return call()
    except Exception as error:
        return next(kind for kind in (KeyError, ValueError, TypeError, type(error)) if kind in type(error).__mro__)


def value_error_or(result):
    return ValueError if isinstance(result, type) and issubclass(result, (ValueError, KeyError)) else result


bounds = st.one_of(
    st.just(""),
    st.integers(-1200, 1200).map(str),
    st.integers(-110, 110).map("{}%".format),
    st.sampled_from(["1_0", "1_", "_1", "5.5", " 5", "+5", "-", "%", "--5", "a", "2_0%"]),
)
names = st.sampled_from(["train", "test", "a.b", "empty", "nope", "all", "", " train", "a-b", "é", "a..b"])
roundings = st.sampled_from(["", "", "", "(closest)", "(pct1_dropremainder)", "(up)", "()"])
parts = (
    st.builds("{}[{}:{}]{}".format, names, bounds, bounds, roundings)
    | names
    | st.builds("{}{}".format, names, roundings)
)
specs = st.lists(parts, min_size=1, max_size=3).flatmap(
    lambda found: st.sampled_from(["+", " + ", " +", "++"]).map(lambda plus: plus.join(found))
)
lengths = st.fixed_dictionaries(
    {"train": st.integers(0, 1500), "test": st.integers(90, 110), "a.b": st.integers(0, 10), "empty": st.just(0)}
)


def read(module, spec, sizes):
    instruction = module.ReadInstruction.from_spec(spec)
    rows = outcome(lambda: [(part.splitname, part.from_, part.to) for part in instruction.to_absolute(sizes)])
    return repr(instruction), str(instruction), instruction.to_spec(), value_error_or(rows)


@settings(max_examples=800, deadline=None)
@given(specs, lengths)
def test_specs(spec, sizes):
    expected = outcome(lambda: read(hf, spec, sizes))
    assert value_error_or(outcome(lambda: read(ours, spec, sizes))) == expected


arguments = st.tuples(
    st.sampled_from(["train", "nope"]),
    st.sampled_from([None, None, "closest", "pct1_dropremainder", "up"]),
    st.none() | st.integers(-130, 130),
    st.none() | st.integers(-130, 130),
    st.sampled_from([None, "%", "%", "abs", "rows"]),
)


@settings(max_examples=500, deadline=None)
@given(st.lists(arguments, min_size=1, max_size=3), st.sampled_from([0, 3, 99, 100, 1005, 10**15 + 7]))
def test_instructions_and_their_sums(given_arguments, length):
    def call(module):
        first, *rest = (module.ReadInstruction(*each) for each in given_arguments)
        total = sum(rest, first)
        return str(total), [(part.splitname, part.from_, part.to) for part in total.to_absolute({"train": length})]

    assert value_error_or(outcome(lambda: call(ours))) == outcome(lambda: call(hf))


@settings(max_examples=300, deadline=None)
@given(st.text("ab.[]:+ -é\n_1", max_size=8))
def test_names(name):
    def call(module):
        split = module.Split(name)
        return repr(split), str(split), split == name, hash(split) == hash(name)

    assert value_error_or(outcome(lambda: call(ours))) == outcome(lambda: call(hf))


SUBSPLITS = [
    *[{"k": k} for k in (-3, 0, 1, 2, 3, 7, 40, 51, 99, 100, 101)],
    *[{"arg": arg} for arg in (None, 4, [1, 1], [3, 2, 1], slice(None, 50), slice(1, 9, 2), "a", 1.5, (1, 1))],
    *[{"weighted": weights} for weights in ([], [1], [200, 1], [1, 2, 3, 7, 9], [0, 0], [1] * 150)],
    {"percent": slice(-10, None)},
    {"k": 2, "weighted": [1]},
]


@pytest.mark.parametrize("given_arguments", SUBSPLITS, ids=str)
def test_parts(given_arguments):
    results = [
        outcome(lambda module=module: repr(module.Split.TRAIN.subsplit(**given_arguments))) for module in (ours, hf)
    ]
    assert results[0] == results[1]


def infos(module):
    return [module.SplitInfo(), module.SplitInfo("b", 1, 3, [1, 2]), module.SplitInfo("a", 2, 4, None, [4], "d")]


def test_sizes():
    def call(module):
        _, second, third = infos(module)
        splits = module.SplitDict({"b": second, "a": third}, dataset_name="q")
        module_info = [repr(info) for info in infos(module)]
        return (
            module_info,
            repr(splits),
            repr(splits.copy()),
            repr(splits.to_split_dict()),
            splits._to_yaml_list(),
            splits.total_num_examples,
            [(kind.name, kind.default, dict(kind.metadata)) for kind in module.SplitInfo.__dataclass_fields__.values()],
            repr(module.SplitGenerator(module.Split.TRAIN, {"a": 1})),
            repr(module.percent[1:3]),
            outcome(lambda: module.percent[3]),
        )

    assert call(ours) == call(hf)


LOADED = [
    ([{"name": "a", "num_bytes": 3}], "ds"),
    ({"a": {"num_bytes": 3}}, "ds"),
    ({"a": {"name": "b", "dataset_name": "zz"}}, "ds"),
    ({"a": {"name": "b", "dataset_name": "zz"}, "c": {"name": "c", "dataset_name": "yy"}}, None),
    ({"a": {"name": "b", "more": "zz"}}, None),
    ([], "x"),
    (None, None),
    ([{"name": "a"}, {"name": "a"}], None),
]


@pytest.mark.parametrize(("stored", "name"), LOADED)
def test_sizes_from_their_dict_form(stored, name):
    def call(module):
        splits = module.SplitDict.from_split_dict(stored, name)
        return repr(splits), splits.dataset_name

    assert value_error_or(outcome(lambda: call(ours))) == outcome(lambda: call(hf))


@pytest.mark.parametrize(
    "stored",
    [
        [],
        [{"name": "a", "num_bytes": 3, "num_examples": 4}],
        [{"name": "a", "num_bytes": 3}],
        {"a": 1},
        None,
        [{"name": "a", "num_bytes": 3, "num_examples": 4, "more": 1}],
    ],
    ids=str,
)
def test_sizes_from_yaml(stored):
    results = [outcome(lambda module=module: repr(module.SplitDict._from_yaml_list(stored))) for module in (ours, hf)]
    assert value_error_or(results[0]) == results[1]


def test_legacy_reading_of_sums_and_parts():
    def call(module):
        splits = module.SplitDict({name: module.SplitInfo(name, 1, 10) for name in ("train", "test")}, dataset_name="d")
        train, test, cut = module.Split.TRAIN, module.Split.TEST, slice(None, 50)
        asked = (train, train + test, module.Split.ALL, (train + test).subsplit(cut), train + train)
        asked += (train.subsplit(cut).subsplit(cut),)
        return [outcome(lambda one=one: one.get_read_instruction(splits).get_list_sliced_split_info()) for one in asked]

    assert repr([value_error_or(result) for result in call(ours)]) == repr(call(hf))


versions = st.sampled_from(
    ["1.2.3", "01.2.3", "1.2", "1.2.3.4", "1.2.x", "", " 1.2.3", "1.2.3\n", "9.0.0"]
) | st.from_regex(r"\A\d{1,2}\.\d{1,2}\.\d{1,2}\Z")


@settings(max_examples=200, deadline=None)
@given(versions, versions | st.sampled_from([None, 3, (1, 2, 3)]))
def test_versions(text, other):
    def call(kind):
        version = kind(text)
        compared = [outcome(lambda: version < other), outcome(lambda: version >= other), version == other]
        return repr(version), version.tuple, version.version_str, [value_error_or(one) for one in compared]

    assert value_error_or(outcome(lambda: call(Version))) == outcome(lambda: call(hf.Version))
