"""Overlap of two datasets: texts of one that occur in the other.

sources   data of any kind → its texts, in blocks
words     texts → a hash per word, after normalization
scan      words → n-grams, the sorted hashes of the smaller side, and the other side streamed through them
minhash   sets of n-grams → MinHash bands; candidates are compared exactly
report    `OverlapReport`, with common passages as examples
finding   `overlap` and `decontaminate`
"""
