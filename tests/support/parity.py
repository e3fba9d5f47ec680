"""The same call on Hugging Face `datasets` and on this library, and what counts as the same answer."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import datasets as hf
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import crucible_datasets as ours
from support.tables import Spec

hf.disable_progress_bars()
hf.logging.set_verbosity_error()

DATASETS = (hf.Dataset, ours.Dataset)
COLUMNS = (hf.Column, ours.Column)


def canonical(value: Any) -> Any:
    """An answer in terms that both libraries share: what a user could tell apart stays apart."""
    if isinstance(value, DATASETS):
        features = value.features
        return {
            # Through JSON, as files keep them: a shape is a list there, and here sometimes a tuple.
            "features": (list(features), json.loads(json.dumps(features.to_dict()))),
            "length": len(value),
            # Hugging Face passes the shown columns through a set.
            "format": canonical({**value.format, "columns": sorted(value.format["columns"])}),
            "rows": canonical(value.with_format(None)[:]),
        }
    if isinstance(value, Mapping):
        return {"mapping": [(str(key), canonical(item)) for key, item in value.items()]}
    if isinstance(value, COLUMNS):
        return {"column": canonical(list(value))}
    if isinstance(value, pa.Table):
        return {
            "schema": [(field.name, str(field.type)) for field in value.schema],
            "rows": canonical(value.to_pylist()),
        }
    if isinstance(value, (pa.ChunkedArray, pa.Array)):
        return {"type": str(value.type), "values": canonical(value.to_pylist())}
    if isinstance(value, pd.DataFrame):
        return {"dtypes": [str(dtype) for dtype in value.dtypes], "frame": canonical(value.to_dict(orient="list"))}
    if isinstance(value, pl.DataFrame):
        return {"dtypes": [str(dtype) for dtype in value.dtypes], "frame": canonical(value.to_dict(as_series=False))}
    if isinstance(value, (pd.Series, pl.Series)):
        return {"series": str(value.dtype), "values": canonical(value.to_list())}
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "shape": value.shape, "values": canonical(value.tolist())}
    if isinstance(value, (list, tuple)):
        return [canonical(item) for item in value]
    if isinstance(value, Iterator):
        return {"iterator": [canonical(item) for item in value]}
    if isinstance(value, (float, np.floating)):
        # -0.0 == 0.0 and nan != nan, but a user sees which one it is.
        return (type(value).__name__, "nan" if math.isnan(value) else repr(float(value)))
    if isinstance(value, (bool, int, np.generic)):
        return (type(value).__name__, str(value))
    if type(value).__module__.startswith("torch"):
        return {"tensor": str(value.dtype), "shape": tuple(value.shape), "values": canonical(value.tolist())}
    return value


def outcome(call: Callable[[], Any]) -> tuple[str, Any, set[type[Warning]]]:
    """What a call gives, or the error it raises; and the kinds of warnings it gives."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            kind, result = "value", canonical(call())
        except Exception as error:
            kind, result = "error", error
    return kind, result, {warning.category for warning in warned}


def standard_class(error: BaseException) -> type[BaseException]:
    """The class of the standard library that an `except` clause would name for this error."""
    return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")


def same_outcome(theirs: Callable[[], Any], own: Callable[[], Any]) -> Any:
    """Both calls give the same, or both fail with errors that the same `except` clause catches."""
    kind, expected, warned = outcome(theirs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for category in warned:
            warnings.simplefilter("ignore", category)
        try:
            found = "value", canonical(own())
        except Exception as error:
            if kind == "value":
                raise AssertionError(f"Hugging Face gives {expected!r}, but ours raises {error!r}") from error
            assert isinstance(error, standard_class(expected)), (error, expected)
            return None
    assert kind == "value", f"Hugging Face raises {expected!r}, but ours gives {found[1]!r}"
    assert found[1] == expected
    return found[1]


def same(spec: Spec | tuple[Spec, ...], call: Callable[..., Any]) -> Any:
    """`call(library, dataset, ...)` on both libraries, over datasets built from the same tables."""
    several = spec if isinstance(spec, tuple) else (spec,)
    return same_outcome(
        lambda: call(hf, *(each.dataset(hf) for each in several)),
        lambda: call(ours, *(each.dataset(ours) for each in several)),
    )
