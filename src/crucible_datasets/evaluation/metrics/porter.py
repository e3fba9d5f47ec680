"""Porter's stemmer (1980), with the extensions of NLTK.

ROUGE scores in papers come from rouge-score, which uses NLTK's variant; other stems would give other scores.
Differences from the paper: words of one or two letters are unchanged; `ies` and `ied` become `ie` after a single
letter; a final y becomes i after a consonant that is not the first letter; `alli`, `fulli`, `bli` and `logi` have
their own rules; some words are listed.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WHOLE = {
    **dict.fromkeys(("sky", "skies"), "sky"),
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    **dict.fromkeys(("innings", "inning"), "inning"),
    **dict.fromkeys(("outings", "outing"), "outing"),
    **dict.fromkeys(("cannings", "canning"), "canning"),
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}
# Suffix → replacement, if the stem before it has measure > 0.
_STEP2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
    ("logi", "log"),
)
_STEP3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou", "ism"),
    *("ate", "iti", "ous", "ive", "ize"),
)
_VOWEL_CONSONANT = re.compile("v+c+")


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a word in lower case.

    >>> stem("running"), stem("ponies"), stem("relational")
    ('run', 'poni', 'relat')
    """
    if word in _WHOLE:
        return _WHOLE[word]
    if len(word) <= 2:
        return word
    for step in (_plurals, _past, _final_y, _double_suffixes, _long_suffixes, _endings, _final_e, _final_double_l):
        word = step(word)
    return word


def _shape(word: str) -> str:
    """The word as v (vowel) and c (consonant); y is a vowel after a consonant."""
    shape = ""
    for at, letter in enumerate(word):
        vowel = letter in "aeiou" or (letter == "y" and at > 0 and shape[-1] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(stem: str) -> int:
    """Porter's measure: how often a vowel is followed by a consonant."""
    return len(_VOWEL_CONSONANT.findall(_shape(stem)))


def _short(word: str) -> bool:
    """Whether it ends like `hop`, or has the form of `up`."""
    shape = _shape(word)
    return (shape.endswith("cvc") and word[-1] not in "wxy") or shape == "vc"


def _plurals(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    for suffix, instead in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(suffix):
            return word[: -len(suffix)] + instead
    return word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return _mended(rest) if "v" in _shape(rest) else word
    return word


def _mended(word: str) -> str:
    """The stem after -ed or -ing was removed, repaired: conflat(e), hop(p), fil(e)."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c":
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _short(word) else word


def _final_y(word: str) -> str:
    behind_consonant = word.endswith("y") and len(word) > 2 and _shape(word[:-1])[-1] == "c"
    return word[:-1] + "i" if behind_consonant else word


def _double_suffixes(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _double_suffixes(word[:-2])
    for suffix, instead in _STEP2:
        if word.endswith(suffix):
            counted = word[:-3] if suffix == "logi" else word[: -len(suffix)]
            return word[: -len(suffix)] + instead if _measure(counted) > 0 else word
    return word


def _long_suffixes(word: str) -> str:
    for suffix, instead in _STEP3:
        if word.endswith(suffix):
            return word[: -len(suffix)] + instead if _measure(word[: -len(suffix)]) > 0 else word
    return word


def _endings(word: str) -> str:
    for suffix in _STEP4:
        if word.endswith(suffix):
            kept = word[: -len(suffix)] + (suffix[0] if suffix in ("sion", "tion") else "")
            return kept if _measure(kept) > 1 else word
    return word


def _final_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    rest = word[:-1]
    measure = _measure(rest)
    return rest if measure > 1 or (measure == 1 and not _short(rest)) else word


def _final_double_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
