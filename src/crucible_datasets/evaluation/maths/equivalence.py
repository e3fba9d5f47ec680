r"""Equality of answers, under one of three named rules.

    VERIFY     numbers and words here, all else by math-verify: 1/2 is 0.5, (x+1)^2 is x^2+2x+1
    HENDRYCKS  equal as text after the clean-up of the MATH benchmark's authors
    MINERVA    equal as text after Minerva's clean-up, or with a difference that simplifies to nothing

They are not symmetric: (1,2) equals the target 1<x<2, but not the reverse.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from crucible_datasets.evaluation.maths import workers
from crucible_datasets.evaluation.maths.forms import answer_in, for_math_verify
from crucible_datasets.evaluation.maths.judgement import DIFFERENT, EQUAL, Judgement
from crucible_datasets.evaluation.maths.plain import same_plainly
from crucible_datasets.evaluation.rules.hendrycks import strip_string
from crucible_datasets.evaluation.rules.minerva import normalize_final_answer


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
    read = answer_in(answer)
    same = same_plainly(answer_in(target), read)
    if same is None:
        return None
    if read == answer:
        return EQUAL if same else DIFFERENT
    return Judgement(same, read=read)


def _verified(target: str, answer: str, seconds: float) -> Judgement:
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


VERIFY: Final = Equivalence(_plainly, _verified)
HENDRYCKS: Final = Equivalence(_cleaned, lambda *_: DIFFERENT)
MINERVA: Final = Equivalence(_cleaned_as_minerva, _without_difference)
