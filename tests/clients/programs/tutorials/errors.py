"""Programs catch what goes wrong by the types that they know."""

import datasets
from datasets import Dataset, Features, Value, concatenate_datasets, load_dataset, load_from_disk

dataset = Dataset.from_dict({"a": [1, 2]})


def fail(*arguments, **options):
    raise ZeroDivisionError("mine")


attempts = {
    "column": (lambda: dataset["b"], (KeyError, ValueError)),
    "row": (lambda: dataset[5], (IndexError,)),
    "rename": (lambda: dataset.rename_column("b", "c"), (ValueError,)),
    "remove": (lambda: dataset.remove_columns("b"), (ValueError,)),
    "no folder": (lambda: load_from_disk("nowhere"), (FileNotFoundError,)),
    "no file": (lambda: load_dataset("json", data_files="none.json"), (FileNotFoundError,)),
    "no dataset": (lambda: load_dataset("./nothing"), (FileNotFoundError, ConnectionError)),
    "cast": (lambda: dataset.cast(Features({"b": Value("string")})), (ValueError,)),
    "types": (
        lambda: concatenate_datasets([dataset, Dataset.from_dict({"a": [{"x": 1}]})]),
        (ValueError, TypeError),
    ),
    "own": (lambda: dataset.map(fail), (ZeroDivisionError,)),
    "split": (lambda: dataset.train_test_split(test_size=5), (ValueError,)),
    "lengths": (lambda: Dataset.from_dict({"a": [1], "b": [1, 2]}), (Exception,)),
    "format": (lambda: dataset.with_format("spreadsheet"), (ValueError,)),
    "config": (lambda: load_dataset("json", name="x"), (Exception,)),
    "generator": (lambda: Dataset.from_generator(fail), (datasets.exceptions.DatasetGenerationError,)),
}
for name, (attempt, expected) in attempts.items():
    try:
        attempt()
    except expected as error:
        print(name, "caught", isinstance(error, expected))
    except Exception as error:
        print(name, "raised", type(error).__mro__)
    else:
        print(name, "passed")
