"""Concatenate all texts and cut them into blocks of one size, as language models are trained."""

from itertools import chain

from datasets import Dataset

block_size = 8


def group_texts(examples):
    joined = {key: list(chain(*examples[key])) for key in examples}
    total = len(joined["input_ids"]) // block_size * block_size
    result = {key: [values[i : i + block_size] for i in range(0, total, block_size)] for key, values in joined.items()}
    result["labels"] = result["input_ids"].copy()
    return result


dataset = Dataset.from_dict(
    {"input_ids": [list(range(n)) for n in range(1, 12)], "attention_mask": [[1] * n for n in range(1, 12)]}
)
blocks = dataset.map(group_texts, batched=True, batch_size=5)
print(blocks)
for block in blocks:
    print(block)
