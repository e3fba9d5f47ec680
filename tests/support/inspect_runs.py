"""Evaluations with inspect_ai, in a process of their own: `python inspect_runs.py FOLDER` prints where the logs are.

Five samples, three epochs; some of the answers fail.
"""

import json
import sys

import inspect_ai
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, accuracy, mean, scorer, stderr
from inspect_ai.solver import solver

REDUCERS = {
    "none": None,
    "all": ["mean", "mode", "median", "max", "at_least_2", "pass_at_2"],
    "mode": "mode",
    "at_least_2": "at_least_2",
}


@scorer(metrics=[accuracy(), stderr()])
def letter():
    async def score(state, target):
        place = (state.epoch * 7 + int(state.sample_id) * 3 + state.epoch * int(state.sample_id)) % 6
        return Score(value=["C", "I", "C", "P", "N", "unheard of"][place], answer="x")

    return score


@scorer(metrics=[mean(), stderr()])
def number():
    async def score(state, target):
        return Score(value=((state.epoch * 5 + int(state.sample_id) * 3) % 7) / 7)

    return score


@solver
def answers(failing):
    async def solve(state, generate):
        if [int(state.sample_id), state.epoch] in failing:
            raise ValueError("the server is gone")
        state.output = ModelOutput.from_content("m", "x")
        return state

    return solve


def evaluated(folder, reducers, failing, fail):
    task = inspect_ai.Task(
        dataset=[Sample(id=place, input=f"q{place}", target="x") for place in range(1, 6)],
        solver=answers(failing),
        scorer=[letter(), number()],
        epochs=inspect_ai.Epochs(3, reducers),
    )
    (log,) = inspect_ai.eval(task, "mockllm/model", log_dir=folder, fail_on_error=fail, display="none")
    return log.location


if __name__ == "__main__":
    some = [[1, 1], [2, 2], [3, 1], [3, 2], [3, 3]]
    places = {name: evaluated(sys.argv[1], reducers, some, False) for name, reducers in REDUCERS.items()}
    places["failed"] = evaluated(sys.argv[1], "mean", [[2, 1]], True)
    sys.stdout.write("\n" + json.dumps(places) + "\n")
