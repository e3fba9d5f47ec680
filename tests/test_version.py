"""`Version`: three numbers that compare like numbers, also with strings."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.version import Version, VersionComparisonError, VersionFormatError

numbers = st.tuples(*[st.integers(0, 99)] * 3)


@given(numbers, numbers)
def test_versions_compare_as_their_numbers_do(left, right):
    one, other = (Version(".".join(map(str, three))) for three in (left, right))
    assert (one < other) == (left < right)
    assert (one >= str(other)) == (left >= right)
    assert (one == other) == (left == right)
    assert one.tuple == left


def test_leading_zeros_do_not_matter():
    assert Version("01.2.3") == Version("1.2.3") == "1.2.3"
    assert hash(Version("01.2.3")) == hash("1.2.3")
    assert str(Version("01.2.3", "first")) == "1.2.3"


@pytest.mark.parametrize("text", ["", "1.2", "1.2.3.4", "1.2.x", " 1.2.3", "-1.2.3"])
def test_anything_else_is_refused_with_an_example(text):
    with pytest.raises(VersionFormatError, match="as in '1.0.0'"):
        Version(text)
    assert Version("1.2.3") != text


def test_only_versions_and_strings_are_ordered():
    with pytest.raises(VersionComparisonError, match="cannot be compared with 3 \\(int\\)"):
        Version("1.2.3") < 3
    assert Version("1.2.3") != (1, 2, 3)


def test_from_dict_ignores_what_it_does_not_know():
    version = Version.from_dict({"version_str": "1.2.3", "description": "d", "major": 9, "more": 1})
    assert (version.version_str, version.description, version.major) == ("1.2.3", "d", 1)


def test_it_survives_pickling():
    assert pickle.loads(pickle.dumps(Version("1.2.3", "d"))).description == "d"
