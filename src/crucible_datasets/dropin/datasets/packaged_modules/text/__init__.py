"""Forwards to `load_dataset_builder("text", …)`."""

from crucible_datasets.lazy_imports import names_of_datasets

names_of_datasets(__name__)
