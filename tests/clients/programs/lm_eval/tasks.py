"""Tasks written in YAML, over files beside them, evaluated with a model that answers by hash."""

import hashlib
import json
import logging
import os

from datasets import Dataset
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

logging.disable(logging.WARNING)


class Hashing(LM):
    """Always the same answer to the same question."""

    def loglikelihood(self, requests):
        return [(-(hashlib.md5("".join(r.args).encode()).digest()[0] % 50) / 10.0, False) for r in requests]

    def loglikelihood_rolling(self, requests):
        return [-float(len(r.args[0])) for r in requests]

    def generate_until(self, requests):
        return [str(r.args[0].count("o")) for r in requests]


os.makedirs("tasks")
Dataset.from_list(
    [{"question": f"How good is {n}?", "choices": ["good", "so so", "bad"], "label": n % 3} for n in range(12)]
).train_test_split(test_size=8, seed=1).save_to_disk("on_disk")
with open("sums.jsonl", "w") as file:
    file.writelines(json.dumps({"q": f"{'o' * n} how many o? {n} ", "a": str(n)}) + "\n" for n in range(6))
with open("tasks/choice.yaml", "w") as file:
    file.write(
        f"""
task: tiny_choice
dataset_path: arrow
dataset_kwargs:
  data_files:
    train: {os.path.abspath("on_disk/train")}/*.arrow
    validation: {os.path.abspath("on_disk/test")}/*.arrow
training_split: train
validation_split: validation
fewshot_split: train
num_fewshot: 2
output_type: multiple_choice
doc_to_text: "Q: {{{{question}}}}\\nA:"
doc_to_choice: "{{{{choices}}}}"
doc_to_target: label
metric_list:
  - metric: acc
  - metric: acc_norm
"""
    )
with open("tasks/preparation.py", "w") as file:
    file.write(
        "def process(dataset):\n    return dataset.filter(lambda row: row['a'] != '3').map(lambda row: {'target': row['a']})\n"
    )
with open("tasks/generation.yaml", "w") as file:
    file.write(
        f"""
task: tiny_generation
dataset_path: json
dataset_kwargs:
  data_files:
    test: {os.path.abspath("sums.jsonl")}
test_split: test
process_docs: !function preparation.process
output_type: generate_until
doc_to_text: "{{{{q}}}}"
doc_to_target: "{{{{target}}}}"
generation_kwargs:
  until: ["\\n"]
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
"""
    )
with open("tasks/perplexity.yaml", "w") as file:
    file.write(
        f"""
task: tiny_perplexity
dataset_path: json
dataset_kwargs:
  data_files: {{test: {os.path.abspath("sums.jsonl")}}}
test_split: test
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: "{{{{q}}}}"
metric_list:
  - metric: word_perplexity
  - metric: bits_per_byte
"""
    )
names = ["tiny_choice", "tiny_generation", "tiny_perplexity"]
manager = TaskManager(include_path="tasks", include_defaults=False)
found = simple_evaluate(model=Hashing(), tasks=names, task_manager=manager, bootstrap_iters=0, log_samples=True)
for name in names:
    numbers = {key: round(value, 4) for key, value in found["results"][name].items() if isinstance(value, float)}
    print(name, numbers, found["n-samples"][name])
    for sample in found["samples"][name][:3]:
        print(sample["doc"], sample["target"], sample["arguments"], sample["filtered_resps"])
limited = simple_evaluate(
    model=Hashing(), tasks=["tiny_choice"], num_fewshot=1, limit=3, task_manager=manager, bootstrap_iters=0
)
print(limited["results"]["tiny_choice"]["acc,none"], limited["n-samples"])
