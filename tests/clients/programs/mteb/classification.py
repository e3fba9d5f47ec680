"""A task of MTEB over a dataset of one's own, with an encoder that counts words."""

import mteb
import numpy as np
from datasets import Dataset
from mteb.abstasks import AbsTaskClassification
from mteb.abstasks.task_metadata import TaskMetadata

about = {
    "description": "films", "reference": "https://example.org", "type": "Classification", "category": "t2c", "modalities": ["text"],
    "eval_splits": ["test"], "eval_langs": ["eng-Latn"], "main_score": "accuracy", "date": ("2020-01-01", "2020-02-01"),
    "domains": ["Reviews"], "task_subtypes": [], "license": "mit", "annotations_creators": "derived", "dialect": [],
    "sample_creation": "found", "bibtex_citation": "",
}  # fmt: skip


class Films(AbsTaskClassification):
    metadata = TaskMetadata(name="Films", dataset={"path": "tiny/films", "revision": "1" * 40}, **about)
    n_experiments = 2
    samples_per_label = 4

    def load_data(self, **options):
        texts = [f"the film {n} was {'good' if n % 2 else 'bad'}" for n in range(40)]
        films = Dataset.from_dict({"text": texts, "label": [n % 2 for n in range(40)]})
        self.dataset = films.train_test_split(0.5, seed=1)
        self.data_loaded = True


class Counting:
    mteb_model_meta = None

    def encode(self, inputs, **options):
        texts = [text for batch in inputs for text in batch["text"]]
        return np.array(
            [np.bincount([sum(map(ord, word)) % 8 for word in text.split()], minlength=8) for text in texts]
        )

    def similarity(self, left, right):
        return left @ right.T

    def similarity_pairwise(self, left, right):
        return (left * right).sum(1)


for result in mteb.evaluate(Counting(), Films(), cache=None, co2_tracker=False).task_results:
    print(result.task_name, round(result.get_score(), 4))
print(Films().calculate_descriptive_statistics()["test"]["num_samples"])
