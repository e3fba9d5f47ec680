"""Overlap of two datasets: texts of one that occur in the other.

sources   data of any kind → its texts, in blocks
texts     columns of any type → one text per row
letters   normalization of non-ASCII texts
words     texts → a hash per word
grams     words → a hash per n-gram, or per text
minhash   sets of n-grams → MinHash bands; candidates are compared exactly
index     the sorted hashes of the smaller side
scan      the other side, streamed through the index
pairs     matching rows
passages  common passages, as examples
report    `OverlapReport`
finding   `overlap` and `decontaminate`
"""
