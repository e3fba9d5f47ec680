"""Metrics, one module per family; `METRICS` has them all.

base answers awaited known totals (shared by all metrics) · exact normal tokens text numbers choices · translation
rouge porter subsequences · preference classification calibration · maths code passing
"""

from crucible_datasets.evaluation.metrics.base import METRICS, Metric, metric, metric_of

__all__ = ["METRICS", "Metric", "metric", "metric_of"]
