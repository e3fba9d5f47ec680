"""Training, sampling and judging of sentence embeddings on pairs, triplets and scores, also of several datasets at once."""

import torch
from datasets import Dataset, DatasetDict
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
    losses,
)
from sentence_transformers.evaluation import (
    EmbeddingSimilarityEvaluator,
    InformationRetrievalEvaluator,
    TripletEvaluator,
)
from sentence_transformers.models import Pooling, Transformer
from sentence_transformers.training_args import BatchSamplers, MultiDatasetBatchSamplers
from sentence_transformers.util import mine_hard_negatives
from tiny import bert, tokenizer
from transformers import PrinterCallback

bert().save_pretrained("encoder")
tokenizer(pairs=True).save_pretrained("encoder")
words = ["cat", "dog", "sky", "sea", "film"]


def model():
    torch.manual_seed(0)
    encoder = Transformer("encoder")
    return SentenceTransformer(modules=[encoder, Pooling(encoder.get_embedding_dimension())], device="cpu")


pairs = Dataset.from_dict(
    {"anchor": [f"the {w} is" for w in words * 3], "positive": [f"a {w} was {n}" for n, w in enumerate(words * 3)]}
)
scores = Dataset.from_dict({"a": pairs["anchor"], "b": pairs["positive"], "score": [n / 15 for n in range(15)]})
triplets = pairs.add_column("negative", pairs["positive"][::-1])
common = {
    "output_dir": "out",
    "max_steps": 3,
    "per_device_train_batch_size": 4,
    "report_to": "none",
    "use_cpu": True,
    "disable_tqdm": True,
    "logging_steps": 1,
    "save_strategy": "no",
}


def history(trainer):
    trainer.remove_callback(PrinterCallback)
    torch.manual_seed(0)
    trainer.train()
    kept = ("loss", "eval_loss", "eval_scores_loss", "eval_pairs_loss", "eval_cosine_accuracy")
    return [{k: round(e[k], 3) for k in kept if k in e} for e in trainer.state.log_history]


for sampler in (BatchSamplers.BATCH_SAMPLER, BatchSamplers.NO_DUPLICATES):
    made = model()
    trainer = SentenceTransformerTrainer(
        model=made,
        args=SentenceTransformerTrainingArguments(**common, batch_sampler=sampler, eval_strategy="steps", eval_steps=3),
        train_dataset=triplets,
        eval_dataset=triplets.select(range(4)),
        loss=losses.MultipleNegativesRankingLoss(made),
        evaluator=TripletEvaluator(triplets["anchor"], triplets["positive"], triplets["negative"]),
    )
    print(sampler, history(trainer))
made = model()
several = DatasetDict(pairs=pairs, scores=scores)
trainer = SentenceTransformerTrainer(
    model=made,
    args=SentenceTransformerTrainingArguments(
        **common,
        multi_dataset_batch_sampler=MultiDatasetBatchSamplers.ROUND_ROBIN,
        prompts={"pairs": {"anchor": "say "}},
    ),
    train_dataset=several,
    eval_dataset=several,
    loss={"pairs": losses.MultipleNegativesRankingLoss(made), "scores": losses.CosineSimilarityLoss(made)},
)
print(history(trainer), {k: round(v, 3) for k, v in trainer.evaluate().items() if k.endswith("loss")})
print(list(next(iter(trainer.get_train_dataloader()))))
made = model()
print(made.encode(pairs["anchor"][:3]).shape, made.encode(pairs["anchor"]).shape)
print(
    {k: round(v, 2) for k, v in EmbeddingSimilarityEvaluator(scores["a"], scores["b"], scores["score"])(made).items()}
)
corpus, queries = ({str(n): text for n, text in enumerate(pairs.unique(name))} for name in ("positive", "anchor"))
relevant = {key: {key} for key in queries}
print(sorted(InformationRetrievalEvaluator(queries, corpus, relevant)(made))[:3])
mined = mine_hard_negatives(pairs, made, num_negatives=2, range_max=6, sampling_strategy="top", verbose=False)
print(mined.column_names, len(mined) > 0, made.model_card_data.infer_datasets(pairs) is not None)
