"""The YAML of a README: where it is, and what is refused."""

import pytest

from crucible_datasets import config
from crucible_datasets.exceptions import CardError, LimitExceededError
from crucible_datasets.frontmatter import block_of, described_by, parsed

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)


def test_the_block_lies_between_the_first_two_fences():
    assert block_of("---\na: 1\n---\ntext\n---\n") == "a: 1"
    assert block_of("text\n---\na: 1\n---\n") == ""
    assert block_of("---\na: 1\n") == ""


def test_values_that_aliases_multiply_are_refused():
    with pytest.raises(LimitExceededError, match="YAML values"):
        parsed(BOMB, "README.md")


def test_aliases_as_such_are_welcome():
    assert parsed("a: &x {b: 1}\nc: *x\n", "README.md") == {"a": {"b": 1}, "c": {"b": 1}}


def test_the_limit_is_a_setting(monkeypatch):
    monkeypatch.setattr(config, "MAX_CARD_VALUES", 3)
    with pytest.raises(LimitExceededError, match=r"config\.MAX_CARD_VALUES"):
        parsed("[1, 2, 3]", "README.md")


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]\n",
        "a: [\n",
        "a: *b\n",
        "!!python/object/apply:os.getcwd []\n",
        "a: !!bool x",
        "a: !!int ''",
        "a: !!timestamp x",
        "a: 1" + ":1" * 999 + ".5",
    ],
)
def test_what_makes_no_sense_is_an_error_with_its_place(text):
    with pytest.raises((CardError, LimitExceededError), match=r"README\.md"):
        parsed(text, "README.md")


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "README.md").write_bytes(b"---\na: \xff\n---\n")
    with pytest.raises(CardError, match="not UTF-8"):
        described_by(str(tmp_path))
