"""Two steps of supervised and of preference training."""

import torch
from datasets import Dataset
from tiny import gpt2, tokenizer
from transformers import PrinterCallback
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

common = {
    "output_dir": "out", "max_steps": 2, "per_device_train_batch_size": 2, "report_to": "none", "use_cpu": True, "logging_steps": 1,
    "disable_tqdm": True, "save_strategy": "no", "bf16": False, "gradient_checkpointing": False,
}  # fmt: skip
chat = Dataset.from_list(
    [
        {
            "messages": [
                {"role": "user", "content": f"what is {n} ?"},
                {"role": "assistant", "content": f"{n} is good ."},
            ]
        }
        for n in range(8)
    ]
)


def losses(trainer):
    trainer.remove_callback(PrinterCallback)
    torch.manual_seed(0)
    trainer.train()
    return [round(entry["loss"], 3) for entry in trainer.state.log_history if "loss" in entry]


for options in ({"packing": False}, {"packing": True, "packing_strategy": "wrapped", "max_length": 16}):
    trainer = SFTTrainer(
        model=gpt2(), args=SFTConfig(**common, **options), train_dataset=chat, processing_class=tokenizer()
    )
    print(trainer.train_dataset.column_names, len(trainer.train_dataset), trainer.train_dataset[0]["input_ids"])
    print(losses(trainer))
streamed = SFTTrainer(
    model=gpt2(),
    args=SFTConfig(**common),
    train_dataset=chat.to_iterable_dataset(num_shards=2),
    processing_class=tokenizer(),
)
print(losses(streamed))
preferences = Dataset.from_list(
    [{"prompt": f"the sky {n} is", "chosen": " blue .", "rejected": " red ."} for n in range(4)]
)
trainer = DPOTrainer(
    model=gpt2(), ref_model=gpt2(), args=DPOConfig(**common, precompute_ref_log_probs=True), train_dataset=preferences,
    eval_dataset=preferences.select(range(2)), processing_class=tokenizer(),
)  # fmt: skip
print(sorted(trainer.train_dataset.column_names), len(trainer.train_dataset))
print(losses(trainer))
print(round(trainer.evaluate()["eval_loss"], 3))
