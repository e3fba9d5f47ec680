"""A metric in a script beside the program: its features check what it is given, its rows are kept and read back."""

import evaluate
from datasets import Dataset, Features, Value

with open("share.py", "w") as file:
    file.write(
        """
import datasets
import evaluate


class Share(evaluate.Metric):
    def _info(self):
        return evaluate.MetricInfo(
            description="how many are equal", citation="", inputs_description="",
            features=datasets.Features({"predictions": datasets.Value("int32"), "references": datasets.Value("int32")}),
        )

    def _compute(self, predictions, references, scale=1):
        return {"share": scale * sum(p == r for p, r in zip(predictions, references)) / len(predictions)}
"""
    )
with open("overlap.py", "w") as file:
    file.write(
        """
import datasets
import evaluate


class Overlap(evaluate.Metric):
    def _info(self):
        text, texts = datasets.Value("string"), datasets.Sequence(datasets.Value("string"))
        return evaluate.MetricInfo(
            description="words in common", citation="", inputs_description="",
            features=[
                datasets.Features({"predictions": text, "references": texts}),
                datasets.Features({"predictions": text, "references": text}),
            ],
        )

    def _compute(self, predictions, references):
        pairs = zip(predictions, references)
        return {"overlap": [len(set(p.split()) & set(" ".join(r if isinstance(r, list) else [r]).split())) for p, r in pairs]}
"""
    )
share = evaluate.load("./share.py")
print(share.features, share.compute(predictions=[0, 1, 1], references=[0, 1, 0]))
for start in range(0, 6, 3):
    share.add_batch(predictions=[start, start + 1, start + 2], references=[start, 0, start + 2])
print(share.compute(scale=100))
for n in range(4):
    share.add(prediction=n, reference=n % 2)
print(len(share), share.compute())
dataset = Dataset.from_dict({"predictions": [1, 2, 3], "references": [1, 2, 4]})
print(share.compute(predictions=dataset["predictions"], references=dataset["references"]))
for batch in dataset.with_format("numpy").iter(batch_size=2):
    share.add_batch(**batch)
print(share.compute())
in_memory = evaluate.load("./share.py", keep_in_memory=True)
print(in_memory.compute(predictions=range(3), references=range(3)))
overlap = evaluate.load("./overlap.py")
print(overlap.compute(predictions=["a b", "c"], references=[["a", "b d"], ["e"]]))
print(overlap.compute(predictions=["a b", "c"], references=["b a", "c"]))
both = evaluate.combine([evaluate.load("./share.py"), evaluate.load("./share.py", keep_in_memory=True)])
print(both.compute(predictions=[1, 2], references=[1, 1]))
for wrong in ({"predictions": [1], "references": [1, 2]}, {"predictions": ["a"], "references": ["b"]}, {"other": [1]}):
    try:
        print(share.compute(**wrong))
    except (ValueError, TypeError) as error:
        print(isinstance(error, ValueError))
        share = evaluate.load("./share.py")
print(evaluate.save("results", accuracy=0.5).name.startswith("result"), Features({"a": Value("string")}))
