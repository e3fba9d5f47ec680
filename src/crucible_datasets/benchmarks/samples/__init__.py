"""Typed samples over a dataset.

making      rows and a function, or a list → samples
table       `Samples`, over a Dataset, and what it shares with streams; samples as conversations and comparisons
stream      `StreamedSamples`, over an IterableDataset
decoding    Arrow columns → typed samples, a block at a time; images given by path
shuffling   shuffled choices, with adjusted targets
provenance  the source of samples, and their hash
"""
