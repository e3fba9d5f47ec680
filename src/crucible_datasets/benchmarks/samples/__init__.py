"""Typed samples over a dataset.

making      rows and a function, or a list → samples
table       `Samples`, over a Dataset
stream      `StreamedSamples`, over an IterableDataset
base        shared by both
decoding    Arrow columns → typed samples, a block at a time
pictures    bytes of images given by path, from the dataset's own folders
shuffling   shuffled choices, with adjusted targets
judged      samples as conversations and comparisons
idnames     names of id columns
provenance  the source of samples, and their hash
"""
