"""Errors about predictions, scores and runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crucible_datasets.exceptions.base import DatasetsError, closest, listed

_ENOUGH = 4  # letters of a part: names end with a digest, so that fewer would fit by chance

_SHA256 = 64  # hexadecimal digits


def is_part_of_name(asked: str, name: str) -> bool:
    """Whether the name of a run begins or ends so, with enough letters or with a whole word between dashes."""
    if len(asked) >= _ENOUGH:
        return name.startswith(asked) or name.endswith(asked)
    return asked != "" and (name.startswith(f"{asked}-") or name.endswith(f"-{asked}"))


def shown_hash(value: object, size: int) -> str:
    """The beginning of the hash of the data, and the number of samples if it is known."""
    text = str(value)
    shown = f"{text[:12]}…" if len(text) == _SHA256 else text
    return f"{shown} ({size:,} {'sample' if size == 1 else 'samples'})" if size else shown


class RunNotFoundError(DatasetsError, KeyError, FileNotFoundError):
    """The store has no such run."""

    def message(self, run_id: object, store: str, available: Iterable[str]) -> str:
        self.run_id, self.store, self.available = run_id, store, list(available)
        asked = str(run_id)
        fitting = [name for name in self.available if is_part_of_name(asked, name)]
        if len(fitting) > 1:
            return f"{asked!r} is ambiguous in {store}: {listed(fitting, 10)}. Give more of the name."
        hint = closest(run_id, self.available)
        return f"There is no run {run_id!r} in {store}.{hint} Runs: {listed(self.available, 10)}."


class RunExistsError(DatasetsError, FileExistsError, ValueError):
    """A run of that name exists already."""

    def message(self, run_id: str, store: str, instead: str) -> str:
        self.run_id, self.store = run_id, store
        return f"Run {run_id!r} is in {store} already. {instead}"


class RunFinishedError(DatasetsError, RuntimeError):
    """A sample was added to a run that is already finished; it was not kept."""

    def message(self, run_id: str) -> str:
        self.run_id = run_id
        return f"Run {run_id!r} is finished and takes no more samples. Open another run."


class UnknownPredictionsError(DatasetsError, ValueError, KeyError):
    """There are predictions for samples that the data does not have."""

    def message(self, ids: Iterable[str], available: Sequence[str]) -> str:
        self.ids, self.available = list(ids), list(available)
        hint = closest(self.ids[0], self.available[:1000]) if self.ids else ""
        what = "1 prediction is for an id" if len(self.ids) == 1 else f"{len(self.ids)} predictions are for ids"
        numbered = all(one == str(number) for number, one in enumerate(self.available[:1000], 1))
        named = ", the numbers of its rows. If a column of it holds ids, name it: fields={'id': 'qid'}"
        ids_there = f"{listed(self.available, 5)}{named if numbered else ''}"
        return f"{what} that the data does not have: {listed(self.ids)}.{hint} Its ids are {ids_there}."


class MissingPredictionsError(DatasetsError, ValueError):
    """Samples lack a prediction, and `missing` was not specified."""

    def message(self, ids: Iterable[str], num_samples: int, at_first: bool = False) -> str:
        self.ids, self.num_samples = list(ids), num_samples
        lack = "lacks" if len(self.ids) == 1 else "lack"
        text = f"{len(self.ids)} of {num_samples} samples {lack} a prediction: {listed(self.ids)}."
        if at_first:  # the model was not asked for the rest
            text = f"The model returned no answer for sample {self.ids[0]!r} (there are {num_samples})."
        return f"{text} Pass missing='wrong' to count such samples as wrong, or missing='ignore' to leave them out."


class PredictionsError(DatasetsError, ValueError, TypeError):
    """Predictions have a form that cannot be matched with samples."""

    def message(self, problem: str) -> str:
        return f"{problem} Predictions are a list as long as the data, a dict of ids, a file, a column or a function."


class CodeExecutionRefusedError(DatasetsError, PermissionError):
    """A metric would run code that a model wrote, which the call does not allow."""

    def message(self, metric: str) -> str:
        self.metric = metric
        return (
            f"{metric} runs code that a model wrote. "
            "Pass allow_code_execution=True in this call to run it in a sandbox; "
            "no setting, environment variable or dataset can allow it."
        )


class SandboxUnavailableError(DatasetsError, RuntimeError):
    """Code cannot be isolated on this machine, so it is not run at all."""

    def message(self, needed: str) -> str:
        self.needed = needed
        return (
            f"Code was not run, because it cannot be isolated here: the sandbox needs {needed}. "
            "It needs Linux 5.12 or newer where an ordinary user may make user, process, network and mount namespaces; "
            "containers often forbid that (docker: --security-opt seccomp=unconfined)."
        )


class CodeTestsError(DatasetsError, ValueError):
    """A sample has no tests to run code against."""

    def message(self, problem: str, fields: Iterable[str] = ()) -> str:
        self.problem, self.fields = problem, list(fields)
        given = f" It has: {listed(self.fields)}." if self.fields else ""
        return (
            f"{problem}{given} Pass tests= (a function `check` with entry_point=, lines with assert, or cases of input "
            "and output), or a sample whose metadata has them."
        )


class TooFewCompletionsError(DatasetsError, ValueError):
    """pass@k was requested for fewer than k completions."""

    def message(self, n: int, k: int) -> str:
        self.n, self.k = n, k
        return f"pass@{k} of {n} completions is not defined: at least {k} are needed."


class IncomparableRunsError(DatasetsError, ValueError):
    """Two runs are not comparable: the difference of their scores would say nothing about the models."""

    def message(
        self,
        what: str,
        first: str,
        first_value: object,
        second: str,
        second_value: object,
        sizes: tuple[int, int] | None = None,
        only_metadata: bool = False,
    ) -> str:
        self.what, self.first, self.second, self.only_metadata = what, first, second, only_metadata
        self.first_value, self.second_value, self.sizes = first_value, second_value, sizes
        advice = {
            "benchmark": "Give two runs on one benchmark.",
            "samples": "Evaluate both on the same samples.",
            "dataset hash": "Evaluate both on the same version of the data.",
        }.get(what, "Score the stored outputs of both again, in the same way.")
        if sizes is not None:
            first_value, second_value = map(shown_hash, (first_value, second_value), sizes)
            advice = advice if sizes[0] == sizes[1] else "Evaluate both on the same samples."
        if only_metadata:
            advice = "Only the metadata of samples differs: ignore_metadata=True (--ignore-metadata) compares them."
        is_, that = ("are", "those") if what.endswith("s") else ("is", "that")
        return f"The {what} of {first!r} {is_} {first_value!s}, {that} of {second!r} {is_} {second_value!s}. {advice}"


class MathsWorkerError(DatasetsError, RuntimeError):
    """The process that compares formulas died."""

    def message(self, reason: str) -> str:
        self.reason = reason
        return f"The process that compares formulas was lost: {reason}"
