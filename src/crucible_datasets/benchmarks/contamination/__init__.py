"""What two datasets have in common: texts of the one in the other.

sources   what was given → its texts, in blocks
texts     columns of any shape → one text for each row
letters   texts beyond ASCII in one form
words     texts → a number for each word
grams     words → a number for each run of n words, for each set of them, or for each text
minhash   sets of runs → a few numbers that similar sets are likely to share
index     the numbers of the smaller side, sorted
scan      the other side streams past the index
pairs     which rows belong together
passages  what they share, as examples
report    what was found
finding   `overlap` and `decontaminate`
"""
