"""Crucible Datasets under the name `datasets`.

`crucible_datasets.shim` puts this folder's parent on the path. The files beside this one are modules of Hugging Face
`datasets` that Crucible Datasets does not have by itself; they only forward. They belong to `crucible_datasets` too,
whose `__path__` ends with this folder, and `_sharing` gives the same modules under both names.

    arrow_reader arrow_writer table      Arrow files and tables that programs read and write by themselves
    data_files inspect naming            looking for data
    filesystems formatting io packaged_modules    with the modules below them, which have no files
    features/                            bio_sequence bio_structure
    utils/                               extract file_utils info_utils py_utils, and modules without files
    _names                               names that modules of this library lack: _examples _features _fingerprint
    _sharing                             how modules are shared, forwarded and completed
"""

from importlib import import_module as _import_module
from types import ModuleType as _Module
from typing import Any as _Any

import crucible_datasets as _crucible
from crucible_datasets import shim

__version__ = shim.VERSION
__all__ = [name for name in _crucible.__all__ if not name.startswith("_")]

if __name__ == "datasets":  # whoever reads it under another name may have Hugging Face's beside it
    _import_module("crucible_datasets._sharing").install()


def __getattr__(name: str) -> _Any:
    if name in __all__:
        found = getattr(_crucible, name)
        # A module shows the names that it has at Hugging Face.
        return _import_module(f"{__name__}.{name}") if isinstance(found, _Module) else found
    if name.isidentifier() and not name.startswith("__"):
        try:
            return _import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
