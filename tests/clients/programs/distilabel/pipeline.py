"""A pipeline of Distilabel, whose steps are processes and whose result is a dictionary of datasets."""

import os

os.environ["DISTILABEL_LOG_LEVEL"] = "CRITICAL"

from datasets import Dataset
from distilabel.pipeline import Pipeline
from distilabel.steps import KeepColumns, LoadDataFromDicts, StepInput, step


@step(inputs=["instruction"], outputs=["length"])
def Length(inputs: StepInput):
    for row in inputs:
        row["length"] = len(row["instruction"])
    yield inputs


given = Dataset.from_dict({"instruction": [f"say {n}" * n for n in range(5)]})
with Pipeline(name="tiny") as pipeline:
    LoadDataFromDicts(data=given.to_list(), batch_size=2) >> Length() >> KeepColumns(columns=["instruction", "length"])
made = pipeline.run(use_cache=False)
print(made["default"]["train"].to_list())
made.save_to_disk("made")
print(type(made).load_from_disk("made")["default"]["train"].features)
