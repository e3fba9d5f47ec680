"""A task over a dataset on disk, answered by Inspect's own stand-in for a model."""

from datasets import Dataset, load_dataset
from inspect_ai import Task, eval
from inspect_ai.dataset import FieldSpec, MemoryDataset, Sample, hf_dataset
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import exact
from inspect_ai.solver import generate

Dataset.from_dict({"question": ["1+1", "1+2", "2+2"], "answer": ["2", "3", "4"]}).to_json("sums/test.jsonl")
samples = hf_dataset("sums", split="test", sample_fields=FieldSpec(input="question", target="answer"), auto_id=True)
by_hand = MemoryDataset(
    [
        Sample(input=row["question"], target=row["answer"], id=n)
        for n, row in enumerate(load_dataset("sums", split="test"))
    ]
)
for data in (samples, by_hand):
    answers = [ModelOutput.from_content("mockllm/model", text) for text in ("2", "3", "5")]
    model = get_model("mockllm/model", custom_outputs=answers, memoize=False)
    (log,) = eval(
        Task(dataset=data, solver=generate(), scorer=exact()),
        model=model,
        display="none",
        log_dir="logs",
        max_samples=1,
    )
    print(
        log.status,
        [(s.id, s.input, s.target, [score.value for score in (s.scores or {}).values()]) for s in log.samples],
    )
    print(
        log.error.message
        if log.error
        else {name: round(metric.value, 3) for name, metric in log.results.scores[0].metrics.items()}
    )
