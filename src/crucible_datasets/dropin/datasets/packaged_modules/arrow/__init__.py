"""Forwards to `load_dataset_builder("arrow", …)`."""
