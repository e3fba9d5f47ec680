"""Texts of models and datasets made harmless for the programs that open an export."""

from __future__ import annotations

import re

# Control characters but tab and newline, and those that turn the direction of text around.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# What makes a spreadsheet take a cell for a formula, in its usual and its full-width form.
_FORMULA = ("=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠")
# An underscore inside of a word and the version behind it mean nothing in Markdown: `exact_match@1` stays readable.
_HARMLESS = r"(?<=[^\W_])_(?=[^\W_])|(?<=\w)@(?=\d+(?![\w.-]))"
_MARKDOWN = re.compile(rf"(?!{_HARMLESS})" + r"([\\`*_{}\[\]()#+\-.!|~:@^$/=\"'])")


def without_control_characters(text: str) -> str:
    """A text without characters that steer terminals and editors."""
    return _STEERING.sub("�", text.replace("\r\n", "\n"))


def for_spreadsheets(text: str) -> str:
    """A text that no spreadsheet takes for a formula: an apostrophe goes before what would be one."""
    plain = without_control_characters(text)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain


def for_markdown(text: str) -> str:
    """A text on one line that Markdown shows as it is."""
    plain = " ".join(without_control_characters(text).split())
    escaped = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", escaped)
