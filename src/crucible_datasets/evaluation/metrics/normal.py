"""Normalization of short answers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from crucible_datasets.evaluation.rules.squad import normalize_answer
from crucible_datasets.exceptions import ArgumentError

Form = Callable[[str], str]

_BLOCK = 512
_BEYOND_ASCII_WORDS = re.compile(r"[^a-zA-Z0-9_\s]")
# Whether marks may be more than punctuation: the text has a number, an operator, or a name such as C++ or C#.
_MATTERS = re.compile(r"[\d!#%&*+/<=>^|~-]")


def _marks_that_count(mark: str, word: str, digit: str, letter: str) -> re.Pattern[str]:
    """A pattern of marks that are not punctuation: deleting them would turn -5 into 5, 3.5 into 35, C++ into C."""
    left, right = rf"[{word})\]}}]", rf"[{word}(\[{{$-]"
    return re.compile(
        rf"""({mark}(?:
            # between digits, unless it groups three of them: (1,2) is not 12; the minus of an exponent
            (?<={digit}.)(?={digit})(?: (?<![,'’]) | (?!{digit}{{3}}(?!{digit})) ) | (?<={digit}[eE]-)(?={digit})
            # before a number that it changes or compares with
          | (?<![{word}].)(?<=[-.])(?=[$€£]?\.?{digit})
          | (?: (?<=[<>])=? | (?<=!)= )(?=\ ?[-$€£]?\.?{digit})
            # comparisons: a<b, a != b, x= 5; 5>
          | (?<=[!<=>])(?: (?<={left}.) | (?<={left}\ .) )(?: (?<=!)= | (?<!!)[<=>]? )(?=\ ?{right}) | (?<={digit}[<>])
            # other operators without spaces, or with one on both sides: a*b, a->b, a && b, but not **a** and 5%
          | (?: (?<={left}[-+])[%&*/<=>^|~] | (?<={left}[%&*/^|~]) )[%&*/<=>^|~]?(?={right})
          | (?: (?<=\S\ -)[%&*/<=>^|~] | (?<=\S\ [+%&*/^|~]) )[+%&*/<=>^|~]?(?=\ \S)
            # behind a word: C++, C#, A+, but not 1e+5
          | (?<=[{word}][+#])(?<!{digit}[eE]\+) | (?<=[{word}][+#][+#])
            # signs of what is no number: -x, !a, ~a
          | (?<=[-!~])(?<![{word})\]}}\-.!?'"].)(?={letter}|\()
        ))""",
        re.VERBOSE,
    )


_MARKS_THAT_COUNT = _marks_that_count(r"[^\w\s]", r"\w", r"\d", r"[^\W\d_]|[∞√]")
# The same for ASCII, where character classes are table lookups: three times as fast.
_ASCII_MARKS_THAT_COUNT = _marks_that_count(r"[!-/:-@\[-^`{-~]", "0-9a-z_", "[0-9]", "[a-z]")
_LEADING_NUMBER = re.compile(
    r"\s*([+\-−]?)[$€£]?(\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(\.\d+)?(?:[eE]([+-]?\d{1,3}))?"
    r"(?!\s*/\s*\d|[^\w\s]+\d|\s+\d+/\d)"
)


class _Marks(dict[int, int | None]):
    """For `str.translate`: deletes punctuation, symbols and controls, except non-ASCII mathematical symbols."""

    def __missing__(self, code: int) -> int | None:
        character, kind = chr(code), unicodedata.category(chr(code))
        deleted = kind[0] in "PSC" and character != "_" and not character.isspace() and (code < 128 or kind != "Sm")
        self[code] = None if deleted else code
        return self[code]


_MARKS: Final = _Marks()
for _code in range(128):  # precomputed for ASCII
    _ = _MARKS[_code]


def form_of(normalize: bool | str, ignore_case: bool, ignore_punctuation: bool, ascii_only: bool) -> Form:
    """The function that normalizes texts for comparison."""
    if normalize == "squad":
        return normalize_answer
    if normalize is False:
        return str
    if normalize is not True:
        raise ArgumentError("normalize", normalize, "pass True, False or 'squad'.")
    if ascii_only:
        return _ascii_words
    if ignore_case and ignore_punctuation:
        return words
    return lambda text: _chosen(text, ignore_case, ignore_punctuation)


def words(text: str) -> str:
    """Lower case, one space for each gap, no punctuation; numbers, operators and names such as C++ keep their marks.

    >>> words("  It's  $1,234.50! "), words("北京。"), words("**C++**"), words("a<b."), words("(a ≤ b)")
    ('its 1234.50', '北京', 'c++', 'a<b', 'a ≤ b')
    """
    if text.isalnum():
        return text.lower() if text.isascii() else unicodedata.normalize("NFC", text.lower())
    return _without_marks(" ".join(text.lower().split()))


# An interval that is open at one end, and a minus behind a word: a charge, a mark such as A-.
_HALF_OPEN = re.compile(r"([\[(])[^\[\](),]{1,60},[^\[\](),]{1,60}([\])])")
_SIGNS_BLOCK = 64  # texts
_MINUS_BEHIND = re.compile(r"[^\W_][-−–⁻](?=[\s.,;:!?)\]}*_\"']|\Z)")


def signed_words(text: str) -> str:
    """`words`, with the ends of half-open intervals and a minus behind a word.

    >>> signed_words("Cl-"), signed_words("[1, 2)"), signed_words("[1, 2]"), signed_words("(the answer)")
    ('cl -', '1 2 [)', '1 2', 'the answer')
    """
    return with_signs(words(text), text)


def with_signs(form: str, text: str) -> str:
    """A normal form with the signs of its text that `words` leaves out."""
    signs = [match[1] + match[2] for match in _HALF_OPEN.finditer(text) if (match[1] == "[") != (match[2] == "]")]
    signs += ["-"] * len(_MINUS_BEHIND.findall(text))
    return " ".join([form, *signs])


def signed_words_many(texts: list[str]) -> list[str]:
    """`signed_words` of many texts; blocks without signs, which are most, are not searched text by text."""
    forms = words_many(texts)
    for start in range(0, len(texts), _SIGNS_BLOCK):
        block = texts[start : start + _SIGNS_BLOCK]
        joined = "\n".join(block)
        has_minus = any(minus in joined for minus in "-−–⁻")  # ten times as quick as the pattern
        if (("[" in joined or "]" in joined) and _HALF_OPEN.search(joined)) or (
            has_minus and _MINUS_BEHIND.search(joined)
        ):
            forms[start : start + _SIGNS_BLOCK] = map(with_signs, forms[start : start + _SIGNS_BLOCK], block)
    return forms


def _without_marks(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).replace("−", "-").replace("–", "-")
    plain = text.translate(_MARKS)
    if len(plain) == len(text):
        return plain
    if not plain or plain.isspace():
        return text  # an answer that consists of marks is compared unchanged
    return _with_marks_that_count(text, _MARKS_THAT_COUNT) if _MATTERS.search(text) else plain


def _with_marks_that_count(text: str, marks: re.Pattern[str]) -> str:
    parts = marks.split(text)
    parts[::2] = [part.translate(_MARKS) for part in parts[::2]]
    # A comma that does not group digits separates two numbers.
    parts[1::2] = [" " if mark == "," else mark for mark in parts[1::2]]
    return "".join(parts)


def words_many(texts: list[str]) -> list[str]:
    """`words` of many texts; ASCII texts are joined and processed at once."""
    found: list[str] = []
    for start in range(0, len(texts), _BLOCK):
        found += _words_of_block(texts[start : start + _BLOCK])
    return found


def _words_of_block(texts: list[str]) -> list[str]:
    joined = "\n".join(texts).lower()
    if not is_plain(joined, len(texts)):
        return [*map(words, texts)]
    together = _with_marks_that_count(joined, _ASCII_MARKS_THAT_COUNT)
    forms = together.split("\n")
    # Only a text that began with a mark can have become empty.
    if "\n\n" in together or "\n " in together or together[:1] in ("", " ", "\n") or together[-1:] in (" ", "\n"):
        return [form if form.strip() else words(text) for form, text in zip(forms, texts, strict=True)]
    return forms


def is_plain(joined: str, count: int) -> bool:
    """Whether `count` texts joined by newlines are printable ASCII without extra spaces or line ends."""
    return (
        joined.isascii()
        and joined.count("\n") == count - 1
        and joined.replace("\n", "").isprintable()
        and "  " not in joined
        and " \n" not in joined
        and "\n " not in joined
        and joined.strip(" ") == joined
    )


def _ascii_words(text: str) -> str:
    """Lower case, stripped, single spaces, then only ASCII letters, digits, underscores and spaces."""
    return _BEYOND_ASCII_WORDS.sub("", " ".join(text.lower().split()))


def _chosen(text: str, ignore_case: bool, ignore_punctuation: bool) -> str:
    squeezed = " ".join((text.lower() if ignore_case else text).split())
    return _without_marks(squeezed) if ignore_punctuation else squeezed


def leading_number(text: str) -> int | float | None:
    """The number that a text begins with; None if there is none, or it is part of 1/2, 2 1/2, 5-6 or 12:30."""
    found = _LEADING_NUMBER.match(text)
    if found is None or not (found[2] or found[3]) or text[found.end() : found.end() + 1].isdigit():
        return None
    sign = "-" if found[1] in ("-", "−") else ""
    whole = (found[2] or "0").replace(",", "")
    if found[3] is None and found[4] is None:
        return int(sign + whole) if len(whole) < 4000 else float(sign + whole)
    return float(f"{sign}{whole}{found[3] or ''}e{found[4] or 0}")
