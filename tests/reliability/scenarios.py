"""Things that write, and what must hold around them whatever happens in between.

`prepare` lays out the state before, `act` writes, `state` says what a reader sees afterwards:
"old", "new" or something that must not be.
"""

import os
from contextlib import suppress
from pathlib import Path

from crucible_datasets.atomic import atomic_file, atomic_folder, folders, seen_whole
from crucible_datasets.cache import Cache, Parts
from crucible_datasets.evaluation import EvaluationResult, ResultStore, RunInfo, SampleResult
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.exceptions import RunFinishedError

PARTS = {"a.bin": b"a" * 40_000, "b.bin": b"b" * 3, "deep/c.bin": b"c" * 9_000}
OLD = {"a.bin": b"old", "gone.bin": b"old", "notes.txt": b"of the user"}
NEW = {**PARTS, "notes.txt": b"of the user"}


def write(folder, files):
    for name, content in files.items():
        path = Path(folder, name)
        path.parent.mkdir(exist_ok=True, parents=True)
        with open(path, "wb", buffering=8192) as file:
            file.writelines(content[start : start + 10_000] for start in range(0, len(content), 10_000))


def files_in(folder):
    paths = (path for path in Path(folder).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if "~" not in str(path)}


class NewEntry:
    """An entry that is not there yet."""

    old = "absent"

    def prepare(self, root):
        pass

    def act(self, root):
        Cache(root).made("key", lambda folder: write(folder, PARTS), {"kind": "trial"})

    def state(self, root):
        cache = Cache(root)
        folder = cache.find("key")
        assert cache.verify() == [] or folder is None
        if folder is None:
            return "absent"
        found = files_in(folder)
        found.pop("manifest.json")
        return "new" if found == PARTS else found


class DamagedEntry(NewEntry):
    """An entry that is there, but one of its files was cut short."""

    def prepare(self, root):
        self.act(root)
        os.truncate(os.path.join(root, "key", "a.bin"), 100)


class EntryInParts(NewEntry):
    """An entry that is made in parts, of which an earlier maker finished one."""

    def prepare(self, root):
        with suppress(KeyError):
            Cache(root).resumable("key", lambda folder: self.make(folder, stop=True))

    def act(self, root):
        Cache(root).resumable("key", self.make, {"kind": "trial"})

    def make(self, folder, stop=False):
        parts = Parts(folder)
        for name, content in PARTS.items():
            if parts.found(name.replace("/", "-")) is None:
                write(folder, {name: content})
                parts.finish(name.replace("/", "-"), [name], {})
            if stop:
                raise KeyError

    def state(self, root):
        found = super().state(root)
        if isinstance(found, dict):
            found = {name: content for name, content in found.items() if not name.endswith(".json")}
        return "new" if found == PARTS else found


class NewFile:
    """A file that is not there yet."""

    old = "absent"

    def prepare(self, root):
        pass

    def act(self, root):
        with atomic_file(os.path.join(root, "file")) as beside, open(beside, "wb") as file:
            file.writelines(PARTS["a.bin"] for _ in range(4))

    def state(self, root):
        path = Path(root, "file")
        content = path.read_bytes() if path.exists() else None
        return {None: "absent", b"old": "old", PARTS["a.bin"] * 4: "new"}.get(content, content)


class ReplacedFile(NewFile):
    """A file that takes the place of another."""

    old = "old"

    def prepare(self, root):
        Path(root, "file").write_bytes(b"old")


class NewFolder:
    """A folder that is not there yet."""

    old = "absent"

    def prepare(self, root):
        pass

    def act(self, root):
        with atomic_folder(os.path.join(root, "folder"), OLD.__contains__) as beside:
            write(beside, NEW)

    def state(self, root):
        found = seen_whole(os.path.join(root, "folder"), lambda: files_in(os.path.join(root, "folder")))
        if found == {}:
            return "absent"
        return "old" if found == OLD else "new" if found == NEW else found


class ReplacedFolder(NewFolder):
    """A folder that takes the place of another, in which the user keeps a file."""

    old = "old"

    def prepare(self, root):
        write(os.path.join(root, "folder"), OLD)

    def act(self, root):
        with atomic_folder(os.path.join(root, "folder"), {"gone.bin"}.__contains__) as beside:
            write(beside, PARTS)


class FolderInTwoSteps(ReplacedFolder):
    """The same where the system cannot exchange two names."""

    def act(self, root):
        folders._exchange = lambda one, other: False
        super().act(root)


class FolderThatStays(ReplacedFolder):
    """The same for the current folder, which must not be renamed."""

    def act(self, root):
        os.chdir(os.path.join(root, "folder"))
        try:
            super().act(root)
        finally:
            with suppress(OSError):
                os.chdir("/")

    def state(self, root):
        found = super().state(root)
        # A file that the new folder replaces by nothing may outlive a crash.
        return "new" if found == {**NEW, "gone.bin": b"old"} else found


def sample(number):
    return SampleResult(str(number), "text " * 2000 + str(number), "text", {"own@1": Outcome(float(number % 2))})


class SavedRun:
    """The run of an evaluation, saved as a whole."""

    old = "absent"

    def prepare(self, root):
        pass

    def act(self, root):
        if "run" not in ResultStore(root):
            info = RunInfo(run_id="run", model="m", dataset="d", metrics=["own@1"])
            ResultStore(root).save(EvaluationResult(info, list(map(sample, range(6))), {}))

    def state(self, root):
        store = ResultStore(root)
        if "run" not in store:
            return "absent"
        found = list(store.load("run").samples)
        return "new" if found == list(map(sample, range(6))) else found


class ContinuedRun(SavedRun):
    """A run under way that is continued and finished; what was acknowledged before is never lost."""

    old = "old"

    def prepare(self, root):
        with self.opened(root) as run:
            run.append(*map(sample, range(3)))

    def opened(self, root):
        return ResultStore(root).open_run(run_id="run", model="m", dataset="d", metrics=["own@1"], resume=True)

    def act(self, root):
        with suppress(RunFinishedError):
            if "run" not in ResultStore(root):
                with self.opened(root) as run:
                    for number in range(6):
                        if str(number) not in run.done():
                            run.append(sample(number))
                    run.finish()
            return
        ResultStore(root).load("run")

    def state(self, root):
        found = super().state(root)
        if found == "absent":
            kept = list(ResultStore(root).load("run").samples)
            return "old" if kept[:3] == list(map(sample, range(3))) else kept
        return found


class RunUnderWay(ContinuedRun):
    """A run that goes on and does not end: what was acknowledged is in the journals and nowhere else."""

    def act(self, root):
        with self.opened(root) as run:
            for number in range(6):
                if str(number) not in run.done():
                    run.append(sample(number))

    def state(self, root):
        kept = list(ResultStore(root).load("run").samples)
        return "new" if kept == list(map(sample, range(6))) else super().state(root)


SCENARIOS = {
    kind.__name__: kind
    for kind in (
        NewEntry, DamagedEntry, EntryInParts, NewFile, ReplacedFile, NewFolder, ReplacedFolder, FolderInTwoSteps, FolderThatStays,
        SavedRun, ContinuedRun,
    )
}  # fmt: skip
