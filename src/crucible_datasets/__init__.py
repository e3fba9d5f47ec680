"""Crucible Datasets: load, reshape, split and score datasets for language models.

Names are loaded when they are first used (PEP 562), so importing the package costs
milliseconds and brings in no other library.
"""

from importlib import import_module as _import_module

__version__ = "0.1.0"

# Modules of Hugging Face `datasets` that are only forwarded have files of their own: see `dropin/datasets/__init__.py`.
__path__.append(f"{__path__[0]}/dropin/datasets")

_HOMES = {
    "arrow_dataset": ("Column", "Dataset"),
    "benchmarks": ("FieldMapping", "decontaminate", "list_benchmarks", "load_benchmark", "load_samples", "overlap"),
    "builder": ("ArrowBasedBuilder", "BuilderConfig", "DatasetBuilder", "GeneratorBasedBuilder"),
    "combine": ("concatenate_datasets", "interleave_datasets"),
    "dataset_dict": ("DatasetDict",),
    "download": ("DownloadConfig", "DownloadManager", "StreamingDownloadManager"),
    "evaluation": ("ResultStore", "compare", "evaluate", "evaluate_many"),
    "executors.ray": ("RayExecutor",),
    "features": (
        "Array2D",
        "Array3D",
        "Array4D",
        "Array5D",
        "Audio",
        "BioSequence",
        "BioStructure",
        "ClassLabel",
        "Features",
        "Image",
        "Json",
        "LargeList",
        "List",
        "Mesh",
        "Nifti",
        "Pdf",
        "Sequence",
        "Translation",
        "TranslationVariableLanguages",
        "Value",
        "Video",
    ),
    "fingerprint": ("disable_caching", "enable_caching", "is_caching_enabled"),
    "info": ("DatasetInfo",),
    "iterable_dataset": ("IterableColumn", "IterableDataset"),
    "iterable_dataset_dict": ("IterableDatasetDict",),
    "load": (
        "get_dataset_config_info",
        "get_dataset_config_names",
        "get_dataset_default_config_name",
        "get_dataset_infos",
        "get_dataset_split_names",
        "load_dataset",
        "load_dataset_builder",
        "load_from_disk",
    ),
    "progress": (
        "are_progress_bars_disabled",
        "disable_progress_bar",
        "disable_progress_bars",
        "enable_progress_bar",
        "enable_progress_bars",
        "is_progress_bar_enabled",
        "tqdm",
    ),
    "reading.modes": ("DownloadMode", "VerificationMode"),
    "shim": ("install_as_datasets",),
    "splits": (
        "NamedSplit",
        "NamedSplitAll",
        "ReadInstruction",
        "Split",
        "SplitBase",
        "SplitDict",
        "SplitGenerator",
        "SplitInfo",
        "SubSplitInfo",
        "percent",
    ),
    "stability": ("experimental",),
    "version": ("Version",),
    "viewer": ("view",),
}
_MODULES = ("logging",)
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(["__version__", *_HOME_OF, *_MODULES])


def __getattr__(name: str) -> object:
    from importlib.util import find_spec  # it takes milliseconds to import

    if name not in _HOME_OF and (name.startswith("_") or not find_spec(f"{__name__}.{name}")):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _import_module(f"{__name__}.lazy_imports").gc_paused():
        module = _import_module(f"{__name__}.{_HOME_OF.get(name, name)}")
    value = getattr(module, name) if name in _HOME_OF else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
