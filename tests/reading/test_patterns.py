"""Patterns find what the shell's would, without what is hidden."""

import os
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.reading import patterns
from crucible_datasets.reading.patterns import listed, matched, matching

parts = st.text("ab*?.", min_size=1, max_size=4).filter(lambda part: "**" not in part and part not in (".", ".."))
names = st.lists(st.text("ab.", min_size=1, max_size=3).filter(lambda name: name[0] != "."), min_size=1, max_size=3)


@given(several=st.lists(names.map("/".join), max_size=5), pattern=st.lists(parts, min_size=1, max_size=3))
def test_without_stars_for_folders_a_pattern_matches_part_by_part(several, pattern):
    expected = [
        name
        for name in several
        if len(name.split("/")) == len(pattern)
        and all(map(fnmatchcase, name.split("/"), pattern))
        and not any(part.startswith(".") for part in pattern)
    ]
    assert matching(several, pattern) == expected


def test_two_stars_are_any_number_of_folders():
    several = ["a", "b/a", "c/b/a", "c/d"]
    assert matching(several, ["**", "a"]) == ["a", "b/a", "c/b/a"]
    assert matching(several, ["**"]) == several
    assert matching(several, ["c", "**"]) == ["c/b/a", "c/d"]


def test_a_listing_does_not_follow_links_to_folders(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").touch()
    (tmp_path / "real" / "loop").symlink_to(tmp_path)
    (tmp_path / "file").symlink_to(tmp_path / "real" / "a")
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    assert listed(str(tmp_path)) == ["file", "real/a"]


def test_a_pattern_lists_no_deeper_than_it_reaches(tmp_path, monkeypatch):
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "a" / "x.csv").touch()
    opened = []
    scandir = os.scandir
    monkeypatch.setattr(patterns.os, "scandir", lambda path: opened.append(str(path)) or scandir(path))
    assert matched("a/*.csv", str(tmp_path)) == [str(tmp_path / "a" / "x.csv")]
    assert opened == [str(tmp_path / "a")]


@pytest.mark.parametrize("name", ["a[1]b", "a*b", "a?b"])
def test_the_folder_itself_may_have_any_name(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "x.csv").touch()
    assert matched("*.csv", str(tmp_path / name)) == [str(tmp_path / name / "x.csv")]
    assert matched("x.csv", str(tmp_path / name)) == [str(tmp_path / name / "x.csv")]


def test_a_file_with_brackets_in_its_name_is_found_by_it(tmp_path):
    for name in ("a[1].csv", "[b] c/d.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
        assert matched(name, str(tmp_path)) == [str(tmp_path / name)]
    (tmp_path / "a1.csv").touch()
    assert matched("a[1].csv", str(tmp_path)) == [str(tmp_path / "a1.csv")]
    assert matched("e[1].csv", str(tmp_path)) == []
