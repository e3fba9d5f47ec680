r"""Equality of answers, under one of three named rules.

    VERIFY     version 2: numbers and words here, all else by math-verify: 1/2 is 0.5, (x+1)^2 is x^2+2x+1
    HENDRYCKS  equal as text after the clean-up of the MATH benchmark's authors
    MINERVA    equal as text after Minerva's clean-up, or with a difference that simplifies to nothing

They are not symmetric: (1,2) equals the target 1<x<2, but not the reverse.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from crucible_datasets.evaluation.maths import workers
from crucible_datasets.evaluation.maths.forms import answer_in, for_math_verify, plain_answer
from crucible_datasets.evaluation.maths.judgement import DIFFERENT, EQUAL, Judgement
from crucible_datasets.evaluation.maths.plain import same_plainly
from crucible_datasets.evaluation.rules.hendrycks import strip_string
from crucible_datasets.evaluation.rules.minerva import normalize_final_answer

_LETTER = re.compile("[A-Z]")


@dataclass(frozen=True)
class Equivalence:
    """A rule: a fast function, which returns None if it cannot decide, and the request to a worker for that case."""

    plainly: Callable[[str, str], Judgement | None]
    formally: Callable[[str, str, float], Judgement]

    def judge(self, target: str, answer: str, seconds: float = workers.SECONDS) -> Judgement:
        """Whether `answer` is `target`."""
        return self.plainly(target, answer) or self.formally(target, answer, seconds)

    def judge_many(
        self, pairs: Sequence[tuple[str, str]], seconds: float = workers.SECONDS, num_workers: int | None = None
    ) -> list[Judgement]:
        """Judge many pairs of target and answer, each distinct pair once, formulas by several workers."""
        said = {pair: self.plainly(*pair) for pair in dict.fromkeys(pairs)}
        others = [pair for pair, judgement in said.items() if judgement is None]
        if others:
            with ThreadPoolExecutor(min(num_workers or os.cpu_count() or 1, len(others))) as pool:
                said.update(
                    zip(others, pool.map(lambda pair: self.formally(pair[0], pair[1], seconds), others), strict=True)
                )
        return [judgement for pair in pairs if (judgement := said[pair]) is not None]


def _plainly(target: str, answer: str) -> Judgement | None:
    read, gold = plain_answer(answer), plain_answer(target)
    if _LETTER.fullmatch(gold):  # of a choice; as a formula it would be a variable
        return Judgement(read == gold, read=read) if _LETTER.fullmatch(read) else _judged_plainly(gold, read, answer)
    return _judged_plainly(gold, read, answer)


def _plainly_1(target: str, answer: str) -> Judgement | None:
    read = answer_in(answer)
    return _judged_plainly(answer_in(target), read, answer)


def _judged_plainly(gold: str, read: str, answer: str) -> Judgement | None:
    same = same_plainly(gold, read)
    if same is None:
        return None
    if read == answer:
        return EQUAL if same else DIFFERENT
    return Judgement(same, read=read)


def _verified(target: str, answer: str, seconds: float) -> Judgement:
    return _verified_1(plain_answer(target), _without_inner_stop(answer), seconds)


def _without_inner_stop(answer: str) -> str:
    r"""A text whose only answer is in a box, as that answer; else the text, in which math-verify looks for formulas."""
    return plain_answer(answer) if "boxed" in answer or "fbox" in answer else answer


def _verified_1(target: str, answer: str, seconds: float) -> Judgement:
    return workers.judge(for_math_verify(target), for_math_verify(answer), "verify", seconds)


def _cleaned(target: str, answer: str) -> Judgement:
    read = strip_string(answer_in(answer))
    return Judgement(strip_string(answer_in(target)) == read, read=read)


def _cleaned_as_minerva(target: str, answer: str) -> Judgement | None:
    read = normalize_final_answer(answer)
    return Judgement(True, read=read) if normalize_final_answer(target) == read else None


def _without_difference(target: str, answer: str, seconds: float) -> Judgement:
    gold, read = normalize_final_answer(target), normalize_final_answer(answer)
    said = workers.judge(f"${gold}$", f"${read}$", "minerva", seconds)
    return Judgement(said.equal, "ok" if said.status == "unparsed" else said.status, read, said.note)


VERIFY_1: Final = Equivalence(_plainly_1, _verified_1)
VERIFY: Final = Equivalence(_plainly, _verified)
HENDRYCKS: Final = Equivalence(_cleaned, lambda *_: DIFFERENT)
MINERVA: Final = Equivalence(_cleaned_as_minerva, _without_difference)
