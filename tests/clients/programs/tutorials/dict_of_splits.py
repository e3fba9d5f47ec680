"""What tutorials do with all splits at once."""

from datasets import Dataset, DatasetDict, Value

squad = Dataset.from_list(
    [
        {
            "id": str(n),
            "context": f"Paris has {n} bridges.",
            "question": "How many?",
            "answers": {"text": [str(n)], "answer_start": [10]},
        }
        for n in range(10)
    ]
)
splits = squad.train_test_split(0.3, seed=1)
splits["validation"] = splits.pop("test")
print(splits)
print(splits["train"].features)
flat = splits.flatten()
print(flat.column_names)
flat = flat.rename_column("answers.text", "answer").remove_columns(["answers.answer_start"])
print(flat["train"][0])
print(splits.rename_columns({"context": "passage"}).column_names)
print(splits.select_columns(["id"])["validation"]["id"][:])
print(splits.cast_column("id", Value("int64"))["train"].features["id"])
print(splits.filter(lambda row: int(row["id"]) > 4).num_rows, splits.sort("id")["train"]["id"][:])
print(splits.shuffle(seed=3)["train"]["id"][:], list(splits.keys()), "train" in splits)
print(splits.with_format("numpy")["train"][0]["id"], splits.unique("question"))
nested = DatasetDict(train=squad.select(range(2)), test=squad.select([5]))
print(nested.map(lambda row, index: {"index": index}, with_indices=True)["train"].to_list())
