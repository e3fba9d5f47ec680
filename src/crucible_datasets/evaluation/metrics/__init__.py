"""Metrics, one file per family; `METRICS` has them all."""

from crucible_datasets.evaluation.metrics.base import METRICS, Metric, metric, metric_of

__all__ = ["METRICS", "Metric", "metric", "metric_of"]
