"""Results in memory, with the interface of a store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from crucible_datasets.evaluation import EvaluationResult
from crucible_datasets.exceptions import RunNotFoundError


@dataclass(frozen=True)
class MemoryStore:
    """The part of the interface of a store that pages use, for results in memory."""

    results: tuple[EvaluationResult, ...]
    path: str = "in memory"

    @classmethod
    def of(cls, *results: EvaluationResult) -> MemoryStore:
        """Results under run ids, as in a store."""
        return cls(tuple(_named(result) for result in results))

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[str]:
        return (result.info.run_id for result in self.results)

    def list(self) -> list[Any]:
        """The runs, as a store lists them."""
        return list(self.results)

    def load(self, run_id: str) -> Any:
        for result in self.results:
            if result.info.run_id == run_id:
                return result
        raise RunNotFoundError(run_id, self.path, self)


def _named(result: EvaluationResult) -> EvaluationResult:
    name = re.sub(r"[^\w.-]+", "-", result.info.run_id)[:100]
    return EvaluationResult(replace(result.info, run_id=name), result.samples, result.summary)
