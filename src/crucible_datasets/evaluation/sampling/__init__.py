"""Seeded samples, folds and splits of the data, with a record of how they were drawn."""
