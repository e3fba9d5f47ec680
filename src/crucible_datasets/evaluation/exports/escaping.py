"""Escaping of texts of models and datasets for the programs that open an export."""

from __future__ import annotations

import re

# Control characters except tab and newline, and those that change the direction of text.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# First characters that begin a formula in a spreadsheet, in normal and full-width form.
_FORMULA = ("=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠")
# Underscores inside words have no meaning in Markdown, so `exact_match@2` stays readable.
_HARMLESS = r"(?<=[^\W_])_(?=[^\W_])|(?<=\w)@(?=\d+(?![\w.-]))"
_MARKDOWN = re.compile(rf"(?!{_HARMLESS})" + r"([\\`*_{}\[\]()#+\-.!|~:@^$/=\"'])")


def without_control_characters(text: str) -> str:
    """A text without characters that control terminals and editors."""
    return _STEERING.sub("�", text.replace("\r\n", "\n"))


def for_spreadsheets(text: str) -> str:
    """A text that no spreadsheet evaluates: an apostrophe is put before formulas."""
    plain = without_control_characters(text)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain


def for_markdown(text: str) -> str:
    """A text on one line, escaped for Markdown."""
    plain = " ".join(without_control_characters(text).split())
    escaped = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", escaped)
