"""The YAML at the top of a README, which is untrusted: bounds are checked before anything is composed of it."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from crucible_datasets import config
from crucible_datasets.exceptions import CardError, LimitExceededError

if TYPE_CHECKING:
    from huggingface_hub import DatasetCard

_FENCE = "---"
_MAX_DEPTH = 100
_TOO_DEEP = "its YAML is nested too deeply, or contains itself."


def described_by(folder: str) -> dict[str, Any]:
    """What `README.md` says in its YAML, overridden by `.huggingface.yaml`."""
    readme, extra = (os.path.join(folder, name) for name in (config.REPOCARD_FILENAME, config.REPOYAML_FILENAME))
    return {**_mapping(block_of(_text(readme)), readme), **_mapping(_text(extra), extra)}


def block_of(readme: str) -> str:
    """The lines between the first two lines `---`, if the text begins with one."""
    lines = readme.lstrip("\ufeff").strip().splitlines()
    if not lines or lines[0] != _FENCE or _FENCE not in lines[1:]:
        return ""
    return "\n".join(lines[1 : lines.index(_FENCE, 1)])


def card_of(readme: str, path: str) -> DatasetCard:
    """A README as an object that can be changed and written; its YAML is checked before huggingface_hub reads it."""
    from huggingface_hub import DatasetCard
    from huggingface_hub.repocard import REGEX_YAML_BLOCK

    block = REGEX_YAML_BLOCK.search(readme)
    if block:
        _mapping(block.group(2), path)
    return DatasetCard(readme, ignore_metadata_errors=True)


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except UnicodeDecodeError as error:
        raise CardError(path, f"it is not UTF-8: {error}.") from error


def _mapping(text: str, path: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    found = parsed(text, path)
    if found is not None and not isinstance(found, dict):
        raise CardError(path, f"the YAML must be keys with values, not {type(found).__name__}.")
    return found or {}


def parsed(text: str, path: str) -> Any:
    """YAML as plain Python values; raises for aliases that expand to too many values."""
    import yaml

    _require_modest(text, path)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return None
        if _num_values(root, {}) > config.MAX_CARD_VALUES:
            raise _too_many(path)
        return loader.construct_document(root)
    except LimitExceededError:
        raise
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        # a date of the 99th month, a number of 5,000 digits, `!!bool x`, `!!timestamp x`
        raise CardError(path, " ".join(str(error).split())) from error
    except RecursionError as error:
        raise CardError(path, _TOO_DEEP) from error
    finally:
        loader.dispose()


def _require_modest(text: str, path: str) -> None:
    """Raise for values that are nested so deeply that the composer, which recurses in C, would end the process."""
    import yaml

    depth = number = 0
    with suppress(yaml.YAMLError):  # which is raised again when the text is parsed
        for event in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            number += isinstance(event, yaml.NodeEvent)
            if depth > _MAX_DEPTH:
                raise CardError(path, _TOO_DEEP)
            if number > config.MAX_CARD_VALUES:
                raise _too_many(path)


def _too_many(path: str) -> LimitExceededError:
    return LimitExceededError(path, "the number of YAML values", config.MAX_CARD_VALUES, "config.MAX_CARD_VALUES")


def _num_values(node: Any, known: dict[int, int]) -> int:
    """How many values a node stands for when every alias in it is written out."""
    if id(node) not in known:
        value = node.value if isinstance(node.value, list) else []
        below = [part for item in value for part in (item if isinstance(item, tuple) else (item,))]
        known[id(node)] = config.MAX_CARD_VALUES  # met again before it is counted: it contains itself
        known[id(node)] = 1 + sum(_num_values(part, known) for part in below)
    return known[id(node)]
