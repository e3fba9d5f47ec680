"""An evaluation as people write it by hand: prompts with examples, answers, a score, a table of errors."""

import re

from datasets import Dataset, DatasetDict

questions = [f"Ann has {n} apples and buys {n + 2}. How many?" for n in range(8)]
answers = [f"She has {n} + {n + 2} = {2 * n + 2}.\n#### {2 * n + 2}" for n in range(8)]
gsm = DatasetDict(
    train=Dataset.from_dict({"question": questions[:3], "answer": answers[:3]}),
    test=Dataset.from_dict({"question": questions[3:], "answer": answers[3:]}),
)
shots = "\n\n".join(f"Q: {row['question']}\nA: {row['answer']}" for row in gsm["train"].select(range(2)))


def prompt(row):
    return {"prompt": f"{shots}\n\nQ: {row['question']}\nA:", "target": re.search(r"#### (\d+)", row["answer"])[1]}


def answer(batch):
    found = [re.findall(r"\d+", p.rsplit("Q:", 1)[1]) for p in batch["prompt"]]
    return {"prediction": [str(sum(map(int, each)) + (each[0] == "5")) for each in found]}


test = gsm["test"].map(prompt).map(answer, batched=True, batch_size=2)
test = test.map(lambda prediction, target: {"correct": prediction == target}, input_columns=["prediction", "target"])
print(test.column_names, test["prediction"][:])
print(sum(test["correct"]) / len(test))
wrong = test.filter(lambda correct: not correct, input_columns="correct")
print(wrong.remove_columns(["prompt", "answer"]).to_list())
print(test.to_pandas()["correct"].mean(), test[0]["prompt"][-60:])
