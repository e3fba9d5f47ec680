"""Rows as the arrays of a batch, for `to_tf_dataset`."""

from __future__ import annotations

from typing import Any

__all__ = ["minimal_tf_collate_fn", "minimal_tf_collate_fn_with_renaming"]


def minimal_tf_collate_fn(features: dict[str, Any] | list[dict[str, Any]]) -> dict[str, Any]:
    """The columns of rows as arrays; columns as they are."""
    import numpy as np

    if isinstance(features, dict):
        return features
    return {name: np.array([row[name] for row in features]) for name in features[0]}


def minimal_tf_collate_fn_with_renaming(features: Any) -> dict[str, Any]:
    """The same; the column `label` is called `labels`, as models do."""
    batch = minimal_tf_collate_fn(features)
    if "label" in batch:
        batch["labels"] = batch.pop("label")
    return batch
