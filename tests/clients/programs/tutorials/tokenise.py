"""Tokenise in batches with two processes, drop the old columns, look at lengths."""

from datasets import Dataset, DatasetDict

words = {}


def tokenise(batch):
    ids = [[sum(map(ord, word)) % 97 for word in text.split()] for text in batch["text"]]
    return {"input_ids": ids, "attention_mask": [[1] * len(each) for each in ids]}


splits = DatasetDict(
    {
        "train": Dataset.from_dict(
            {"text": [f"row {n} " + "word " * (n % 4) for n in range(40)], "label": [0, 1] * 20}
        ),
        "test": Dataset.from_dict({"text": ["one two", "three"], "label": [1, 0]}),
    }
)
tokenised = splits.map(tokenise, batched=True, batch_size=16, remove_columns=["text"], num_proc=2, desc="tokenising")
print(tokenised)
print(tokenised["train"].features)
print(tokenised["train"][3], tokenised["test"][:])
longest = max(len(ids) for ids in tokenised["train"]["input_ids"])
print(longest, tokenised["train"].filter(lambda row: len(row["input_ids"]) == longest).num_rows)
print(tokenised.num_rows, tokenised.column_names, tokenised.shape)
