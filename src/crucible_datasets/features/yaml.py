"""Features ↔ the list under `dataset_info: features:` in a dataset's README.

`- name: text` with `dtype: string`; `list:` and `large_list:` of a type or of fields,
`struct:` of fields, and any other type by its name in snake case with its arguments.
The older `sequence:` is still read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, UnknownTypeError
from crucible_datasets.features import dtypes

Node = dict[str, Any]
_LISTS = {"List": "list", "LargeList": "large_list"}


def to_yaml(tagged: Mapping[str, Any]) -> list[Node]:
    """The README form of features in their `to_dict` form."""
    return [{"name": name, **_described(feature)} for name, feature in tagged.items()]


def _described(feature: Any) -> Node:
    """One feature as the keys beside its name."""
    kind = feature.get("_type")
    if not isinstance(kind, str):
        return {"struct": to_yaml(feature)}
    given = {key: value for key, value in feature.items() if key != "_type"}
    if kind in _LISTS:
        length = {"length": given["length"]} if given.get("length", -1) != -1 else {}
        return {_LISTS[kind]: _item(given["feature"]), **length}
    if kind == "Value":
        return given
    if kind == "ClassLabel":
        given["names"] = {str(label): name for label, name in enumerate(given["names"])}
    return {"dtype": {_snake(kind): _listed(given)} if given else _snake(kind)}


def _item(feature: Any) -> Any:
    """The feature of a list's items, as short as the form allows."""
    described = _described(feature)
    if set(described) == {"struct"} or set(described) == {"dtype"}:
        (described,) = described.values()
    return described


def _listed(given: Node) -> Node:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in given.items()}


def from_yaml(features: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The `to_dict` form of features in their README form."""
    return {each["name"]: _tagged({k: v for k, v in each.items() if k != "name"}) for each in features}


def _tagged(node: Any) -> Any:
    if isinstance(node, list):
        return from_yaml(node)
    if isinstance(node, str):
        return _named(node)
    if not isinstance(node, Mapping):
        raise ArgumentTypeError("feature", node, "expected a type name, a list of fields or a mapping.")
    for key, kind in (("list", "List"), ("large_list", "LargeList"), ("sequence", "Sequence")):
        if key in node:
            return _tagged_list(node[key], node.get("length", -1), kind)
    if "struct" in node:
        return _tagged(node["struct"])
    if "dtype" in node:
        described = _tagged(node["dtype"])
        return {**described, "id": node["id"]} if node.get("id") and "_type" in described else described
    return _parametrised(node)


def _tagged_list(items: Any, length: int, kind: str) -> Any:
    feature = _tagged(items)
    if kind == "Sequence" and isinstance(items, list):
        # Of several fields the older form means one list each, not a list of structs.
        return {name: {"feature": value, "length": length, "_type": "List"} for name, value in feature.items()}
    sized = {"length": length} if length != -1 else {}
    return {"feature": feature, **sized, "_type": "List" if kind == "Sequence" else kind}


def _parametrised(node: Mapping[str, Any]) -> Any:
    """`{"class_label": {"names": …}}`: a type and its arguments."""
    if not node:
        return {}
    name, arguments = next(iter(node.items()))
    if not isinstance(arguments, Mapping):
        raise ArgumentTypeError("feature", dict(node), "expected the arguments of the type as a mapping.")
    given = dict(arguments)
    if name == "class_label" and isinstance(given.get("names"), Mapping):
        given["names"] = _in_order(given["names"])
    return {**given, "_type": _camel(name)}


def _in_order(names: Mapping[Any, str]) -> list[str]:
    by_label = {int(label): name for label, name in names.items()}
    missing = next((label for label in range(max(by_label, default=-1) + 1) if label not in by_label), None)
    if missing is not None:
        raise ArgumentError("names", dict(names), f"there is no name for label {missing}.")
    return [by_label[label] for label in sorted(by_label)]


def _named(name: str) -> Node:
    try:
        dtypes.arrow_of(name)
    except UnknownTypeError:
        return {"_type": _camel(name)}
    return {"dtype": name, "_type": "Value"}


def _snake(name: str) -> str:
    """`BioSequence` → `bio_sequence`, `Array2D` → `array2_d`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
