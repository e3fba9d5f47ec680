"""The registry of benchmarks: TOML files of this package, of installed packages, and of folders of users.

Later sources override earlier ones: this package, entry points, the folders of `CRUCIBLE_BENCHMARKS`, and the folders
passed to a call. A file may extend another by name, also one of the same name from an earlier source.
"""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from importlib.metadata import entry_points
from typing import Any, Protocol

import msgspec

from crucible_datasets import config
from crucible_datasets.exceptions import BenchmarkFileError, UnknownEntryError

Columns = dict[str, str | list[str]]


class BenchmarkEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One benchmark of the registry. It is data only: rules are referred to by name (`benchmarks.rules`)."""

    name: str
    source: str
    rule: str
    columns: Columns
    title: str = ""
    extends: str = ""
    revision: str = ""
    config: str = ""
    configs: list[str] | dict[str, list[str]] = []
    groups: str | dict[str, list[str]] = {}
    group_column: str = ""
    split: str = ""
    splits: list[str] = msgspec.field(default_factory=lambda: ["train"])
    prepare: str = ""
    prepare_columns: dict[str, str] = {}
    exclude: str = ""
    id: str = ""
    target_rule: str = ""
    metadata: list[str] = []
    overrides: dict[str, dict[str, Any]] = {}
    extract: str = ""
    metrics: list[str] = []
    domain: str = ""
    task_type: str = ""
    languages: list[str] = msgspec.field(default_factory=lambda: ["en"])
    licence: str = ""
    citation: str = ""
    size: dict[str, int] = {}
    tags: list[str] = []
    miniature: str = ""
    place: str = ""  # the path of the file

    @property
    def url(self) -> str:
        """The page of the dataset on the Hub."""
        return f"https://huggingface.co/datasets/{self.source}"

    @property
    def group_names(self) -> dict[str, list[str]]:
        """The groups of configurations by name."""
        return GROUPS[self.groups] if isinstance(self.groups, str) else self.groups

    @property
    def config_names(self) -> list[str]:
        """The configurations of the dataset, without groups of them."""
        members = [member for group in self.group_names.values() for member in group]
        return list(dict.fromkeys([*self.configs, *members]))

    @property
    def default_split(self) -> str:
        """The split that is loaded by default."""
        return self.split or self.splits[0]

    @property
    def rules(self) -> list[str]:
        """The rules, with versions, that convert rows to samples."""
        return [name for name in (self.prepare, self.rule, self.target_rule) if name]

    def splits_of(self, config: str) -> list[str]:
        """The splits of a configuration."""
        return self.configs.get(config, self.splits) if isinstance(self.configs, dict) else self.splits

    def of(self, config: str | None) -> BenchmarkEntry:
        """The entry for one configuration, with its table in `overrides` applied."""
        chosen = config or self.config or (next(iter(self.configs), "") if self.configs else "")
        known = [*self.config_names, *self.group_names]
        if chosen and chosen not in known:
            raise UnknownEntryError(f"configuration of {self.name}", chosen, known)
        return entry_of({**self.to_dict(), **self.overrides.get(chosen, {}), "config": chosen}, self.place)

    def to_dict(self) -> dict[str, Any]:
        """The fields of the file, including those of the file it extends."""
        made: dict[str, Any] = msgspec.to_builtins(self)
        return made


def entry_of(stated: dict[str, Any], file: str) -> BenchmarkEntry:
    """The entry of a TOML table; errors name the file."""
    try:
        entry = msgspec.convert({**stated, "place": file}, BenchmarkEntry)
    except msgspec.ValidationError as error:
        raise BenchmarkFileError(file, str(error)) from error
    if isinstance(entry.groups, str) and entry.groups not in GROUPS:
        raise BenchmarkFileError(file, str(UnknownEntryError("list of groups", entry.groups, GROUPS)))
    return entry


_STEM = """abstract_algebra anatomy astronomy college_biology college_chemistry college_computer_science
college_mathematics college_physics computer_security conceptual_physics electrical_engineering
elementary_mathematics high_school_biology high_school_chemistry high_school_computer_science
high_school_mathematics high_school_physics high_school_statistics machine_learning"""

_HUMANITIES = """formal_logic high_school_european_history high_school_us_history high_school_world_history
international_law jurisprudence logical_fallacies moral_disputes moral_scenarios philosophy prehistory
professional_law world_religions"""

_SOCIAL_SCIENCES = """econometrics high_school_geography high_school_government_and_politics
high_school_macroeconomics high_school_microeconomics high_school_psychology human_sexuality
professional_psychology public_relations security_studies sociology us_foreign_policy"""

_OTHER = """business_ethics clinical_knowledge college_medicine global_facts human_aging management marketing
medical_genetics miscellaneous nutrition professional_accounting professional_medicine virology"""

_BBH = """boolean_expressions causal_judgement date_understanding disambiguation_qa dyck_languages
formal_fallacies geometric_shapes hyperbaton logical_deduction_five_objects logical_deduction_seven_objects
logical_deduction_three_objects movie_recommendation multistep_arithmetic_two navigate object_counting
penguins_in_a_table reasoning_about_colored_objects ruin_names salient_translation_error_detection snarks
sports_understanding temporal_sequences tracking_shuffled_objects_five_objects
tracking_shuffled_objects_seven_objects tracking_shuffled_objects_three_objects web_of_lies word_sorting"""

# As in evaluation harnesses, 19 of the 57 subjects are STEM, including anatomy.
GROUPS: dict[str, dict[str, list[str]]] = {
    "mmlu_subjects": {
        "stem": _STEM.split(),
        "humanities": _HUMANITIES.split(),
        "social_sciences": _SOCIAL_SCIENCES.split(),
        "other": _OTHER.split(),
    },
    "bbh_tasks": {"all": _BBH.split()},
}


ENTRY_POINTS = "crucible_datasets.benchmarks"
Folders = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
Stated = Mapping[str, dict[str, Any]]  # the tables of the files of one source, by the name of the benchmark


class _Folder(Protocol):
    def iterdir(self) -> Iterator[Any]: ...


class Catalog(Mapping[str, BenchmarkEntry]):
    """All benchmarks, by short name or by repository."""

    def __init__(self, folders: Folders = None) -> None:
        self._layers = [_packaged(), _plugged(), *map(_of_folder, _stated_folders(folders))]
        self._names = sorted({name for layer in self._layers for name in layer})

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._key(name) is not None

    def __getitem__(self, name: str) -> BenchmarkEntry:
        key = self._key(name)
        if key is None:
            raise UnknownEntryError("benchmark", name, self._names)
        return self._entry(key)

    def search(self, words: str) -> list[BenchmarkEntry]:
        """The entries that contain all words in names, titles, sources, domains, tasks or tags."""
        wanted = words.lower().split()
        return [entry for entry in self.values() if all(word in _searched(entry) for word in wanted)]

    def filter(
        self,
        domain: str | None = None,
        task_type: str | None = None,
        tag: str | None = None,
        licence: str | None = None,
        language: str | None = None,
    ) -> list[BenchmarkEntry]:
        """The entries that match all given conditions."""
        asked = {"domain": domain, "task_type": task_type, "tags": tag, "licence": licence, "languages": language}
        given = {field: wanted.lower() for field, wanted in asked.items() if wanted is not None}
        return [entry for entry in self.values() if all(wanted in _of(entry, field) for field, wanted in given.items())]

    def summary(self) -> dict[str, dict[str, int]]:
        """The number of benchmarks of each domain, task and licence."""
        entries = list(self.values())
        return {
            field: dict(Counter(getattr(entry, field) or "unknown" for entry in entries).most_common())
            for field in ("domain", "task_type", "licence")
        }

    def _key(self, name: str) -> str | None:
        short = name.lower().replace("-", "_")
        if short in self._names:
            return short
        # If several benchmarks are of one repository, the one that the others extend is meant.
        of_repo = [entry for entry in self._all() if entry.source.lower() == name.lower()]
        return min(of_repo, key=lambda entry: bool(entry.extends)).name if of_repo else None

    def _all(self) -> list[BenchmarkEntry]:
        return [self._entry(name) for name in self._names]

    def _entry(self, name: str) -> BenchmarkEntry:
        stated = self._merged(name, len(self._layers), ())
        return entry_of({field: value for field, value in stated.items() if field != "place"}, stated["place"])

    def _merged(self, name: str, below: int, trail: tuple[tuple[int, str], ...]) -> dict[str, Any]:
        """The fields of a file over those of the file that it extends."""
        level = next((at for at in range(below - 1, -1, -1) if name in self._layers[at]), None)
        if level is None:
            raise BenchmarkFileError(self._place(trail), f"it extends {name!r}, which is no benchmark")
        stated = self._layers[level][name]
        if (level, name) in trail:
            raise BenchmarkFileError(stated["place"], "it extends itself by a detour")
        if not stated.get("extends"):
            return stated
        parent = stated["extends"]
        beneath = level if parent == name else len(self._layers)
        extended = self._merged(parent, beneath, (*trail, (level, name)))
        # A commit of one repository does not exist in another.
        pin = {"revision": ""} if stated.get("source", extended.get("source")) != extended.get("source") else {}
        return {**extended, **pin, **stated}

    def _place(self, trail: tuple[tuple[int, str], ...]) -> str:
        level, name = trail[-1]
        return str(self._layers[level][name]["place"])


def list_benchmarks(
    domain: str | None = None,
    task_type: str | None = None,
    tag: str | None = None,
    licence: str | None = None,
    language: str | None = None,
    *,
    folders: Folders = None,
) -> list[str]:
    """The short names of all benchmarks, or of those that match the given conditions."""
    return [entry.name for entry in Catalog(folders).filter(domain, task_type, tag, licence, language)]


def get_benchmark(name: str | os.PathLike[str], *, folders: Folders = None) -> BenchmarkEntry:
    """The entry of a benchmark, by short name, repository or TOML file."""
    if os.fspath(name).endswith(".toml"):
        stated = _read(os.path.basename(name), _text(os.fspath(name)), os.path.abspath(name))
        beside = Catalog([*_listed(folders), os.path.dirname(os.path.abspath(name))])
        return beside[stated["name"]]
    return Catalog(folders)[os.fspath(name)]


def _stated_folders(folders: Folders) -> list[str]:
    settled = [folder for folder in config.CRUCIBLE_BENCHMARKS.split(os.pathsep) if folder]
    return [os.path.abspath(os.path.expanduser(folder)) for folder in [*settled, *_listed(folders)]]


def _listed(folders: Folders) -> list[str]:
    if folders is None:
        return []
    if isinstance(folders, (str, os.PathLike)):
        return [os.fspath(folders)]
    return [os.fspath(folder) for folder in folders]


def is_bundled(entry: BenchmarkEntry) -> bool:
    """Whether the entry is an unmodified file of this package."""
    return entry.place == _packaged().get(entry.name, {}).get("place")


@cache
def _packaged() -> Stated:
    return _stated(resources.files("crucible_datasets.benchmarks.catalog").joinpath("entries"))


@cache
def _plugged() -> Stated:
    """The entries of installed packages: an entry point is a package or a path with TOML files."""
    found: dict[str, dict[str, Any]] = {}
    for point in entry_points(group=ENTRY_POINTS):
        named = point.load()
        found |= _of_folder(named) if isinstance(named, (str, os.PathLike)) else _stated(resources.files(named))
    return found


def _of_folder(folder: str | os.PathLike[str]) -> Stated:
    if not os.path.isdir(folder):
        raise BenchmarkFileError(folder, "this folder of benchmarks does not exist")
    files = sorted(name for name in os.listdir(folder) if name.endswith(".toml"))
    return _by_name((name, _text(os.path.join(folder, name)), os.path.join(folder, name)) for name in files)


def _stated(folder: _Folder) -> Stated:
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return _by_name((file.name, file.read_text("utf-8"), str(file)) for file in files)


def _by_name(files: Iterable[tuple[str, str, str]]) -> Stated:
    return {stated["name"]: stated for stated in (_read(*file) for file in files)}


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise BenchmarkFileError(path, f"it cannot be read: {error}") from error


def _read(file: str, text: str, place: str) -> dict[str, Any]:
    try:
        stated = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BenchmarkFileError(place, f"it is no TOML: {error}") from error
    name = stated.setdefault("name", file.removesuffix(".toml"))
    if not isinstance(name, str) or name != name.lower().replace("-", "_"):
        raise BenchmarkFileError(place, f"the name {name!r} must be in small letters, with _ and not -")
    return {**stated, "place": place}


def _searched(entry: BenchmarkEntry) -> str:
    return " ".join(
        [entry.name, entry.title, entry.source, entry.domain, entry.task_type, *entry.tags, *entry.metrics]
    ).lower()


def _of(entry: BenchmarkEntry, field: str) -> list[str]:
    value: str | list[str] = getattr(entry, field)
    return [value.lower()] if isinstance(value, str) else [one.lower() for one in value]
