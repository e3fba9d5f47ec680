"""Datasets that are saved and exported, as scenarios: what a reader sees is all of the old rows or all of the new."""

import os

from crucible_datasets import Dataset, DatasetDict, load_from_disk
from crucible_datasets.exceptions import FileNotFoundDatasetsError
from crucible_datasets.formats.base import FORMATS

OLD = {"n": [1, 2], "text": ["old", "older"]}
NEW = {"n": list(range(300)), "text": [f"new {number} " * 20 for number in range(300)]}


def named(rows):
    return "old" if rows == OLD else "new" if rows == NEW else rows


class SavedDataset:
    """A saved dataset that another takes the place of."""

    old = "old"

    def prepare(self, root):
        Dataset.from_dict(OLD).save_to_disk(os.path.join(root, "saved"))

    def act(self, root):
        Dataset.from_dict(NEW).save_to_disk(os.path.join(root, "saved"), num_shards=2)

    def state(self, root):
        return named(load_from_disk(os.path.join(root, "saved"), keep_in_memory=True).to_dict())


class NewSavedDataset(SavedDataset):
    """A dataset that is saved where there is nothing, not even the folder around it."""

    old = "absent"

    def prepare(self, root):
        pass

    def act(self, root):
        Dataset.from_dict(NEW).save_to_disk(os.path.join(root, "new", "saved"))

    def state(self, root):
        try:
            return named(load_from_disk(os.path.join(root, "new", "saved"), keep_in_memory=True).to_dict())
        except FileNotFoundDatasetsError:
            return "absent"


class SavedBesideOthers(NewSavedDataset):
    """A dataset that is saved to a folder in which the user keeps something else."""

    def prepare(self, root):
        os.makedirs(os.path.join(root, "new", "saved"))
        with open(os.path.join(root, "new", "saved", "notes.txt"), "w") as notes:
            notes.write("of the user")


class SavedSplits(SavedDataset):
    """Saved splits that others take the place of, all at once."""

    def prepare(self, root):
        DatasetDict({"a": Dataset.from_dict(OLD), "b": Dataset.from_dict(OLD)}).save_to_disk(
            os.path.join(root, "saved")
        )

    def act(self, root):
        DatasetDict({"a": Dataset.from_dict(NEW), "b": Dataset.from_dict(NEW)}).save_to_disk(
            os.path.join(root, "saved")
        )

    def state(self, root):
        splits = load_from_disk(os.path.join(root, "saved"), keep_in_memory=True)
        seen = {named(rows.to_dict()) for rows in splits.values()}
        return seen.pop() if len(seen) == 1 and set(splits) == {"a", "b"} else seen


def export(kind, **options):
    """A file of a format that another takes the place of."""

    class Export:
        old = "old"

        def prepare(self, root):
            self.write(OLD, root)

        def act(self, root):
            self.write(NEW, root)

        def write(self, rows, root):
            getattr(Dataset.from_dict(rows), f"to_{kind}")(os.path.join(root, "file"), **options)

        def state(self, root):
            with open(os.path.join(root, "file"), "rb") as stream:
                rows = [row for table in FORMATS[kind].rows(stream) for row in table.to_pylist()]
            return named({name: [row[name] for row in rows] for name in OLD})

    return Export


class Appended(export("json", mode="a")):
    """Rows that are written after others."""

    def prepare(self, root):
        self.write(OLD, root)

    def act(self, root):
        path = os.path.join(root, "file")
        if os.path.getsize(path) < 1000:
            self.write(NEW, root)

    def state(self, root):
        with open(os.path.join(root, "file"), "rb") as stream:
            rows = [row for table in FORMATS["json"].rows(stream) for row in table.to_pylist()]
        found = {name: [row[name] for row in rows] for name in OLD}
        both = {name: OLD[name] + NEW[name] for name in OLD}
        return "new" if found == both else named(found) if found == OLD else found


class Unforced(export("json")):
    """What must not be, so that it is known to be found: a rename without the bytes."""

    def act(self, root):
        path = os.path.join(root, "file")
        with open(f"{path}.new", "wb") as stream:
            Dataset.from_dict(NEW).to_json(stream)
        os.replace(f"{path}.new", path)


EXPORTS = {
    "SavedDataset": SavedDataset,
    "NewSavedDataset": NewSavedDataset,
    "SavedBesideOthers": SavedBesideOthers,
    "SavedSplits": SavedSplits,
    "Parquet": export("parquet"),
    "Json": export("json"),
    "Csv": export("csv"),
    "Arrow": export("arrow"),
    "Appended": Appended,
    "Unforced": Unforced,
}
