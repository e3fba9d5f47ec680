"""The Trainer on a dataset that is tokenised with `map`, with collators that pad, mask and copy."""

import numpy as np
import torch
from datasets import ClassLabel, Dataset
from tiny import bert, gpt2, tokenizer
from transformers import (
    DataCollatorForLanguageModeling,
    DataCollatorWithPadding,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)

words = tokenizer(pairs=True)
common = {
    "output_dir": "out",
    "report_to": "none",
    "use_cpu": True,
    "disable_tqdm": True,
    "save_strategy": "no",
    "logging_steps": 1,
}
reviews = Dataset.from_dict(
    {
        "text": [f"the film {n} was {'good' if n % 2 else 'bad'} ." + " a" * n for n in range(12)],
        "label": [n % 2 for n in range(12)],
    }
)
reviews = reviews.cast_column("label", ClassLabel(names=["bad", "good"]))
tokenised = reviews.map(lambda batch: words(batch["text"], truncation=True), batched=True)
print(tokenised.features)
batch = DataCollatorWithPadding(words)(
    [{k: v for k, v in row.items() if k != "text"} for row in tokenised.select(range(3))]
)
print({key: tuple(value.shape) for key, value in batch.items()})
splits = tokenised.train_test_split(test_size=4, seed=0)
trainer = Trainer(
    model=bert("BertForSequenceClassification", num_labels=2),
    args=TrainingArguments(**common, max_steps=3, per_device_train_batch_size=4, eval_strategy="steps", eval_steps=2),
    train_dataset=splits["train"],
    eval_dataset=splits,
    data_collator=DataCollatorWithPadding(words),
    compute_metrics=lambda found: {"accuracy": float((np.argmax(found.predictions, -1) == found.label_ids).mean())},
)
trainer.remove_callback(PrinterCallback)
torch.manual_seed(0)
trainer.train()
for entry in trainer.state.log_history:
    print({key: round(value, 3) for key, value in entry.items() if "loss" in key or "accuracy" in key})
print(trainer.predict(splits["test"]).label_ids)
grouped = TrainingArguments(
    **common, max_steps=2, per_device_train_batch_size=4, train_sampling_strategy="group_by_length"
)
texts = tokenised.remove_columns(["text", "label"])
causal = DataCollatorForLanguageModeling(words, mlm=False)
for dataset in (texts, texts.with_format("torch"), texts.to_iterable_dataset(num_shards=2)):
    arguments = grouped if isinstance(dataset, Dataset) else TrainingArguments(**common, max_steps=2)
    trainer = Trainer(model=gpt2(), args=arguments, train_dataset=dataset, data_collator=causal)
    trainer.remove_callback(PrinterCallback)
    torch.manual_seed(0)
    print(round(trainer.train().training_loss, 3))
