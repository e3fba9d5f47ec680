"""Typed samples over a dataset: Arrow underneath, `Sample`s on top.

making      rows and a function, or a list → samples
table       `Samples`, over a Dataset
stream      `StreamedSamples`, over an IterableDataset
base        what both share
decoding    Arrow columns → typed samples, a block at a time
pictures    pictures named by a path → their bytes, from the dataset's own folders
shuffling   choices in another order, with the target following
judged      samples read as conversations and as comparisons
idnames     columns that are called as if they named samples
provenance  where samples come from, and the hash of what they are
"""
