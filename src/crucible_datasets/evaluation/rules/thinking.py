"""Removal of thinking: a separate step, so that results record whether it was applied."""

from __future__ import annotations

import re
from typing import Final

from crucible_datasets.evaluation.rules.base import TRUNCATED, Reading, rule

_TAG = re.compile(r"(</?think(?:ing)?>)", re.IGNORECASE)


@rule("strip_thinking", version=1, aliases=("strip_think",))
def strip_think_tags(text: str) -> Reading:
    """The text without `<think>…</think>`; a closing tag alone ends thinking that began in the prompt."""
    first, *parts = _TAG.split(text)
    kept = [first]
    thinking = False
    for tag, part in zip(parts[::2], parts[1::2], strict=True):
        if tag[1] != "/":
            thinking = True
            continue
        if not thinking:
            kept.clear()
        thinking = False
        kept.append(part)
    answer = _without_blank_lines("".join(kept)) if parts else text
    is_blank = not answer or answer.isspace()
    return TRUNCATED if thinking and is_blank else Reading(answer, "empty" if is_blank else "ok")


def _without_blank_lines(text: str) -> str:
    """The text without leading and trailing blank lines; the first line keeps its indentation, for code."""
    stripped = text.lstrip()
    before = text[: len(text) - len(stripped)]
    return (before.rpartition("\n")[2] if "\n" in before else "") + stripped.rstrip()


# A tag may have a prefix, as in `<seed:think>` and `<inner_thoughts>`, an ending, as in `<thought_process>`.
_NAME = (
    r"(?:[a-z]{1,16}[:_-])?(?:(?:ant)?think(?:ing)?|thoughts?|monologue|reasoning|reflection|scratchpad|analysis"
    r"|chain_of_thought|cot|ponder(?:ing)?|deliberation)(?:_\w{1,24})?(?:\s[^<>\n]{0,80})?"
)
# Tags of DeepSeek, Qwen, Seed, MiniMax · Magistral · Kimi · OpenThoughts · Cohere · MedGemma, Gemma. A quoted tag is
# only mentioned.
_MARK = re.compile(
    rf"""(?:<(?=[/a-z|])|\[(?=/?THINK)|◁(?=/?think))
        (?: (?P<closing>/(?:{_NAME})>|\|/(?:{_NAME})\|>|/THINK\]|/think▷|\|end_of_thought\|>|\|END_THINKING\|>|unused95>
              |channel\|>)
          | (?P<opening>(?:{_NAME})>|\|(?:{_NAME})\|>|THINK\]|think▷|\|begin_of_thought\|>|\|START_THINKING\|>|unused94>
              |\|channel>(?:thought|analysis)) )""",
    re.IGNORECASE | re.VERBOSE,
)
# gpt-oss: channels of thinking, then one that is final; decoders may leave out the special tokens.
_CHANNEL = "<|channel|>"
_FINAL = re.compile(r"<\|channel\|>final[^<]{0,40}<\|message\|>|(?<=[^\s])assistantfinal(?=\S)")
_BARE_CHANNEL = re.compile(r"analysis(?=[A-Z<])")
_QUOTES: Final = frozenset("`\"'")
_WORDS: Final = (
    "think",
    "thought",
    "monologue",
    "reasoning",
    "reflection",
    "scratchpad",
    "analysis",
    "<cot",
    ":cot",
    "ponder",
    "deliberation",
    "<unused9",
)


def _of_target(target: str) -> str:
    """A reference answer without its thinking, as predictions are compared."""
    return strip_thinking(target).text or target


@rule("strip_thinking", version=2, aliases=("strip_think",), texts_only=True, target=_of_target)
def strip_thinking(text: str) -> Reading:
    """The text without thinking, in the tags of all families; a text that ends within its thinking is truncated."""
    lowered = text.lower()
    if not any(word in lowered for word in _WORDS):
        return Reading(text)
    if _CHANNEL in text or _BARE_CHANNEL.match(text):
        return _of_channels(text)
    kept, end, thinking = [], 0, False
    for mark in _MARK.finditer(text):
        if text[mark.start() - 1] in _QUOTES and _is_quoted(text, mark):
            continue
        if not thinking and mark["opening"]:
            kept.append(text[end : mark.start()])
        elif not thinking:  # thinking that began in the prompt
            kept.clear()
        thinking, end = bool(mark["opening"]), mark.end()
    if thinking:
        return TRUNCATED
    answer = _without_blank_lines("".join([*kept, text[end:]])) if end else text
    return Reading(answer, "ok" if answer.strip() else "empty")


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    """Whether a tag is only mentioned: between two quotes, or as code in a line."""
    before, behind = text[max(0, mark.start() - 2) : mark.start()], text[mark.end() : mark.end() + 2]
    return before[-1:] == behind[:1] and "``" not in (before, behind)


def _of_channels(text: str) -> Reading:
    """The text of the last final channel."""
    ends = [final.end() for final in _FINAL.finditer(text)]
    return Reading(text[ends[-1] :].strip() or None, "ok") if ends and text[ends[-1] :].strip() else TRUNCATED
