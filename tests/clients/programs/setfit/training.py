"""SetFit from eight examples of each class."""

import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer
from setfit import SetFitModel, Trainer, TrainingArguments, get_templated_dataset, sample_dataset
from sklearn.linear_model import LogisticRegression
from tiny import bert, tokenizer
from transformers import PrinterCallback, ProgressCallback

bert().save_pretrained("encoder")
tokenizer(pairs=True).save_pretrained("encoder")
reviews = Dataset.from_dict(
    {
        "sentence": [f"the film {n} was {'good' if n % 2 else 'bad'}" for n in range(20)],
        "target": [n % 2 for n in range(20)],
    }
)
few = sample_dataset(reviews, label_column="target", num_samples=4, seed=1)
print(few, few["sentence"][:])
print(get_templated_dataset(candidate_labels=["good", "bad"], sample_size=2)[:])
torch.manual_seed(0)
encoder = Transformer("encoder")
body = SentenceTransformer(modules=[encoder, Pooling(encoder.get_embedding_dimension())], device="cpu")
trainer = Trainer(
    model=SetFitModel(model_body=body, model_head=LogisticRegression()),
    args=TrainingArguments(
        output_dir="out",
        batch_size=4,
        num_iterations=1,
        num_epochs=1,
        report_to="none",
        save_strategy="no",
        show_progress_bar=False,
    ),
    train_dataset=few,
    eval_dataset=reviews,
    metric=lambda found, true: {
        "accuracy": sum(int(f) == int(t) for f, t in zip(found, true, strict=True)) / len(true)
    },
    column_mapping={"sentence": "text", "target": "label"},
)
for callback in (PrinterCallback, ProgressCallback):
    trainer.remove_callback(callback)
trainer.train()
print({key: round(value, 2) for key, value in trainer.evaluate().items()})
print([int(label) for label in trainer.model.predict(["the film was good", "the film was bad"])])
